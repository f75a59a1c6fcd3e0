-- What cannot be answered is an error that says why, and changes nothing.

-- keys of another type: values that are equal in SQL but in different hash families
SELECT bf_contains(bf_add(bf_create(10), 1), 1.0::float8);
SELECT bf_contains(bf_add(bf_create(10), 1.0::float8), 1);
SELECT bf_contains(bf_add(bf_create(10), 1), '1');
SELECT bf_contains(bf_add(bf_create(10), 1), '1'::text);
SELECT bf_contains(bf_add(bf_create(10), date '2024-01-02'), timestamptz '2024-01-02');
SELECT bf_contains(bf_add(bf_create(10), '\x61'::bytea), 'a');
SELECT bf_contains(bf_add(bf_create(10), true), 1);
SELECT bf_contains(bf_add(bf_create(10), 'a'::"char"), 'a'::text);
SELECT bf_contains(bf_add(bf_create(10), 1259::oid), 'pg_class'::regclass);
SELECT bf_contains(bf_add(bf_create(10), interval '1 day'), time '24:00');
SELECT bf_contains(bf_add(bf_create(10), ARRAY[1, 2]), ARRAY['1', '2']);
SELECT bf_contains(bf_add(bf_create(10), ARRAY[1, 2]), 1);
SELECT bf_contains(bf_add(bf_create(10), 1), ARRAY[1, 2]);
SELECT bf_contains(bf_add(bf_create(10), ARRAY[ROW(1)]), ARRAY[ROW('x'::text)]);
-- keys of a type that is not there, from another database
SELECT bf_contains('AQEBA/9WNBIwAAAACAAAAAAAAACamZmZmZm5PzAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQIEx4br0kBdq3g='::bloomfilter, 1);
SELECT (bf_info('AQEBA/9WNBIwAAAACAAAAAAAAACamZmZmZm5PzAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQIEx4br0kBdq3g=')).key_type;
SELECT bf_contains(bf_add(bf_create(10), ROW(1, 'a'::text)), ROW('a'::text, 1));
SELECT bf_contains(bf_add(bf_create(10), ROW(1, 'a'::text)), ROW(1));
SELECT bf_contains(bf_add(bf_create(10), int4range(1, 2)), daterange('2024-01-01', '2024-01-02'));
SELECT bf_contains(bf_add(bf_create(10), 1), bf_key('a'));
SELECT bf_add(bf_add(bf_create(10), 1), 'a'::text);
SELECT bf_add_all(bf_add(bf_create(10), 1), ARRAY['a']);
SELECT bf_contains_any(bf_add(bf_create(10), 1), ARRAY['a']);
SELECT bf_contains_all(bf_add(bf_create(10), 1), ARRAY['a']);
SELECT bf_agg(r, 10, 0.01) FROM (VALUES (ROW(1, 2)), (ROW(1))) AS v (r);
SELECT bf_agg(k, 10, 0.01) FROM (VALUES (bf_key(1)), (bf_key('a'))) AS v (k);
-- a filter without keys has no key type yet
SELECT bf_contains(bf_create(10), 1), bf_contains(bf_create(10), 'a'), bf_contains_any(bf_create(10), ARRAY[now()]);

-- types without a suitable hash function, also inside others, also for no rows at all
SELECT bf_contains(bf_create(10), point(1, 2));
SELECT bf_add(bf_create(10), '{}'::json);
SELECT bf_add(bf_create(10), B'101');
SELECT bf_add_all(bf_create(10), ARRAY[box '(1,1),(2,2)']);
SELECT bf_agg(p, 10, 0.01) FROM (VALUES (point(1, 2))) AS v (p);
SELECT bf_key(ARRAY[point(1, 2)]);
SELECT bf_key(ROW(1, point(1, 2)));
SELECT bf_contains(bf_create(10), ROW(1, 'x'));
SELECT bf_contains(bf_create(10), ROW(1, 'x'::text));

-- a parameter without a type: PostgreSQL cannot tell what the key is
PREPARE untyped AS SELECT bf_contains(bf_add(bf_create(10), 42), $1);
PREPARE typed AS SELECT bf_contains(bf_add(bf_create(10), 42), $1::bigint);
EXECUTE typed('42');
PREPARE declared(int) AS SELECT bf_contains(bf_add(bf_create(10), 42), $1);
EXECUTE declared('42');
PREPARE as_text(text) AS SELECT bf_contains(bf_add(bf_create(10), 42), $1);
EXECUTE as_text('42');

-- aggregates
SELECT bf_agg(x, 100 + x, 0.01) FROM generate_series(1, 3) AS x;
SELECT bf_agg(x, 100, 0.01 * x) FROM generate_series(1, 3) AS x;
SELECT bf_agg(bf_key(x), 100 + x, 0.01) FROM generate_series(1, 3) AS x;
SELECT bf_agg(x, NULL, 0.01) FROM generate_series(1, 3) AS x;
SELECT bf_agg(x, 100, NULL) FROM generate_series(1, 3) AS x;
SELECT bf_agg(x, 0, 0.01) FROM generate_series(1, 3) AS x;
SELECT bf_agg(x, 100, 2) FROM generate_series(1, 3) AS x;
SELECT bf_agg(bf_key(x), 100, 'NaN') FROM generate_series(1, 3) AS x;
-- their support functions serve nothing else (those of type internal cannot even be named in a query)
SELECT bf_union_trans(bf_create(1), bf_create(1));
SELECT bf_intersect_trans(bf_create(1), NULL);
SELECT bf_agg_key_trans(NULL, bf_key(1), 10, 0.1);

-- the codes
\set VERBOSITY sqlstate
SELECT bf_contains(bf_add(bf_create(10), 1), 1.0::float8);
SELECT bf_contains(bf_add(bf_create(10), date '2024-01-02'), timestamptz '2024-01-02');
SELECT bf_add(bf_add(bf_create(10), 1), 'a'::text);
SELECT bf_contains(bf_create(10), point(1, 2));
SELECT bf_contains(bf_create(10), ROW(1, 'x'));
SELECT bf_agg(x, 100 + x, 0.01) FROM generate_series(1, 3) AS x;
SELECT bf_agg(x, NULL, 0.01) FROM generate_series(1, 3) AS x;
SELECT bf_shard(1, 0);
SELECT bf_union_trans(bf_create(1), bf_create(1));
SELECT bf_create(100, 0.01)::text::bytea::bloomfilter;
SELECT 'not base64'::bloomfilter;
