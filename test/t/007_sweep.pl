# Every object of the extension with every wrong thing: calls made up from the
# catalogs, so that new objects are swept too.  Each has to end with a value or with
# an error that is not an internal one, in one session that lives until the end and
# does not grow.
#
# SWEEP_CALLS calls at random come on top of those that are made in full (see "make
# sweep" for a long form); SWEEP_SEED chooses others.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $random_calls = $ENV{SWEEP_CALLS} // 1500;
my $seed = $ENV{SWEEP_SEED} || 20260101;
srand($seed);
note("SWEEP_SEED=$seed SWEEP_CALLS=$random_calls");

# Internal errors that are PostgreSQL's own, with the reason.
my %postgres_own = ();

# Members of the extension that no SQL can use, with the reason.
my %out_of_reach = ();

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', q{
	jit = off
	max_parallel_workers_per_gather = 0
	min_parallel_table_scan_size = 0
	parallel_setup_cost = 0
	parallel_tuple_cost = 0
	# to find out which call it was
	restart_after_crash = on
	# a call that hangs must end
	statement_timeout = 300s
});
$node->start;
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');

$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomset;

	CREATE TYPE sweep_pair AS (i int, t text);
	CREATE TYPE sweep_nest AS (p sweep_pair, a sweep_pair[], gone int);
	ALTER TYPE sweep_nest DROP ATTRIBUTE gone;
	CREATE TYPE sweep_enum AS ENUM ('low', 'high  ');
	CREATE TYPE sweep_range AS RANGE (subtype = text, collation = "C");
	CREATE DOMAIN sweep_int AS int CHECK (VALUE <> 13);
	CREATE DOMAIN sweep_text AS text;
	CREATE DOMAIN sweep_ints AS int[];
	CREATE DOMAIN sweep_dom_pair AS sweep_pair;
	CREATE DOMAIN sweep_filter AS bloomfilter;

	-- rows to aggregate over, for parallel workers to share
	CREATE TABLE sweep_rows (id int, t text);
	INSERT INTO sweep_rows SELECT i, i FROM generate_series(1, 6) i;
	ANALYZE sweep_rows;

	-- to have maintained filters
	CREATE TABLE sweep_tracked (id int, t text);
	INSERT INTO sweep_tracked SELECT i, i FROM generate_series(1, 20) i;

	-- long values, compressed and not
	CREATE TABLE sweep_long (t text, a int[], b bytea, n numeric);
	INSERT INTO sweep_long SELECT repeat('x', 100000), array_agg(i), decode(repeat('00', 100000), 'hex'), repeat('9', 30000)::numeric
		FROM generate_series(1, 5000) i;

	-- one bit flipped, cut short, lengthened, doubled
	CREATE FUNCTION sweep_damage(b bytea, how int) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
		SELECT CASE WHEN length(b) = 0 OR how % 4 = 0 THEN b || b
			WHEN how % 4 = 1 THEN set_bit(b, (how::bigint * 7919 % (length(b) * 8))::int,
				1 - get_bit(b, (how::bigint * 7919 % (length(b) * 8))::int))
			WHEN how % 4 = 2 THEN substr(b, 1, how * 7919 % length(b))
			ELSE b || '\x00' END $$;

	-- NULL where it fails
	CREATE FUNCTION sweep_text(call text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		v text;
	BEGIN
		EXECUTE 'SELECT (' || call || ')::text' INTO v;
		RETURN v;
	EXCEPTION WHEN OTHERS THEN
		RETURN NULL;
	END $$;

	CREATE TABLE sweep_calls (id int PRIMARY KEY, sql text);
	CREATE FUNCTION sweep_run(first int, last int) RETURNS TABLE (id int, state text, message text)
	LANGUAGE plpgsql AS $$
	DECLARE
		call record;
	BEGIN
		FOR call IN SELECT c.id, c.sql FROM sweep_calls c WHERE c.id BETWEEN first AND last ORDER BY c.id LOOP
			BEGIN
				EXECUTE call.sql;
				state := '00000';
				message := '';
			EXCEPTION WHEN OTHERS THEN
				state := SQLSTATE;
				message := left(translate(SQLERRM, E'\n|', '  '), 200);
			END;
			id := call.id;
			RETURN NEXT;
		END LOOP;
	END $$;
});
# not every server has ICU
my ($no_icu) = $node->psql('postgres',
	"CREATE COLLATION sweep_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");

sub literal { return "'" . ($_[0] =~ s/'/''/gr) . "'"; }
sub pick { return $_[ int rand @_ ]; }
sub rows { return map { [ split /\x1f/, $_, -1 ] } split /\n/, $node->safe_psql('postgres', $_[0], extra_params => [ '-F', "\x1f" ]); }

# ---- what there is ----

my $members = q{(SELECT classid, objid, pg_describe_object(classid, objid, 0) AS object
	FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
	WHERE d.refclassid = 'pg_extension'::regclass AND e.extname = 'bloomset' AND deptype = 'e') m};

my @members = map { $_->[0] } rows("SELECT object FROM $members ORDER BY object");

# functions and, as if they were functions, operators and casts
my @things;
for (rows(qq{SELECT object, p.oid::regproc, prokind, proisstrict, format_type(prorettype, NULL),
	(SELECT string_agg(format_type(a, NULL), ';' ORDER BY i) FROM unnest(proargtypes) WITH ORDINALITY u (a, i))
	FROM $members, pg_proc p WHERE classid = 'pg_proc'::regclass AND p.oid = objid ORDER BY 1}))
{
	my ($object, $name, $kind, $strict, $returns, $args) = @$_;
	$returns = 'void' if $kind eq 'p';
	push @things, {
		object => $object,
		name => $name,
		kind => $kind,
		plain => $kind eq 'f' && $returns ne 'trigger',
		strict => $strict eq 't',
		returns => $returns,
		args => [ split /;/, $args ],
		sql => sub { "$name(" . join(', ', @_) . ')' } };
}
for (rows(qq{SELECT object, oprname, format_type(nullif(oprleft, 0), NULL), format_type(oprright, NULL), format_type(oprresult, NULL)
	FROM $members, pg_operator o WHERE classid = 'pg_operator'::regclass AND o.oid = objid ORDER BY 1}))
{
	my ($object, $name, $left, $right, $returns) = @$_;
	push @things, {
		object => $object,
		returns => $returns,
		args => [ grep { $_ ne '' } $left, $right ],
		sql => sub { my $last = pop; '(' . join(' ', @_, $name, $last) . ')' } };
}
for (rows(qq{SELECT object, format_type(castsource, NULL), format_type(casttarget, NULL)
	FROM $members, pg_cast c WHERE classid = 'pg_cast'::regclass AND c.oid = objid ORDER BY 1}))
{
	my ($object, $source, $target) = @$_;
	push @things, { object => $object, returns => $target, args => [$source], sql => sub { "CAST($_[0] AS $target)" } };
}

# Newer servers let no SQL call what takes or returns an internal value, so the same C
# function is called under another name, and with NULL in place of a pointer.
my $stand_ins = '';
for my $thing (grep { $_->{plain} && grep { $_ eq 'internal' } $_->{returns}, @{ $_->{args} } } @things)
{
	my ($library) = map { join(', ', map { literal($_) } @$_) } rows("SELECT probin, prosrc FROM pg_proc WHERE oid = " . literal($thing->{object} =~ s/^function //r) . '::regprocedure');
	my $name = 'sweep_' . $thing->{name} =~ s/.*\.//r;
	my ($returns, @args) = map { s/^internal$/bigint/r } $thing->{returns}, @{ $thing->{args} };
	$stand_ins .= "CREATE FUNCTION $name(" . join(', ', @args) . ") RETURNS $returns AS $library LANGUAGE C" . ($thing->{strict} ? ' STRICT' : '') . ";\n";
	$thing->{real} = $thing->{name};
	$thing->{sql} = sub { "$name(" . join(', ', @_) . ')' };
}
$node->safe_psql('postgres', $stand_ins);

my %ours = map { @$_ } rows(qq{SELECT objid::regtype, object FROM $members WHERE classid = 'pg_type'::regclass});

# ---- values ----

my $long = 'repeat(\'x\', 5000)';
my @any = (
	"NULL", "'abc'", "''", "'a'::unknown", "''::text", "'a  '::text", "${long}::text", "(SELECT t FROM sweep_long)",
	"'ab'::char(5)", "'ab'::varchar(9)", "'n'::name", "'c'::\"char\"", "'\\x00ff'::bytea", "(SELECT b FROM sweep_long)",
	"true", "NULL::boolean", "1::smallint", "1", "-1", "2147483647", "1::bigint", "9223372036854775807", "(-9223372036854775807 - 1)",
	"1.5", "0::numeric", "'NaN'::numeric", "1e1000::numeric", "(SELECT n FROM sweep_long)", "1.5::real", "'NaN'::float8", "'-0'::float8",
	"'-Infinity'::float8", "date '2024-01-01'", "date 'infinity'", "date '5874897-12-31'", "date '4714-11-24 BC'",
	"timestamp '2024-01-01'", "timestamp '-infinity'", "timestamptz '2024-01-01 UTC'", "time '24:00'", "timetz '12:00+02'",
	"interval '1 mon'", "'00000000-0000-0000-0000-000000000001'::uuid", "'08:00:2b:01:02:03'::macaddr", "'08:00:2b:01:02:03:04:05'::macaddr8",
	"inet '::1/64'", "cidr '10.0.0.0/8'", "'{\"a\": [1, null]}'::jsonb", "'{}'::json", "point '(1,2)'", "B'101'", "money '1.00'", "1::oid",
	"'pg_class'::regclass", "'(0,1)'::tid", "'1/2'::pg_lsn", "'a b'::tsvector", "'1 2'::int2vector", "'1 2'::oidvector", "'\$.a'::jsonpath",
	"'c'::refcursor", "'1:1:'::txid_snapshot", "pg_stat_clear_snapshot()", "textout('abc')", "NULL::internal", "bf_key(1)", "bf_create(1)",
	"'low'::sweep_enum", "'high  '::sweep_enum", "1::sweep_int", "'abc'::sweep_text", "'{1,2}'::sweep_ints", "'(1,a)'::sweep_dom_pair",
	"ROW()", "ROW(1, 'a'::text, NULL)", "ROW(1, 'a')", "'(1,a)'::sweep_pair", "'(,)'::sweep_pair",
	"'(\"(1,a)\",\"{\"\"(2,b)\"\",NULL}\")'::sweep_nest", "ROW(NULL, NULL)::sweep_nest", "(SELECT r FROM sweep_rows r LIMIT 1)",
	"ARRAY[1, 2]", "'{}'::int[]", "ARRAY[NULL]::text[]", "ARRAY[[1, 2], [3, 4]]", "'[5:6]={a,b}'::text[]", "ARRAY[ROW(1, 2), ROW(3, 4)]",
	"(SELECT a FROM sweep_long)", "ARRAY['{1}'::sweep_ints]", "ARRAY['(1,a)'::sweep_pair]", "ARRAY[ROW(1), NULL]", "ARRAY[point '(1,2)']",
	"(SELECT stavalues1 FROM pg_statistic WHERE stavalues1 IS NOT NULL LIMIT 1)",
	"int4range(1, 5)", "'empty'::int4range", "'(,)'::numrange", "'[a,b)'::sweep_range", "'[a,]'::sweep_range", "daterange('2024-01-01', NULL)");
push @any, "'{[1,2),[5,)}'::int4multirange", "'{}'::nummultirange", "'{[a,b)}'::sweep_multirange" if $version >= 140000;
push @any, "'abc' COLLATE sweep_ci", "ROW('abc' COLLATE sweep_ci)", "'abc' COLLATE \"und-x-icu\"" if $no_icu == 0;

my @arrays = ("NULL", "'{}'", "'{1,2}'", "1", "NULL::int[]", grep { /^(ARRAY|.*\[\]|.*::sweep_ints|\(SELECT (a|stavalues1) |.*vector$)/ } @any);
push @arrays, "ARRAY[1.5, 'NaN', NULL]", "ARRAY['a', NULL, 'a ']", "ARRAY[[NULL]]::bigint[]", "array_fill(7, ARRAY[2, 3, 4])", "ARRAY[bf_key(1)]",
	"ARRAY[bf_create(1)]", "'{low}'::sweep_enum[]", "ARRAY[int4range(1, 2)]", "ARRAY['-0'::float8]", "(SELECT array_agg(i) FROM generate_series(1, 2000) i)";

my @bytes = (
	"NULL::bytea", "''", "''::bytea", "'\\x00'::bytea", "decode(repeat('ff', 60), 'hex')", "decode(repeat('00', 68), 'hex')",
	"decode(repeat('01', 16), 'hex')", "(SELECT b FROM sweep_long)");

# by the declared type of an argument; types of our own are added below
my %pool = (
	'"any"' => \@any,
	'anyelement' => \@any,
	'anynonarray' => \@any,
	'anycompatible' => \@any,
	'anyarray' => \@arrays,
	'anycompatiblearray' => \@arrays,
	# for the stand-ins; a pointer would be followed
	'internal' => ["NULL::bigint"],
	'bytea' => \@bytes,
	'cstring' => [
		"NULL", "''", "'a'", "'=== ='", "'AAAA'", "'AQEB'", "'00000001:0000000000000000'", "'00000000:0000000000000000'",
		"'000000ff:ffffffffffffffff'", "'0000000g:0000000000000000'", "textout($long)", "textout((SELECT t FROM sweep_long))" ],
	'text' => [ "NULL::text", "''", "'a'", "$long", "(SELECT t FROM sweep_long)" ],
	'boolean' => [ "NULL::boolean", "true", "false" ],
	'smallint' => [ "NULL::smallint", "0::smallint", "-32768::smallint", "32767::smallint" ],
	'integer' => [ "NULL::int", "0", "1", "-1", "7", "2147483647", "(-2147483647 - 1)" ],
	'bigint' => [
		"NULL::bigint", "0::bigint", "1::bigint", "-1::bigint", "10::bigint", "1000::bigint", "100000::bigint", "10000000000000::bigint",
		"9223372036854775807", "(-9223372036854775807 - 1)", "'5'" ],
	'numeric' => [ "NULL::numeric", "0::numeric", "-1.5", "'NaN'::numeric", "1e1000::numeric" ],
	'double precision' => [
		"NULL::float8", "0::float8", "'-0'::float8", "1::float8", "-1::float8", "0.5::float8", "0.01::float8", "1e-10::float8", "9e-11::float8",
		"5e-324::float8", "0.999999::float8", "1.7976931348623157e308::float8", "'NaN'::float8", "'Infinity'::float8", "'-Infinity'::float8", "'0.1'" ],
	'interval' => [ "NULL::interval", "interval '0'", "interval '-1 day'", "interval '1 mon'", "interval '178000000 years'" ],
	'timestamp with time zone' => [
		"NULL::timestamptz", "timestamptz 'epoch'", "timestamptz 'infinity'", "timestamptz '-infinity'", "timestamptz '294276-12-31 UTC'" ],
	'oid' => [ "NULL::oid", "0::oid", "1::oid", "4294967295::oid" ],
	'regclass' => [
		"NULL::regclass", "0::regclass", "4294967295::regclass", "'pg_class'::regclass", "'sweep_tracked'::regclass", "'sweep_tracked_t_filter'",
		"'sweep_rows'::regclass", "'sweep_pair'::regclass", "'pg_class_oid_index'::regclass" ],
	'name' => [ "NULL::name", "''", "'t'::name", "'id'::name", "'nowhere'", "'ctid'", "repeat('x', 70)::name" ],
	'regtype' => [ "NULL::regtype", "0::regtype", "4294967295::regtype", "'int'::regtype", map { "'$_'::regtype" } sort keys %ours ],);

$pool{bloomfilter} = [
	"NULL::bloomfilter", "''", "'AAAA'", "bf_create(1, 0.9)", "bf_create(10)", "bf_create(10, 0.01, -1)", "bf_create(1000, 1e-10)",
	"bf_add(bf_create(10), 1)", "bf_add(bf_create(10), 'a'::text)", "bf_add(bf_create(10), ROW(1, 'a'::text))",
	"bf_add(bf_create(10), bf_key('{}'::jsonb))", "bf_add_all(bf_create(10), ARRAY[true, NULL])", "bf_add(bf_create(10), 1)::sweep_filter",
	"(SELECT bf_add_all(bf_create(10), array_agg(i)) FROM generate_series(1, 2000) i)" ];


for my $kind ([ 'countingfilter', "bf_create_counting(10" ], [ 'cuckoofilter', "bf_create_cuckoo(10" ],
	[ 'scalablefilter', "bf_create_scalable(10" ], [ 'layeredfilter', "bf_create_layered(10, 0.01, 2, '1 day'" ])
{
	my ($type, $create) = @$kind;
	$create .= ', 0.01' unless $type eq 'layeredfilter';
	$pool{$type} = [
		"NULL::$type", "''", "'AAAA'", "$create)", "$create, -1)", "bf_add($create), 1)", "bf_add($create), 'a'::text)",
		"bf_add_all($create), ARRAY[1, 2])", "bf_add($create), ROW(1, 'a'::text))" ];
}

# what lets calls succeed, so that all of them go further than to the first check
my %usual = (
	'"any"' => [ "1", "2::bigint", "'a'::text", "'a'", "ARRAY[1, 2]", "date '2024-01-01'", "'(1,a)'::sweep_pair", "int4range(1, 5)", "'low'::sweep_enum" ],
	anyarray => [ "ARRAY[1, 2, NULL]", "ARRAY['a', 'b']" ],
	bigint => [ "10::bigint", "1000::bigint" ],
	'double precision' => [ "0.01::float8", "0.5::float8" ],
	integer => [ "1", "7" ],
	boolean => ["true"],
	regclass => ["'sweep_tracked'::regclass"],
	name => [ "'t'::name", "'id'::name" ],
	regtype => [ map { "'$_'::regtype" } qw(bloomfilter countingfilter cuckoofilter scalablefilter) ],
	interval => [ "interval '1 day'", "interval '00:00:00.000001'" ],
	'timestamp with time zone' => [ "timestamptz '2024-01-01 UTC'", "timestamptz 'epoch'" ],
	(map { my $type = $_; $type => [ grep { /^bf_/ && !/-1|ROW/ } @{ $pool{$type} } ] } qw(countingfilter cuckoofilter scalablefilter layeredfilter)),
	bloomfilter => [ "bf_create(10)", "bf_add(bf_create(10), 1)", "bf_add_all(bf_create(10), ARRAY[1, 2])" ],);

sub values_for
{
	my ($type) = @_;
	return $pool{$type} //= [ "NULL::$type", "''::$type", "'0'::$type", "'x'" ];
}

# all combinations, or so many at random
sub combinations
{
	my ($most, @types) = @_;
	my @pools = map { values_for($_) } @types;
	my $all = 1;
	$all *= @$_ for @pools;
	return map { [ map { pick(@$_) } @pools ] } 1 .. $most if $all > $most;
	my @combinations = ([]);
	for my $pool (@pools)
	{
		@combinations = map { my $c = $_; map { [ @$c, $_ ] } @$pool } @combinations;
	}
	return @combinations;
}

# Types of our own get values that the extension's functions return, as literals and
# stored in the ways that a column can have; so do bytea and cstring.
for my $type (sort(keys %ours), 'bytea', 'cstring')
{
	my $known = values_for($type);
	my @makers = grep { $_->{returns} eq $type && ($_->{plain} || !$_->{name}) } @things;
	my @calls = map { my $thing = $_; map { [ $thing->{object}, $thing->{sql}->(@$_) ] } combinations(40, @{ $thing->{args} }) } @makers or next;
	my $safe = $type =~ s/\W/_/gr;
	$node->safe_psql('postgres', "CREATE TABLE sweep_made_$safe AS SELECT maker, call, sweep_text(call) AS v FROM (VALUES " .
		join(', ', map { '(' . join(', ', map { literal($_) } @$_) . ')' } @calls) . ') s (maker, call)');

	my @literals = map { literal($_->[0]) } rows(qq{SELECT DISTINCT v, length(v) FROM (SELECT v,
		row_number() OVER (PARTITION BY maker ORDER BY length(v), v) AS up, row_number() OVER (PARTITION BY maker ORDER BY length(v) DESC, v) AS down
		FROM sweep_made_$safe WHERE length(v) < 20000) s WHERE up = 1 OR down = 1 ORDER BY 2, 1});
	$_ .= "::$type" for $type eq 'cstring' ? () : @literals;
	push @$known, @literals;
	push @$known, map { my $v = $_; map { "sweep_damage($v, $_)" } 1, 2, 4, 5 } @literals if $type eq 'bytea';

	my %length = map { @$_ } rows("SELECT format_type(t.oid, NULL), typlen FROM pg_type t WHERE typlen = -1");
	next unless $ours{$type} && $length{$type};
	my @sizes = map { $_->[0] } rows(qq{(SELECT call, length(v) FROM sweep_made_$safe WHERE v IS NOT NULL ORDER BY 2, 1 LIMIT 2)
		UNION ALL (SELECT call, length(v) FROM sweep_made_$safe WHERE v IS NOT NULL ORDER BY 2 DESC, 1 LIMIT 2)});
	my $id = 0;
	my $script = "CREATE TABLE sweep_kept_$safe (id int, v $type);\n";
	for my $storage ('external', 'extended', 'main')
	{
		$script .= "ALTER TABLE sweep_kept_$safe ALTER COLUMN v SET STORAGE $storage;\n";
		for my $call (@sizes)
		{
			$script .= "INSERT INTO sweep_kept_$safe VALUES (" . ++$id . ", $call);\n";
			push @$known, "(SELECT v FROM sweep_kept_$safe WHERE id = $id)";
		}
	}
	$node->safe_psql('postgres', $script);
}

# values of our types are looked at: what is printed has to be read again as the same
my $checkers = '';
for my $type (keys %ours)
{
	$checkers .= qq{CREATE FUNCTION sweep_see(v $type) RETURNS text LANGUAGE plpgsql AS \$\$
		BEGIN
			IF v::text::${type}::text <> v::text THEN
				RAISE 'not read as it is printed' USING ERRCODE = 'SWEEP';
			END IF;
			RETURN v::text;
		END \$\$;\n};
}
$node->safe_psql('postgres', $checkers);

sub see
{
	my ($expression, $type) = @_;
	return "sweep_see($expression)" if $ours{$type};
	return "($expression) IS NULL" if $type eq 'internal';
	return "($expression)::text";
}

# Which values exist, and which are of the same type, for arguments that change from
# row to row.
my (%valid, %neighbours);
for my $type (sort keys %pool)
{
	my @values = @{ $pool{$type} };
	# a literal without a type is a value of any type but for those that have to read it
	my $cast = $type =~ /^"?any|^internal$/ ? '' : "::$type";
	my @of = map { $_->[0] } rows(q{SELECT coalesce(sweep_text('pg_typeof(' || v || ')'), 'nothing') FROM unnest(ARRAY[} .
		join(', ', map { literal("($_)$cast") } @values) . ']) WITH ORDINALITY u (v, i) ORDER BY i');
	my %by_type;
	push @{ $by_type{ $of[$_] } }, $values[$_] for 0 .. $#values;
	$neighbours{ $values[$_] } = $by_type{ $of[$_] } for 0 .. $#values;
	my @valid = map { $values[$_] } grep { $of[$_] ne 'nothing' } 0 .. $#values;
	my @not_null = grep { !/^NULL/ } @valid;
	$valid{$type} = @not_null ? \@not_null : \@valid;
}

sub neighbour { my ($v) = @_; return pick(@{ $neighbours{$v} // [$v] }); }

# ---- calls ----

my @calls;

sub add_call
{
	my ($object, $shape, $sql) = @_;
	push @calls, { object => $object, shape => $shape, sql => $sql };
	return;
}

sub sql_of { my ($thing, @args) = @_; return $thing->{sql}->(@args); }
sub seen { my ($thing, @args) = @_; return see(sql_of($thing, @args), $thing->{returns}); }
# the arguments as columns of a row, and their names
sub columns { my $i = 0; return join(', ', map { "$_ AS a" . ++$i } @_); }
sub names { my ($prefix, $count) = @_; return map { "${prefix}a$_" } 1 .. $count; }

# in a table of its own, with more commands
sub in_table
{
	my ($thing, $args, @commands) = @_;
	return join(";\n", 'CREATE TEMP TABLE sweep_t AS SELECT ' . columns(@$args), @commands, 'DROP TABLE sweep_t');
}

my %scalar_shapes = (
	direct => sub { my ($thing, @args) = @_; 'SELECT ' . seen($thing, @args) },
	row => sub { my ($thing, @args) = @_; 'SELECT ' . seen($thing, names('', scalar @args)) . ' FROM (SELECT ' . columns(@args) . ' OFFSET 0) s' },
	rows => sub {
		my ($thing, @args) = @_;
		'SELECT ' . seen($thing, names('', scalar @args)) . ' FROM sweep_rows r, LATERAL (SELECT ' . columns(varying(@args)) . ' OFFSET 0) s';
	},
	nested => sub { my ($thing, @args) = @_; my $sql = sql_of($thing, @args); "SELECT ROW(ARRAY[$sql, NULL, $sql], $sql)::text" },
	where => sub {
		my ($thing, @args) = @_;
		my $i = 0;
		my $sql = sql_of($thing, map { $thing->{args}[ $i++ ] =~ /^"?any/ && rand() < 0.5 ? pick('r.id', 'r.t', 's.id', 'r.id + s.id') : $_ } @args);
		$sql .= ' IS NOT NULL' if $thing->{returns} ne 'boolean';
		'SELECT count(*) FROM sweep_rows r JOIN sweep_rows s USING (t) WHERE ' . pick('', 'NOT ') . "($sql) " . pick('', 'OR r.id = 1', 'AND s.id > 2');
	},
	group => sub {
		my ($thing, @args) = @_;
		my $sql = sql_of($thing, names('', scalar @args));
		my $from = 'FROM sweep_rows r, (SELECT ' . columns(@args) . ' OFFSET 0) s';
		pick(
			"SELECT count(*) FROM (SELECT DISTINCT $sql $from) q",
			"SELECT $sql $from GROUP BY 1 HAVING count($sql) > 0",
			"SELECT $sql $from ORDER BY 1",
			"SELECT $sql $from UNION SELECT $sql $from",
			"SELECT count(*) $from GROUP BY ROLLUP (($sql))",
			"SELECT lag($sql) OVER (PARTITION BY $sql) $from");
	},
	prepared => sub {
		my ($thing, @args) = @_;
		my $types = pick('', '(' . join(', ', map { /^"?any/ ? pick('unknown', 'text', 'int', 'int[]') : $_ } @{ $thing->{args} }) . ')');
		join(";\n",
			'DEALLOCATE ALL',
			'SET LOCAL plan_cache_mode = ' . pick('force_generic_plan', 'force_custom_plan'),
			"PREPARE sweep $types AS SELECT " . seen($thing, map { "\$$_" } 1 .. @args),
			# which takes no subqueries
			('EXECUTE sweep (' . join(', ', map { /SELECT/ ? 'NULL' : $_ } @args) . ')') x 2);
	},
	using => sub {
		my ($thing, @args) = @_;
		'DO $do$ BEGIN EXECUTE ' . literal('SELECT ' . seen($thing, map { "\$$_" } 1 .. @args)) . ' USING ' . join(', ', @args) . '; END $do$';
	},
	plpgsql => sub {
		my ($thing, @args) = @_;
		'DO $do$ DECLARE s record; printed text; BEGIN FOR s IN SELECT ' . columns(varying(@args)) . ' FROM sweep_rows r LOOP BEGIN printed := ' .
		  seen($thing, names('s.', scalar @args)) . '; EXCEPTION WHEN raise_exception THEN RAISE; END; END LOOP; END $do$';
	},
	index => sub {
		my ($thing, @args) = @_;
		my $sql = sql_of($thing, names('', scalar @args));
		in_table($thing, \@args, 'CREATE INDEX ON sweep_t ' . pick('', 'USING hash ') . "(($sql))",
			'INSERT INTO sweep_t SELECT * FROM sweep_t', "SELECT FROM sweep_t WHERE $sql = $sql");
	},
	generated => sub {
		my ($thing, @args) = @_;
		my $sql = sql_of($thing, names('', scalar @args));
		in_table($thing, \@args, "ALTER TABLE sweep_t ADD COLUMN g $thing->{returns} GENERATED ALWAYS AS ($sql) STORED", 'UPDATE sweep_t SET a1 = a1',
			'SELECT g::text FROM sweep_t');
	},
	partitioned => sub {
		my ($thing, @args) = @_;
		my $sql = sql_of($thing, names('', scalar @args));
		in_table($thing, \@args, "CREATE TEMP TABLE sweep_p (LIKE sweep_t) PARTITION BY HASH (($sql))",
			'CREATE TEMP TABLE sweep_p0 PARTITION OF sweep_p FOR VALUES WITH (MODULUS 2, REMAINDER 0)',
			'CREATE TEMP TABLE sweep_p1 PARTITION OF sweep_p FOR VALUES WITH (MODULUS 2, REMAINDER 1)',
			'INSERT INTO sweep_p SELECT * FROM sweep_t', 'DROP TABLE sweep_p');
	},);

# for functions proper
my %function_shapes = (
	from => sub { my ($thing, @args) = @_; 'SELECT * FROM ' . sql_of($thing, @args) . pick('', ' WITH ORDINALITY') },
	lateral => sub { my ($thing, @args) = @_; 'SELECT x::text FROM sweep_rows r, LATERAL ' . sql_of($thing, varying(@args)) . ' x' },
	variadic => sub { my ($thing, @args) = @_; my $last = pop @args; 'SELECT ' . sql_of($thing, @args, 'VARIADIC ' . pick($last, "ARRAY[$last]")) },
	wrapped => sub { my ($thing, @args) = @_; 'SELECT ' . see("$thing->{wrapper}" . pick('sql', 'plpgsql') . '(' . join(', ', @args) . ')', $thing->{returns}) },);

# arguments that change from row to row
sub varying
{
	return map {
		my $v = $_;
		pick($v, $v, "CASE r.id % 3 WHEN 1 THEN $v END", "CASE r.id % 3 WHEN 0 THEN NULL WHEN 1 THEN $v ELSE " . neighbour($v) . ' END')
	} @_;
}

my %aggregate_shapes = (
	direct => sub { my ($thing, @args) = @_; 'SELECT ' . seen($thing, @args) . ' FROM sweep_rows' },
	varying => sub { my ($thing, @args) = @_; 'SELECT ' . seen($thing, varying(@args)) . ' FROM sweep_rows r' . pick('', ' WHERE false', ' GROUP BY t') },
	distinct => sub {
		my ($thing, @args) = @_;
		@args = varying(@args);
		$args[0] = "DISTINCT $args[0]" if rand() < 0.5;
		my $order = $args[0] =~ s/^DISTINCT //r;
		$args[-1] .= " ORDER BY $order" if rand() < 0.5;
		'SELECT ' . seen($thing, @args) . ' FROM sweep_rows r';
	},
	filter => sub { my ($thing, @args) = @_; 'SELECT ' . see(sql_of($thing, varying(@args)) . ' FILTER (WHERE r.id > 2)', $thing->{returns}) . ' FROM sweep_rows r' },
	within => sub { my ($thing, @args) = @_; 'SELECT ' . sql_of($thing, @args) . ' WITHIN GROUP (ORDER BY r.id) FROM sweep_rows r' },
	window => sub {
		my ($thing, @args) = @_;
		my $over = pick('', 'PARTITION BY t', 'ORDER BY r.id', 'ORDER BY r.id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING',
			'ORDER BY r.id ROWS BETWEEN 3 FOLLOWING AND 4 FOLLOWING', 'ORDER BY r.id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW');
		'SELECT ' . see(sql_of($thing, varying(@args)) . pick('', ' FILTER (WHERE r.id <> 3)') . " OVER ($over)", $thing->{returns}) . ' FROM sweep_rows r';
	},
	sets => sub {
		my ($thing, @args) = @_;
		'SELECT ' . seen($thing, varying(@args)) . ' FROM sweep_rows r GROUP BY ' . pick('ROLLUP (id % 2, t)', 'CUBE (id, t)', 'GROUPING SETS ((id % 2), (t), ())') .
		  pick('', ' HAVING ' . sql_of($thing, @args) . ' IS NOT NULL');
	},
	parallel => sub {
		my ($thing, @args) = @_;
		join(";\n", 'SET LOCAL max_parallel_workers_per_gather = 2', 'SELECT ' . seen($thing, varying(@args)) . ' FROM sweep_rows r' . pick('', ' GROUP BY id % 2'),
			'SET LOCAL max_parallel_workers_per_gather = 0');
	},
	prepared => $scalar_shapes{prepared},
	variadic => $function_shapes{variadic},
	nested => sub { my ($thing, @args) = @_; 'SELECT (SELECT ' . seen($thing, map { rand() < 0.3 ? 'r.id' : $_ } @args) . ') FROM sweep_rows r' },);

my %window_shapes = (
	direct => sub { my ($thing, @args) = @_; 'SELECT ' . see(sql_of($thing, @args) . ' OVER ()', $thing->{returns}) . ' FROM sweep_rows' },
	window => $aggregate_shapes{window});

my %procedure_shapes = (
	direct => sub { my ($thing, @args) = @_; 'CALL ' . sql_of($thing, @args) },
	# of a table that is tracked
	tracked => sub {
		my ($thing, @args) = @_;
		$args[0] = "'sweep_t'";
		$args[1] = $thing->{name} =~ /track$/ && @args > 2 ? "'id'" : "'t'";
		$args[-1] = "'sweep_g'" if @args > 5;
		join(";\n", "CREATE TEMP TABLE sweep_t AS SELECT 1 AS id, 'a'::text AS t", "CALL bf_track('sweep_t', 't', 10, filters => 'sweep_f')",
			'CALL ' . sql_of($thing, @args), 'DROP TABLE IF EXISTS sweep_t, sweep_f, sweep_g');
	},
	do => sub { my ($thing, @args) = @_; 'DO ' . literal('BEGIN CALL ' . sql_of($thing, @args) . '; END') });

my @writes = (
	"INSERT INTO sweep_t VALUES (2, 'b'), (3, 'c'), (NULL, NULL)", 'INSERT INTO sweep_t SELECT i, i FROM generate_series(1, 300) i', 'UPDATE sweep_t SET x = x + 1',
	"UPDATE sweep_t SET t = t || 'x' WHERE x > 5", 'DELETE FROM sweep_t WHERE x < 100', 'TRUNCATE sweep_t', 'INSERT INTO sweep_t SELECT FROM generate_series(1, 3)');

# as a procedure makes triggers, and as nobody should
my %trigger_shapes = (
	direct => sub {
		my $column = pick('x', 't');
		join(";\n", "CREATE TEMP TABLE sweep_t AS SELECT 1 AS x, 'a'::text AS t",
			"CALL bf_track('sweep_t', '$column', 1000, 0.01, shards => " . pick('NULL', 1, 5) . ", type => " . pick(@{ $usual{regtype} }) . ", filters => 'sweep_f')",
			(map { pick(@writes) } 1 .. 5), "CALL bf_rebuild('sweep_t', '$column')", (map { pick(@writes) } 1 .. 2),
			"SELECT bf_maybe('sweep_t', '$column', $column) FROM sweep_t", 'DROP TABLE sweep_f, sweep_t');
	},
	trigger => sub {
		my ($thing) = @_;
		my $good = rand() < 0.3;
		my $event = $good ? 'INSERT' : pick('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'INSERT OR UPDATE', 'UPDATE OF x');
		my $tables = $good ? 'NEW TABLE AS n' : join(' ', pick('', 'OLD TABLE AS o'), pick('', 'NEW TABLE AS n'));
		my @args = $good ? ("'x'", "'sweep_f'", 1, 1) : map { pick(@$_) } [ "'x'", "'t'", "''", 1 ], [ "'sweep_f'", "'sweep_t'", "'nowhere'" ], ([ 0, 1, 1, -1, 7, "''", '99999999999' ]) x pick(2, 2, 4, 0, 1, 5);
		join(";\n", "CREATE TEMP TABLE sweep_t AS SELECT 1 AS x, 'a'::text AS t",
			'CREATE TEMP TABLE sweep_f AS SELECT 1 AS generation, 1 AS shards, 0 AS shard, ' . pick(map { @{ $usual{$_} } } qw(bloomfilter countingfilter cuckoofilter layeredfilter)) . ' AS f',
			'CREATE TRIGGER sweep_g ' . ($good ? 'AFTER' : pick('AFTER', 'AFTER', 'BEFORE')) . " $event ON sweep_t" . ($tables eq ' ' ? '' : " REFERENCING $tables") . ' FOR EACH ' .
			  ($good ? 'STATEMENT' : pick('STATEMENT', 'STATEMENT', 'ROW')) . " EXECUTE FUNCTION $thing->{name}(" . join(', ', @args) . ')',
			(map { pick(@writes) } 1 .. 3), 'DROP TABLE sweep_f, sweep_t');
	},);

sub shapes_of
{
	my ($thing) = @_;
	return %procedure_shapes if $thing->{kind} && $thing->{kind} eq 'p';
	return %trigger_shapes if $thing->{returns} && $thing->{returns} eq 'trigger';
	return %aggregate_shapes if $thing->{kind} && $thing->{kind} eq 'a';
	return %window_shapes if $thing->{kind} && $thing->{kind} eq 'w';
	return (%scalar_shapes, $thing->{name} ? %function_shapes : ());
}

# what any type has to bear; V and W are values of it
my @type_uses = map { s/\s+/ /gr } (
	'SELECT ARRAY[V, NULL, W]::text, (ARRAY[V, W])[1]::text', 'SELECT ROW(V, W)::text', 'SELECT to_jsonb(V), row_to_json(ROW(V))',
	'SELECT V IS DISTINCT FROM W', 'SELECT V IN (W, NULL, V)', 'SELECT V = ANY (ARRAY[W, NULL, V])', 'SELECT NULLIF(V, W)::text', 'SELECT coalesce(V, W)::text',
	'SELECT greatest(V, W)::text', 'SELECT V BETWEEN W AND W', 'SELECT ROW(V, 1) = ROW(W, 1)', 'SELECT ROW(V, 1) < ROW(W, 1)', 'SELECT ARRAY[V] = ARRAY[W]',
	'SELECT ARRAY[V] < ARRAY[W]', 'SELECT array_position(ARRAY[W, V], V)', 'SELECT array_remove(ARRAY[V, W], V)::text', 'SELECT CASE V WHEN W THEN 1 END',
	'SELECT pg_column_size(V), pg_typeof(V)', 'SELECT V::T(5)', 'SELECT V::varchar(9)', 'SELECT V::int', 'SELECT V::xml', 'SELECT V COLLATE "C"', 'SELECT max(V)',
	'SELECT count(DISTINCT V)', 'SELECT array_agg(V ORDER BY V)::text FROM sweep_rows', 'SELECT string_agg(V::text, \',\') FROM sweep_rows', 'SELECT format(\'%s %L %I\', V, V, V)',
	'SELECT count(*) FROM (VALUES (V), (W)) a (v) JOIN (VALUES (W), (V)) b (v) USING (v)',
	'SELECT V UNION SELECT W', 'SELECT V EXCEPT SELECT W', 'SELECT V INTERSECT ALL SELECT W', 'SELECT hash_record(ROW(V)), hash_array(ARRAY[V])',
	'SELECT hash_record_extended(ROW(V), 1), hash_array_extended(ARRAY[V], 1)', 'SELECT width_bucket(V, ARRAY[W])', 'SELECT jsonb_populate_record(NULL::sweep_pair, to_jsonb(V))',
	'SELECT record_send(ROW(V)), array_send(ARRAY[V])',
	'CREATE TEMP TABLE sweep_t (v T, w T DEFAULT W); INSERT INTO sweep_t VALUES (V), (W); ANALYZE sweep_t; SELECT FROM sweep_t WHERE v = W; UPDATE sweep_t SET v = w; DROP TABLE sweep_t',
	'CREATE TEMP TABLE sweep_t (v T, UNIQUE (v)); INSERT INTO sweep_t VALUES (V), (W); DROP TABLE sweep_t',
	'CREATE TEMP TABLE sweep_t (v T, EXCLUDE USING hash (v WITH =)); INSERT INTO sweep_t VALUES (V), (W); DROP TABLE sweep_t',
	'CREATE TEMP TABLE sweep_t (v T) PARTITION BY LIST (v); CREATE TEMP TABLE sweep_l PARTITION OF sweep_t FOR VALUES IN (V); INSERT INTO sweep_t VALUES (W); DROP TABLE sweep_t',
	'CREATE TEMP TABLE sweep_t (v T) PARTITION BY RANGE (v); CREATE TEMP TABLE sweep_l PARTITION OF sweep_t FOR VALUES FROM (V) TO (W); INSERT INTO sweep_t VALUES (W); DROP TABLE sweep_t',
	'CREATE DOMAIN sweep_d AS T CHECK (VALUE IS DISTINCT FROM W); SELECT V::sweep_d; DROP DOMAIN sweep_d',
	'CREATE TYPE sweep_r AS RANGE (subtype = T); SELECT sweep_r(V, W); DROP TYPE sweep_r',
	'CREATE CAST (T AS int) WITH INOUT; SELECT V::int; DROP CAST (T AS int)',);

# ---- wrappers, which pass on the types that they are called with ----

my $wrappers = '';
my $wrapped = 0;
for my $thing (grep { $_->{plain} } @things)
{
	$thing->{wrapper} = 'sweep_wrapper_' . ++$wrapped . '_';
	next if grep { $_ eq 'internal' || $_ eq 'cstring' } $thing->{returns}, @{ $thing->{args} };
	my $declared = join(', ', map { s/^"any"$/anyelement/r } @{ $thing->{args} });
	my $sql = sql_of($thing, map { "\$$_" } 1 .. @{ $thing->{args} });
	$wrappers .= "CREATE FUNCTION $thing->{wrapper}sql($declared) RETURNS $thing->{returns} LANGUAGE sql IMMUTABLE AS \$\$ SELECT $sql \$\$;\n";
	$wrappers .= "CREATE FUNCTION $thing->{wrapper}plpgsql($declared) RETURNS $thing->{returns} LANGUAGE plpgsql AS \$\$ BEGIN RETURN $sql; END \$\$;\n";
}
$node->safe_psql('postgres', $wrappers);

# ---- all of it ----

# the most calls that are made in full for two arguments
my $full = $random_calls >= 100_000 ? 1_000_000 : 300;

for my $thing (@things)
{
	my $direct = { shapes_of($thing) }->{direct};
	add_call($thing->{object}, 'direct', $direct->($thing, @$_)) for combinations(@{ $thing->{args} } <= 2 ? $full : $full / 2, @{ $thing->{args} });
	# those of many arguments seldom work by chance
	add_call($thing->{object}, 'direct', $direct->($thing, map { pick(@{ $usual{$_} || $valid{$_} || values_for($_) }) } @{ $thing->{args} })) for 1 .. 5;
	add_call($thing->{object}, 'itself', "SELECT $thing->{real}(" . join(', ', ('NULL') x @{ $thing->{args} }) . ')::text') if $thing->{real};
}
for my $type (sort keys %ours)
{
	for my $use ((@type_uses) x 2)
	{
		my ($v, $w) = map { pick(@{ rand() < 0.9 ? $valid{$type} : values_for($type) }) } 1 .. 2;
		add_call($ours{$type}, 'type', $use =~ s/\b([TVW])\b/{T => $type, V => $v, W => $w}->{$1}/ger);
	}
}
for (rows(qq{SELECT object, opcname, amname, opcintype::regtype,
		pg_describe_object('pg_opfamily'::regclass, opcfamily, 0) FROM $members, pg_opclass c JOIN pg_am a ON a.oid = opcmethod
		WHERE classid = 'pg_opclass'::regclass AND c.oid = objid ORDER BY 1}))
{
	my ($object, $class, $method, $type, $family) = @$_;
	for (1 .. 5)
	{
		my $sql = join(";\n",
			"CREATE TEMP TABLE sweep_t AS SELECT " . pick(@{ $valid{$type} }) . "::$type AS v FROM sweep_rows",
			"CREATE INDEX ON sweep_t USING $method (v $class)",
			"INSERT INTO sweep_t VALUES (" . pick(@{ $valid{$type} }) . ')',
			'SET LOCAL enable_seqscan = off',
			'SELECT count(*) FROM sweep_t WHERE v = ' . pick(@{ $valid{$type} }),
			'SELECT count(*) FROM sweep_t a JOIN sweep_t b USING (v)',
			'SET LOCAL enable_seqscan = on',
			'DROP TABLE sweep_t');
		add_call($_, 'class', $sql) for $object, $family;
	}
}
# aggregates have many ways to be called, stand-ins none to work
my @often = map { ($_) x ($_->{real} ? 1 : !$_->{name} || $_->{plain} ? 2 : $_->{kind} eq 'a' ? 4 : 10) } @things;
for (1 .. $random_calls)
{
	my $thing = pick(@often);
	my $how = rand();
	my %shapes = shapes_of($thing);
	my $shape = pick(sort keys %shapes);
	add_call($thing->{object}, $shape, $shapes{$shape}->($thing, map { pick(@{ $how < 0.4 && $usual{$_} || $how < 0.9 && $valid{$_} || values_for($_) }) } @{ $thing->{args} }));
}

# ---- the run ----

my $folder = PostgreSQL::Test::Utils::tempdir();
open(my $file, '>', "$folder/calls") or die;
my $number = 0;
for my $call (@calls)
{
	my $sql = $call->{sql} =~ s/\\/\\\\/gr;
	$sql =~ s/\n/\\n/g;
	print $file ++$number, "\t$sql\n";
}
close($file);
$node->safe_psql('postgres', "\\copy sweep_calls FROM '$folder/calls'");

my $chunk = 500;

sub run_script
{
	my (@numbers) = @_;
	my $script = "SELECT 'pid', pg_backend_pid();\n";
	$script .= "SELECT * FROM sweep_run($_ * $chunk + 1, $_ * $chunk + $chunk);\n" for @numbers;
	return $script;
}
# all of it, then some again: what is to stay in memory is there by then
my $memory = $version >= 140000 ? "SELECT 'memory', sum(total_bytes), sum(total_bytes) FILTER (WHERE name ~ '^bloomset' AND name <> 'bloomset statements') FROM pg_backend_memory_contexts;\n" : '';
my @chunks = 0 .. int((@calls - 1) / $chunk);
my @again = grep { $_ % 4 == 3 } @chunks;
my ($out, $err) = ('', '');
my $ret = $node->psql('postgres', run_script(@chunks) . "DEALLOCATE ALL;\n" . $memory . run_script(@again) . "DEALLOCATE ALL;\n" . $memory,
	on_error_stop => 1, stdout => \$out, stderr => \$err);
is($ret, 0, 'the session lives to the end') or diag(substr($err, 0, 2000));
$node->poll_query_until('postgres', 'SELECT true') if $ret != 0;
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'the server has not restarted');

my (%pids, @memory, %outcome, %state);
for (split /\n/, $out)
{
	my ($what, @rest) = split /\|/, $_, -1;
	if ($what eq 'pid') { $pids{ $rest[0] } = 1; }
	elsif ($what eq 'memory') { push @memory, \@rest; }
	else { ($calls[ $what - 1 ]->{state}, $calls[ $what - 1 ]->{message}) = @rest; }
}
is(scalar(keys %pids), 1, 'one session made all calls');
is(scalar(grep { !defined $_->{state} } @calls), 0, 'each of ' . @calls . ' calls has ended') or whodunit();

# The first call that ends its session, where one did.
sub whodunit
{
	my ($last) = grep { !defined $calls[$_]->{state} } 0 .. $#calls;
	for my $i ($last .. $last + $chunk)
	{
		last if $i > $#calls;
		my $number = $i + 1;
		next if $node->psql('postgres', "SELECT * FROM sweep_run($number, $number)") == 0;
		diag("ended the session: $calls[$i]->{sql}");
		$node->poll_query_until('postgres', 'SELECT true');
		last;
	}
	return;
}

sub wrong
{
	my ($test, @wrong) = @_;
	is(scalar(@wrong), 0, $test) or diag(join("\n", map { substr("$_->{state} $_->{message}: $_->{sql}", 0, 1500) } @wrong[ 0 .. ($#wrong < 9 ? $#wrong : 9) ]));
	return;
}
my @ended = grep { defined $_->{state} } @calls;
wrong('no internal errors', grep { my $call = $_; $call->{state} =~ /^XX0/ && !grep { $call->{message} =~ $_ } keys %postgres_own } @ended);
wrong('what is printed is read again as the same', grep { $_->{state} eq 'SWEEP' } @ended);

# functions that only the executor may call
my %refused = map { $_ => 1 } map { $_->{object} } grep { $_->{plain} && !$_->{strict} && grep { $_ eq 'internal' } @{ $_->{args} } } @things;
wrong('support functions give no value outside of an aggregate', grep { $refused{ $_->{object} } && $_->{shape} eq 'direct' && $_->{state} eq '00000' } @ended);
my %said = map { $_->{object} => 1 } grep { $_->{state} eq '55000' && $_->{message} =~ /called outside of it/ } @ended;
is(join(', ', grep { !$said{$_} } sort keys %refused), '', 'and say so');

# nothing left out, and everything does what it is for in some call
my %swept = map { $_->{object} => 1 } @ended;
is(join(', ', grep { !$swept{$_} && !$out_of_reach{$_} } @members), '', 'each of ' . @members . ' members of the extension is swept');
my %works = map { $_->{object} => 1 } grep { $_->{state} eq '00000' } @ended;
is(join(', ', grep { !$works{$_} && !$said{$_} && !$out_of_reach{$_} } @members), '', 'and works in some call, or refuses to');
my %shapes = map { $_ => 0 } keys %scalar_shapes, keys %function_shapes, keys %aggregate_shapes, keys %procedure_shapes, keys %trigger_shapes, 'type', 'class';
$_->{state} eq '00000' and $shapes{ $_->{shape} }++ for @ended;
# (none of them is an ordered-set aggregate)
is(join(', ', grep { $shapes{$_} == 0 && $_ ne 'within' } sort keys %shapes), '', 'and in each way of calling')
  or diag(explain(\%shapes));

SKIP:
{
	skip 'memory contexts cannot be seen before PostgreSQL 14', 2 if $version < 140000;
	cmp_ok($memory[1][0] - $memory[0][0], '<', 1_000_000, 'memory stays bounded') or diag(explain(\@memory));
	is($memory[1][1], '', 'no call site keeps anything');
}

my %codes;
$codes{ $_->{state} }++ for @ended;
note(join(' ', map { "$_: $codes{$_}" } sort keys %codes));
note(join(' ', map { "$_: $shapes{$_}" } sort keys %shapes));
my $log = slurp_file($node->logfile);
unlike($log, qr/terminated by signal|server process .* exited with exit code|PANIC|TRAP|leak/, 'and its log is clean');

$node->stop;
done_testing();
