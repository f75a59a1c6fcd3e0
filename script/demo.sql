-- The scenes of script/demo, for psql. Needs a database with nothing in it and
-- the dictionaries of Debian's packages wamerican and wamerican-huge.
\set ON_ERROR_STOP 1
\set ECHO none
\pset footer off
\pset null (null)
\pset pager off
SET client_min_messages = warning;

\echo
\echo '=== 1. A dictionary in a filter ========================================='
\echo
\echo 'Two word lists: american-english lies wholly inside american-english-huge,'
\echo 'so there are known members and known non-members.'
\echo

CREATE EXTENSION bloomset;
CREATE TABLE words (word text);
CREATE TABLE more_words (word text);
-- no byte of a word list is a delimiter or a quote
\copy words FROM '/usr/share/dict/american-english' WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')
\copy more_words FROM '/usr/share/dict/american-english-huge' WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')
CREATE INDEX words_word ON words (word);
CREATE TABLE others AS SELECT word FROM more_words EXCEPT SELECT word FROM words;
ANALYZE words, others;

SELECT (SELECT count(*) FROM words) AS words, (SELECT count(*) FROM others) AS other_words;

\echo 'A filter for all words, with 1% false positives, kept in a column:'
\echo
\set ECHO queries
\timing on
CREATE TABLE filters (name text PRIMARY KEY, f bloomfilter);

INSERT INTO filters
SELECT 'words', bf_agg(word, 0.01) FROM words;

\timing off
SELECT pg_size_pretty(pg_relation_size('words')) AS table_words,
       pg_size_pretty(pg_relation_size('words_word')) AS btree_index,
       pg_size_pretty(pg_column_size(f)::bigint) AS filter
FROM filters WHERE name = 'words';

\set ECHO none
\echo 'Ask it. "false" is certain, "true" means probably:'
\echo
\set ECHO queries
\timing on
SELECT bf_contains(f, 'zebra') FROM filters WHERE name = 'words';

SELECT bf_contains(f, 'zebrafish') FROM filters WHERE name = 'words';

\timing off
\set ECHO none
\echo 'What it knows about itself:'
\echo
\set ECHO queries
\x on
SELECT i.* FROM filters, bf_info(f) AS i WHERE name = 'words';
\x off

\set ECHO none
\echo
\echo '=== 2. Never a false negative, and the rate that was asked for =========='
\echo
\echo 'Every word is asked for: none may be missing.'
\echo
\set ECHO queries
SELECT count(*) AS words, count(*) FILTER (WHERE NOT bf_contains(f, word)) AS not_found
FROM words, filters WHERE name = 'words';

\set ECHO none
\echo 'Words that were not added: the share taken for members, against the rate'
\echo 'asked for (p) and the rate the filter itself computes from its fill (bf_fpp).'
\echo
\set ECHO queries
\timing on
SELECT count(*) AS other_words,
       count(*) FILTER (WHERE bf_contains(f, word)) AS taken_for_members,
       round(100.0 * count(*) FILTER (WHERE bf_contains(f, word)) / count(*), 2) AS percent,
       '1.00' AS asked_for,
       (SELECT round(100 * bf_fpp(f)::numeric, 2) FROM filters WHERE name = 'words') AS computed
FROM others, filters WHERE name = 'words';
\timing off

\set ECHO none
\echo
\echo '=== 3. Pre-screening a join ============================================='
\echo
\echo 'Four million generated events of six million users, 300,000 of whom are VIPs:'
\echo 'one event in twenty matches. (In one process, with work_mem 4MB, so that'
\echo 'the hash join needs temporary files, as a join does that outgrows its memory.)'
\echo
SELECT setseed(0.5) \gset
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
CREATE UNLOGGED TABLE events AS
SELECT 1000003 * (random() * 6000000)::bigint AS user_id,
       date '2025-06-02' + i % 7 AS day,
       repeat('x', 40) || i AS payload
FROM generate_series(1, 4000000) AS i;
CREATE UNLOGGED TABLE vip AS
SELECT 1000003 * i::bigint AS user_id FROM generate_series(1, 6000000, 20) AS i;
VACUUM ANALYZE events, vip;

SELECT clock_timestamp() AS t0 \gset
\set ECHO queries
SELECT count(*) AS events, sum(length(payload)) AS bytes
FROM events JOIN vip USING (user_id) \gset plain_

\set ECHO none
SELECT clock_timestamp() AS t1 \gset
\echo
\set ECHO queries
SELECT count(*) AS events, sum(length(payload)) AS bytes
FROM events JOIN vip USING (user_id)
WHERE bf_contains((SELECT bf_agg(user_id) FROM vip), events.user_id) \gset screened_

\set ECHO none
SELECT clock_timestamp() AS t2 \gset
\echo
SELECT screened_with, events, bytes, round(1000 * extract(epoch FROM took)::numeric) AS ms,
       round((extract(epoch FROM :'t1'::timestamptz - :'t0') / extract(epoch FROM took))::numeric, 1)
         AS times_as_fast,
       events = :'plain_events' AND bytes = :'plain_bytes' AS same_result
FROM (VALUES
        (1, 'nothing', :'plain_events', :'plain_bytes', :'t1'::timestamptz - :'t0'),
        (2, 'filter', :'screened_events', :'screened_bytes', :'t2'::timestamptz - :'t1'))
     AS measured (nr, screened_with, events, bytes, took)
ORDER BY nr;

\echo 'The number of events of each VIP. The planner cannot move the join into the'
\echo 'grouping, so all users are grouped; a filter can be put in there. So can an exact'
\echo 'IN, at the price of a hash table instead of ten bits per VIP:'
\echo
SELECT clock_timestamp() AS t0 \gset
\set ECHO queries
SELECT count(*) AS users, sum(n) AS events
FROM vip JOIN (SELECT user_id, count(*) AS n FROM events
               GROUP BY user_id) AS totals USING (user_id) \gset plain_

\set ECHO none
SELECT clock_timestamp() AS t1 \gset
\echo
\set ECHO queries
SELECT count(*) AS users, sum(n) AS events
FROM vip JOIN (SELECT user_id, count(*) AS n FROM events
               WHERE bf_contains((SELECT bf_agg(user_id) FROM vip), user_id)
               GROUP BY user_id) AS totals USING (user_id) \gset screened_

\set ECHO none
SELECT clock_timestamp() AS t2 \gset
\echo
\set ECHO queries
SELECT count(*) AS users, sum(n) AS events
FROM vip JOIN (SELECT user_id, count(*) AS n FROM events
               WHERE user_id IN (SELECT user_id FROM vip)
               GROUP BY user_id) AS totals USING (user_id) \gset exact_

\set ECHO none
SELECT clock_timestamp() AS t3 \gset
\echo
SELECT screened_with, users, events, round(1000 * extract(epoch FROM took)::numeric) AS ms,
       round((extract(epoch FROM :'t1'::timestamptz - :'t0') / extract(epoch FROM took))::numeric, 1)
         AS times_as_fast,
       users = :'plain_users' AND events = :'plain_events' AS same_result
FROM (VALUES
        (1, 'nothing', :'plain_users', :'plain_events', :'t1'::timestamptz - :'t0'),
        (2, 'filter', :'screened_users', :'screened_events', :'t2'::timestamptz - :'t1'),
        (3, 'exact IN', :'exact_users', :'exact_events', :'t3'::timestamptz - :'t2'))
     AS measured (nr, screened_with, users, events, took)
ORDER BY nr;

\echo 'When it does not help: more than half of the events match, and the other side is'
\echo 'a small table in memory, so that the join rejects a row as fast as a filter would.'
\echo
CREATE TABLE workdays AS
SELECT date '2025-06-02' + i AS day FROM generate_series(0, 4) AS i;
ANALYZE workdays;

SELECT clock_timestamp() AS t0 \gset
\set ECHO queries
SELECT count(*) AS events, sum(length(payload)) AS bytes
FROM events JOIN workdays USING (day) \gset plain_

\set ECHO none
SELECT clock_timestamp() AS t1 \gset
\echo
\set ECHO queries
SELECT count(*) AS events, sum(length(payload)) AS bytes
FROM events JOIN workdays USING (day)
WHERE bf_contains((SELECT bf_agg(day) FROM workdays), events.day) \gset screened_

\set ECHO none
SELECT clock_timestamp() AS t2 \gset
\echo
SELECT screened_with, events, bytes, round(1000 * extract(epoch FROM took)::numeric) AS ms,
       round((extract(epoch FROM :'t1'::timestamptz - :'t0') / extract(epoch FROM took))::numeric, 1)
         AS times_as_fast,
       events = :'plain_events' AND bytes = :'plain_bytes' AS same_result
FROM (VALUES
        (1, 'nothing', :'plain_events', :'plain_bytes', :'t1'::timestamptz - :'t0'),
        (2, 'filter', :'screened_events', :'screened_bytes', :'t2'::timestamptz - :'t1'))
     AS measured (nr, screened_with, events, bytes, took)
ORDER BY nr;

\echo
\echo '=== 4. Rolling up daily filters ========================================='
\echo
\echo 'One filter of visitors per day, once sized for a day (600,000 keys), once for the'
\echo 'whole week (3 million). Events are not needed for the rest.'
\echo
\set ECHO queries
\timing on
CREATE TABLE daily_filters AS
SELECT day, bf_agg(user_id, 600000, 0.01) AS for_day, bf_agg(user_id, 3000000, 0.01) AS for_week
FROM events GROUP BY day;

\timing off
\set ECHO none
\echo 'The union from Monday up to each day. A union holds the keys of all, so the small'
\echo 'filters get worse with every day: bf_fpp is the figure to watch.'
\echo
\set ECHO queries
\timing on
SELECT to_char(day, 'Dy') AS up_to, round(bf_count(week)) AS visitors_estimated,
       round(100 * bf_fpp(day_sized)::numeric, 2) AS percent_if_sized_for_day,
       round(100 * bf_fpp(week)::numeric, 2) AS percent_if_sized_for_week
FROM (SELECT day, bf_union_agg(for_day) OVER (ORDER BY day) AS day_sized,
             bf_union_agg(for_week) OVER (ORDER BY day) AS week
      FROM daily_filters OFFSET 0) AS unions
ORDER BY day;

SELECT count(DISTINCT user_id) AS visitors_exact FROM events;
\timing off

\set ECHO none
\echo
\echo '=== 5. Guarding an expensive look-up ===================================='
\echo
\echo 'slow_lookup stands for a remote service: a millisecond or two a call; it counts its'
\echo 'calls. 2,000 keys come in, one in twenty is a known word.'
\echo
CREATE SEQUENCE calls;
CREATE FUNCTION slow_lookup(asked text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM nextval('calls'), pg_sleep(0.001);
  RETURN EXISTS (SELECT FROM words WHERE word = asked);
END $$;
CREATE TABLE incoming AS
(SELECT word FROM words ORDER BY md5(word) LIMIT 100)
UNION ALL
(SELECT word FROM others ORDER BY md5(word) LIMIT 1900);

SELECT clock_timestamp() AS t0 \gset
\set ECHO queries
SELECT count(*) FILTER (WHERE slow_lookup(word)) AS found FROM incoming \gset plain_

\set ECHO none
SELECT clock_timestamp() AS t1, last_value AS plain_calls FROM calls \gset
\echo
SELECT setval('calls', 1, false) \gset
\set ECHO queries
SELECT count(*) FILTER (WHERE CASE WHEN bf_contains(f, word) THEN slow_lookup(word) END) AS found
FROM incoming, filters WHERE name = 'words' \gset screened_

\set ECHO none
SELECT clock_timestamp() AS t2, last_value AS screened_calls FROM calls \gset
\echo
SELECT screened_with, found, calls, round(1000 * extract(epoch FROM took)::numeric) AS ms,
       round((extract(epoch FROM :'t1'::timestamptz - :'t0') / extract(epoch FROM took))::numeric, 1)
         AS times_as_fast,
       found = :'plain_found' AS same_result
FROM (VALUES
        (1, 'nothing', :'plain_found', :'plain_calls', :'t1'::timestamptz - :'t0'),
        (2, 'filter', :'screened_found', :'screened_calls', :'t2'::timestamptz - :'t1'))
     AS measured (nr, screened_with, found, calls, took)
ORDER BY nr;


\set ECHO none
\echo
\echo '=== 6. Keys that come, go, are too many, and are forgotten ============='
\echo
\echo 'Unsubscribing: a filter of 1,000 words, one of which is taken out again. A'
\echo 'cuckoofilter does it in about the size of a bloomfilter, a countingfilter'
\echo 'in four times that.'
\echo
CREATE TABLE subscribers AS SELECT word FROM words ORDER BY md5(word) LIMIT 1000;
SELECT min(word) AS left_word FROM subscribers \gset
CREATE TABLE lists AS
SELECT bf_agg(word, 1000, 0.001) AS bloom, bf_agg_counting(word, 1000, 0.001) AS counting,
       bf_agg_cuckoo(word, 1000, 0.001) AS cuckoo FROM subscribers;
\set ECHO queries
UPDATE lists SET counting = bf_remove(counting, :'left_word'), cuckoo = bf_remove(cuckoo, :'left_word');

SELECT bf_contains(counting, :'left_word') AS in_counting, bf_contains(cuckoo, :'left_word') AS in_cuckoo,
       bf_count(counting)::int AS counting_count, bf_count(cuckoo)::int AS cuckoo_count,
       pg_column_size(bloom) AS bloom_bytes, pg_column_size(counting) AS counting_bytes,
       pg_column_size(cuckoo) AS cuckoo_bytes
FROM lists;

\set ECHO none
\echo
\echo 'Growing: made for 1,000 keys at 1%, given all words. The bloomfilter says yes to'
\echo 'nearly everything by now, the scalablefilter has added layers.'
\echo
\set ECHO queries
SELECT count(*) AS keys, round(100 * bf_fpp(bf_agg(word, 1000, 0.01))::numeric, 2) AS bloom_percent,
       round(100 * bf_fpp(bf_agg_scalable(word, 1000, 0.01))::numeric, 2) AS scalable_percent,
       (bf_info(bf_agg_scalable(word, 1000, 0.01))).layers
FROM words;

\set ECHO none
\echo
\echo 'Seen in the last 24 hours: 24 layers of one hour. Every hour a thousand words come,'
\echo 'for two days; what is older than a day is forgotten.'
\echo
CREATE TABLE arrivals AS
SELECT word, '2026-01-01 00:00Z'::timestamptz + (row_number() OVER (ORDER BY md5(word)) - 1) * interval '3.6 seconds' AS at
FROM words ORDER BY 2 LIMIT 48000;
\set ECHO queries
CREATE TABLE recent AS SELECT bf_agg_layered(word, at, 1000, 0.01, 24, '1 hour') AS f FROM arrivals;

SELECT to_char(at, 'Dy HH24:00') AS hour, count(*) AS arrived,
       count(*) FILTER (WHERE bf_contains(f, word, '2026-01-02 23:59Z')) AS still_seen
FROM (SELECT word, date_trunc('hour', at) AS at FROM arrivals) AS a, recent
GROUP BY at HAVING at::time IN ('00:00', '08:00', '16:00', '23:00') ORDER BY a.at;

\set ECHO none
\echo
\echo '=== 7. Filters that stay current, and a stream without repetitions ====='
\echo
\echo 'bf_track keeps filters of a column in rows of a kilobyte; triggers add what is'
\echo 'written. bf_maybe asks them: "false" is certain.'
\echo
CREATE TABLE accounts (name text);
INSERT INTO accounts SELECT word FROM words;
\set ECHO queries
\timing on
CALL bf_track('accounts', 'name', n => 200000);

INSERT INTO accounts VALUES ('bloomset');

\timing off
SELECT bf_maybe('accounts', 'name', 'bloomset') AS bloomset, bf_maybe('accounts', 'name', 'zebrafish') AS zebrafish;

SELECT count(*) AS shards, round(sum(bf_count(f))) AS names, round(100 * avg(bf_fpp(f))::numeric, 2) AS percent
FROM accounts_name_filter;

\set ECHO none
\echo 'More names than planned: larger filters, while others read and write.'
\echo
\set ECHO queries
\timing on
INSERT INTO accounts SELECT word FROM others;

\timing off
SELECT count(*) AS shards, round(sum(bf_count(f))) AS names, round(100 * avg(bf_fpp(f))::numeric, 2) AS percent
FROM accounts_name_filter;

\timing on
CALL bf_rebuild('accounts', 'name', n => 1000000);

\timing off
SELECT count(*) AS shards, round(sum(bf_count(f))) AS names, round(100 * avg(bf_fpp(f))::numeric, 2) AS percent
FROM accounts_name_filter;

\set ECHO none
\echo 'A stream of a million clicks by 200,000 visitors: the first click of each, exactly'
\echo 'by sorting, and with bf_seen in one pass and 370 kB.'
\echo
CREATE UNLOGGED TABLE clicks AS
SELECT i AS id, (random() * 200000)::int AS visitor FROM generate_series(1, 1000000) AS i;
\set ECHO queries
\timing on
SELECT count(*) AS first_clicks FROM (SELECT DISTINCT ON (visitor) id FROM clicks ORDER BY visitor, id) AS c;

SELECT count(*) AS first_clicks FROM (SELECT bf_seen(visitor, 200000, 0.001) OVER () AS seen FROM clicks) AS c WHERE NOT seen;
\timing off
