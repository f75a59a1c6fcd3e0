# Filters keep their keys through dump and restore, into a database of another
# encoding too, and into one where object identifiers are other ones.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->start;

# One filter per kind of key, and the SQL of its keys beside it, so that the same
# questions can be asked anywhere.  Text goes beyond ASCII but not beyond LATIN1.
my %kinds = (
	enum => [ map { "'$_'::mood" } 'sad', 'ok', 'caf' . "\x{c3}\x{a9}" ],
	text => [ map { "'$_'::text" } 'plain', "gar\x{c3}\x{a7}on", "\x{c3}\x{bc}ber", 'trailing  ' ],
	name => ["'gar\x{c3}\x{a7}on'::name"],
	numeric => [ '1::numeric', '1.50::numeric', "'NaN'::numeric", '1e30::numeric' ],
	integer => [ '1::int2', '-5::int4', '9223372036854775807::int8' ],
	float => [ '0.5::float4', "'-0'::float8", "'NaN'::float8" ],
	bytea => [ "'\\xff00'::bytea" ],
	boolean => ['true'],
	uuid => ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid"],
	inet => [ "'10.1.2.3'::inet", "'10.0.0.0/8'::cidr", "'::1'::inet" ],
	macaddr => ["'08:00:2b:01:02:03'::macaddr"],
	timestamp => [ "date '2024-01-02'", "timestamp '2024-01-02 03:04:05'", "date 'infinity'" ],
	timestamptz => ["timestamptz '2024-01-02 03:04:05+00'"],
	time => ["time '03:04:05'"],
	array => [ "ARRAY['a', 'gar\x{c3}\x{a7}on']", 'ARRAY[NULL::text]' ],
	composite => [ "ROW(1, 'ok', 'gar\x{c3}\x{a7}on')::pair", "ROW(NULL, NULL, NULL)::pair" ],
	range => [ 'int4range(1, 5)', "'empty'::int4range" ],
	daterange => ["'[2024-01-01,)'::daterange"],
	interval => ["interval '1 day'"],
	jsonb => [ "'{\"a\": [1, \"x\"]}'::jsonb" ],
	citext => ["'Abc'::citext"],
	domain => [ '5::small', '6::small' ],);

sub types_sql
{
	return q{
		CREATE TYPE mood AS ENUM ('sad', 'ok', 'café');
		CREATE TYPE pair AS (a int, m mood, t text);
		CREATE DOMAIN small AS int CHECK (VALUE < 10);
		CREATE DOMAIN filter AS bloomfilter;
	};
}

$node->safe_psql('postgres', 'CREATE DATABASE src');
$node->safe_psql('src', 'CREATE EXTENSION bloomset; CREATE EXTENSION citext;' . types_sql() . q{
	CREATE TABLE filters (kind text PRIMARY KEY, f filter, k bfkey);
	CREATE TABLE defaults (id int, f bloomfilter DEFAULT bf_create(10));
	CREATE TABLE big (f bloomfilter);
	INSERT INTO big SELECT bf_agg(x, 1000000, 0.01) FROM generate_series(1, 1000000) AS x;
	ALTER TABLE big ALTER f SET STORAGE extended;
	INSERT INTO big SELECT bf_agg(x, 1000000, 0.01) FROM generate_series(1, 1000) AS x;
	CREATE MATERIALIZED VIEW counts AS SELECT bf_count(f) AS n, f FROM big;
	CREATE INDEX ON big (round(bf_fpp(f)::numeric, 3));
	CREATE INDEX ON big USING hash (f);
});
for my $kind (sort keys %kinds)
{
	my $filter = 'bf_create(100, 1e-6)';
	$filter = "bf_add($filter, $_)" for @{ $kinds{$kind} };
	$node->safe_psql('src', "INSERT INTO filters VALUES ('$kind', $filter, bf_key($kinds{$kind}[0]))");
}

my $digest = q{SELECT kind, md5(bf_send(f)), k FROM filters UNION ALL SELECT 'big', md5(string_agg(md5(bf_send(f)), '' ORDER BY bf_count(f))), NULL FROM big ORDER BY 1};
my $before = $node->safe_psql('src', $digest);

sub check
{
	my ($database, $how) = @_;

	is($node->safe_psql($database, $digest), $before, "$how: the same bytes");
	my $lost = 0;
	for my $kind (sort keys %kinds)
	{
		for my $key (@{ $kinds{$kind} })
		{
			my $found = $node->safe_psql($database,
				"SET client_encoding = 'UTF8'; SELECT bf_contains(f, $key) AND (k = bf_key($key) OR $key <> $kinds{$kind}[0]) FROM filters WHERE kind = '$kind'");
			$lost++ if $found ne 't';
			diag("$how: $kind $key gives '$found'") if $found ne 't';
		}
	}
	is($lost, 0, "$how: every key is found");
	is( $node->safe_psql($database, 'INSERT INTO defaults VALUES (1); SELECT bf_contains(bf_add(f, 7), 7) FROM defaults'),
		't', "$how: a default is in place");
	is( $node->safe_psql($database, 'SELECT count(*) FROM counts JOIN big USING (f) WHERE n = bf_count(f)'),
		'2', "$how: the materialised view and the indexes are in place");
}

my $dir = $node->backup_dir;
mkdir $dir;

# plain SQL, into UTF8
$node->command_ok([ 'pg_dump', '-f', "$dir/plain.sql", $node->connstr('src') ], 'dump as SQL');
$node->safe_psql('postgres', 'CREATE DATABASE plain');
# other types first, so that no object identifier is what it was
$node->safe_psql('plain', "CREATE TYPE earlier$_ AS ENUM ('a', 'b', 'c')") for 1 .. 3;
$node->command_ok([ 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/plain.sql", $node->connstr('plain') ], 'restore as SQL');
check('plain', 'plain');

# custom format, into LATIN1
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$dir/custom", $node->connstr('src') ], 'dump in custom format');
$node->safe_psql('postgres', "CREATE DATABASE latin1 TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'");
$node->command_ok([ 'pg_restore', '-d', $node->connstr('latin1'), "$dir/custom" ], 'restore into LATIN1');
check('latin1', 'LATIN1');

# from LATIN1 back, in directory format with two jobs
$node->command_ok([ 'pg_dump', '-Fd', '-j2', '-f', "$dir/directory", $node->connstr('latin1') ], 'dump in directory format');
$node->safe_psql('postgres', 'CREATE DATABASE again');
$node->command_ok([ 'pg_restore', '-j2', '-d', $node->connstr('again'), "$dir/directory" ], 'restore with two jobs');
$node->safe_psql('again', 'DELETE FROM defaults');
check('again', 'back in UTF8');

# the binary protocol between them
$node->safe_psql('src', "COPY filters TO '$dir/filters.bin' (FORMAT binary)");
$node->safe_psql('latin1', "TRUNCATE filters; COPY filters FROM '$dir/filters.bin' (FORMAT binary)");
is($node->safe_psql('latin1', $digest), $before, 'binary COPY: the same bytes');

# and a restart
$node->restart;
check('src', 'restarted');

$node->stop;
done_testing();
