# Sessions that run beside the test, each a psql of its own that takes scripts one after
# the other: an attempt that ends with a serialization error is made again, as a client
# should do.

package Sessions;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use POSIX ();

our @EXPORT = qw(start_session finish_session hold let_go wait_for_locks);

my $folder = PostgreSQL::Test::Utils::tempdir();
my $sessions = 0;

sub start_session
{
	my ($node, $database, @scripts) = @_;
	my $file = "$folder/session" . ++$sessions;
	my $connection = $node->connstr($database);
	my $session = { file => $file, pid => fork };

	die "fork: $!" unless defined $session->{pid};
	return $session if $session->{pid};

	# the child: it must not end as the test does, which stops the server
	open(STDIN, '<', '/dev/null');
	open(STDOUT, '>', "$file.out");
	my $status = 0;
	for my $script (@scripts)
	{
		open(my $handle, '>', "$file.sql") or POSIX::_exit(2);
		print $handle $script;
		close($handle);
		for (1 .. 200)
		{
			open(STDERR, '>', "$file.try");
			$status = system('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=sqlstate', '-d', $connection, '-f', "$file.sql");
			last unless $status;
			my $error = slurp_file("$file.try");
			append_to_file("$file.err", $error);
			last unless $error =~ /ERROR:  40001/;
		}
		last if $status;
	}
	POSIX::_exit($status ? 1 : 0);
}

# Waits for it.  Returns whether all its scripts came to their end, what they said, and the
# SQLSTATEs of the attempts that failed.
sub finish_session
{
	my ($session) = @_;
	my $read = sub { return -e $_[0] ? slurp_file($_[0]) : '' };

	waitpid($session->{pid}, 0);
	my $good = $? == 0;
	return ($good, $read->("$session->{file}.out"), $read->("$session->{file}.err") =~ /ERROR:  (\w{5})/g);
}

# A session that does this in a transaction, and stays in it until it is let go, when it
# does the rest and commits.
sub hold
{
	my ($node, $database, $sql, $rest) = @_;

	$node->safe_psql($database, 'DROP TABLE IF EXISTS gate; CREATE TABLE gate (open bool)');
	my $session = start_session($node, $database,
		"BEGIN; $sql; DO 'BEGIN WHILE NOT EXISTS (SELECT FROM gate) LOOP PERFORM pg_sleep(0.02); END LOOP; END'; " . ($rest // '') . ' COMMIT;');
	$node->poll_query_until($database, "SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'DO ''BEGIN WHILE%'")
	  or die 'nobody holds';
	return $session;
}

sub let_go
{
	my ($node, $database) = @_;
	$node->safe_psql($database, 'INSERT INTO gate VALUES (true)');
}

# Until so many sessions wait for a lock.
sub wait_for_locks
{
	my ($node, $database, $count) = @_;
	$node->poll_query_until($database,
		"SELECT count(*) = $count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
	  or die "there are not $count sessions that wait";
}

1;
