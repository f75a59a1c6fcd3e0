# Clients that write at the same time, each a psql of its own that notes which keys
# the server has told it are committed; ways for a server to die; and the question
# whether every noted key is found.
#
# The keys go into the rows of a table filters (id int PRIMARY KEY, f bloomfilter); it
# and a table gate (open bool) have to be there.

package Clients;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use POSIX ();
use Test::More;
use Time::HiRes 'usleep';

our @EXPORT = qw(new_client step mixed_writer make_filters $small_filters start_client start_clients
  finish_clients output_of keys_of check_keys keys_are_found crash start_after_kill figures);

# large enough to be out of line: 74 kB
my $empty = 'bf_create(20000, 1e-6)';
# of 1.8 kB, inside their rows
our $small_filters = 8;

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
		tried => [] };

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
	$client->{script} .= "$sql\n\\if :ERROR\n\\echo error :SQLSTATE\n\\else\n\\echo added "
	  . join(' ', map { "$_->[0]:$_->[1]" } @pairs) . "\n\\endif\n";
}

# A large filter in the row $base, small ones in the rows that follow.
sub make_filters
{
	my ($node, $base) = @_;

	$node->safe_psql('postgres', "INSERT INTO filters (id, f) VALUES ($base, $empty);
		INSERT INTO filters (id, f) SELECT $base + x, bf_create(500, 1e-6) FROM generate_series(1, $small_filters) AS x");
}

# A client that adds keys to them in several ways.  Where it takes two rows, the large
# filter's is the first.
sub mixed_writer
{
	my ($node, $base, $steps) = @_;
	my $client = new_client($node);

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
	return map { [ split /:/ ] } map { split ' ', $_ } map { slurp_file($_->{out}) =~ /^added (.*)$/mg } @_;
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
	my $copy = sub {
		my ($table, $pairs) = @_;
		return "CREATE TEMP TABLE $table (id int, key bigint);\nCOPY $table FROM stdin;\n"
		  . join('', map { "$_->[0]\t$_->[1]\n" } @$pairs) . "\\.\n";
	};
	my $answer = $node->safe_psql('postgres', $copy->('noted', $noted) . $copy->('tried', $tried) . q{
		SELECT (SELECT count(*) FROM noted),
		       (SELECT count(*) FROM noted JOIN filters USING (id) WHERE bf_contains(f, key)),
		       (SELECT count(*) FROM (SELECT id, array_agg(key) AS keys FROM tried GROUP BY id) AS t
		         JOIN filters USING (id), bf_info(f), bf_add_all(bf_create(n, p, seed), keys) AS every WHERE f | every <> every),
		       (SELECT count(*) FROM filters WHERE bf_fpp(f) > 0.001)});
	return split /\|/, $answer;
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
	return $found;
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
	my $victim = $how eq 'backend' ? busy_backend($node) : undef;
	my @pids = split /\n/, $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity ORDER BY backend_type <> 'walwriter'});

	if ($how eq 'immediate')
	{
		$node->stop('immediate');
		$node->start unless $option{stay_down};
		return;
	}

	# nothing writes WAL for the commits any more but they themselves
	kill 'STOP', $pids[0] or die;
	usleep(200_000);
	if ($how eq 'server')
	{
		$node->kill9;
		kill 'KILL', @pids;
		start_after_kill($node) unless $option{stay_down};
		return;
	}
	kill 'KILL', $victim or die 'there is no backend to kill';
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
