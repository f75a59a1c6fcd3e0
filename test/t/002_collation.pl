# Collations: what a nondeterministic one calls equal is an error, never "no".

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->start;

my ($ret) = $node->psql('postgres',
	"CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
if ($ret != 0)
{
	$node->stop;
	plan skip_all => 'this server is built without ICU';
}
$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomset;
	CREATE TYPE insensitive AS RANGE (subtype = text, collation = ci);
	CREATE TYPE pair AS (i int, t text COLLATE ci);
	CREATE DOMAIN loose AS text COLLATE ci;
	CREATE TABLE words (w text COLLATE ci, v varchar COLLATE ci, c char(5) COLLATE ci, d loose, x text);
	INSERT INTO words VALUES ('ab', 'ab', 'ab', 'ab', 'ab');
});

# every way for such a value to reach a key
my @questions = (
	q{SELECT bf_contains(bf_add(bf_create(10), ('ab'::char(5)) COLLATE ci), ('AB '::char(3)) COLLATE ci)},
	q{SELECT bf_add(bf_create(10), 'ab' COLLATE ci)},
	q{SELECT bf_contains(bf_create(10), w) FROM words},
	q{SELECT bf_contains(bf_create(10), v) FROM words},
	q{SELECT bf_contains(bf_create(10), c) FROM words},
	q{SELECT bf_contains(bf_create(10), d) FROM words},
	q{SELECT bf_agg(w, 10, 0.01) FROM words},
	q{SELECT bf_agg(bf_key(w), 10, 0.01) FROM words},
	q{SELECT bf_key(w) FROM words},
	q{SELECT bf_shard(w, 5) FROM words},
	q{SELECT bf_add_all(bf_create(10), ARRAY[w]) FROM words},
	q{SELECT bf_contains_any(bf_create(10), ARRAY[w]) FROM words},
	q{SELECT bf_contains_all(bf_create(10), ARRAY[w]) FROM words},
	q{SELECT bf_key(ARRAY[w]) FROM words},
	q{SELECT bf_key(ARRAY[ROW(1, w)]) FROM words},
	q{SELECT bf_key(ROW(1, 'ab')::pair)},
	q{SELECT bf_key(words) FROM words},
	q{SELECT bf_key('[a,b)'::insensitive)},
	q{SELECT bf_key(w::name COLLATE ci) FROM words},);

for my $question (@questions)
{
	my ($code, undef, $error) = $node->psql('postgres', "\\set VERBOSITY verbose\n$question");
	like($error, qr/ERROR:  0A000: nondeterministic collations are not supported/, $question);
}

# deterministic ones do not matter: equality is that of the bytes
is( $node->safe_psql('postgres', q{
		SELECT bf_contains(bf_add(bf_create(10), x COLLATE "und-x-icu"), x COLLATE "C"), bf_contains(bf_add(bf_create(10), x), lower('AB' COLLATE "C")),
		       bf_contains(bf_add(bf_create(10), w COLLATE "C"), x) FROM words}),
	't|t|t',
	'deterministic collations share their keys');
# a collation that is not used for the key is not looked at
is($node->safe_psql('postgres', q{SELECT bf_contains(bf_add(bf_create(10), length(w)), 2) FROM words}), 't', 'a number is a number');

$node->stop;
done_testing();
