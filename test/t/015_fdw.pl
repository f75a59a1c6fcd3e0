# Two servers and a coordinator that reaches them by postgres_fdw: the SQL of
# doc/machines.md as it stands there.  Aggregates are computed on the servers, filters
# cross the wire, and rows that are no members do not: they are counted, by the
# coordinator's plan and by the servers' own statistics.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $doc = slurp_file('doc/machines.md');

# The blocks of SQL under a heading that begin with this comment
sub sql
{
	my ($heading, $where) = @_;
	my ($text) = $doc =~ /^#+ \Q$heading\E\n(.*?)(?=^#|\z)/ms or die "no heading $heading";
	my @blocks = grep { /^-- \Q$where\E\n/ } $text =~ /^```sql\n(.*?)^```/msg or die "no SQL $where under $heading";
	return join("\n", @blocks);
}

my ($coordinator, $east, $west) = map { PostgreSQL::Test::Cluster->new($_) } qw(coordinator east west);
$_->init for $coordinator, $east, $west;
$coordinator->start;
plan skip_all => 'this PostgreSQL comes without postgres_fdw'
  if $coordinator->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) eq '0';
my $version = $coordinator->safe_psql('postgres', 'SHOW server_version_num');
# from PostgreSQL 14 on it counts rows fetched from cursors
my $statistics = $version >= 140000
  && $coordinator->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'}) eq '1';

for my $server ($east, $west)
{
	$server->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_stat_statements'") if $statistics;
	$server->append_conf('postgresql.conf', 'log_statement = all');
	$server->start;
	$server->safe_psql('postgres', sql('postgres_fdw', 'on each server'));
	$server->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements') if $statistics;
}

# 20,000 users a side, 5,000 of them on both; 1,000 of them VIPs, and one whom nobody has seen
my %users = (east => [ 1, 20000 ], west => [ 15001, 35000 ]);
for my $server ($east, $west)
{
	my ($first, $last) = @{ $users{ $server->name } };
	$server->safe_psql('postgres', "INSERT INTO visits SELECT '" . $server->name . "', x, 'https://example.com/' || x FROM generate_series($first, $last) AS x;
		INSERT INTO visits VALUES ('" . $server->name . "', NULL, 'https://example.com/'); ANALYZE visits");
	$server->safe_psql('postgres', sql('Each server builds its filter', 'on each server'));
}

my $setup = sql('postgres_fdw', 'on the coordinator');
for my $server ($east, $west)
{
	my $name = $server->name;
	$setup =~ s/host '$name.example'/"host '" . $server->host . "', port '" . $server->port . "'"/e or die;
}
$coordinator->safe_psql('postgres', $setup);
$coordinator->safe_psql('postgres', sql('postgres_fdw', 'on the coordinator, from PostgreSQL 14 on')) if $version >= 140000;
$coordinator->safe_psql('postgres', sql('Partitioned tables', 'on the coordinator'));
$coordinator->safe_psql('postgres', sql($_, 'on the coordinator')) for 'Each server builds its filter', 'Rows are screened before they cross';
$coordinator->safe_psql('postgres', q{
	INSERT INTO vip SELECT x * 35, 'vip ' || x FROM generate_series(1, 1000) AS x;
	INSERT INTO vip VALUES (1000000);
	ANALYZE vip;
	ANALYZE visits_east;
	ANALYZE visits_west;
	CREATE TABLE filters AS SELECT 'vip' AS name, bf_agg(user_id) AS f, bf_agg('https://example.com/' || user_id) AS urls FROM vip;
	CREATE FOREIGN TABLE shards_east (shard int, f bloomfilter, urls bloomfilter) SERVER east OPTIONS (table_name 'shards');
});
$east->safe_psql('postgres', q{
	CREATE TABLE shards AS SELECT bf_shard(user_id, 64) AS shard, bf_agg(user_id, 1003, 0.01) AS f FROM visits WHERE user_id IS NOT NULL GROUP BY 1;
	ALTER TABLE shards ADD PRIMARY KEY (shard), ADD urls bloomfilter;
	UPDATE shards SET urls = s.urls FROM (SELECT bf_shard(url, 64) AS shard, bf_agg(url, 1003, 0.01) AS urls FROM visits GROUP BY 1) AS s WHERE s.shard = shards.shard;
});

# What each of these queries, or statements that end with one, would send: lists of statements
sub remote_sql_of
{
	my $script = '';
	for (@_)
	{
		my ($before, $query) = /^(.*; )?(.*)$/s;
		$script .= ($before || '') . "EXPLAIN (VERBOSE, COSTS OFF) $query; RESET ALL; DEALLOCATE ALL; SELECT '=====';\n";
	}
	return map { [ /Remote SQL: (.*)/g ] } split /^=====$/m, $coordinator->safe_psql('postgres', $script);
}

sub remote_sql
{
	return @{ (remote_sql_of(@_))[0] };
}

# Rows that the coordinator got from the servers for a query, by its plan and by theirs.
sub rows_fetched
{
	my ($query) = @_;
	my %fetched;

	my $count = q{SELECT coalesce(sum(rows), 0) FROM pg_stat_statements WHERE query LIKE 'FETCH%'};
	my $before = 0;
	if ($statistics)
	{
		$before += $_->safe_psql('postgres', $count) for $east, $west;
	}
	my $plan = $coordinator->safe_psql('postgres', "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF) $query");
	my ($planned, $removed) = (0, 0);
	$planned += $1 while $plan =~ /Foreign Scan[^\n]*\(actual rows=(\d+)/g;
	$removed += $1 while $plan =~ /Rows Removed by Filter: (\d+)/g;
	if ($statistics)
	{
		my $after = 0;
		$after += $_->safe_psql('postgres', $count) for $east, $west;
		is($after - $before, $planned + $removed, 'the servers count the same rows');
	}
	return $planned + $removed;
}

# ---- aggregates ----

my $everyone = q{(SELECT bf_agg(x, 100000, 0.01) FROM generate_series(1, 35000) AS x)};
is($coordinator->safe_psql('postgres', "SELECT f = $everyone FROM seen"), 't', 'servers build, the coordinator unites: the same bytes');
$coordinator->safe_psql('postgres', 'REFRESH MATERIALIZED VIEW visitors');
is($coordinator->safe_psql('postgres', "SELECT f = $everyone FROM visitors"), 't', 'filters kept on the servers: the same bytes');

my $on = 'SET enable_partitionwise_aggregate = on; ';
my @aggregates = (
	'bf_agg(user_id, 100000, 0.01)', 'bf_agg(user_id)', 'bf_agg(url, 0.001)', 'bf_agg(bf_key(user_id), 100000, 0.01)',
	'bf_agg_counting(user_id, 100000, 0.01)', 'bf_agg_cuckoo(bf_key(user_id), 100000, 0.01)', 'bf_agg_scalable(user_id, 1000, 0.01)');
my @by_region = remote_sql_of(map { $on . "SELECT region, $_ FROM visits GROUP BY region" } @aggregates);
my @of_one = remote_sql_of(map { "SELECT $_ FROM visits_east" } @aggregates);
for my $aggregate (@aggregates)
{
	my ($function) = $aggregate =~ /^(\w+)/;
	is(scalar(grep { /^SELECT region, public\.$function\(/ } @{ shift @by_region }), 2, "$aggregate: computed on both servers");
	is(scalar(grep { /^SELECT public\.$function\(/ } @{ shift @of_one }), 1, "$aggregate: over one foreign table");
}
is(rows_fetched('SELECT bf_agg(user_id, 100000, 0.01) FROM visits_east'), 1, 'one row comes from one server');
my @all = remote_sql($on . 'SELECT bf_agg(user_id, 100000, 0.01) FROM visits');
is(scalar(grep { !/bf_agg/ } @all), 2, 'without the partition key all rows are fetched');
is( $coordinator->safe_psql('postgres', $on . "SELECT bf_agg(user_id, 100000, 0.01) = $everyone, bf_agg(bf_key(user_id), 100000, 0.01) = $everyone,
	bf_agg(user_id) = (SELECT bf_agg(x) FROM generate_series(1, 35000) AS x) FROM visits"),
	't|t|t', 'and are combined here');
is((remote_sql('SELECT bf_union_agg(f), bf_intersect_agg(f) FROM shards_east'))[0],
	'SELECT public.bf_union_agg(f), public.bf_intersect_agg(f) FROM public.shards', 'stored filters are united there');

# ---- rows ----

my $joined = 'SELECT v.* FROM visits v JOIN vip USING (user_id)';
my $visits = 571 + 572;    # of VIPs: multiples of 35 up to 20,000, and from 15,001 to 35,000
is($coordinator->safe_psql('postgres', 'SELECT count(*) FROM vip_visits'), $visits, 'the screened join has all rows');
is($coordinator->safe_psql('postgres', "SELECT count(*) FROM (TABLE vip_visits EXCEPT ALL $joined) AS s"), '0', 'and no others');
is(rows_fetched($joined), 40002, 'without the filter every row is fetched');
# others pass at 1%, or a bit less: 389 of 38,857 expected, 5 standard deviations are 98
my $fetched = rows_fetched('SELECT * FROM vip_visits');
cmp_ok($fetched, '>=', $visits, "with it $fetched rows are fetched: the members");
cmp_ok($fetched, '<=', $visits + 389 + 98, 'and about a hundredth of the others');

for my $form (
	[ 'a subquery', q{SELECT * FROM visits WHERE bf_contains((SELECT f FROM filters WHERE name = 'vip'), user_id)} ],
	[ 'text', q{SELECT * FROM visits WHERE bf_contains((SELECT urls FROM filters WHERE name = 'vip'), url)} ],
	[ 'an expression', q{SELECT * FROM visits WHERE bf_contains((SELECT urls FROM filters WHERE name = 'vip'), lower(url))} ],)
{
	my ($name, $query) = @$form;
	my @remote = remote_sql($query);
	is(scalar(grep { /WHERE \(public\.bf_contains\(\$1::public\.bloomfilter, / } @remote), 2, "$name: the filter is a parameter");
	$fetched = rows_fetched($query);
	ok($fetched >= $visits && $fetched <= $visits + 389 + 98, "$name: $fetched rows are fetched");
}

# each execution sends the filter once to each server
$_->safe_psql('postgres', 'SELECT 1') for $east, $west;
my $log = { map { $_->name => -s $_->logfile } $east, $west };
$coordinator->safe_psql('postgres', q{SELECT count(*) FROM vip_visits; SELECT count(*) FROM vip_visits});
for my $server ($east, $west)
{
	my @sent = substr(slurp_file($server->logfile), $log->{ $server->name }) =~ /arameters: \$1 = '([^']*)'/g;
	is(scalar(@sent), 2, $server->name . ': the filter is sent once for each execution');
	is(length($sent[0]), $coordinator->safe_psql('postgres', 'SELECT length(f::text) FROM filters'), '... in base64');
}

# a constant, and a parameter with and without its value known to the planner
my $prepare = 'PREPARE q(bloomfilter) AS SELECT * FROM visits_east WHERE bf_contains($1, user_id); ';
like((remote_sql('SELECT * FROM visits_east WHERE bf_contains(bf_create(1), user_id)'))[0], qr/bf_contains\('A[^']+'::public\.bloomfilter, user_id\)/, 'a constant filter is sent');
like((remote_sql($prepare . 'EXECUTE q(bf_create(1))'))[0], qr/bf_contains\('A[^']+'::public\.bloomfilter, user_id\)/, 'a parameter as a constant');
like((remote_sql($prepare . 'SET plan_cache_mode = force_generic_plan; EXECUTE q(bf_create(1))'))[0],
	qr/bf_contains\(\$1::public\.bloomfilter, user_id\)/, 'and as a parameter');

# one server's filter screens the other's rows, both ways
my $both = $coordinator->safe_psql('postgres', 'SELECT count(*), min(user_id), max(user_id) FROM in_both');
is($both, '5000|15001|20000', 'the users of both servers');
$fetched = rows_fetched('SELECT * FROM in_both');
# two filters, 5,000 members from each side, and at most 1% of 15,000 others, as the filters have room: 5 standard deviations
cmp_ok($fetched, '>=', 2 + 2 * 5000, "$fetched rows of 40,002 are fetched: the members and two filters");
cmp_ok($fetched, '<=', 2 + 2 * (5000 + 150 + 61), 'and few others');
is(scalar(grep { /^SELECT public\.bf_agg\(user_id, / } remote_sql('SELECT * FROM in_both')), 2, 'both filters are built where the rows are');

# what the table in the documentation says
my $vip = q{(SELECT f FROM filters WHERE name = 'vip')};
my @cases = (
	[ 'a filter in a column', 'SELECT * FROM filters JOIN visits_east ON bf_contains(f, user_id)', 0 ],
	[ 'a row', "SELECT * FROM visits_east WHERE bf_contains($vip, ROW(user_id, url))", 0 ],
	[ 'a cast to text', "SELECT * FROM visits_east WHERE bf_contains($vip, user_id::text)", 0 ],
	[ 'an array', "SELECT * FROM visits_east WHERE bf_contains($vip, ARRAY[user_id])", 1 ],
	[ 'a cast to int', "SELECT * FROM visits_east WHERE bf_contains($vip, user_id::int)", 1 ],
	[ 'a DELETE', "DELETE FROM visits_east WHERE NOT bf_contains($vip, user_id)", 1 ],
	[ 'in the select list', 'SELECT bf_contains(f, 42) FROM shards_east WHERE shard = bf_shard(42, 64)', 0 ],
	[ 'in WHERE', 'SELECT EXISTS (SELECT FROM shards_east WHERE shard = bf_shard(42, 64) AND bf_contains(f, 42))', 1 ],
	[ 'a constant of type text', q{SELECT EXISTS (SELECT FROM shards_east WHERE bf_contains(urls, 'someone'::text))}, 0 ],
	[ 'an untyped literal', q{SELECT EXISTS (SELECT FROM shards_east WHERE bf_contains(urls, 'someone'))}, 1 ],
	[ 'the key of a constant', q{SELECT EXISTS (SELECT FROM shards_east WHERE bf_contains(urls, bf_key('someone'::text)))}, 1 ],);
my @sent = remote_sql_of(map { $_->[1] } @cases);
for my $case (@cases)
{
	my ($name, $query, $crosses) = @$case;
	my @remote = @{ shift @sent };
	is(scalar(@remote) . scalar(grep { /WHERE .*bf_contains\(/ } @remote), "1$crosses", "$name: " . ($crosses ? 'asked there' : 'asked here'));
}
my $text = 'SET plan_cache_mode = force_generic_plan; PREPARE q(text) AS SELECT EXISTS (SELECT FROM shards_east WHERE shard = (SELECT bf_shard($1, 64)) AND bf_contains(urls, %s)); ';
unlike((remote_sql(sprintf($text, '$1') . q{EXECUTE q('x')}))[0], qr/bf_contains/, 'a parameter of type text: asked here');
my $asked = sprintf($text, '(SELECT bf_key($1))');
like((remote_sql($asked . q{EXECUTE q('x')}))[0], qr/bf_contains/, 'its key: asked there');
is($coordinator->safe_psql('postgres', $asked . q{EXECUTE q('https://example.com/123'); EXECUTE q('https://example.com/a123')}), "t\nf", 'with the right answers');
is(rows_fetched('SELECT EXISTS (SELECT FROM shards_east WHERE shard = bf_shard(42, 64) AND bf_contains(f, 42))'), 1, 'an empty row for a member');
is(rows_fetched('SELECT EXISTS (SELECT FROM shards_east WHERE shard = bf_shard(-42, 64) AND bf_contains(f, -42))'), 0, 'none for another');

# another type here than there is an error
$coordinator->safe_psql('postgres', q{CREATE FOREIGN TABLE visits_text (user_id text) SERVER east OPTIONS (table_name 'visits')});
my (undef, undef, $err) = $coordinator->psql('postgres', "\\set VERBOSITY verbose\nSELECT bf_contains((SELECT bf_agg(user_id, 100000, 0.01) FROM visits_text), '42')");
like($err, qr/ERROR:  42804/, 'a column declared with another type: an error, not a no');

SKIP:
{
	skip 'no asynchronous scans before PostgreSQL 14', 2 if $version < 140000;
	my $plan = $coordinator->safe_psql('postgres', 'EXPLAIN (COSTS OFF) SELECT * FROM vip_visits');
	is(() = $plan =~ /Async Foreign Scan/g, 2, 'both servers are asked at the same time for rows');
	$plan = $coordinator->safe_psql('postgres', $on . 'EXPLAIN (COSTS OFF) SELECT region, bf_agg(user_id, 100000, 0.01) FROM visits GROUP BY region');
	is(() = $plan =~ /Async Foreign Scan/g, 2, 'and for filters');
}

# without the option nothing is sent
$coordinator->safe_psql('postgres', 'ALTER SERVER east OPTIONS (DROP extensions)');
unlike((remote_sql("SELECT * FROM visits_east WHERE bf_contains($vip, user_id)"))[0], qr/bf_contains/, 'without the option extensions nothing is sent');

# partitions by day, from the documentation
$coordinator->safe_psql('postgres', q{INSERT INTO clicks SELECT '2026-01-01', x FROM generate_series(40, 45) AS x});
$coordinator->safe_psql('postgres', (sql('Partitioned tables', 'on the coordinator') =~ /(INSERT INTO daily [^;]*;)/)[0]);
is($coordinator->safe_psql('postgres', (sql('Partitioned tables', 'on the coordinator') =~ /(SELECT day FROM [^;]*;)/)[0]), '2026-01-01', 'the day that has the user');

$_->stop for $coordinator, $east, $west;
done_testing();
