# The scripts of doc/recipes.md, as they stand there, each in a database of its own; what
# the text says of them is checked from what the script made.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Recipes;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', "log_statement = none\n");
$node->start;

my %run;
my $database;

# The recipe under the heading that begins so, in a database of that name.
sub begin_recipe
{
	my ($heading) = @_;

	($database = lc $heading) =~ s/\W+/_/g;
	($run{$heading}) = grep { index($_, $heading) == 0 } recipe_headings();
	note("---- $run{$heading}");
	return run_recipe($node, $database, $heading);
}

# The columns of one row.
sub row
{
	my ($sql) = @_;
	return split /\|/, $node->safe_psql($database, $sql), -1;
}

sub value
{
	my ($sql) = @_;
	return $node->safe_psql($database, $sql);
}

# Queries of one row each, with what they should say and what that means.
sub answers
{
	my @got = split /\n/, value(join ";\n", map { $_->[0] } @_), -1;
	is(scalar(@got), scalar(@_), 'one row each') if @got != @_;
	is($got[$_], $_[$_]->[1], $_[$_]->[2]) for 0 .. $#_;
}

{
	begin_recipe('Guard an origin');
	my ($products, $wrong) =
	  row('SELECT count(DISTINCT wanted), count(*) FILTER (WHERE s.body IS DISTINCT FROM o.body) FROM origin AS o JOIN served AS s ON wanted = product_id');
	is($wrong, 0, "guard: $products products are found");
	answers(
		[ 'SELECT count(*) FROM served LEFT JOIN origin ON product_id = wanted WHERE served.body IS NOT NULL AND product_id IS NULL',
			0, 'guard: nothing else is' ],
		[ 'SELECT count(*) > 0 FROM served WHERE wanted = 70000 AND body IS NOT NULL', 't', 'guard: the new product too' ]);
	my ($none, $calls) =
	  row('SELECT (SELECT count(*) FROM served WHERE NOT EXISTS (SELECT FROM origin WHERE product_id = wanted)), last_value FROM origin_calls');
	# each product is fetched once, then it is in the cache
	cmp_ok($none, '>=', 8000, "guard: $none requests for nothing");
	rate_kept($calls - $products, $none, 0.01, 'guard', some => 1);
}

{
	begin_recipe('Stream');
	answers(
		[ 'SELECT count(*) FROM first_clicks AS f JOIN clicks AS c ON c.visitor = f.visitor AND c.at < f.at', 0, 'stream: what is kept is the first' ],
		[ 'SELECT count(*) FROM (SELECT visitor, min(click_id) FROM clicks GROUP BY 1 EXCEPT (SELECT visitor, click_id FROM first_clicks UNION SELECT visitor, click_id FROM missed)) AS d',
			0, 'stream: with the missed ones each visitor is there' ],
		[ 'SELECT count(*) - count(DISTINCT visitor) FROM (SELECT visitor FROM first_clicks UNION ALL SELECT visitor FROM missed) AS a', 0, 'stream: once' ]);
	my ($missed, $visitors) = row('SELECT (SELECT count(*) FROM missed), count(DISTINCT visitor) FROM clicks');
	rate_kept($missed, $visitors, 0.01, 'stream');
}

{
	my @said = split /\n/, begin_recipe('Maintained filters');
	is($said[0], 'f|f|t', 'maintained: what was written a moment ago is known');
	answers(
		[ 'SELECT count(*) FROM asked LEFT JOIN accounts ON accounts.name = asked.name OR (accounts.name, asked.name) = ($$first$$, $$user1$$) WHERE is_free <> (accounts.name IS NULL)',
			0, 'maintained: every answer is right' ],
		[ q{SELECT count(*) FROM accounts WHERE NOT bf_maybe('accounts', 'name', name)}, 0, 'maintained: every name is known' ]);
	my ($calls) = row('SELECT last_value FROM looked_up');
	# 1,000 names that are taken, and two of the three that were asked for last
	rate_kept($calls - 1002, 19001, 0.001, 'maintained');
	my ($shards, $keys, $rate, $worst) = split /\|/, $said[1];
	cmp_ok($rate, '<', 0.001, "maintained: $shards shards keep the rate");
	cmp_ok((split /\|/, $said[2])[0], '>', 2 * $shards, 'maintained: more room');
}

{
	begin_recipe('Crawler');
	answers(
		[ 'SELECT count(*) FROM ((SELECT url FROM pages EXCEPT ALL SELECT DISTINCT url FROM links)'
			  . ' UNION ALL (SELECT DISTINCT url FROM links EXCEPT ALL SELECT url FROM pages)) AS difference',
			0, 'crawler: every link is taken, and once' ],
		[ 'SELECT count(*) FROM pages WHERE NOT EXISTS (SELECT FROM links WHERE (page, links.url) = (found_on, pages.url))',
			0, 'crawler: the page that it was found on has it' ],
		[ 'SELECT count(*) FROM doubts', 0, 'crawler: no doubt is left' ]);
	my ($pages, $doubted) = row('SELECT count(*), count(*) FILTER (WHERE was_doubted) FROM pages');
	rate_kept($doubted, $pages, 0.01, 'crawler', some => 1);
}

{
	my ($first, $count) = split /\n/, begin_recipe('Blocklist');
	is($first, '|phishing', 'blocklist: a pardoned sender and a new one');
	answers(
		[ 'SELECT count(*) FROM (SELECT sender FROM blocked UNION SELECT $$spam10@example.com$$) AS t, blocklist WHERE NOT bf_contains(f, sender)',
			0, 'blocklist: the filter suspects all, the pardoned one too' ],
		[ 'WITH exact AS (SELECT message_id, sender, reason FROM messages JOIN blocked USING (sender))'
			  . ' SELECT count(*) FROM ((TABLE exact EXCEPT ALL TABLE rejected) UNION ALL (TABLE rejected EXCEPT ALL TABLE exact)) AS difference',
			0, "blocklist: $count messages are rejected, those of blocked senders" ],
		[ 'SELECT count(*) FROM blocked WHERE why_blocked(sender) IS DISTINCT FROM reason', 0, 'blocklist: all blocked senders are condemned' ],
		[ 'SELECT why_blocked(NULL) IS NULL', 't', 'blocklist: nobody is not blocked' ]);
	my ($innocent, $suspected, $condemned) =
	  row('SELECT count(*), count(*) FILTER (WHERE bf_contains(f, sender)), count(why_blocked(sender))'
		  . ' FROM (SELECT DISTINCT sender FROM messages EXCEPT SELECT sender FROM blocked EXCEPT SELECT $$spam10@example.com$$) AS m, blocklist');
	rate_kept($suspected, $innocent, 0.01, 'blocklist', some => 1);
	is($condemned, 0, "blocklist: none of $suspected suspects is condemned");
}

{
	begin_recipe('Anti-join');
	my $difference = sub {
		my ($table, $truth) = @_;
		return value("WITH truth AS ($truth) SELECT count(*) FROM"
			  . " ((TABLE truth EXCEPT ALL TABLE $table) UNION ALL (TABLE $table EXCEPT ALL TABLE truth)) AS difference");
	};
	my $truth = 'SELECT id FROM new_rows WHERE NOT EXISTS (SELECT FROM seen WHERE seen.id = new_rows.id)';
	is($difference->('correct', $truth), 0, 'anti-join: the rows of NOT EXISTS');
	my ($new, $known) = row("SELECT count(*), (SELECT count(*) FROM new_rows) - count(*) FROM ($truth) AS t");
	my $lost = $difference->('wrong', $truth);
	rate_kept($lost, $new, 0.01, 'anti-join without the table', some => 1);

	my ($query) = recipe('Anti-join') =~ /^CREATE TABLE correct AS\n(.*?);/ms or die;
	my ($asked) = value("EXPLAIN (ANALYZE, COSTS off, TIMING off) $query") =~
	  /CTE Scan on asked[^\n]*actual rows=(\d+)[^\n]*\n *Filter: \(known IS NOT FALSE\)/
	  or die 'no such plan';
	is($asked, $known + $lost, "anti-join: the table is asked for $asked rows of " . ($new + $known));

	value('INSERT INTO new_rows VALUES (NULL), (NULL), (3), (3), (4), (4)');
	my $again = sub { value("CREATE TABLE $_[0] AS $query"); return $difference->($_[0], $truth) };
	is($again->('with_nulls'), 0, 'anti-join: and with NULLs and rows that are there twice');
	value("DELETE FROM filters");
	is($again->('without_filter'), 0, 'anti-join: and where the filter is missing');
}

{
	begin_recipe('Batches');
	my ($exact, $believing) = transactions('Batches') or die;
	is(value('SELECT count(*), count(DISTINCT event_id), min(event_id), max(event_id) FROM events'), '10000|10000|0|9999', 'batches: each key once');

	# more of them, which overlap, and come as a whole again
	my $batches = join "\n", map {
		"CREATE TEMP TABLE batch AS SELECT i AS event_id, date '2026-01-01' + (i + $_) % 31 AS day, 'again' AS body"
		  . " FROM generate_series($_, $_ + 9999) AS i;\n$exact\n$believing\nDROP TABLE batch;"
	} (5000, 12000, 12000, 30000, 40000, 40000);
	value($batches);
	# 0 to 21999 and 30000 to 49999
	my $keys = 42000;
	answers(
		[ 'SELECT count(*), count(DISTINCT event_id) FROM events WHERE event_id < 22000 OR event_id BETWEEN 30000 AND 49999',
			"$keys|$keys", 'batches: each key once, false positives too' ],
		[ 'SELECT count(*) FROM events', $keys, 'batches: and no other' ],
		[ 'SELECT bool_and(f = (SELECT bf_agg(event_id, 50000, 0.01) FROM events)) FROM loaded', 't', 'batches: the filters are those of all keys' ]);
	my ($stored, $distinct) = row('SELECT count(*), count(DISTINCT event_id) FROM measurements');
	is($distinct, $stored, 'batches: where the filter is believed no key comes twice');
	rate_kept($keys - $stored, $keys, 0.01, 'batches, where the filter is believed', some => 1);

	value("CREATE TEMP TABLE batch AS SELECT 60000::int AS event_id, date '2026-01-02' AS day, 'x' AS body; "
		  . $exact =~ s/^COMMIT;/ROLLBACK;/mr . $exact);
	is(value('SELECT count(*) FROM events WHERE event_id = 60000'), 1, 'batches: what was rolled back can be loaded again');
}

{
	begin_recipe('Days and weeks');
	my $days = '(TABLE visits UNION ALL TABLE late) AS v';
	my $last = "SELECT user_id FROM $days WHERE day > '2026-01-25'";
	answers(
		[ "SELECT count(*) FROM $days JOIN weekly ON week = date_trunc('week', day) WHERE NOT bf_contains(f, user_id)", 0, 'weeks: none is lost' ],
		[ "SELECT count(*) FROM $days JOIN daily USING (day) WHERE NOT bf_contains(f, user_id)", 0, 'days: none is lost' ],
		[ 'SELECT count(*), min(day), max(day) FROM daily', '14|2026-01-19|2026-02-01', 'days: two weeks are there' ],
		[ 'SELECT count(*), min(week), max(week) FROM weekly', '4|2026-01-05|2026-01-26', 'weeks: all four are' ],
		[ "SELECT count(*) FROM weekly JOIN (SELECT date_trunc('week', day)::date AS week, bf_agg(user_id, 13000, 0.01) AS whole FROM $days GROUP BY 1) AS w USING (week) WHERE f = whole",
			4, 'weeks: the filter is that of all rows of the week' ],
		[ "SELECT count(*) FROM daily JOIN (SELECT day, bf_agg(user_id, 13000, 0.01) AS whole FROM $days GROUP BY 1) AS d USING (day) WHERE f = whole",
			14, 'days: the filter is that of all rows of the day' ],
		[ "SELECT f = (SELECT bf_agg(user_id, 13000, 0.01) FROM ($last) AS l) FROM last_seven_days", 't', 'the last seven days: that of their rows' ]);
	my ($strangers, $found) = row('SELECT count(*), count(*) FILTER (WHERE bf_contains(f, i)) FROM last_seven_days, generate_series(1, 20000) AS i');
	rate_kept($found, $strangers, 0.01, 'the last seven days', some => 1);

	my $contains = "bf_contains(f, user_id, timestamptz '2026-02-01 12:00Z')";
	answers(
		[ "SELECT count(*) FROM ($last) AS l, recent WHERE NOT $contains", 0, 'layers: none of seven days is lost' ],
		[ "SELECT sum(i.bytes) > 2 * (SELECT bytes FROM recent, bf_info(f)) FROM daily, bf_info(f) AS i WHERE day > '2026-01-25'",
			't', 'layers: smaller than seven filters' ]);
	my ($older, $remembered) =
	  row("SELECT count(*), count(*) FILTER (WHERE $contains) FROM (SELECT DISTINCT user_id FROM $days EXCEPT $last) AS l, recent");
	cmp_ok($older, '>', 30000, "layers: $older users are to be forgotten");
	rate_kept($remembered, $older, 0.01, 'layers', some => 1);
}

{
	begin_recipe('Once in 24 hours');
	# a key is alive while its span is one of the last 24
	my ($repeated, $withheld, $new) = row(q{
		WITH numbered AS (
			SELECT i, who, told, floor(extract(epoch FROM at) / 3600) AS hour FROM decisions
		), history AS (
			SELECT *, max(hour) FILTER (WHERE told) OVER (PARTITION BY who ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last
			FROM numbered)
		SELECT count(*) FILTER (WHERE told AND hour - last < 24),
		       count(*) FILTER (WHERE NOT told AND (last IS NULL OR hour - last >= 24)),
		       count(*) FILTER (WHERE last IS NULL OR hour - last >= 24)
		FROM history});
	is($repeated, 0, 'once: nothing is sent twice within a day');
	rate_kept($withheld, $new, 0.01, 'once');
	answers(
		[ 'SELECT count(*) > 300 FROM (SELECT who FROM decisions WHERE told GROUP BY who HAVING count(*) > 1) AS again',
			't', 'once: but again on other days' ],
		[ q{SELECT may_send('now'), may_send('now'), may_send('other')}, 't|f|t', 'once: by the clock' ],
		# a transaction that began before the filter's newest hour: what was alive then is forgotten
		[ q{SELECT may_send('first', now() - interval '23 hours'), may_send('ahead', now() + interval '2 hours')}, 't|t', 'once: others are ahead' ],
		[ q{DO 'BEGIN PERFORM may_send(''x'', now()); RAISE ''no error''; EXCEPTION WHEN object_not_in_prerequisite_state THEN NULL; END';}
			  . q{ SELECT may_send('now'), may_send('then'), may_send('then')}, 'f|t|f', 'once: without a time there is an answer' ]);
}

for my $type ('cuckoo', 'counting')
{
	my $heading = 'Unsubscribe';
	begin_recipe($heading) if $type eq 'cuckoo';
	if ($type eq 'counting')
	{
		(my $script = recipe($heading)) =~ s/cuckoo(?=filter)|(?<=bf_agg_)cuckoo/counting/g;
		$database .= '_counting';
		$node->safe_psql('postgres', "CREATE DATABASE $database");
		value("CREATE EXTENSION bloomset; $script");
	}
	answers(
		[ 'SELECT count(*) FROM subscribers, mailing WHERE NOT bf_contains(f, email)', 0, "unsubscribe, $type: no subscriber is lost" ],
		[ q{SELECT count(*), count(*) FILTER (WHERE email LIKE 'new%') FROM subscribers}, '20000|400', "unsubscribe, $type: who is there" ]);
	my ($gone, $found) = row(q{SELECT count(*), count(*) FILTER (WHERE bf_contains(f, 'reader' || i * 5 || '@example.com')) FROM generate_series(1, 400) AS i, mailing});
	rate_kept($found, $gone, 0.01, "unsubscribe, $type");
	my ($strangers, $taken) = row(q{SELECT count(*), count(*) FILTER (WHERE bf_contains(f, 'nobody' || i)) FROM generate_series(1, 20000) AS i, mailing});
	rate_kept($taken, $strangers, 0.01, "unsubscribe, $type", some => 1);
	is(value("SELECT f = (SELECT bf_agg_counting(email, 25000, 0.01) FROM subscribers) FROM mailing"), 't', 'unsubscribe: the filter of those who are left')
	  if $type eq 'counting';
	is(value('SELECT bf_count(f) FROM mailing'), 20000, 'unsubscribe: the filter counts exactly') if $type eq 'cuckoo';
}

{
	my @alarm = split /\n/, begin_recipe('Watch the rates');
	like($alarm[0], qr/^filters\.f \(0,3\)\|/, 'watch: the filter with twice its keys is reported');
	is(scalar(@alarm), 2, 'watch: and no other');
	my ($filters, $to_rebuild, $worst) = split /\|/, $alarm[1];
	is("$filters|$to_rebuild", '6|1', 'watch: figures');
	cmp_ok($worst, '>', 5, "watch: the worst has $worst times its rate");
	is( value(q{SELECT string_agg(place || ' ' || state, ', ' ORDER BY place) FROM filter_health}),
		'filters.f (0,1) ok, filters.f (0,2) full, filters.f (0,3) rebuild, filters.keys_to_remove (0,1) ok, filters.keys_to_remove (0,2) full, of_no_size.f (0,1) ok',
		'watch: what state they are in');

	value(q{
		CREATE SCHEMA "Other";
		CREATE TABLE "Other"."T a" (id int, "F f" countingfilter, g layeredfilter) PARTITION BY RANGE (id);
		CREATE TABLE "Other".part PARTITION OF "Other"."T a" FOR VALUES FROM (1) TO (9);
		INSERT INTO "Other"."T a" VALUES (1, bf_add_all(bf_create_counting(100), ARRAY(SELECT generate_series(1, 300))), NULL),
			(2, NULL, bf_add_all(bf_create_layered(100, 0.01, 3, '1 day'), ARRAY(SELECT generate_series(1, 1000))));
		CREATE TABLE parent (f bloomfilter);
		CREATE TABLE child () INHERITS (parent);
		INSERT INTO child VALUES (bf_create(10)), (NULL);
		CREATE TABLE dropped (f bloomfilter);
		ALTER TABLE dropped DROP f;
		CREATE VIEW not_stored AS SELECT f FROM child;
		CREATE MATERIALIZED VIEW not_yet AS SELECT f FROM child WITH NO DATA;
		REFRESH MATERIALIZED VIEW of_no_size});
	is( value(q{SELECT string_agg(place || ' ' || state, ', ' ORDER BY place) FROM filter_health WHERE place !~ '^(filters|of_no)'}),
		'"Other".part."F f" (0,1) rebuild, "Other".part.g (0,2) rebuild, child.f (0,1) ok',
		'watch: wherever filters are stored, and once each');
}

{
	my ($n, $keys, $fpp) = split /\|/, begin_recipe('A bigger filter, when the keys are at');
	is($n, 50000, 'bigger: the new filter is there');
	answers(
		[ 'SELECT f = (SELECT bf_agg(user_id, 50000, 0.01) FROM users), next IS NULL FROM filters', 't|t', 'bigger: the filter of all keys' ],
		[ 'SELECT count(*) FROM users, filters WHERE NOT bf_contains(f, user_id)', 0, 'bigger: every key is found' ],
		[ 'SELECT count(*), max(user_id) FROM users', '10001|10001', 'bigger: the one of the meantime too' ]);

	# step 1 is needed
	my ($step_2, $step_3) = recipe('A bigger filter, when the keys are at') =~ /^-- 2\..*?\n(.*?;\n)CALL.*?^-- 3\.[^\n]*\n(.*?;)/ms or die;
	value("$step_2 CALL add_user(10002); $step_3");
	is(value('SELECT bf_contains(f, 10001), bf_contains(f, 10002) FROM filters'), 't|f', 'bigger: without step 1 a key would be lost, and it is noticed');
}

{
	begin_recipe('A bigger filter, when the keys are gone');
	value(q{DO 'BEGIN FOR i IN 4904 .. 7000 LOOP CALL add_seen(''order '' || i); END LOOP; END'});
	answers(
		[ q{SELECT count(*) FROM generate_series(1, 7000) AS i WHERE was_seen('order ' || i)}, 7000, 'keys gone: every key is found' ],
		[ q{SELECT string_agg(part || ':' || round(bf_count(f) / 100), ' ' ORDER BY part) FROM seen},
			'1:49 2:0', 'keys gone: each part has what came in its time' ]);
	my ($since, $layers) = row('SELECT count, layers FROM seen_since, bf_info(f)');
	# those that another part takes for its own are not added
	cmp_ok($since, '>', 0.95 * 2098, "keys gone: the scalablefilter has $since");
	cmp_ok($layers, '>', 1, 'keys gone: it has grown');
	my $wrong = value(q{SELECT count(*) FROM generate_series(1, 10000) AS i WHERE was_seen('nothing ' || i)});
	rate_kept($wrong, 10000, 0.01 + 0.005 + 0.005, 'keys gone', some => 1);
}

SKIP:
{
	my $heading = '"Seen?" and "how many?"';
	if ($node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'hll'}) eq '0')
	{
		($run{$heading}) = grep { index($_, $heading) == 0 } recipe_headings();
		skip 'the extension hll is not installed', 3;
	}
	begin_recipe($heading);
	my ($lost, $exact, $filter, $sketch) = row('SELECT * FROM answer');
	is($lost, 0, 'every visitor was seen');
	# 27000 keys in a filter for 40000: a standard deviation is about 0.15%; of the sketch
	# of 2^11 registers 2.3%
	cmp_ok(abs($filter / $exact - 1), '<', 0.01, "the filter counts $filter of $exact");
	cmp_ok(abs($sketch / $exact - 1), '<', 0.12, "the sketch counts $sketch");
}

is_deeply([ sort values %run ], [ sort(recipe_headings()) ], 'every recipe was run');

# the list at the beginning leads to each of them
my %anchor = map { s/[^\w\s-]//gr =~ tr/ /-/r => 1 } map { lc } recipe_headings();
my %link = map { $_ => 1 } slurp_file('doc/recipes.md') =~ /\]\(#([^)]*)\)/g;
is_deeply([ sort keys %link ], [ sort keys %anchor ], 'the list has every recipe');

$node->stop;
done_testing();
