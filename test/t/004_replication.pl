# Logical replication of filters, in text and in binary: the subscriber has the
# same bytes, after inserts and updates, and finds every key.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
$publisher->init(allows_streaming => 'logical');
$publisher->start;
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init(allows_streaming => 'logical');
$subscriber->start;

my $table = 'CREATE TABLE filters (id int PRIMARY KEY, f bloomfilter, k bfkey)';
for my $node ($publisher, $subscriber)
{
	$node->safe_psql('postgres', "CREATE EXTENSION bloomset; $table");
}
$publisher->safe_psql('postgres', q{
	INSERT INTO filters SELECT 1, bf_agg(x, 100000, 0.01), bf_key(1) FROM generate_series(1, 1000) AS x;
	CREATE PUBLICATION everything FOR TABLE filters;
});
my $digest = 'SELECT id, md5(bf_send(f)), k FROM filters ORDER BY id';
my $connection = $publisher->connstr . ' dbname=postgres';

# binary is an option from PostgreSQL 14 on
my @forms = $publisher->safe_psql('postgres', 'SHOW server_version_num') >= 140000 ? (0, 1) : (0);
for my $binary (@forms)
{
	my $name = $binary ? 'in_binary' : 'in_text';
	my $option = $binary ? ' WITH (binary = true)' : '';

	$subscriber->safe_psql('postgres', "TRUNCATE filters; CREATE SUBSCRIPTION $name CONNECTION '$connection' PUBLICATION everything$option");
	$subscriber->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')") or die;
	$publisher->safe_psql('postgres', qq{
		INSERT INTO filters SELECT 10 + $binary, bf_agg('k' || x, 50, 0.001), bf_key('k1') FROM generate_series(1, 50) AS x;
		UPDATE filters SET f = bf_add_all(f, ARRAY[5001, 5002 + $binary]) WHERE id = 1;
		UPDATE filters SET f = bf_add(f, 1) WHERE id = 1;
		UPDATE filters SET k = bf_key('other') WHERE id = 10 + $binary;
	});
	$publisher->wait_for_catchup($name);
	is($subscriber->safe_psql('postgres', $digest), $publisher->safe_psql('postgres', $digest), "$name: the same bytes");
	is( $subscriber->safe_psql('postgres', 'SELECT count(*) FROM filters, generate_series(1, 1000) AS x WHERE id = 1 AND NOT bf_contains(f, x)'),
		'0', "$name: every key is found");
	is($subscriber->safe_psql('postgres', 'SELECT bf_contains(f, 5001) FROM filters WHERE id = 1'), 't', "$name: added keys too");
	$subscriber->safe_psql('postgres', "DROP SUBSCRIPTION $name");
}

$subscriber->stop;
$publisher->stop;
done_testing();
