# Many writers of the same rows, at full speed: no acknowledged key is lost, in any of
# the ways that filters can be updated; under the stricter isolation levels the losers
# are told so (40001); and those that take several rows in order do not deadlock.
#
# BLOOMSET_UPDATES: by each writer, in each way (60)

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Clients;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $updates = $ENV{BLOOMSET_UPDATES} || 60;
my $writers = 4;
my $shards = 4;
my $p = '1e-6';

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
deadlock_timeout = 10ms
log_statement = none
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomset;
	CREATE TABLE filters (id int PRIMARY KEY, f bloomfilter);
	CREATE TABLE gate (open bool);
});
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');

my $keys = 5;    # of a step
my $all = $writers * $updates * $keys;
my $empty = "bf_create($all, $p)";
# which row each key goes to
my @shard_of = split /\n/,
  $node->safe_psql('postgres', "SELECT bf_shard(k, $shards) FROM generate_series(0, $all) AS k ORDER BY k");

# The rows to write to: one, or one for each shard.
sub fresh
{
	my ($what) = @_;

	$node->safe_psql('postgres', 'DELETE FROM filters;'
		  . ($what eq 'none' ? '' : "INSERT INTO filters SELECT x, $empty FROM generate_series(0, " . ($what eq 'one' ? 0 : $shards - 1) . ") AS x"));
}

my $total = 0;
# Runs the writers; $step makes the statement for some keys.  Returns what they said.
sub run_writers
{
	my ($name, $rows, $step, %option) = @_;
	my @clients = map { new_client($node, %option) } 1 .. $writers;

	fresh($rows);
	for my $i (0 .. $#clients)
	{
		for my $j (1 .. $updates)
		{
			my @keys = map { ($i * $updates + $j) * $keys - $_ } 0 .. ($option{single} ? 0 : $keys - 1);
			step($clients[$i], $step->(@keys), map { [ $rows eq 'one' ? 0 : $shard_of[$_], $_ ] } @keys);
		}
	}
	start_clients(@clients);
	my $good = finish_clients(@clients);
	ok($good && output_of(@clients) !~ /ERROR/, "$name: no errors") or diag(join "\n", output_of(@clients) =~ /^.*ERROR.*$/mg)
	  unless $option{tolerant};
	$total += keys_are_found($node, $name, @clients);
	return output_of(@clients);
}

sub list
{
	return 'ARRAY[' . join(', ', @_) . ']';
}

# ---- one row ----

run_writers('bf_add', 'one', sub { "UPDATE filters SET f = bf_add(f, $_[0]) WHERE id = 0;" }, single => 1);
run_writers('bf_add_all', 'one', sub { "UPDATE filters SET f = bf_add_all(f, " . list(@_) . ") WHERE id = 0;" });
run_writers('bf_union', 'one', sub { "UPDATE filters SET f = f | bf_add_all($empty, " . list(@_) . ") WHERE id = 0;" });
run_writers('an aggregate', 'one',
	sub { "UPDATE filters SET f = f | (SELECT bf_agg(k, $all, $p) FROM unnest(" . list(@_) . ") AS k) WHERE id = 0;" });
run_writers('INSERT ON CONFLICT', 'none',
	sub { "INSERT INTO filters VALUES ($shard_of[$_[0]], bf_add($empty, $_[0])) ON CONFLICT (id) DO UPDATE SET f = bf_union(filters.f, excluded.f);" },
	single => 1);
run_writers('SELECT FOR UPDATE', 'one',
	sub { "BEGIN; SELECT f AS mine FROM filters WHERE id = 0 FOR UPDATE \\gset\nUPDATE filters SET f = bf_add_all(:'mine', " . list(@_) . ") WHERE id = 0; COMMIT;" });
SKIP:
{
	skip 'no MERGE before PostgreSQL 15', 4 if $version < 150000;
	run_writers('MERGE', 'one',
		sub { "MERGE INTO filters USING (SELECT 0 AS id, bf_add_all($empty, " . list(@_) . ") AS g) AS new ON filters.id = new.id WHEN MATCHED THEN UPDATE SET f = f | g;" });
}

# ---- several rows at once, in the order of the shards ----

my $by_shard = "SELECT bf_shard(k, $shards) AS id, bf_agg(k, $all, $p) AS g FROM unnest(%s) AS k GROUP BY 1 ORDER BY 1";
run_writers('shards, updated', 'all',
	sub {
		"WITH new AS (" . sprintf($by_shard, list(@_)) . "), locked AS (SELECT filters.id FROM filters JOIN new USING (id) ORDER BY id FOR UPDATE OF filters)"
		  . " UPDATE filters SET f = f | g FROM new JOIN locked USING (id) WHERE filters.id = new.id;";
	});
run_writers('shards, inserted or updated', 'none',
	sub { "INSERT INTO filters " . sprintf($by_shard, list(@_)) . " ON CONFLICT (id) DO UPDATE SET f = filters.f | excluded.f;" });
run_writers('shards, one statement each', 'all',
	sub {
		my @keys = sort { $shard_of[$a] <=> $shard_of[$b] } @_;
		"BEGIN; " . join(' ', map { "UPDATE filters SET f = bf_add(f, $_) WHERE id = $shard_of[$_];" } @keys) . " COMMIT;";
	});

# ---- the other kinds: adding to one row, and removing every other key again ----

$node->safe_psql('postgres', $kinds_table);
make_kinds($node, 1);
my @putting = map { new_client($node) } 1 .. $writers;
for my $i (0 .. $#putting)
{
	for my $key ($i * $updates + 1 .. ($i + 1) * $updates)
	{
		put_key($putting[$i], 1, $key);
		take_key($putting[$i], 1, $key - 1) if $key % 2 == 0 && $key - 1 > $i * $updates;
	}
}
start_clients(@putting);
ok(finish_clients(@putting) && output_of(@putting) !~ /ERROR/, 'the other kinds: no errors') or diag(output_of(@putting));
my $put = kinds_are_right($node, 'the other kinds', @putting);
is($put, $writers * $updates, 'the other kinds: all were acknowledged');
my @gone = map { $_->[1] } map { @{ $_->{taken} } } @putting;
is( $node->safe_psql('postgres', "SELECT counting = bf_agg_counting(k, 5000, 1e-6) FILTER (WHERE k <> ALL (" . list(@gone) . ")),"
		  . " bf_count(cuckoo) = count(*) - " . @gone . " FROM kinds, generate_series(1, $put) AS k GROUP BY counting, cuckoo"),
	't|t', 'the other kinds: exactly what was not removed is left');
$total += $put;

# ---- stricter isolation: an error instead of a lost key ----

for my $level ('repeatable read', 'serializable')
{
	my $said = run_writers($level, 'one', sub { "UPDATE filters SET f = bf_add_all(f, " . list(@_) . ") WHERE id = 0;" },
		settings => "SET default_transaction_isolation = '$level';", tolerant => 1);
	my %codes;
	$codes{$1}++ while $said =~ /^error (.*)$/mg;
	is(join(' ', keys %codes), '40001', "$level: losers are told so, and nothing else goes wrong") or diag(explain(\%codes));
}

# ---- a lost key is noticed: reading and writing apart, without a lock ----

fresh('one');
my @clients = map { new_client($node) } 1 .. 2;
for my $i (0, 1)
{
	$clients[$i]->{script} .= "SELECT f AS mine FROM filters \\gset\n"
	  . "INSERT INTO gate VALUES (false);\nDO 'BEGIN WHILE (SELECT count(*) FROM gate) < 3 LOOP PERFORM pg_sleep(0.002); END LOOP; END';\n";
	step($clients[$i], "UPDATE filters SET f = bf_add(:'mine', " . (1 + $i) . ");", [ 0, 1 + $i ]);
}
start_clients(@clients);
ok(finish_clients(@clients), 'two writers without a lock');
my ($noted, $found) = check_keys($node, [ keys_of(@clients) ], []);
is("$noted|$found", '2|1', 'one key of the two is lost, and it is noticed');

$node->stop;
figures("$total keys acknowledged by concurrent writers and found");
done_testing();
