# The recipes of doc/recipes.md that speak of several sessions, in several sessions.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Recipes;
use Sessions;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', q{
deadlock_timeout = 10ms
log_statement = none
});
$node->start;

my $database;

sub value
{
	my ($sql) = @_;
	return $node->safe_psql($database, $sql);
}

# Waits for sessions, all of which have to come to their end; returns what they said, and
# how many attempts failed with which SQLSTATE.
sub finish
{
	my ($what, @sessions) = @_;
	my (@said, %codes);
	my $good = 1;

	for my $session (@sessions)
	{
		my ($ended, $output, @codes) = finish_session($session);
		$good &&= $ended;
		push @said, $output;
		$codes{$_}++ for @codes;
	}
	ok($good, "$what: all sessions came to their end") or diag(explain(\%codes));
	return (\@said, \%codes);
}

# ---- batches ----

my $loaders = 3;
my $batches = 2;
my $size = 2000;

# The first key of a loader's batch: the first batches of all loaders are one, the others
# overlap.
sub first_key
{
	my ($loader, $batch) = @_;
	return $batch * $size + ($batch ? $loader * 500 : 0);
}
# from 0 on
my $keys = first_key($loaders - 1, $batches - 1) + $size;

# Loads the batches by this transaction, all loaders at once; the first batches meet at what
# is held.
sub load
{
	my ($what, $transaction, $held, $level, $last) = @_;

	$last //= $batches - 1;
	value("TRUNCATE events, measurements; UPDATE loaded SET f = bf_create(50000, 0.01)");
	my $holder = hold($node, $database, $held);
	my @sessions;
	for my $loader (0 .. $loaders - 1)
	{
		push @sessions, start_session($node, $database, map {
			my $first = first_key($loader, $_);
			# in another order for each loader
			my $order = $loader % 2 ? 'DESC' : 'ASC';
			"CREATE TEMP TABLE batch AS SELECT i AS event_id, date '2026-01-01' + (i * 7 + $loader) % 31 AS day, 'loader $loader' AS body"
			  . " FROM generate_series($first, $first + $size - 1) AS i ORDER BY i $order;\n"
			  . "SET default_transaction_isolation = '$level';\n$transaction\n"
		} 0 .. $last);
	}
	wait_for_locks($node, $database, $loaders);
	let_go($node, $database);
	return finish($what, $holder, @sessions);
}

$database = 'batches';
run_recipe($node, $database, 'Batches');
my ($exact, $believing) = transactions('Batches') or die;
my $filter_held = "SELECT name FROM loaded WHERE name = 'events' FOR UPDATE";
# in the midst of the first batches: there, two that came from both sides would deadlock
my $key_held = 'INSERT INTO measurements VALUES (' . $size / 2 . ", 'held')";

for my $level ('read committed', 'repeatable read', 'serializable')
{
	my ($said, $codes) = load("batches, $level", $exact, $filter_held, $level);
	is(join(' ', keys %$codes), $level eq 'read committed' ? '' : '40001', "batches, $level: losers are told so, and nothing else goes wrong");
	cmp_ok($codes->{40001}, '>=', $loaders - 1, "batches, $level: $codes->{40001} serialization errors") if %$codes;
	is( value("SELECT count(*), count(DISTINCT event_id), (SELECT f FROM loaded WHERE name = 'events') = bf_agg(event_id, 50000, 0.01) FROM events"),
		"$keys|$keys|t", "batches, $level: each key once, and the filter of all keys");
}
{
	(my $unlocked = $exact) =~ s/^SELECT name FROM loaded .* FOR UPDATE;$//m or die;
	load('batches, without the lock', $unlocked, $filter_held, 'read committed', 0);
	is(value('SELECT count(*) FROM events'), $loaders * $size, 'batches, without the lock: keys come twice, and it is noticed');
}
for my $level ('read committed', 'repeatable read')
{
	my ($said, $codes) = load("batches, filter believed, $level", $believing, $key_held, $level);
	is(join(' ', keys %$codes), $level eq 'read committed' ? '' : '40001', "batches, filter believed, $level: no deadlock");
	my ($stored, $distinct, $filter) = split /\|/, value(
		"SELECT count(*), count(DISTINCT event_id), (SELECT f = (SELECT bf_agg(i, 50000, 0.01) FROM generate_series(0, $keys - 1) AS i)"
		  . " FROM loaded WHERE name = 'measurements') FROM measurements");
	is("$distinct|$filter", "$stored|t", "batches, filter believed, $level: no key twice, and the filter of all keys");
	rate_kept($keys - $stored, $keys, 0.01, "batches, filter believed, $level");
}

# ---- crawler ----

$database = 'crawler';
run_recipe($node, $database, 'Crawler');
value('TRUNCATE pages, doubts; UPDATE crawl SET f = bf_create_scalable(2000, 0.01)');
{
	# each page by two of three crawlers
	my @sessions = map {
		start_session($node, $database, qq{DO \$\$
			DECLARE
				fetched record;
			BEGIN
				FOR fetched IN SELECT page, array_agg(url) AS urls FROM links WHERE page < 120 AND page % 3 <> $_ GROUP BY page ORDER BY page LOOP
					CALL take_links(fetched.page, fetched.urls);
					COMMIT;
					IF fetched.page % 20 = 3 THEN
						CALL check_doubts();
						COMMIT;
					END IF;
				END LOOP;
				CALL check_doubts();
			END \$\$})
	} 0 .. 2;
	my ($said, $codes) = finish('crawler', @sessions);
	is_deeply($codes, {}, 'crawler: no errors');
	is( value('WITH truth AS (SELECT DISTINCT url FROM links WHERE page < 120) SELECT count(*) FROM ((SELECT url FROM pages EXCEPT ALL TABLE truth)'
			  . ' UNION ALL (TABLE truth EXCEPT ALL SELECT url FROM pages)) AS difference'),
		0, 'crawler: every link is taken, and once');
}

# ---- once in 24 hours ----

$database = 'once';
run_recipe($node, $database, 'Once in 24 hours');
{
	my $at = "timestamptz '2026-02-01 12:00Z'";
	my $messages = 120;
	# forwards and backwards
	my @sessions = map {
		my $backwards = $_ % 2;
		start_session($node, $database,
			join '', map { my $i = $backwards ? $messages + 1 - $_ : $_; "SELECT 'sent $i' WHERE may_send('message $i', $at);\n" } 1 .. $messages)
	} 1 .. 4;
	my ($said, $codes) = finish('once', @sessions);
	is_deeply($codes, {}, 'once: no errors');
	my %sent;
	$sent{$_}++ for map { /^sent (\d+)$/mg } @$said;
	is(scalar(grep { $_ > 1 } values %sent), 0, 'once: nothing is sent twice');
	rate_kept($messages - keys %sent, $messages, 0.01, 'once');

	my $holder = hold($node, $database, "SELECT may_send('the same', $at)");
	my @waiting = map {
		start_session($node, $database, "SET default_transaction_isolation = '$_'; SELECT 'sent' WHERE may_send('the same', $at);")
	} 'read committed', 'repeatable read';
	wait_for_locks($node, $database, 2);
	let_go($node, $database);
	($said, $codes) = finish('once, in another transaction', $holder, @waiting);
	is(join('|', @$said), "t\n||", 'once, in another transaction: whoever has waited sends nothing');
	is_deeply($codes, { 40001 => 1 }, 'once, in another transaction: REPEATABLE READ has to try again');
}

# ---- unsubscribe ----

$database = 'unsubscribe';
run_recipe($node, $database, 'Unsubscribe');
{
	my @sessions = map {
		start_session($node, $database, q{DO $$ BEGIN
			FOR i IN 1 .. 100 LOOP
				CALL unsubscribe('reader' || i * 5 + 5000 || '@example.com');
				COMMIT;
				CALL subscribe('late' || i || '@example.com');
				COMMIT;
			END LOOP; END $$})
	} 1 .. 3;
	my ($said, $codes) = finish('unsubscribe', @sessions);
	is_deeply($codes, {}, 'unsubscribe: no errors');
	is(value('SELECT count(*) FROM subscribers, mailing WHERE NOT bf_contains(f, email)'), 0, 'unsubscribe: no subscriber is lost');
	is(value('SELECT count(*), (SELECT bf_count(f) FROM mailing) FROM subscribers'), '20000|20000', 'unsubscribe: nobody is taken out or put in twice');
}

# ---- a bigger filter ----

$database = 'bigger';
run_recipe($node, $database, 'A bigger filter, when the keys are at');
my ($steps) = recipe('A bigger filter, when the keys are at') =~ /^(-- 1\..*DROP TABLE rebuilt;)/ms or die;
$steps =~ s/^CALL .*\n//m or die;
{
	value('CREATE TABLE done (yes bool); CREATE TABLE looks (missing bigint)');
	my @writers = map {
		start_session($node, $database, qq{DO \$\$ BEGIN
			FOR i IN 1 .. 9000 LOOP
				CALL add_user($_ * 10000 + 1000 + i);
				COMMIT;
				EXIT WHEN EXISTS (SELECT FROM done);
			END LOOP; END \$\$})
	} 2 .. 4;
	my $reader = start_session($node, $database, q{DO $$ BEGIN
		LOOP
			INSERT INTO looks SELECT count(*) FROM users, filters WHERE NOT bf_contains(f, user_id);
			COMMIT;
			EXIT WHEN EXISTS (SELECT FROM done);
		END LOOP; END $$});
	$node->poll_query_until($database, 'SELECT count(DISTINCT user_id / 10000) = 4 FROM users WHERE user_id > 10000') or die 'nobody writes';
	my $before = value('SELECT count(*) FROM users');
	my $mover = start_session($node, $database, ($steps) x 4);
	finish('bigger', $mover);
	my $meanwhile = value('SELECT count(*) FROM users') - $before;
	value('INSERT INTO done VALUES (true)');
	my ($said, $codes) = finish('bigger, writers and reader', @writers, $reader);
	is_deeply($codes, {}, 'bigger: no errors');
	cmp_ok($meanwhile, '>', 20, "bigger: $meanwhile keys were added during four moves");
	my ($looks, $missing) = split /\|/, value('SELECT count(*), sum(missing) FROM looks');
	is($missing, 0, "bigger: at none of $looks moments a key was not found");
	is(value('SELECT f = (SELECT bf_agg(user_id, 50000, 0.01) FROM users), next IS NULL FROM filters'), 't|t', 'bigger: the filter of all keys');
}
{
	# one that has inserted its row and comes to the filter after step 2, and one that has
	# been at the filter before step 1
	my ($one, $two, $three) = $steps =~ /^(UPDATE.*?;)$.*^(CREATE.*?;)$.*^(UPDATE.*)\z/ms or die;
	my ($insert, $add) = recipe('A bigger filter, when the keys are at') =~ /^ +(INSERT INTO users VALUES \(id\);)\n +(UPDATE filters .*?;)$/m or die;
	s/\bid\b/90001/g for $insert, $add;
	my $late = hold($node, $database, $insert =~ s/;$//r, $add);
	value($one);
	value($two);
	let_go($node, $database);
	finish('bigger, a late writer', $late);
	value($three);
	is(value('SELECT bf_contains(f, 90001) FROM filters'), 't', 'bigger: its key is found');

	my $early = hold($node, $database, 'CALL add_user(90002)');
	my $mover = start_session($node, $database, $steps);
	wait_for_locks($node, $database, 1);
	let_go($node, $database);
	finish('bigger, an early writer', $early, $mover);
	is(value('SELECT f = (SELECT bf_agg(user_id, 50000, 0.01) FROM users), bf_contains(f, 90002) FROM filters'), 't|t', 'bigger: its key is found');
}

$node->stop;
done_testing();
