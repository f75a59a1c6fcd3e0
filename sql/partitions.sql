-- Partitioned tables: partial aggregates below a parallel append, and partition by partition, give the serial result byte for byte.

CREATE TABLE events (id bigint, name text, at timestamptz, part int) PARTITION BY LIST (part);
CREATE TABLE events_0 PARTITION OF events FOR VALUES IN (0);
CREATE TABLE events_1 PARTITION OF events FOR VALUES IN (1);
CREATE TABLE events_2 PARTITION OF events FOR VALUES IN (2);
-- some keys in several partitions, some NULL, a partition without rows
CREATE TABLE events_3 PARTITION OF events FOR VALUES IN (3);
INSERT INTO events
  SELECT CASE WHEN x % 100 > 0 THEN x % 20000 END, 'user' || x % 7000, timestamptz '2026-01-01' + x * interval '1 second', x % 3
  FROM generate_series(1, 40000) AS x;
CREATE TABLE filters (part int, f bloomfilter, c countingfilter, u cuckoofilter, s scalablefilter, l layeredfilter) PARTITION BY HASH (part);
CREATE TABLE filters_0 PARTITION OF filters FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE filters_1 PARTITION OF filters FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO filters
  SELECT g, bf_agg(x, 5000, 0.01), bf_agg_counting(x, 5000, 0.01), bf_agg_cuckoo(x, 5000, 0.01), bf_agg_scalable(x, 5000, 0.01),
         bf_agg_layered(x, timestamptz '2026-01-01' + x * interval '1 second', 5000, 0.01, 4, '1 hour')
  FROM (SELECT x, x % 40 AS g FROM generate_series(1, 4000) AS x) AS t GROUP BY g;
ANALYZE events, filters;

-- The aggregates, as SQL, with the table they are over.  bf_agg_scalable(bfkey) and the unions of cuckoofilters and scalablefilters
-- depend on the order of rows: for them equality of answers is asked below.
CREATE TABLE aggregates (name text PRIMARY KEY, source text, call text);
INSERT INTO aggregates VALUES
  ('agg_n', 'events', 'bf_agg(id, 20000, 0.01)'), ('agg', 'events', 'bf_agg(id)'), ('agg_p', 'events', 'bf_agg(name, 0.001)'),
  ('agg_key', 'events', 'bf_agg(bf_key(id), 20000, 0.01)'), ('counting', 'events', 'bf_agg_counting(id, 20000, 0.01)'),
  ('counting_key', 'events', 'bf_agg_counting(bf_key(id), 20000, 0.01)'), ('scalable', 'events', 'bf_agg_scalable(id, 1000, 0.01)'),
  ('layered', 'events', 'bf_agg_layered(id, at, 5000, 0.01, 24, ''1 hour'')'),
  ('layered_key', 'events', 'bf_agg_layered(bf_key(id), at, 5000, 0.01, 24, ''1 hour'')'),
  ('union', 'filters', 'bf_union_agg(f)'), ('intersect', 'filters', 'bf_intersect_agg(f)'), ('union_counting', 'filters', 'bf_union_agg(c)'),
  ('union_layered', 'filters', 'bf_union_agg(l)');

CREATE FUNCTION results(column_name text DEFAULT NULL) RETURNS TABLE (name text, digest text) LANGUAGE plpgsql AS $$
DECLARE a record;
BEGIN
  FOR a IN SELECT * FROM aggregates LOOP
    name := a.name;
    EXECUTE format('SELECT md5(string_agg(part || '' '' || md5(f::bytea::text), '' '' ORDER BY part)) FROM (SELECT %s AS part, %s AS f FROM %s %s) AS s',
      coalesce(column_name, '0'), a.call, a.source, 'GROUP BY ' || column_name) INTO digest;
    RETURN NEXT;
  END LOOP;
END $$;
-- what the plan is made of, without the numbers of workers and the order of partitions, which differ between versions
CREATE FUNCTION plan_of(call text, source text, column_name text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; nodes text[] := '{}';
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT %s %s FROM %s %s', column_name || ', ', call, source, 'GROUP BY ' || column_name) LOOP
    nodes := nodes || substring(line FROM '(Finalize|Partial|Aggregate|Gather|Parallel Append|Append|Parallel Seq Scan|Seq Scan|bf_contains)');
  END LOOP;
  RETURN (SELECT string_agg(node, ', ' ORDER BY first) FROM (SELECT node, min(i) AS first FROM unnest(nodes) WITH ORDINALITY AS n (node, i)
          WHERE node IS NOT NULL GROUP BY node) AS s);
END $$;

SET max_parallel_workers_per_gather = 0;
CREATE TABLE serial AS SELECT *, false AS grouped FROM results();
INSERT INTO serial SELECT *, true FROM results('part');
SELECT count(*), count(digest) AS not_null FROM serial;

SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT plan_of(call, source) AS plan, count(*) AS aggregates FROM aggregates GROUP BY 1;
SELECT count(*) AS aggregates, count(*) FILTER (WHERE r.digest = s.digest) AS same FROM results() AS r JOIN serial AS s USING (name) WHERE NOT grouped;
SELECT name AS differs FROM results() AS r JOIN serial AS s USING (name) WHERE NOT grouped AND r.digest <> s.digest;
-- the leader alone, the workers alone
SET parallel_leader_participation = off;
SELECT count(*) FILTER (WHERE r.digest = s.digest) AS same FROM results() AS r JOIN serial AS s USING (name) WHERE NOT grouped;
RESET parallel_leader_participation;
SET max_parallel_workers = 0;
SELECT count(*) FILTER (WHERE r.digest = s.digest) AS same FROM results() AS r JOIN serial AS s USING (name) WHERE NOT grouped;
RESET max_parallel_workers;

-- partition by partition: whole aggregates below the append where the groups are the partitions, partial ones where not
SET enable_partitionwise_aggregate = on;
SET max_parallel_workers_per_gather = 0;
-- (PostgreSQL 13 does not find it worth while for those that collect the keys first)
SELECT plan_of(call, source, 'part') AS plan, count(*) AS aggregates FROM aggregates
WHERE source = 'events' AND name NOT IN ('agg', 'agg_p', 'scalable') GROUP BY 1;
SELECT plan_of(call, source) AS plan, count(*) AS aggregates FROM aggregates WHERE source = 'events' GROUP BY 1;
SELECT count(*) FILTER (WHERE r.digest = s.digest) AS same FROM results('part') AS r JOIN serial AS s USING (name) WHERE grouped;
SELECT count(*) FILTER (WHERE r.digest = s.digest) AS same FROM results() AS r JOIN serial AS s USING (name) WHERE NOT grouped;
-- a group of several partitions
SELECT count(*) AS groups, bool_and(f = g) AS same FROM
  (SELECT id % 5 AS grp, bf_agg(id, 20000, 0.01) AS f FROM events GROUP BY 1) AS whole JOIN
  (SELECT grp, bf_union_agg(f) AS g FROM (SELECT id % 5 AS grp, part, bf_agg(bf_key(id), 20000, 0.01) AS f FROM events GROUP BY 1, 2) AS p GROUP BY 1) AS parts USING (grp);
SET max_parallel_workers_per_gather = 2;
SELECT count(*) FILTER (WHERE r.digest = s.digest) AS same FROM results('part') AS r JOIN serial AS s USING (name) WHERE grouped;
RESET enable_partitionwise_aggregate;

-- those that depend on the order of rows: every key is found, and as often
SELECT plan_of('bf_agg_cuckoo(id, 50000, 0.01), bf_agg_scalable(bf_key(id), 1000, 0.01)', 'events') AS plan;
WITH f AS (SELECT bf_agg_cuckoo(id, 50000, 0.01) AS u, bf_agg_scalable(bf_key(id), 1000, 0.01) AS s FROM events)
SELECT count(*) AS keys, bool_and(bf_contains(u, id)) AS cuckoo, bool_and(bf_contains(s, id)) AS scalable, bool_and(bf_count(u) = 2 * 19800) AS all_of_them
FROM (SELECT DISTINCT id FROM events WHERE id IS NOT NULL) AS d, f;
SELECT plan_of('bf_union_agg(u), bf_union_agg(s)', 'filters') AS plan;
WITH f AS (SELECT bf_union_agg(u) AS u, bf_union_agg(s) AS s FROM filters)
SELECT bool_and(bf_contains(u, x)) AS cuckoo, bool_and(bf_contains(s, x)) AS scalable, bool_and(bf_count(u) = 4000) AS all_of_them
FROM generate_series(1, 4000) AS x, f;

-- rows of a partitioned table are screened in the workers
SELECT plan_of('count(*)', 'events WHERE bf_contains((SELECT f FROM filters WHERE part = 7), id)') AS plan;
SELECT count(*) FILTER (WHERE id % 40 = 7 AND id <= 4000) = (SELECT count(*) FROM events WHERE id % 40 = 7 AND id <= 4000) AS members
FROM events WHERE bf_contains((SELECT f FROM filters WHERE part = 7), id);

DROP TABLE events, filters, aggregates, serial;
DROP FUNCTION results, plan_of;
