# Filters in shards on nodes that only read, kept by logical replication: the SQL of
# doc/machines.md as it stands there.  The reader finds every key of the primary's,
# after each batch, at the asked-for rate, and cannot write; what an update sends is the
# rows of its shards.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($text) = slurp_file('doc/machines.md') =~ /^## Logical replication\n(.*?)(?=^#|\z)/ms or die;
my %sql = map { /^-- ([^\n]*)\n(.*)/s } $text =~ /^```sql\n(.*?)^```/msg;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 'logical');
$primary->start;
my $node = PostgreSQL::Test::Cluster->new('node');
$node->init(allows_streaming => 'logical');
$node->start;
my $version = $primary->safe_psql('postgres', 'SHOW server_version_num');

$primary->safe_psql('postgres', $sql{'on the primary'});
my $connection = 'host=' . $primary->host . ' port=' . $primary->port;
my $subscribe = $sql{'on the node'} =~ s/host=primary\.example/$connection/r;
$subscribe ne $sql{'on the node'} or die;
$node->safe_psql('postgres', $subscribe);

# a second node, in a database of its own, has half of the shards
if ($version >= 150000)
{
	$primary->safe_psql('postgres', $sql{'on the primary, from PostgreSQL 15 on'});
	$node->safe_psql('postgres', 'CREATE DATABASE half');
	$node->safe_psql('half', 'CREATE EXTENSION bloomset; CREATE TABLE shards (shard int PRIMARY KEY, f bloomfilter);'
		  . " CREATE SUBSCRIPTION half CONNECTION '$connection dbname=postgres' PUBLICATION first_half WITH (binary = true)");
}
sub wait_for_nodes
{
	$primary->wait_for_catchup('filters');
	$primary->wait_for_catchup('half') if $version >= 150000;
}
for my $database ('postgres', $version >= 150000 ? 'half' : ())
{
	$node->poll_query_until($database, "SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')") or die;
}

# a look-up by the reader, as the documentation has it, for one of many keys
my ($look_up) = $sql{'on the node, by the reader'} =~ /(SELECT .*);/s or die;
(my $each = $look_up) =~ s/\b42\b/x/g;
my $digest = "SELECT count(*), md5(string_agg(shard || ' ' || md5(f::bytea::text), ',' ORDER BY shard)) FROM shards";

for my $batch (1 .. 3)
{
	my $last = 20000 * $batch;
	$primary->safe_psql('postgres',
		"CREATE TEMP TABLE batch AS SELECT x AS id FROM generate_series($last - 19999, $last) AS x; " . $sql{'on the primary, batch by batch'});
	wait_for_nodes();
	is($node->safe_psql('postgres', $digest), $primary->safe_psql('postgres', $digest), "batch $batch: the same bytes on both sides");
	is($node->safe_psql('postgres', "SET ROLE reader; SELECT count(*) FROM generate_series(1, $last) AS x WHERE ($each) IS NOT TRUE"),
		'0', "batch $batch: the reader finds every key");
	is($node->safe_psql('half', $digest), $primary->safe_psql('postgres', "$digest WHERE shard < 32"), "batch $batch: the other node has its half")
	  if $version >= 150000;
}
is($node->safe_psql('postgres', $look_up), 't', 'one key');
# 64 shards of 60,000 keys in all, made for 1003 each: 1% of others at most, 6 standard deviations above at 20,000 of them
cmp_ok($node->safe_psql('postgres', "SET ROLE reader; SELECT count(*) FROM generate_series(1000001, 1020000) AS x WHERE ($each)"),
	'<', 200 + 6 * 14, 'and the rate is kept');
if ($version >= 150000)
{
	is( $node->safe_psql('half', "SELECT count(*), bool_and(found IS TRUE) FILTER (WHERE bf_shard(x, 2) = 0), bool_and(found IS NULL) FILTER (WHERE bf_shard(x, 2) = 1)
		FROM (SELECT x, ($each) AS found FROM generate_series(1, 60000) AS x) AS s"),
		'60000|t|t', 'half of the shards: the keys that bf_shard(key, 2) says');
}

# the reader can do nothing else
my (undef, undef, $err) = $node->psql('postgres', 'UPDATE shards SET f = bf_add(f, -1)', extra_params => [ '-U', 'reader' ]);
like($err, qr/ERROR:  cannot execute UPDATE in a read-only transaction/, 'a session of the reader is read-only');
(undef, undef, $err) = $node->psql('postgres', 'SET default_transaction_read_only = off; UPDATE shards SET f = bf_add(f, -1)', extra_params => [ '-U', 'reader' ]);
like($err, qr/ERROR:  permission denied for table shards/, 'and has no right to write');

# One key changes one row, and this alone is sent: the others are not even written.
my $rows = "SELECT xmin, shard FROM shards ORDER BY shard";
my @before = split /\n/, $node->safe_psql('postgres', $rows);
$primary->safe_psql('postgres', 'UPDATE shards SET f = bf_add(f, 123456789) WHERE shard = bf_shard(123456789, 64)');
wait_for_nodes();
my @after = split /\n/, $node->safe_psql('postgres', $rows);
is(scalar(grep { $before[$_] ne $after[$_] } 0 .. 63), 1, 'one key: one row on the node is new');
is($node->safe_psql('postgres', $look_up =~ s/\b42\b/123456789/gr), 't', 'and has the key');

$node->safe_psql('half', 'DROP SUBSCRIPTION half') if $version >= 150000;
$node->safe_psql('postgres', 'DROP SUBSCRIPTION filters');
$node->stop;
$primary->stop;
done_testing();
