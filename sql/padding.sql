-- However a filter or a key was made, the bytes in the table are the same: nothing of
-- the memory that it was made in stays in its padding.

CREATE EXTENSION pageinspect;
CREATE TABLE filters (f bloomfilter);
CREATE TABLE keys (k bfkey);
-- what the server's memory is full of: not zeros
CREATE FUNCTION dirty() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM count(DISTINCT repeat(chr(127 - x % 3), 10 + x % 600)) FROM generate_series(1, 3000) AS x;
END $$;

-- filters of 310 bytes, with a long header, and of 67, with a short one
CREATE FUNCTION fill(n bigint, p float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  f bloomfilter := bf_add_all(bf_create(n, p), ARRAY(SELECT generate_series(1, n)));
  way text;
BEGIN
  TRUNCATE filters;
  FOREACH way IN ARRAY ARRAY[
    'bf_agg(x, $1, $2) FROM generate_series(1, $1) AS x', 'bf_agg(bf_key(x), $1, $2) FROM generate_series(1, $1) AS x',
    'bf_agg(x, $2) FROM generate_series(1, $1) AS x', 'bf_add_all(bf_create($1, $2), ARRAY(SELECT generate_series(1, $1)))',
    'bf_union_agg(bf_add(bf_create($1, $2), x)) FROM generate_series(1, $1) AS x', '$3 | bf_create($1, $2)', '$3 & $3',
    'bf_intersect_agg(g) FROM (VALUES ($3), ($3)) AS v (g)', '$3::text::bloomfilter', '$3::bytea::bloomfilter',
    'bf_agg(x, $1, $2) OVER (ORDER BY x DESC) FROM generate_series(1, $1) AS x ORDER BY x LIMIT 1', 'bf_add($3, 1)', '$3']
  LOOP
    PERFORM dirty();
    EXECUTE 'INSERT INTO filters SELECT ' || way USING n, p, f;
  END LOOP;
END $$;
CREATE FUNCTION on_disk(name text) RETURNS TABLE (bytes bytea) LANGUAGE sql AS
  'SELECT t_data FROM heap_page_items(get_raw_page($1, 0)) WHERE t_data IS NOT NULL';

SELECT fill(200, 0.01);
\copy filters TO 'results/padding.bin' (FORMAT binary)
\copy filters FROM 'results/padding.bin' (FORMAT binary)
SELECT count(*) > 20 AS many, count(DISTINCT bytes) AS on_disk, max(length(bytes)) BETWEEN 250 AND 400 AS length FROM on_disk('filters');
SELECT count(DISTINCT f::bytea) AS sent, count(DISTINCT bf_hash_extended(f, 1)) AS hashes FROM filters;
SELECT fill(8, 0.1);
SELECT count(*), count(DISTINCT bytes) AS on_disk, max(length(bytes)) AS length FROM on_disk('filters');

-- by parallel workers, whose states came through shared memory
CREATE TABLE many AS SELECT x % 8 + 1 AS x FROM generate_series(1, 20000) AS x;
ANALYZE many;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
CREATE TEMP TABLE of_workers AS SELECT bf_agg(x, 8, 0.1) AS f, bf_agg(x, 0.1) AS g, bf_union_agg(bf_add(bf_create(8, 0.1), x)) AS h FROM many;
INSERT INTO filters SELECT f FROM of_workers UNION ALL SELECT g FROM of_workers UNION ALL SELECT h FROM of_workers;
SELECT count(*), count(DISTINCT bytes) AS on_disk FROM on_disk('filters');

-- keys: 16 bytes, of which 4 are padding
DO $$
DECLARE way text;
BEGIN
  FOREACH way IN ARRAY ARRAY['bf_key(1)', 'bf_key(1::int2)', 'bf_key(1.0)', 'bf_key(1)::text::bfkey', 'bf_key(bf_key(1))'] LOOP
    PERFORM dirty();
    EXECUTE 'INSERT INTO keys SELECT ' || way;
  END LOOP;
END $$;
\copy keys TO 'results/padding.bin' (FORMAT binary)
\copy keys FROM 'results/padding.bin' (FORMAT binary)
SELECT count(*), count(DISTINCT bytes) AS on_disk, max(length(bytes)) AS length, bool_and(substr(bytes, 13) = '\x00000000') AS padding FROM on_disk('keys');

DROP FUNCTION fill, on_disk, dirty;
DROP TABLE filters, keys, many, of_workers;
DROP EXTENSION pageinspect;
