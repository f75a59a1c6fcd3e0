# A physical standby: what is read there while filters are updated only ever grows, and
# when the primary dies and the standby takes over it has every key whose COMMIT was
# reported.
#
# BLOOMSET_CRASHES: how often (1; the standby is the primary of the next time)

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Clients;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes 'usleep';

my $takeovers = $ENV{BLOOMSET_CRASHES} || 1;
my $seed = $ENV{BLOOMSET_SEED} || 20260101;
srand($seed);
note("seed $seed");

my $primary = PostgreSQL::Test::Cluster->new('node0');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', q{
synchronous_commit = on
autovacuum_naptime = 1s
log_statement = none
hot_standby = on
hot_standby_feedback = on
max_standby_streaming_delay = -1
});
$primary->start;
$primary->safe_psql('postgres', q{
	CREATE EXTENSION bloomset;
	CREATE TABLE filters (id int PRIMARY KEY, f bloomfilter);
	CREATE TABLE gate (open bool);
});
$primary->safe_psql('postgres', $kinds_table);

# Looks at the large filter again and again: each time it must contain all that was
# there before, and the same must hold for look-ups by key; within one snapshot it must
# not change.
sub reader
{
	my ($node, $base, @keys) = @_;
	my $client = new_client($node, no_gate => 1);
	my $look = "FROM filters, LATERAL (SELECT count(*) AS n FROM generate_series($keys[0], $keys[0] + 2000) AS k WHERE bf_contains(f, k)) AS s WHERE id = $base";
	my $row = "SELECT f AS seen, n $look \\gset\n";

	for (1 .. 5000)
	{
		$row .= "SELECT bf_union(f, :'seen') = f AND n >= :n AS kept, f AS seen, n $look \\gset\n\\if :kept\n\\echo kept\n\\else\n\\echo lost\n\\endif\n";
		$row .= "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT f AS one, n AS n1 $look \\gset\nSELECT 1 AS slept FROM pg_sleep(0.01) \\gset\n"
		  . "SELECT f = :'one' AND n = :n1 AS same $look \\gset\nCOMMIT;\n\\if :same\n\\else\n\\echo changed\n\\endif\n"
		  if $_ % 5 == 0;
	}
	$client->{script} .= $row;
	start_client($client);
	return $client;
}

my @all;
my $looks = 0;
for my $round (1 .. $takeovers)
{
	my $base = 100 * $round;
	my $enough = 100 + int(rand 300);

	make_filters($primary, $base);
	$primary->backup("backup$round");
	my $standby = PostgreSQL::Test::Cluster->new("node$round");
	$standby->init_from_backup($primary, "backup$round", has_streaming => 1);
	$standby->start;
	# acknowledged means that it is on the standby's disk too
	$primary->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = '*'});
	$primary->reload;
	$primary->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'}) or die;

	my @writers = map { mixed_writer($primary, $base, 3000) } 1 .. 3;
	my @keys = map { $_->[1] } grep { $_->[0] == $base } map { @{ $_->{tried} } } @writers;
	my $reader = reader($standby, $base, @keys);
	start_clients(@writers);
	$standby->poll_query_until('postgres', "SELECT bf_count(f) > $enough / 2 FROM filters WHERE id = $base") or die;
	# old versions of the filter go from under the readers
	$primary->safe_psql('postgres', 'VACUUM filters');
	$standby->poll_query_until('postgres', "SELECT bf_count(f) > $enough FROM filters WHERE id = $base") or die;

	# nothing arrives any more, so nothing may be acknowledged
	my $receiver = $standby->safe_psql('postgres', 'SELECT pid FROM pg_stat_wal_receiver');
	kill 'STOP', $receiver or die;
	usleep(200_000);
	crash($primary, 'server', stay_down => 1);
	kill 'CONT', $receiver;
	ok(!finish_clients(@writers), "takeover $round: the clients were cut off");

	$standby->promote;
	$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die;
	keys_are_found($standby, "takeover $round", @writers);
	push @all, @writers;

	# the reader goes on, across the promotion
	$standby->safe_psql('postgres', qq{
		UPDATE filters SET f = bf_add(f, $keys[-1]) WHERE id = $base;
		SELECT pg_sleep(0.1);
		SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '$reader->{name}'});
	finish_clients($reader);
	my ($out, $err) = map { slurp_file($_) } @$reader{ 'out', 'err' };
	my $kept = ($out =~ s/^kept\n//mg) || 0;
	cmp_ok($kept, '>', 0, "takeover $round: the standby was read");
	is($out, '', "takeover $round: no key that was seen went");
	like($err, qr/^[^\n]*FATAL:  terminating connection due to administrator command/, "takeover $round: and no error came before the end");
	$looks += $kept;
	# the old primary recovers too, and then leaves no shared memory behind
	start_after_kill($primary);
	$primary->stop;
	$primary = $standby;
}

my $found = keys_are_found($primary, 'in the end', @all);
$primary->stop;
figures("$takeovers primaries killed", "$found keys acknowledged and found on the standby", "$looks looks at the standby meanwhile");
done_testing();
