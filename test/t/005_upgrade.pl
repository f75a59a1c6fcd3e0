# pg_upgrade carries filters, and everything that depends on their type, into
# another cluster: of the same version, or from the one whose installation
# OLD_INSTALL names (script/check-upgrade).

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @locale = ('--locale=C', '--encoding=UTF8');
my $old = PostgreSQL::Test::Cluster->new('old', $ENV{OLD_INSTALL} ? (install_path => $ENV{OLD_INSTALL}) : ());
$old->init(extra => \@locale);
$old->start;
my $new = PostgreSQL::Test::Cluster->new('new');
# where the programs come from, which need not be where the server comes from
my ($newbin) = grep { -x "$_/pg_upgrade" } split /:/, $ENV{PATH};
my $oldbin = $ENV{OLD_INSTALL} ? "$ENV{OLD_INSTALL}/bin" : $newbin;

my $reason;
$reason = 'no pg_upgrade' unless defined $newbin;
# 18 finds a staged extension's library for functions, but not for pg_upgrade's check
my ($ret, $path) = $old->psql('postgres', 'SHOW extension_control_path');
$reason = 'bloomset is not installed where pg_upgrade looks for it' if $ret == 0 && $path ne '$system';
if ($reason)
{
	$old->stop;
	plan skip_all => $reason;
}

my @databases = ('utf8', 'latin1');
for my $database (@databases)
{
	$old->safe_psql('postgres', "CREATE DATABASE $database ENCODING '$database' TEMPLATE template0");
	$old->safe_psql($database, slurp_file('test/every_key_type.sql'));
}

# a class that nobody thought of here
my %classes = slurp_file('src/key_type.h') =~ /\bBS_KEY_(\w+) = (\d+)/g;
delete $classes{NONE};
delete $classes{MULTIRANGE} if $old->safe_psql('postgres', 'SHOW server_version_num') < 140000;
is( $old->safe_psql('utf8', q{SELECT DISTINCT ('x' || substr(k::text, 7, 2))::bit(8)::int FROM keys ORDER BY 1}),
	join("\n", sort { $a <=> $b } values %classes),
	'keys of every class');

my $digest = q{SELECT name, md5(stored::text) FROM filters AS stored UNION ALL
	SELECT name || ' key', md5(string_agg(k::text, ',' ORDER BY id)) FROM keys GROUP BY name UNION ALL
	SELECT name || ' bytes', encode(sha256(f::bytea), 'hex') FROM filters ORDER BY 1};
my %before = map { $_ => $old->safe_psql($_, $digest) } @databases;
# text keys are UTF-8 in every database; types with a hash of their own may differ
my ($utf8, $latin1) = map { $before{$_} =~ s/^citext.*\n//mgr } @databases;
is($latin1, $utf8, 'the same filters in every encoding');
my $old_version = $old->safe_psql('postgres', 'SHOW server_version');
$old->stop;

# 18 makes checksums unless told otherwise, which must be as in the old cluster
push @locale, '--no-data-checksums' if $ENV{OLD_INSTALL} && `"$newbin/initdb" --help` =~ /--no-data-checksums/;
$new->init(extra => \@locale);
my $folder = PostgreSQL::Test::Utils::tempdir();
chdir $folder or die;
my $done = PostgreSQL::Test::Utils::run_log([
	"$newbin/pg_upgrade", '-b', $oldbin, '-B', $newbin, '-d', $old->data_dir, '-D', $new->data_dir,
	'-s', $new->host, '-p', $old->port, '-P', $new->port, '--link' ], '>', 'pg_upgrade.out', '2>&1');
unless (ok($done, 'pg_upgrade'))
{
	diag(slurp_file('pg_upgrade.out'));
	diag("$_:\n" . slurp_file($_)) for glob($new->data_dir . '/pg_upgrade_output.d/*/*.txt');
	done_testing();
	exit;
}
$new->start;

note("from $old_version to " . $new->safe_psql('postgres', 'SHOW server_version'));
for my $database (@databases)
{
	is($new->safe_psql($database, $digest), $before{$database}, "$database: the same bytes");
	(undef, undef, my $notice) = $new->psql($database, 'ALTER EXTENSION bloomset UPDATE');
	like($notice, qr/NOTICE:  version "[0-9.]+" of extension "bloomset" is already installed/, 'no update is needed');
	is($new->safe_psql($database, 'SELECT name, missing(name) FROM sets WHERE missing(name) <> 0'), '', 'every key is found');
	my $by_index = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;';
	for ([ 'keys', '%s.k', 'keys_\d_k_idx' ], [ 'keys', '%s.h', 'keys_\d_h_idx' ],
		[ 'rows', 'bf_key(%s.text)', 'rows_text' ], [ 'rows', 'bf_shard(%s.many, 1000)', 'rows_many' ])
	{
		my ($table, $expression, $index) = @$_;
		my ($a, $b) = map { sprintf $expression, $_ } 'a', 'b';
		my $lost = "SELECT count(*) FROM $table AS a WHERE $a IS NOT NULL AND NOT EXISTS (SELECT FROM $table AS b WHERE $b = $a)";
		is($new->safe_psql($database, "$by_index $lost"), '0', sprintf($expression, $table) . ' by its index');
		like($new->safe_psql($database, "$by_index EXPLAIN $lost"), qr/Index (?:Only )?Scan using $index/, 'which is used');
	}
	is($new->safe_psql($database, "$by_index SELECT name FROM filters WHERE exact = (SELECT exact FROM filters WHERE name = 'uuid')"),
		'uuid', 'a filter by its index');
	is($new->safe_psql($database, q{
			SELECT name FROM sets WHERE filters_of(name)::text IS DISTINCT FROM (SELECT stored::text FROM filters AS stored WHERE stored.name = sets.name)}),
		'', 'a filter made now is the same');
	is($new->safe_psql($database, q{SELECT bf_contains, bf_contains(u, 5::numeric), bf_contains(u, -100), bf_contains(counting, 5), bf_contains(scalable, -100) FROM questions, summary}),
		't|t|t|t|t', 'views');
	is($new->safe_psql($database, "INSERT INTO filters (name) VALUES ('new'); SELECT count(*) FROM filters WHERE f = bf_create(10)"
			  . " AND counting = bf_create_counting(10) AND cuckoo = bf_create_cuckoo(10) AND scalable = bf_create_scalable(10) AND layered = bf_create_layered(10, 0.01, 2, '1 day')"),
		'2', 'defaults go on');
}

$new->stop;
done_testing();
