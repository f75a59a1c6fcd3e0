# Out of memory: every operation on large filters, in a backend whose address space is
# limited ever more, gives the right result or error 53200, and leaves the session
# usable and no memory behind.
#
# BLOOMSET_REPEAT: how often all is done (1)

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'no prlimit, or no /proc' if system('prlimit --version >/dev/null 2>&1') != 0 || !-e '/proc/self/status';

plan skip_all => 'AddressSanitizer needs all of the address space' if ($ENV{BLOOMSET_CHECKER} // '') eq 'address';

my $repeat = $ENV{BLOOMSET_REPEAT} || 1;
my $folder = PostgreSQL::Test::Utils::tempdir();
# what is freed goes back to the system, or later operations would live on it
$ENV{MALLOC_MMAP_THRESHOLD_} = 65536;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
work_mem = 16MB
jit = off
max_parallel_workers_per_gather = 0
log_statement = none
log_min_messages = fatal
});
$node->start;
# filters of 4.9 MB
$node->safe_psql('postgres', qq{
	CREATE EXTENSION bloomset;
	CREATE TABLE big (id int, f bloomfilter);
	INSERT INTO big SELECT g, bf_agg(x, 4000000, 0.01) FROM generate_series(1, 2) AS g, generate_series(1, 1000) AS x GROUP BY g;
	CREATE TABLE keys AS SELECT x FROM generate_series(1, 200000) AS x;
	CREATE TABLE portable AS SELECT f::bytea AS b, f::text AS t FROM big WHERE id = 1;
	ALTER TABLE portable ALTER b SET STORAGE external, ALTER t SET STORAGE external;
	COPY (SELECT f FROM big WHERE id = 1) TO '$folder/copy' (FORMAT binary);
	CREATE TABLE loaded (f bloomfilter);
	VACUUM ANALYZE;
});

# each is true, in whatever memory it gets along with
my $one = '(SELECT f FROM big WHERE id = 1)';
my @operations = (
	bf_create => 'SELECT bf_count(bf_create(4000000)) = 0',
	bf_add => "SELECT bf_contains(bf_add($one, -1), -1)",
	bf_add_all => "SELECT bf_contains(bf_add_all($one, ARRAY[-1, -2]), -2)",
	bf_contains => "SELECT count(*) = 1000 FROM generate_series(1, 1000) AS x WHERE bf_contains($one, x)",
	bf_union => "SELECT bf_union(a.f, b.f) = a.f FROM big AS a, big AS b WHERE a.id = 1 AND b.id = 2",
	bf_intersect => "SELECT bf_intersect(a.f, b.f) = a.f FROM big AS a, big AS b WHERE a.id = 1 AND b.id = 2",
	bf_info => "SELECT abs(count - 1000) < 10 FROM bf_info($one)",
	'to bytea' => "SELECT length($one\::bytea) > 4000000",
	'to text' => "SELECT length($one\::text) > 5000000",
	'from bytea' => 'SELECT bf_contains(b::bloomfilter, 7) FROM portable',
	'from text' => 'SELECT bf_contains(t::bloomfilter, 7) FROM portable',
	'COPY FROM' => "COPY loaded FROM '$folder/copy' (FORMAT binary)",
	'bf_agg(key, n, p)' => 'SELECT bf_contains(bf_agg(x, 4000000, 0.01), 7) FROM keys',
	'bf_agg(bfkey, n, p)' => 'SELECT bf_contains(bf_agg(bf_key(x), 4000000, 0.01), 7) FROM keys WHERE x < 10000',
	'bf_agg(key)' => 'SELECT bf_contains(bf_agg(x), 7) FROM keys',
	bf_union_agg => 'SELECT bf_contains(bf_union_agg(f), 7) FROM big',
	bf_intersect_agg => 'SELECT bf_contains(bf_intersect_agg(f), 7) FROM big',
	'GROUP BY' => 'SELECT count(*) = 1 FROM (SELECT f FROM big GROUP BY f) AS s',);

# The limits: the address space that the backend has at first, and so many kB more.
my @more = (0, 1000, 3000, 4700, 5200, 7000, 9000, 10500, 15500, 30000);
my $size = q{`sed -n 's/^VmSize:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$BACKEND/status"`};

# What one operation says: 'NAME: t', or the error's code.
sub attempt
{
	my ($name, $sql) = @_;
	my $run = $sql =~ /^SELECT/ ? qq{SELECT ($sql) AS "right" \\gset} : "$sql \\; SELECT true AS \"right\" \\gset";

	return "$run\n\\if :ERROR\n\\echo '$name:' :SQLSTATE\n\\else\n\\echo '$name:' :right\n\\endif\n";
}

my $script = "SELECT pg_backend_pid() AS pid \\gset\n\\setenv BACKEND :pid\n";
my $round = '';
my @names;
while (my ($name, $sql) = splice(@operations, 0, 2))
{
	push @names, $name;
	# without a limit first, which fills the caches
	$script .= attempt("$name, unlimited", $sql);
	for my $more (@more)
	{
		$round .= qq{SELECT (:size + $more) * 1024 AS "limit" \\gset\n\\setenv LIMIT :limit\n\\! prlimit --pid \$BACKEND --as=\$LIMIT:\n}
		  . attempt($name, $sql)
		  . attempt('usable', 'SELECT bf_contains(bf_add(bf_create(10), 1), 1)');
	}
	$round .= "\\! prlimit --pid \$BACKEND --as=unlimited:\n" . attempt('usable', 'SELECT bf_contains(f, 7) FROM big WHERE id = 1');
}
# pg_backend_memory_contexts is there from 14 on
my $contexts = $node->safe_psql('postgres', 'SHOW server_version_num') >= 140000
  ? 'pg_backend_memory_contexts' : "(VALUES (0, '')) AS v(total_bytes, name)";
my $measure = "SELECT 'contexts ' || sum(total_bytes) FROM $contexts;\n"
  . "SELECT 'left ' || count(*) FROM $contexts WHERE name LIKE 'bloomset%';\n\\set now $size\n\\echo size :now\n";
$script .= "\\set size $size\n" . $measure . $round x $repeat . $measure;

my ($out, $err) = ('', '');
$node->psql('postgres', $script, on_error_stop => 0, stdout => \$out, stderr => \$err);
my %answers;
$answers{$1}->{$2}++ while $out =~ /^(.*): (\w+)$/mg;
for my $name (@names)
{
	is_deeply([ keys %{ $answers{"$name, unlimited"} } ], ['t'], "$name, unlimited");
	is_deeply([ sort keys %{ $answers{$name} } ], [ '53200', 't' ], "$name: right or out of memory") or diag(explain($answers{$name}));
}
my $failed = 0;
$failed += $answers{$_}->{53200} || 0 for @names;
is_deeply($answers{usable}, { t => $repeat * @names * (1 + @more) }, 'the session is usable after each')
  or diag(explain($answers{usable}));

my ($before, $after) = $out =~ /^size (\d+)$/mg;
cmp_ok($after - $before, '<', 2000, 'the backend has not grown by half a filter (kB)');
($before, $after) = $out =~ /^contexts (\d+)$/mg;
cmp_ok($after - $before, '<', 100_000, 'and its memory contexts have not either (bytes)');
is_deeply([ $out =~ /^left (\d+)$/mg ], [ 0, 0 ], 'no filter is kept');
unlike(slurp_file($node->logfile), qr/terminated by signal|exited with exit code/, 'no process has crashed');

$node->stop;
note("figures: $failed times out of memory in one session, which stayed usable");
done_testing();
