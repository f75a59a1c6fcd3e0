# A server that dies while filters are updated: after recovery every key whose
# COMMIT was reported is found, in filters inside their rows and out of line.
#
# BLOOMSET_CRASHES: how often (3)

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Clients;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $crashes = $ENV{BLOOMSET_CRASHES} || 3;
my $seed = $ENV{BLOOMSET_SEED} || 20260101;
srand($seed);
note("seed $seed");

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--data-checksums']);
# As in production, where the tests' usual settings differ; but for fsync, since what
# was written before a kill is in the kernel's hands.
$node->append_conf('postgresql.conf', q{
synchronous_commit = on
full_page_writes = on
restart_after_crash = on
autovacuum_naptime = 1s
log_error_verbosity = verbose
log_statement = none
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomset;
	CREATE TABLE filters (id int PRIMARY KEY, f bloomfilter);
	CREATE TABLE gate (open bool);
});
$node->safe_psql('postgres', $kinds_table);

my @all;
my @ways = ('server', 'backend', 'immediate');
for my $round (1 .. $crashes)
{
	my $base = 100 * $round;
	my $how = $ways[ ($round - 1) % @ways ];
	my $enough = 50 + int(rand 200);

	make_filters($node, $base);
	my @clients = map { mixed_writer($node, $base, 3000) } 1 .. 3;
	start_clients(@clients);
	$node->poll_query_until('postgres', "SELECT bf_count(f) > $enough FROM filters WHERE id = $base") or die;
	# so that recovery begins in the midst of the updates, or before them
	$node->safe_psql('postgres', 'CHECKPOINT') if rand() < 0.5;
	crash($node, $how);
	ok(!finish_clients(@clients), "round $round, $how: the clients were cut off");
	keys_are_found($node, "round $round, $how", @clients);
	push @all, @clients;
}

# later crashes leave older filters alone
my $found = keys_are_found($node, 'in the end', @all);
is($node->safe_psql('postgres', 'VACUUM FREEZE filters; SELECT count(*) FROM filters WHERE f::text::bloomfilter = f'),
	$crashes * ($small_filters + 1), 'every filter is whole');
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM filters WHERE id % 100 = 0 AND pg_column_size(f) > 70000}),
	$crashes, 'a large one in each round');
cmp_ok($node->safe_psql('postgres', q{SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE relname = 'filters'}),
	'>', 70_000 * $crashes, 'which are out of line');

# killing is seen, and nothing else
my $log = slurp_file($node->logfile);
my %codes;
$codes{$1}++ while $log =~ /(?:ERROR|PANIC):  (\w{5}):/g;
is_deeply(\%codes, {}, 'no errors') or diag(explain(\%codes));

$node->stop;
command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'and its pages are in order');
figures("$crashes crashes survived", "$found keys acknowledged and found");
done_testing();
