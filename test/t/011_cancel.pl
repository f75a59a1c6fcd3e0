# statement_timeout stops every operation on a large filter, and the session goes on.
#
# CANCEL_KEYS sets how many keys the filter is for (440000000: 512 MB), CANCEL_POINTS at
# how many moments of its run each operation is interrupted.  The notes give how long
# each took to stop; the longest stands in doc/.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $keys = $ENV{CANCEL_KEYS} || 8_000_000;
my $points = $ENV{CANCEL_POINTS} || 1;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_buffers = 64MB\nmax_wal_size = 8GB\n");
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION bloomset;
	CREATE TABLE big (id int, f bloomfilter);
	INSERT INTO big SELECT 1, bf_agg(i, $keys, 0.01) FROM generate_series(1, 1000) i;
	INSERT INTO big SELECT 2, bf_agg(-i, $keys, 0.01) FROM generate_series(1, 1000) i;
});

# one row of big, or two to be combined
my $one = 'FROM big WHERE id = 1';
my $two = 'FROM big a, big b WHERE a.id = 1 AND b.id = 2';
my @operations = (
	[ 'bf_create', "SELECT bf_create($keys + i, 0.01) IS NULL FROM generate_series(0, 0) i" ],
	[ 'bf_create, in planning', "SELECT bf_create($keys, 0.01) IS NULL" ],
	[ 'bf_add', "SELECT bf_add(f, -5) IS NULL $one" ],
	[ 'bf_add_all', "SELECT bf_add_all(f, ARRAY[-5, -6]) IS NULL $one" ],
	[ 'bf_contains', "SELECT count(*) FROM big, generate_series(1, 100000) i WHERE id = 1 AND bf_contains(f, i)" ],
	[ 'bf_union', "SELECT bf_union(a.f, b.f) IS NULL $two" ],
	[ 'bf_intersect', "SELECT bf_intersect(a.f, b.f) IS NULL $two" ],
	[ 'bf_intersect_count', "SELECT bf_intersect_count(a.f, b.f) $two" ],
	[ 'bf_count', "SELECT bf_count(f) $one" ],
	[ 'bf_fpp', "SELECT bf_fpp(f) $one" ],
	[ 'bf_info', "SELECT (bf_info(f)).bits_set $one" ],
	[ '=', "SELECT a.f = b.f FROM big a, big b WHERE a.id = 1 AND b.id = 1" ],
	[ 'hash', "SELECT count(*) FROM (SELECT f FROM big GROUP BY f) g" ],
	[ 'to bytea', "SELECT length(f::bytea) $one" ],
	[ 'from bytea', "SELECT f::bytea::bloomfilter IS NULL $one" ],
	[ 'from text', "SELECT f::text::bloomfilter IS NULL $one" ],
	[ 'COPY TO', "COPY (SELECT f $one) TO '/dev/null'" ],
	[ 'COPY TO, binary', "COPY (SELECT f $one) TO '/dev/null' BINARY" ],
	[ 'bf_agg(key, n, p)', "SELECT bf_agg(i, $keys, 0.01) IS NULL FROM generate_series(1, 1000000) i" ],
	[ 'bf_agg(bfkey, n, p)', "SELECT bf_agg(bf_key(i), $keys, 0.01) IS NULL FROM generate_series(1, 1000000) i" ],
	[ 'bf_union_agg', 'SELECT bf_union_agg(f) IS NULL FROM big' ],
	[ 'bf_intersect_agg', 'SELECT bf_intersect_agg(f) IS NULL FROM big' ],
	[ 'INSERT', "INSERT INTO big SELECT 3, bf_add(f, -5) $one" ],
	[ 'UPDATE', 'UPDATE big SET f = bf_add(f, -5) WHERE id = 1' ]);

# milliseconds; the message if it was stopped
sub run_for
{
	my ($timeout, $sql) = @_;
	my ($stdout, $stderr);
	# as the first statement of a new session, or what was kept from before is asked
	$node->psql('postgres',
		"BEGIN; SET LOCAL statement_timeout = $timeout;\n\\timing on\n$sql;\n\\timing off\nROLLBACK;\n"
		  . 'SELECT bf_contains(bf_add(bf_create(10), 1), 1)',
		stdout => \$stdout, stderr => \$stderr, on_error_stop => 0);
	my ($time) = $stdout =~ /^Time: ([0-9.]+) ms/m;
	return ($time, $stderr, $stdout =~ /^t$/m);
}

my $longest = 0;
for my $operation (@operations)
{
	my ($name, $sql) = @$operation;
	my ($duration, $stderr) = run_for(0, $sql);
	is($stderr, '', "$name works");
	my $late = 0;
	my $stopped = 0;
	my $usable = 1;
	# at last at once: this run may be much quicker than the one above
	for my $timeout ((map { int($duration * ($_ - 0.5) / $points) || 1 } 1 .. $points), 1)
	{
		last if $stopped && $timeout == 1;
		my ($time, $message, $answered) = run_for($timeout, $sql);
		$stopped = 1 if $message =~ /canceling statement due to statement timeout/;
		$usable = 0 if !$answered;
		$late = $time - $timeout if $time - $timeout > $late;
	}
	ok($stopped, "$name is stopped");
	ok($usable, "$name leaves the session usable");
	note(sprintf('%-24s takes %6.0f ms, stops within %4.0f ms', $name, $duration, $late));
	$longest = $late if $late > $longest;
}
note(sprintf('longest: %.0f ms', $longest));

$node->stop;
done_testing();
