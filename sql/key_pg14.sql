-- Keys of types and values that came with PostgreSQL 14: multiranges, infinite numerics.

SELECT bf_key('{[1,3),[5,9)}'::int4multirange) = bf_key('{[5,8],[1,2]}'::int4multirange) AS order_and_form,
       bf_key('{[1,3),[5,9)}'::int4multirange) = bf_key('{[1,3),[5,9)}'::int8multirange) AS width,
       bf_key('{[1,3)}'::int4multirange) = bf_key('{[1,4)}'::int4multirange) AS other,
       bf_key('{}'::int4multirange) = bf_key('{}'::int8multirange) AS empty,
       bf_key('{[1.0,2.50)}'::nummultirange) = bf_key('{[1,2.5)}'::nummultirange) AS scale;
SELECT bf_contains(bf_add(bf_create(10), '{[1,3)}'::int4multirange), int4range(1, 3));
SELECT (bf_info(bf_add(bf_create(10), '{[1,3)}'::int4multirange))).key_type;
SELECT bf_key('Infinity'::numeric) = bf_key('-Infinity'::numeric), bf_key('Infinity'::numeric) = bf_key('inf'::numeric),
       bf_key('Infinity'::numeric) = bf_key('NaN'::numeric);
SELECT bf_contains(bf_add(bf_create(10), 'Infinity'::numeric), 'Infinity'::float8);

-- fixed keys, as in key_golden
SELECT bf_key('Infinity'::numeric)::text AS infinity, bf_key('{[1,3),[5,9)}'::int4multirange)::text AS int4multirange;
