# Logical replication of filters that are being updated, to a subscriber that is killed
# meanwhile: in the end both have the same bytes and every key whose COMMIT was
# reported.  Among the updates are some that leave the filter out of line as it is,
# which is then not sent.
#
# BLOOMSET_CRASHES: how often the subscriber is killed in each form (1)

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Clients;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $crashes = $ENV{BLOOMSET_CRASHES} || 1;

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
for my $node ($publisher, $subscriber)
{
	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf', q{
synchronous_commit = on
wal_retrieve_retry_interval = 100ms
log_statement = none
log_error_verbosity = verbose
});
	$node->start;
	$node->safe_psql('postgres', q{
		CREATE EXTENSION bloomset;
		CREATE TABLE filters (id int PRIMARY KEY, f bloomfilter, updates int DEFAULT 0);
		CREATE TABLE gate (open bool);
	});
	$node->safe_psql('postgres', $kinds_table);
}
$publisher->safe_psql('postgres', 'CREATE PUBLICATION everything FOR TABLE filters, kinds');
my $connection = $publisher->connstr . ' dbname=postgres';
my $digest = q{SELECT string_agg(id || ' ' || updates || ' ' || md5(f::bytea), ', ' ORDER BY id) FROM filters UNION ALL
	SELECT string_agg(id || ' ' || md5(kinds::text), ', ' ORDER BY id) FROM kinds};

# binary is an option from PostgreSQL 14 on
my @forms = ('text', $publisher->safe_psql('postgres', 'SHOW server_version_num') >= 140000 ? 'binary' : 'text');
my ($found, $killed, $base) = (0, 0, 0);
for my $identity ('key', 'full')
{
	my $form = shift @forms;
	my $what = "$form, $identity";
	my $option = $form eq 'binary' ? ' WITH (binary = true)' : '';

	# the old row is found by its key, or by comparing all columns
	if ($identity eq 'full')
	{
		for my $table ('filters', 'kinds')
		{
			$publisher->safe_psql('postgres', "ALTER TABLE $table REPLICA IDENTITY FULL");
			$subscriber->safe_psql('postgres', "ALTER TABLE $table DROP CONSTRAINT ${table}_pkey");
		}
	}
	$base += 100;
	make_filters($publisher, $base);
	$subscriber->safe_psql('postgres', "TRUNCATE filters, kinds; CREATE SUBSCRIPTION changes CONNECTION '$connection' PUBLICATION everything$option");
	$subscriber->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')") or die;

	my @clients = map { mixed_writer($publisher, $base, 100 * (1 + $crashes)) } 1 .. 2;
	my $other = new_client($publisher);
	step($other, "UPDATE filters SET updates = updates + 1 WHERE id = $base;") for 1 .. 60;
	# a key that is in, so nothing is stored anew
	step($other, "UPDATE filters SET f = bf_add(f, $_), updates = updates + 1 WHERE id = $base;", [ $base, $_ ])
	  for (map { $_->[1] } grep { $_->[0] == $base } map { @{ $_->{tried} } } @clients)[ 0 .. 4 ];
	start_clients(@clients, $other);
	for my $crash (1 .. $crashes)
	{
		my $enough = 100 * $crash;
		$subscriber->poll_query_until('postgres', "SELECT bf_count(f) > $enough FROM filters WHERE id = $base") or die;
		crash($subscriber, 'server');
		$killed++;
	}
	ok(finish_clients(@clients, $other), "$what: all updates went well") or diag(output_of(@clients, $other));
	$publisher->wait_for_catchup('changes');
	is($subscriber->safe_psql('postgres', $digest), $publisher->safe_psql('postgres', $digest), "$what: the same bytes");
	is($subscriber->safe_psql('postgres', "SELECT updates FROM filters WHERE id = $base"), 65, "$what: other columns too");
	$found += keys_are_found($subscriber, $what, @clients, $other);
	$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION changes');
}
for my $node ($publisher, $subscriber)
{
	unlike(slurp_file($node->logfile), qr/ERROR:  (?!57P)/, $node->name . ': no errors');
	$node->stop;
}
figures("$killed times the subscriber was killed", "$found keys acknowledged and found there");
done_testing();
