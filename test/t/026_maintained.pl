# Maintained filters under fire: many writers of a tracked table, while its filters are
# rebuilt again and again. Every acknowledged key is found, nothing deadlocks, stricter
# isolation levels get 40001 and nothing else, and filters of a type that removes hold
# exactly what is in the table. A rebuild that is cancelled leaves all in order, and
# dump and restore change nothing.
#
# BLOOMSET_UPDATES: by each writer (60)

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Clients;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes 'usleep';

my $updates = $ENV{BLOOMSET_UPDATES} || 60;
my $writers = 4;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
deadlock_timeout = 10ms
log_statement = none
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomset;
	CREATE TABLE gate (open bool);
	CREATE TABLE src (id bigint PRIMARY KEY, k bigint);
	CREATE TABLE carts (id bigint PRIMARY KEY, k bigint);
	INSERT INTO src SELECT -i, -i FROM generate_series(1, 20000) AS i;
	INSERT INTO carts SELECT -i, -i FROM generate_series(1, 2000) AS i;
	CALL bf_track('src', 'k', 40000, 1e-6, shards => 8);
	CALL bf_track('carts', 'k', 10000, 0.001, type => 'countingfilter', shards => 8);
});

# ---- writers and a builder at the same time ----

my $next = 0;
my (@clients, @strict);
for my $i (1 .. $writers)
{
	my $client = new_client($node);
	for my $j (1 .. $updates)
	{
		my @k = map { ++$next } 1 .. 5;
		my $rows = join(', ', map { "($_, $_)" } @k);
		step($client, "INSERT INTO src VALUES $rows;", map { [ src => $_ ] } @k);
		step($client, "UPDATE src SET k = k + 1000000 WHERE id IN ($k[0], $k[3], $k[4]);", map { [ src => 1000000 + $_ ] } @k[ 0, 3, 4 ]);
		step($client, "INSERT INTO carts VALUES $rows;");
		step($client, "UPDATE carts SET k = k + 1000000 WHERE id IN ($k[1], $k[2]); DELETE FROM carts WHERE id IN ($k[0], $k[1]);");
	}
	push @clients, $client;
}
for my $level ('repeatable read', 'serializable')
{
	my $client = new_client($node, tolerant => 1, settings => "SET default_transaction_isolation = '$level';");
	for my $j (1 .. $updates)
	{
		my @k = map { ++$next } 1 .. 3;
		step($client, 'INSERT INTO src VALUES ' . join(', ', map { "($_, $_)" } @k) . ';', map { [ src => $_ ] } @k);
	}
	push @strict, $client;
}
my $builder = new_client($node);
my $rebuilds = 1 + int($updates / 6);
step($builder, "CALL bf_rebuild('src', 'k', shards => " . (1 + $_ % 9) . "); CALL bf_rebuild('carts', 'k', shards => " . (1 + $_ % 9) . ');') for 1 .. $rebuilds;
start_clients(@clients, @strict, $builder);
ok(finish_clients(@clients, $builder), 'writers and builder come to their ends') or diag(output_of(@clients, $builder));
finish_clients(@strict);
unlike(output_of(@clients, $builder), qr/ERROR/, 'without an error');
unlike(slurp_file($node->logfile), qr/deadlock/, 'and nothing deadlocks');
my %codes;
$codes{$_}++ for output_of(@strict) =~ /^error (.*)$/mg;
is(join(' ', grep { $_ ne '40001' } keys %codes), '', 'stricter isolation: losers are told so') or diag(explain(\%codes));

my @noted = map { $_->[1] } keys_of(@clients, @strict);
cmp_ok(scalar(@noted), '>=', $writers * $updates * 8, 'keys are acknowledged');
# (those that an UPDATE has replaced are not in the table any more)
my ($there, $missed) = split /\|/, $node->safe_psql('postgres', "CREATE TEMP TABLE noted (k bigint);\nCOPY noted FROM stdin;\n" . join("\n", @noted) . "\n\\.\n"
	  . q{SELECT (SELECT count(*) FROM noted JOIN src USING (k)), count(*) FROM src WHERE NOT bf_maybe('src', 'k', k)});
is($there, @noted - 3 * $writers * $updates, 'and in the table');
is($missed, '0', 'each of them, and each row that was there before, is found');
is($node->safe_psql('postgres', "SELECT count(DISTINCT generation) || ' ' || min(generation) FROM src_k_filter"), '1 ' . (1 + $rebuilds), 'there is one generation');
cmp_ok($node->safe_psql('postgres', "SELECT count(*) FROM generate_series(2000001, 2100000) AS k WHERE bf_maybe('src', 'k', k)"), '<', 10, 'at the asked-for rate');

# equality of filters is that of all bytes
my $exact = q{SELECT bool_and(f = COALESCE(built, f)) AND count(built) = count(*) FROM carts_k_filter
	LEFT JOIN (SELECT bf_shard(k, (SELECT min(shards) FROM carts_k_filter)) AS shard,
	  bf_agg_counting(k, (SELECT (bf_info(f)).n FROM carts_k_filter LIMIT 1), (SELECT (bf_info(f)).p FROM carts_k_filter LIMIT 1)) AS built
	  FROM carts GROUP BY 1) AS s USING (shard)};
is($node->safe_psql('postgres', $exact), 't', 'filters that remove hold exactly what is in the table');

# ---- a rebuild that is cancelled ----

$node->safe_psql('postgres', 'INSERT INTO src SELECT i, i FROM generate_series(3000001, 3200000) AS i');
my $generations = q{SELECT array_length(string_to_array(encode(tgargs, 'escape'), '\\000'), 1) / 2 - 1 FROM pg_trigger WHERE tgname = 'bf_k_insert' AND tgrelid = 'src'::regclass};
my $left;
for (1 .. 50)
{
	my $client = new_client($node, no_gate => 1, tolerant => 1);
	step($client, "CALL bf_rebuild('src', 'k', 400000);");
	start_client($client);
	# cancelled as soon as the second generation is there, which it is for the time of a scan
	$node->safe_psql('postgres', qq{DO 'BEGIN FOR i IN 1 .. 20000 LOOP IF ($generations) = 2 THEN EXIT; END IF; END LOOP; END';
		SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL bf_rebuild%'} =~ s/DO '(.*?END)';/"DO \$\$$1\$\$;"/esr);
	finish_clients($client);
	$left = $node->safe_psql('postgres', $generations);
	last if $left eq '2';
}
is($left, '2', 'a cancelled rebuild leaves a generation behind');
$node->safe_psql('postgres', 'INSERT INTO src VALUES (4000001, 4000001)');
is($node->safe_psql('postgres', "SELECT bf_maybe('src', 'k', 4000001), bf_maybe('src', 'k', 3000001)"), 't|t', 'which hinders neither writing nor asking');
$node->safe_psql('postgres', "CALL bf_rebuild('src', 'k')");
is($node->safe_psql('postgres', $generations), '1', 'the next one cleans up');
is($node->safe_psql('postgres', "SELECT count(DISTINCT generation), (SELECT count(*) FROM src WHERE NOT bf_maybe('src', 'k', k)) FROM src_k_filter"), '1|0', 'and all keys are there');

# ---- a statement that meets very many shards ----

SKIP:
{
	skip 'no /proc', 1 unless -e '/proc/self/status';
	my ($kb) = $node->safe_psql('postgres', q{
		CREATE TABLE spread (k int);
		CALL bf_track('spread', 'k', 1000000, shards => 40000);
		INSERT INTO spread VALUES (0);
		CREATE FUNCTION peak() RETURNS bigint LANGUAGE sql AS $$ SELECT substring(pg_read_file('/proc/self/status') FROM 'VmPeak:\s+(\d+)')::bigint $$;
		CREATE TEMP TABLE before AS SELECT peak();
		INSERT INTO spread SELECT generate_series(1, 100000);
		INSERT INTO spread SELECT generate_series(1, 100000);
		SELECT peak() - before.peak FROM before;
		DROP TABLE spread, spread_k_filter;
	});
	# 2.4 MB of keys; a kilobyte kept for each shard would be 80 MB
	cmp_ok($kb, '<', 50_000, "memory does not grow with the number of shards: $kb kB");
}

# ---- dump and restore ----

my $folder = PostgreSQL::Test::Utils::tempdir();
my $digest = q{SELECT md5(string_agg(generation || ' ' || shard || ' ' || md5(f::text), ',' ORDER BY shard)) FROM src_k_filter};
my $before = $node->safe_psql('postgres', $digest);
for my $form ([ 'plain', '--format=plain' ], [ 'custom', '--format=custom' ], [ 'directory', '--format=directory', '--jobs=2' ])
{
	my ($name, @options) = @$form;
	my $connection = $node->connstr('postgres');

	$node->safe_psql('postgres', "CREATE DATABASE restored_$name");
	command_ok([ 'pg_dump', '-d', $connection, '-f', "$folder/$name", @options ], "pg_dump, $name");
	command_ok($name eq 'plain'
		? [ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-d', $node->connstr("restored_$name"), '-f', "$folder/$name" ]
		: [ 'pg_restore', '-d', $node->connstr("restored_$name"), ($name eq 'directory' ? '--jobs=2' : ()), "$folder/$name" ], "and restored");
	is($node->safe_psql("restored_$name", $digest), $before, "$name: the same filters");
	is($node->safe_psql("restored_$name", "INSERT INTO src VALUES (5000001, 5000001); SELECT bf_maybe('src', 'k', 5000001), bf_maybe('src', 'k', 3000001), bf_maybe('src', 'k', 5000002)"),
		't|t|f', "$name: and they are maintained");
}

$node->stop;
figures(scalar(@noted) . " keys acknowledged by writers of a tracked table and found, $rebuilds rebuilds of its filters meanwhile");
done_testing();
