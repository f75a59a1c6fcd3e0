# Aggregates called as by an engine that spreads them over machines: the module
# test/modules/pushdown looks the functions up by the aggregate's OID, gives each call an
# FmgrInfo of its own, and carries states between "nodes" as text.  The results are
# those of the plain aggregates, byte for byte; and the catalog says of every aggregate
# that is meant for this what such an engine wants to read there.

use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# built beside the source tree, which may be read-only
my $folder = PostgreSQL::Test::Utils::tempdir();
{
	local %ENV = %ENV;
	delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES)};
	my @make = (
		'make', '-s', '-C', $folder, '-f', "$FindBin::RealBin/../modules/pushdown/Makefile",
		'with_llvm=no', 'PG_CONFIG=' . ($ENV{PG_CONFIG} || 'pg_config'));
	system(@make) == 0 or die 'the module does not build';
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', 'max_parallel_workers_per_gather = 0');
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION bloomset;
	CREATE FUNCTION partial_trans(internal, oid, VARIADIC "any") RETURNS internal LANGUAGE c AS '$folder/pushdown', 'pushdown_partial_trans';
	CREATE FUNCTION partial_final(internal) RETURNS text LANGUAGE c AS '$folder/pushdown', 'pushdown_partial_final';
	CREATE AGGREGATE partial_agg(oid, VARIADIC "any") (SFUNC = partial_trans, STYPE = internal, FINALFUNC = partial_final);
	CREATE FUNCTION combine_trans(internal, oid, text, anyelement) RETURNS internal LANGUAGE c AS '$folder/pushdown', 'pushdown_combine_trans';
	CREATE FUNCTION combine_final(internal, oid, text, anyelement) RETURNS anyelement LANGUAGE c AS '$folder/pushdown', 'pushdown_combine_final';
	CREATE AGGREGATE combine_agg(oid, text, anyelement) (SFUNC = combine_trans, STYPE = internal, FINALFUNC = combine_final, FINALFUNC_EXTRA);
});

# The nodes share some keys; node 4 has NULLs alone, node 5 no rows.
$node->safe_psql('postgres', q{
	CREATE TABLE events (node int, grp int, key bfkey, at timestamptz);
	INSERT INTO events SELECT x % 4, x % 3, CASE WHEN x % 50 > 0 THEN bf_key(x % 9000) END, timestamptz '2026-01-01' + x * interval '1 second'
	FROM generate_series(1, 10000) AS x;
	INSERT INTO events SELECT 4, 0, NULL, timestamptz '2026-01-01' FROM generate_series(1, 10);
	CREATE TABLE filters AS
	SELECT node, grp, bf_agg(key, 10000, 0.01) AS f, bf_agg_counting(key, 10000, 0.01) AS c, bf_agg_cuckoo(key, 10000, 0.01) AS u,
	       bf_agg_scalable(key, 500, 0.01) AS s, bf_agg_layered(key, at, 4000, 0.01, 24, '1 hour') AS l
	FROM events WHERE node < 4 GROUP BY node, grp;
	INSERT INTO filters (node, grp) VALUES (4, 0);
});

# [signature, table, arguments, depends on the order of rows]
my @aggregates = (
	[ 'bf_agg(bfkey, bigint, double precision)', 'events', 'key, 10000::bigint, 0.01::float8', 0 ],
	[ 'bf_agg_counting(bfkey, bigint, double precision)', 'events', 'key, 10000::bigint, 0.01::float8', 0 ],
	[ 'bf_agg_cuckoo(bfkey, bigint, double precision)', 'events', 'key, 10000::bigint, 0.01::float8', 1 ],
	[ 'bf_agg_scalable(bfkey, bigint, double precision)', 'events', 'key, 500::bigint, 0.01::float8', 1 ],
	[ 'bf_agg_layered(bfkey, timestamp with time zone, bigint, double precision, integer, interval)',
		'events', q{key, at, 4000::bigint, 0.01::float8, 24, interval '1 hour'}, 0 ],
	[ 'bf_union_agg(bloomfilter)', 'filters', 'f', 0 ],
	[ 'bf_intersect_agg(bloomfilter)', 'filters', 'f', 0 ],
	[ 'bf_union_agg(countingfilter)', 'filters', 'c', 0 ],
	[ 'bf_union_agg(cuckoofilter)', 'filters', 'u', 1 ],
	[ 'bf_union_agg(scalablefilter)', 'filters', 's', 1 ],
	[ 'bf_union_agg(layeredfilter)', 'filters', 'l', 0 ],);

for my $aggregate (@aggregates)
{
	my ($signature, $table, $arguments, $ordered) = @$aggregate;
	my $oid = "'$signature'::regprocedure";
	my ($name) = $signature =~ /^(\w+)/;
	my $type = $node->safe_psql('postgres', "SELECT prorettype::regtype FROM pg_proc WHERE oid = $oid");
	my $columns = $arguments =~ s/\b(key|at|[fcusl])\b/t.$1/gr;

	# per group; the left join brings the node without rows in, as a state that is NULL
	my $pushed = "SELECT grp, combine_agg($oid, state, NULL::$type ORDER BY node) AS result FROM
		(SELECT node, grp, partial_agg($oid, $columns ORDER BY t.ctid) FILTER (WHERE t.node IS NOT NULL) AS state
		 FROM generate_series(0, 5) AS node CROSS JOIN generate_series(0, 2) AS grp LEFT JOIN $table AS t USING (node, grp) GROUP BY node, grp) AS s
		GROUP BY grp";
	# what depends on the order is compared with the union of the nodes' own filters
	my $plain = $ordered && $name ne 'bf_union_agg'
	  ? "SELECT grp, bf_union_agg(f ORDER BY node) AS result FROM
		(SELECT node, grp, $name($columns ORDER BY t.ctid) AS f FROM $table AS t GROUP BY node, grp) AS s GROUP BY grp"
	  : "SELECT grp, $name($columns ORDER BY t.node) AS result FROM $table AS t GROUP BY grp";
	is( $node->safe_psql('postgres', "SELECT count(*), bool_and(pushed.result = plain.result), bool_and(pushed.result::bytea = plain.result::bytea), count(DISTINCT md5(pushed.result::text))
		FROM ($pushed) AS pushed JOIN ($plain) AS plain USING (grp)"),
		'3|t|t|3', "$signature: the same bytes as without");

	# no rows anywhere: no filter
	is($node->safe_psql('postgres', "SELECT combine_agg($oid, state, NULL::$type) IS NULL FROM (SELECT partial_agg($oid, $columns) AS state FROM $table AS t WHERE false) AS s"),
		't', "$signature: NULL for no rows");
}

# every key is found in what the engine made of cuckoofilters and scalablefilters
for my $kind ('cuckoo', 'scalable')
{
	my $oid = "'bf_agg_$kind(bfkey, bigint, double precision)'::regprocedure";
	is($node->safe_psql('postgres', "SELECT count(*) FROM events, (SELECT combine_agg($oid, state, NULL::${kind}filter) AS f FROM
		(SELECT partial_agg($oid, key, 10000::bigint, 0.01::float8) AS state FROM events GROUP BY node) AS s) AS t WHERE NOT bf_contains(f, key)"),
		'0', "bf_agg_$kind: every key is found");
}

# errors arrive as they do in the plain aggregate
my ($status, $out, $err) = $node->psql('postgres',
	q{SELECT combine_agg('bf_agg(bfkey, bigint, double precision)'::regprocedure, state, NULL::bloomfilter) FROM
	(SELECT partial_agg('bf_agg(bfkey, bigint, double precision)'::regprocedure, key, (1000 * (1 + node))::bigint, 0.01::float8) AS state FROM events GROUP BY node) AS s},
	on_error_stop => 1);
like($err, qr/ERROR:  bf_union_agg needs bloomfilters of the same parameters/, 'filters for other numbers of keys are not combined');
($status, $out, $err) = $node->psql('postgres',
	q{SELECT combine_agg('bf_union_agg(bloomfilter)'::regprocedure, overlay(f::text PLACING 'AAAA' FROM 200), NULL::bloomfilter) FROM filters});
like($err, qr/ERROR:  .*bloomfilter/, 'a damaged state is refused');
for my $aggregate ('bf_agg("any", bigint, double precision)', 'bf_agg("any")')
{
	(undef, undef, $err) = $node->psql('postgres', "SELECT partial_agg('$aggregate'::regprocedure, node, 10::bigint, 0.01::float8) FROM events");
	like($err, qr/cannot be pushed down/, "$aggregate: its state is internal");
}

# What an engine reads in the catalog.  All aggregates of the extension are either meant
# to be pushed down, or have a state of their own and functions to hand it to workers.
my $catalog = q{
	SELECT a.aggfnoid::regprocedure
	FROM pg_aggregate a JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = a.aggfnoid AND d.deptype = 'e'
	JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND e.extname = 'bloomset'
	JOIN pg_proc f ON f.oid = a.aggfnoid JOIN pg_proc trans ON trans.oid = a.aggtransfn LEFT JOIN pg_proc combine ON combine.oid = a.aggcombinefn
	JOIN pg_type t ON t.oid = a.aggtranstype WHERE %s ORDER BY a.aggfnoid::regprocedure::text COLLATE "C"};
my $concrete = q{NOT '"any"'::regtype = ANY (f.proargtypes)};
is($node->safe_psql('postgres', sprintf($catalog, $concrete)), join("\n", sort map { $_->[0] =~ s/, /,/gr } @aggregates),
	'these are the aggregates to be pushed down: all were tried');
is( $node->safe_psql('postgres', sprintf($catalog, qq{$concrete AND NOT (
	t.typtype = 'b' AND t.typinput <> 0 AND t.typoutput <> 0 AND t.oid = f.prorettype AND a.aggfinalfn = 0 AND a.aggkind = 'n' AND f.proparallel = 's'
	AND trans.proargtypes[0] = t.oid AND trans.prorettype = t.oid AND ARRAY(SELECT unnest((trans.proargtypes::oid[])[1:])) = ARRAY(SELECT unnest(f.proargtypes))
	AND a.aggcombinefn <> 0 AND ARRAY(SELECT unnest(combine.proargtypes)) = ARRAY[t.oid, t.oid] AND combine.prorettype = t.oid
	AND a.aggserialfn = 0 AND a.aggdeserialfn = 0 AND a.agginitval IS NULL)})),
	'', 'each has a state of the declared type, and a combine function over it');
is( $node->safe_psql('postgres', sprintf($catalog, qq{NOT ($concrete) AND NOT (
	t.oid = 'internal'::regtype AND a.aggcombinefn <> 0 AND a.aggserialfn <> 0 AND a.aggdeserialfn <> 0 AND f.proparallel = 's')})),
	'', 'the others have a state that only parallel workers hand over');

$node->stop;
done_testing();
