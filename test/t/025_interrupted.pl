# Queries that are ended in the midst of an aggregate, with parallel workers and
# temporary files: the session stays usable and neither files nor memory are left.
#
# BLOOMSET_REPEAT: how often in each way (5)

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Clients;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $repeat = $ENV{BLOOMSET_REPEAT} || 5;
my $seed = $ENV{BLOOMSET_SEED} || 20260101;
srand($seed);
note("seed $seed");

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
work_mem = 64kB
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
max_parallel_workers_per_gather = 2
log_statement = none
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomset;
	CREATE TABLE gate (open bool);
	CREATE TABLE keys AS SELECT x::bigint FROM generate_series(1, 200000) AS x;
	CREATE TABLE filters AS SELECT x AS id, bf_agg(y, 1000000, 0.01) AS f FROM generate_series(1, 8) AS x, generate_series(1, 10) AS y GROUP BY x;
	VACUUM ANALYZE;
});
my %queries = (
	'bf_agg(key)' => 'SELECT bf_agg(x) FROM keys',
	'bf_agg(key), serial' => 'SELECT bf_agg(x) FROM (SELECT x FROM keys OFFSET 0) AS s',
	'bf_agg(key), groups' => 'SELECT bf_count(bf_agg(x)) FROM keys GROUP BY x % 3',
	'bf_agg(key, n, p)' => 'SELECT bf_agg(x, 1000000, 0.01) FROM keys',
	'bf_union_agg' => 'SELECT bf_union_agg(f) FROM filters, generate_series(1, 20)',);
for my $name ('bf_agg(key)', 'bf_agg(key, n, p)')
{
	like($node->safe_psql('postgres', "EXPLAIN $queries{$name}"), qr/Partial Aggregate/, "$name is computed in parallel");
}

# Right, with nothing left; 'files' counts temporary files.
my $aftermath = q{SELECT 'files ' || count(*) FROM pg_ls_tmpdir();
SELECT 'usable ' || (bf_contains(bf_agg(x), 77) AND NOT bf_contains(bf_agg(x), -77)) FROM keys WHERE x < 1000;
};
# is_deeply's form of what a client said
sub outcomes
{
	my ($output) = @_;
	my %outcomes;
	$outcomes{$1}++ while $output =~ /^((?:files|usable|error) \w+)$/mg;
	return \%outcomes;
}

# ---- by statement_timeout, at any moment ----

my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
# pg_backend_memory_contexts is there from 14 on
my $contexts = $version >= 140000 ? 'sum(total_bytes) FROM pg_backend_memory_contexts' : '0';
my $timeouts = 0;
for my $name (sort keys %queries)
{
	my $once = "SELECT count(s) > 0 FROM ($queries{$name}) AS s";
	my $script = "\\timing on\n$once;\n\\timing off\n$aftermath";
	my (undef, $first) = $node->psql('postgres', $script);
	my ($ms) = $first =~ /^Time: ([\d.]+)/m;

	$script = "$once;\n$aftermath SELECT 'contexts ' || $contexts;\n";
	for (1 .. $repeat)
	{
		my $timeout = 1 + int(rand $ms);
		$script .= "SET statement_timeout = $timeout;\n$once;\n\\if :ERROR\n\\echo error :SQLSTATE\n\\endif\nRESET statement_timeout;\n$aftermath";
	}
	my ($out, $err) = ('', '');
	$node->psql('postgres', "$script SELECT 'contexts ' || $contexts;\n", on_error_stop => 0, stdout => \$out, stderr => \$err);
	my $outcomes = outcomes($out);
	$timeouts += delete $outcomes->{'error 57014'} || 0;
	is_deeply($outcomes, { 'files 0' => 1 + $repeat, 'usable true' => 1 + $repeat }, "$name: nothing is left after a timeout")
	  or diag(explain($outcomes));
	my ($before, $after) = $out =~ /^contexts (\d+)$/mg;
	cmp_ok($after - $before, '<', 100_000, "$name: no memory either (bytes)");
}
cmp_ok($timeouts, '>', 0, 'there were timeouts');

# ---- when temporary files are there ----

# Waits for them, then ends one of the processes that run the victim's query.
sub strike
{
	my ($victim, $function, $process) = @_;
	my $which = $process eq 'worker' ? 'leader_pid IS NOT NULL' : "application_name = '$victim->{name}' AND backend_type = 'client backend'";

	$node->safe_psql('postgres', qq{
		DO \$\$
		BEGIN
			WHILE NOT EXISTS (SELECT FROM pg_ls_tmpdir()) LOOP PERFORM pg_sleep(0.002); END LOOP;
			WHILE (SELECT $function(pid) FROM pg_stat_activity WHERE $which LIMIT 1) IS NULL LOOP
				PERFORM pg_stat_clear_snapshot();
			END LOOP;
		END \$\$});
}

# long enough to be struck
my $long = 'SELECT bf_agg(x) FROM keys, generate_series(1, 50)';
my @ways = (
	[ 'pg_cancel_backend', 'leader', '57014' ],
	[ 'pg_terminate_backend', 'leader', undef ],
	[ 'pg_cancel_backend', 'worker', '57014' ],
	[ 'pg_terminate_backend', 'worker', '57P01' ]);
my $strikes = 0;
for my $way (@ways)
{
	my ($function, $process, $code) = @$way;
	my $name = "$function of the $process";

	for (1 .. 1 + $repeat / 10)
	{
		my $victim = new_client($node, tolerant => 1, settings => "SET parallel_leader_participation = " . ($process eq 'leader' ? 'on' : 'off') . ';');
		$victim->{script} .= "$long;\n\\if :ERROR\n\\echo error :SQLSTATE\n\\endif\n$aftermath";
		start_clients($victim);
		strike($victim, $function, $process);
		$strikes++;
		finish_clients($victim);
		my $outcomes = outcomes(output_of($victim));
		if ($code)
		{
			is_deeply($outcomes, { "error $code" => 1, 'files 0' => 1, 'usable true' => 1 }, "$name: nothing is left")
			  or diag(explain($outcomes), output_of($victim));
		}
		else
		{
			$node->poll_query_until('postgres',
				q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker' OR application_name LIKE 'client%'}) or die;
			like(output_of($victim), qr/terminating connection due to administrator command/, "$name: it ended");
			is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), '0', "$name: no files are left");
		}
	}
}
unlike(slurp_file($node->logfile), qr/terminated by signal|temporary file leak|resource was not closed|leaked/i,
	'no process has crashed, and the server does not complain');

$node->stop;
figures("$timeouts timeouts and $strikes signals during aggregates, nothing left behind");
done_testing();
