-- What the planner believes of bf_contains.

CREATE TABLE events AS SELECT x % 10000 AS user_id, x AS id, CASE WHEN x % 2 = 0 THEN x END AS half_null FROM generate_series(1, 100000) AS x;
CREATE TABLE vip AS SELECT x AS user_id FROM generate_series(1, 1000) AS x;
CREATE TABLE other AS SELECT x AS user_id FROM generate_series(1, 1000) AS x;
CREATE TABLE kept AS SELECT bf_agg(user_id) AS f FROM vip;
ANALYZE events, vip, other, kept;
CREATE FUNCTION estimated_rows(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN (plan -> 0 -> 'Plan' ->> 'Plan Rows')::float8;
END $$;
CREATE FUNCTION near(query text, expected float8) RETURNS boolean LANGUAGE sql AS
  'SELECT estimated_rows(query) BETWEEN expected * 0.85 - 2 AND expected * 1.15 + 2';

-- a constant filter: its keys among the column's distinct values, and its rate among the others
SELECT near(format('SELECT FROM events WHERE bf_contains(%L::bloomfilter, user_id)', f), 10000 + 900) AS one_in_ten,
       near(format('SELECT FROM events WHERE NOT bf_contains(%L::bloomfilter, user_id)', f), 90000 - 900) AS negated
FROM kept;
SELECT near(format('SELECT FROM events WHERE bf_contains(%L::bloomfilter, user_id)', bf_agg(x)), 100000) AS all_rows FROM generate_series(0, 9999) AS x;
SELECT near('SELECT FROM events WHERE bf_contains(bf_create(10), user_id)', 0) AS empty,
       near('SELECT FROM events WHERE bf_contains(NULL::bloomfilter, user_id)', 0) AS null_filter;
SELECT near(format('SELECT FROM events WHERE bf_contains(%L::bloomfilter, half_null)', bf_agg(x)), 50000) AS without_nulls FROM generate_series(1, 100000) AS x;
-- a parameter, in a plan of its own
PREPARE ask(bloomfilter) AS SELECT FROM events WHERE bf_contains($1, user_id);
SELECT near(format('EXECUTE ask(%L)', f), 10900) AS parameter FROM kept;

-- a filter that is built in the query, from a table that is not joined
SELECT near('SELECT FROM events WHERE bf_contains((SELECT bf_agg(user_id) FROM vip), user_id)', 10900) AS built,
       near('SELECT FROM events WHERE bf_contains((SELECT bf_agg(user_id, 500, 0.2) FROM vip), user_id)', 5000 + 19000) AS for_n,
       near('SELECT FROM events WHERE bf_contains((SELECT bf_agg(user_id, 0.5) FROM vip WHERE user_id <= 100), user_id)', 1000 + 49500) AS some,
       near('SELECT FROM events WHERE NOT bf_contains((SELECT bf_agg(user_id) FROM vip), user_id)', 89100) AS negated;
-- nothing is known: one half, either way
SELECT near('SELECT FROM events WHERE bf_contains((SELECT f FROM kept), user_id)', 50000) AS stored,
       near('SELECT FROM events WHERE NOT bf_contains((SELECT f FROM kept), user_id)', 50000) AS negated,
       near('SELECT FROM events WHERE bf_contains((SELECT bf_agg(user_id) FROM vip), id + user_id)', 50000) AS expression;

-- a pre-screened join is planned as without: same estimates, same shape
SELECT near('SELECT FROM events AS e JOIN vip AS v USING (user_id) WHERE bf_contains((SELECT bf_agg(user_id) FROM vip), e.user_id)',
            estimated_rows('SELECT FROM events AS e JOIN vip AS v USING (user_id)')) AS same_rows;
CREATE FUNCTION join_of(query text) RETURNS json LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN (SELECT json_agg(p ->> 'Node Type' || coalesce(' ' || (p ->> 'Relation Name'), ''))
          FROM json_array_elements(plan -> 0 -> 'Plan' -> 'Plans') AS p WHERE p ->> 'Parent Relationship' <> 'InitPlan');
END $$;
SELECT join_of('SELECT FROM events AS e JOIN vip AS v USING (user_id)') AS without,
       join_of('SELECT FROM events AS e JOIN vip AS v USING (user_id) WHERE bf_contains((SELECT bf_agg(user_id) FROM vip), e.user_id)') AS prescreened;
DROP FUNCTION join_of;
-- also where the join is around a subquery
SELECT near('SELECT FROM (SELECT user_id, count(*) FROM events WHERE bf_contains((SELECT bf_agg(user_id) FROM vip), user_id) GROUP BY user_id) AS s JOIN vip USING (user_id)',
            estimated_rows('SELECT FROM (SELECT user_id, count(*) FROM events GROUP BY user_id) AS s JOIN vip USING (user_id)')) AS same_rows;
-- and the result is the same
SELECT (SELECT count(*) FROM events JOIN vip USING (user_id)) =
       (SELECT count(*) FROM events AS e JOIN vip USING (user_id) WHERE bf_contains((SELECT bf_agg(user_id) FROM vip), e.user_id)) AS same_result;

-- as a join condition, in CASE, in a subquery's output: planned and right
SELECT count(*) FROM kept JOIN events ON bf_contains(f, user_id) WHERE user_id BETWEEN 1 AND 1000;
SELECT count(*) FROM events WHERE CASE WHEN user_id > 5000 THEN false ELSE bf_contains((SELECT bf_agg(user_id) FROM vip), user_id) END AND user_id BETWEEN 1 AND 1000;
SELECT count(*) FROM events WHERE bf_contains((SELECT bf_agg(a.user_id) FROM vip AS a, other AS b WHERE a.user_id = b.user_id), user_id) AND user_id BETWEEN 1 AND 1000;
SELECT count(*) FROM events AS e WHERE bf_contains((SELECT bf_agg(o.user_id) FROM other AS o WHERE o.user_id = e.user_id), e.user_id);

-- the queried table itself is not a join
SELECT near('SELECT FROM events WHERE bf_contains((SELECT bf_agg(e.user_id) FROM events AS e WHERE id <= 1000), user_id)', 10900) AS same_table;
-- aggregates of the same name, or with a constant, a group, a filter: nothing is taken for what it is not
CREATE FUNCTION pg_temp.state(bloomfilter) RETURNS bloomfilter LANGUAGE sql AS 'SELECT bf_create(10)';
CREATE AGGREGATE pg_temp.bf_agg(*) (SFUNC = pg_temp.state, STYPE = bloomfilter);
SELECT near('SELECT FROM events WHERE bf_contains((SELECT pg_temp.bf_agg(*) FROM vip), user_id)', 50000) AS stranger,
       near('SELECT FROM events WHERE bf_contains((SELECT bf_agg(5::bigint) FROM vip), user_id)', 10000 + 900) AS constant,
       near('SELECT FROM events WHERE bf_contains((SELECT bf_agg(user_id) FROM vip GROUP BY user_id % 10 LIMIT 1), user_id)', 50000) AS grouped,
       near('SELECT FROM events WHERE bf_contains((SELECT bf_agg(user_id) FILTER (WHERE user_id < 5) FROM vip), user_id)', 50000) AS filtered,
       near('SELECT FROM events WHERE bf_contains((SELECT bf_agg(user_id ORDER BY user_id + 1) FROM vip), user_id)', 10900) AS ordered,
       near('SELECT FROM events WHERE bf_contains((SELECT bf_agg(1) FROM generate_series(1, 10)), user_id)', 10 + 1000) AS function_scan;
DROP AGGREGATE pg_temp.bf_agg(*);

DROP TABLE events, vip, other, kept;
DROP FUNCTION near, estimated_rows;
