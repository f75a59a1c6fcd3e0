# Clients that write at the same time, each a psql of its own that notes which keys
# the server has told it are committed; ways for a server to die; and the question
# whether every noted key is found.
#
# The keys go into the rows of a table filters (id int PRIMARY KEY, f bloomfilter); it
# and a table gate (open bool) have to be there.  For mixed_writer also one that
# $kinds_table makes: its rows have a filter of each other kind, where keys are put into
# all of them, and some are taken out again of those that can remove.

package Clients;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use POSIX ();
use Test::More;
use Time::HiRes 'usleep';

our @EXPORT = qw(new_client step put_key take_key mixed_writer make_filters $small_filters $kinds_table make_kinds
  start_client start_clients finish_clients output_of keys_of check_keys keys_are_found crash start_after_kill figures kinds_are_right);

# large enough to be out of line: 74 kB
my $empty = 'bf_create(20000, 1e-6)';
# of 1.8 kB, inside their rows
our $small_filters = 8;

our $kinds_table = 'CREATE TABLE kinds (id int PRIMARY KEY, counting countingfilter, cuckoo cuckoofilter,'
  . ' scalable scalablefilter, layered layeredfilter)';
# one that grows from 10 keys on, and layers that all live at the last of their hours
my $empty_kinds = q{bf_create_counting(5000, 1e-6), bf_create_cuckoo(5000, 1e-9), bf_create_scalable(10, 1e-6),
	bf_create_layered(5000, 1e-6, 4, '1 hour')};
my $hour_of = q{'2026-01-01 00:00Z'::timestamptz + %s %% 4 * interval '1 hour'};
my $last_hour = q{'2026-01-01 03:00Z'::timestamptz};

my $folder = PostgreSQL::Test::Utils::tempdir();
my $clients = 0;
my $next_key = 0;

# Settings: SET statements that the client begins with.  Tolerant: it goes on after an error.
sub new_client
{
	my ($node, %option) = @_;
	my $client = {
		node => $node,
		name => 'client' . ++$clients,
		tolerant => $option{tolerant},
		script => '',
		tried => [],
		put => [],
		taken => [] };

	# all begin together, when the gate opens
	$client->{script} = q{DO 'BEGIN WHILE NOT EXISTS (SELECT FROM gate) LOOP PERFORM pg_sleep(0.002); END LOOP; END';} . "\n"
	  unless $option{no_gate};
	$client->{script} .= ($option{settings} || '') . "\n";
	return $client;
}

# One transaction, and the [row, key] pairs that it adds.  They are noted after its
# last statement has succeeded, so it must be one statement or end with COMMIT.
sub step
{
	my ($client, $sql, @pairs) = @_;

	push @{ $client->{tried} }, @pairs;
	noted_step($client, $sql, 'added', @pairs);
}

sub noted_step
{
	my ($client, $sql, $word, @pairs) = @_;

	$client->{script} .= "$sql\n\\if :ERROR\n\\echo error :SQLSTATE\n\\else\n\\echo $word "
	  . join(' ', map { "$_->[0]:$_->[1]" } @pairs) . "\n\\endif\n";
}

# A key into the filters of every kind in a row of kinds, and out of those that can
# remove it.
sub put_key
{
	my ($client, $row, $key) = @_;

	push @{ $client->{put} }, [ $row, $key ];
	noted_step($client, "UPDATE kinds SET counting = bf_add(counting, $key), cuckoo = bf_add(cuckoo, $key),"
		  . " scalable = bf_add(scalable, $key), layered = bf_add(layered, $key, " . sprintf($hour_of, $key) . ") WHERE id = $row;",
		'put', [ $row, $key ]);
}

sub take_key
{
	my ($client, $row, $key) = @_;

	push @{ $client->{taken} }, [ $row, $key ];
	noted_step($client, "UPDATE kinds SET counting = bf_remove(counting, $key), cuckoo = bf_remove_all(cuckoo, ARRAY[$key]) WHERE id = $row;",
		'taken', [ $row, $key ]);
}

sub make_kinds
{
	my ($node, $row) = @_;

	$node->safe_psql('postgres', "INSERT INTO kinds VALUES ($row, $empty_kinds)");
}

# A large filter in the row $base, small ones in the rows that follow; one of each other kind.
sub make_filters
{
	my ($node, $base) = @_;

	$node->safe_psql('postgres', "INSERT INTO filters (id, f) VALUES ($base, $empty);
		INSERT INTO filters (id, f) SELECT $base + x, bf_create(500, 1e-6) FROM generate_series(1, $small_filters) AS x");
	make_kinds($node, $base);
}

# A client that adds keys to them in several ways.  Where it takes two rows, the large
# filter's is the first.
sub mixed_writer
{
	my ($node, $base, $steps) = @_;
	my $client = new_client($node);
	my $put_before;

	for my $i (1 .. $steps)
	{
		my @k = map { ++$next_key } 1 .. 3;
		my $small = $base + 1 + ($i >> 2) % $small_filters;
		my @ways = (
			sub { step($client, "UPDATE filters SET f = bf_add(f, $k[0]) WHERE id = $base;", [ $base, $k[0] ]) },
			sub {
				step($client,
					"UPDATE filters SET f = bf_union(f, bf_add_all($empty, ARRAY[$k[0], $k[1], $k[2]])) WHERE id = $base;",
					map { [ $base, $_ ] } @k);
			},
			sub { step($client, "UPDATE filters SET f = bf_add(f, $k[0]) WHERE id = $small;", [ $small, $k[0] ]) },
			sub {
				step($client,
					"BEGIN; UPDATE filters SET f = bf_add_all(f, ARRAY[$k[0], $k[1]]) WHERE id = $base;"
					  . " UPDATE filters SET f = bf_add(f, $k[2]) WHERE id = $small; COMMIT;",
					[ $base, $k[0] ], [ $base, $k[1] ], [ $small, $k[2] ]);
			},
			sub {
				put_key($client, $base, $k[0]);
				take_key($client, $base, $put_before) if $put_before && $i % 2 == 0;
				$put_before = $k[0];
			});
		$ways[ $i % @ways ]->();
	}
	return $client;
}

sub start_client
{
	my ($client) = @_;
	my $file = "$folder/$client->{name}";
	my $connection = $client->{node}->connstr('postgres');
	my $stop = $client->{tolerant} ? 0 : 1;

	open(my $script, '>', "$file.sql") or die;
	print $script $client->{script};
	close($script);
	@$client{qw(out err)} = ("$file.out", "$file.err");
	$client->{pid} = fork;
	die "fork: $!" unless defined $client->{pid};
	return if $client->{pid};
	open(STDIN, '<', '/dev/null');
	open(STDOUT, '>', $client->{out});
	open(STDERR, '>', $client->{err});
	$ENV{PGAPPNAME} = $client->{name};
	exec('psql', '-XAtq', '-v', "ON_ERROR_STOP=$stop", '-d', $connection, '-f', "$file.sql") or POSIX::_exit(1);
}

sub start_clients
{
	my (@clients) = @_;
	my $node = $clients[0]->{node};
	my $names = join(', ', map { "'$_->{name}'" } @clients);

	$node->safe_psql('postgres', 'DELETE FROM gate');
	start_client($_) for @clients;
	$node->poll_query_until('postgres',
		"SELECT count(*) = " . @clients . " FROM pg_stat_activity WHERE application_name IN ($names)")
	  or die 'the clients do not start';
	$node->safe_psql('postgres', 'INSERT INTO gate VALUES (true)');
}

# Waits for them; true if all came to the end of their scripts.
sub finish_clients
{
	my $good = 1;
	for my $client (@_)
	{
		waitpid($client->{pid}, 0);
		$good = 0 if $?;
	}
	return $good;
}

# [row, key] pairs that are committed, as the clients were told
sub keys_of
{
	return noted('added', @_);
}

sub noted
{
	my ($word, @clients) = @_;

	return map { [ split /:/ ] } map { split ' ', $_ } map { slurp_file($_->{out}) =~ /^$word (.*)$/mg } @clients;
}

# SQL that makes a temporary table of [row, key] pairs
sub copied
{
	my ($table, @pairs) = @_;

	return "CREATE TEMP TABLE $table (id int, key bigint);\nCOPY $table FROM stdin;\n"
	  . join('', map { "$_->[0]\t$_->[1]\n" } @pairs) . "\\.\n";
}

# What the clients said on standard output and error: their own marks, and errors.
sub output_of
{
	return join '', map { slurp_file($_->{out}) . slurp_file($_->{err}) } @_;
}

# Asks the server for the keys that the clients noted.  Returns how many there are,
# how many of them are found, how many filters have a bit that belongs to no key
# that was ever sent, and how many are so full that a lost key might not be noticed.
sub check_keys
{
	my ($node, $noted, $tried) = @_;
	my $answer = $node->safe_psql('postgres', copied('noted', @$noted) . copied('tried', @$tried) . q{
		SELECT (SELECT count(*) FROM noted),
		       (SELECT count(*) FROM noted JOIN filters USING (id) WHERE bf_contains(f, key)),
		       (SELECT count(*) FROM (SELECT id, array_agg(key) AS keys FROM tried GROUP BY id) AS t
		         JOIN filters USING (id), bf_info(f), bf_add_all(bf_create(n, p, seed), keys) AS every WHERE f | every <> every),
		       (SELECT count(*) FROM filters WHERE bf_fpp(f) > 0.001)});
	return split /\|/, $answer;
}

# The same of the table kinds, as tests.  Every pair is put and taken at most once, and
# taken by the client that put it.  What was sent last and not acknowledged may have
# happened or not.
sub kinds_are_right
{
	my ($node, $what, @clients) = @_;
	my $answer = $node->safe_psql('postgres',
		copied('put', noted('put', @clients)) . copied('taken', noted('taken', @clients))
		  . copied('sent', map { @{ $_->{put} } } @clients) . copied('asked_out', map { @{ $_->{taken} } } @clients)
		  . qq{
		SELECT (SELECT count(*) FROM put),
		       (SELECT count(*) FROM put LEFT JOIN kinds USING (id)
		         WHERE (bf_contains(scalable, key) AND bf_contains(layered, key, $last_hour)) IS NOT TRUE),
		       (SELECT count(*) FROM (SELECT * FROM put EXCEPT SELECT * FROM asked_out) AS stays LEFT JOIN kinds USING (id)
		         WHERE (bf_contains(counting, key) AND bf_contains(cuckoo, key)) IS NOT TRUE),
		       (SELECT count(*) FROM taken JOIN kinds USING (id) WHERE bf_contains(counting, key) OR bf_contains(cuckoo, key)),
		       (SELECT count(*) FROM kinds WHERE id IN (SELECT id FROM sent) AND bf_count(cuckoo) NOT BETWEEN
		         (SELECT count(*) FROM put WHERE put.id = kinds.id) - (SELECT count(*) FROM asked_out WHERE asked_out.id = kinds.id) AND
		         (SELECT count(*) FROM sent WHERE sent.id = kinds.id) - (SELECT count(*) FROM taken WHERE taken.id = kinds.id)),
		       (SELECT count(*) FROM (SELECT id, bf_agg(key, 5000, 1e-6) AS bits,
		             bf_agg_layered(key, } . sprintf($hour_of, 'key') . qq{, 5000, 1e-6, 4, '1 hour') AS layers FROM sent GROUP BY id) AS every
		         JOIN kinds USING (id) WHERE counting::bloomfilter | bits <> bits OR layered | layers <> layers)});
	my ($put, @wrong) = split /\|/, $answer;

	cmp_ok($put, '>', 0, "$what: keys were put into the other kinds of filters");
	is("@wrong", '0 0 0 0 0', "$what: none is lost, none has come back, and nothing else is in");
	return $put;
}

# The same as tests; returns the number of keys found.
sub keys_are_found
{
	my ($node, $what, @clients) = @_;
	my ($noted, $found, $strange, $full) =
	  check_keys($node, [ keys_of(@clients) ], [ map { @{ $_->{tried} } } @clients ]);

	cmp_ok($noted, '>', 0, "$what: keys were added");
	is($found, $noted, "$what: every acknowledged key is found");
	is("$strange|$full", '0|0', "$what: no bit is set that no key has, and the filters have room");
	return $found + (grep({ @{ $_->{put} } } @clients) ? kinds_are_right($node, $what, @clients) : 0);
}

# After a kill the old server's processes may still be there for a moment, and a
# start gives up at once.
sub start_after_kill
{
	my ($node) = @_;

	for (1 .. 600)
	{
		return if $node->start(fail_ok => 1);
		usleep(100_000);
		# a failed start leaves the old server's number with the object
		$node->stop('fast', fail_ok => 1);
	}
	die 'the server does not start';
}

# The number of a backend that is updating just now.
sub busy_backend
{
	my ($node) = @_;

	for (1 .. 600)
	{
		my $pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity
			WHERE state = 'active' AND query LIKE 'UPDATE %' AND wait_event_type IS DISTINCT FROM 'Lock' LIMIT 1});
		return $pid if $pid ne '';
	}
	die 'no backend is updating';
}

# Ends the server in the midst of what it does, and starts it again, unless told
# not to: 'server' kills all its processes, 'backend' one that is just updating
# (the server then restarts by itself), 'immediate' is pg_ctl's.
sub crash
{
	my ($node, $how, %option) = @_;
	my $log = -s $node->logfile;
	my @pids = split /\n/, $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity ORDER BY backend_type <> 'walwriter'});

	if ($how eq 'immediate')
	{
		$node->stop('immediate');
		$node->start unless $option{stay_down};
		return;
	}

	# nothing writes WAL for the commits any more but they themselves
	kill 'STOP', $pids[0] or die "there is no WAL writer to stop: $!";
	usleep(200_000);
	if ($how eq 'server')
	{
		$node->kill9;
		kill 'KILL', @pids;
		start_after_kill($node) unless $option{stay_down};
		return;
	}
	# it may end before it can be killed
	my $killed;
	for (1 .. 20) { last if $killed = kill 'KILL', busy_backend($node) }
	die 'there is no backend to kill' unless $killed;
	usleep(100_000);
	kill 'CONT', $pids[0];
	for (1 .. 600)
	{
		last if substr(slurp_file($node->logfile), $log) =~ /database system is ready to accept connections/;
		usleep(100_000);
	}
	$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not come back';
}

# A line for the summary of script/test faults.
sub figures
{
	note('figures: ' . join(', ', @_));
}

1;
