# pg_upgrade carries filters, and everything that depends on their type, into
# another cluster (of the same version, if there is only one here).

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $old = PostgreSQL::Test::Cluster->new('old');
$old->init(extra => ['--locale=C', '--encoding=UTF8']);
$old->start;
my $bindir = $old->safe_psql('postgres', q{SELECT setting FROM pg_config() WHERE name = 'BINDIR'});
my $reason;
$reason = 'no pg_upgrade' unless -x "$bindir/pg_upgrade";
# 18 finds a staged extension's library for functions, but not for pg_upgrade's check
my ($ret, $path) = $old->psql('postgres', 'SHOW extension_control_path');
$reason = 'bloomset is not installed where pg_upgrade looks for it' if $ret == 0 && $path ne '$system';
if ($reason)
{
	$old->stop;
	plan skip_all => $reason;
}
$old->safe_psql('postgres', q{
	CREATE EXTENSION bloomset;
	CREATE TYPE mood AS ENUM ('sad', 'ok');
	CREATE DOMAIN filter AS bloomfilter CHECK (bf_fpp(VALUE) < 0.5);
	CREATE TABLE filters (id serial, f filter DEFAULT bf_create(10), k bfkey, fs bloomfilter[]);
	INSERT INTO filters (f) SELECT bf_agg(x, 100000, 0.01) FROM generate_series(1, 100000) AS x;
	INSERT INTO filters (f, k, fs) VALUES (bf_add(bf_create(10, 1e-6), 'ok'::mood), bf_key('ok'::mood), ARRAY[bf_create(1), bf_create(2)]);
	INSERT INTO filters (f) VALUES (bf_add(bf_create(10, 1e-6), '2024-01-02'::date)), (DEFAULT);
	CREATE INDEX ON filters (round(bf_count(f)::numeric));
	CREATE INDEX ON filters USING hash (k);
	CREATE INDEX ON filters (k);
	CREATE MATERIALIZED VIEW summary AS SELECT bf_union_agg(f) AS u FROM filters WHERE id = 1;
	CREATE VIEW questions AS SELECT id, bf_contains(f, 5) FROM filters WHERE id = 1;
});
my $digest = 'SELECT id, md5(bf_send(f)), k, fs::text FROM filters ORDER BY id';
my $before = $old->safe_psql('postgres', $digest);
$old->stop;

my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(extra => ['--locale=C', '--encoding=UTF8']);
my $folder = PostgreSQL::Test::Utils::tempdir();
chdir $folder or die;
my $done = PostgreSQL::Test::Utils::run_log([
	"$bindir/pg_upgrade", '-b', $bindir, '-B', $bindir, '-d', $old->data_dir, '-D', $new->data_dir,
	'-s', $new->host, '-p', $old->port, '-P', $new->port ], '>', 'pg_upgrade.out', '2>&1');
unless (ok($done, 'pg_upgrade'))
{
	diag(slurp_file('pg_upgrade.out'));
	diag("$_:\n" . slurp_file($_)) for glob($new->data_dir . '/pg_upgrade_output.d/*/*.txt');
	done_testing();
	exit;
}
$new->start;

is($new->safe_psql('postgres', $digest), $before, 'the same bytes');
is( $new->safe_psql('postgres', q{
		SELECT (SELECT count(*) FROM filters, generate_series(1, 100000) AS x WHERE id = 1 AND NOT bf_contains(f, x)),
		       (SELECT bf_contains(f, 'ok'::mood) AND NOT bf_contains(f, 'sad'::mood) FROM filters WHERE id = 2),
		       (SELECT bf_contains(f, timestamp '2024-01-02 00:00') FROM filters WHERE id = 3),
		       (SELECT bf_contains FROM questions), (SELECT bf_contains(u, 5) FROM summary)}),
	'0|t|t|t|t',
	'every key is found');
is($new->safe_psql('postgres', q{SET enable_seqscan = off; SELECT count(*) FROM filters WHERE k = bf_key('ok'::mood)}), '1', 'by index too');
is($new->safe_psql('postgres', 'INSERT INTO filters (k) VALUES (bf_key(1)); SELECT count(*) FROM filters WHERE f = bf_create(10)'), '2', 'defaults go on');

$new->stop;
done_testing();
