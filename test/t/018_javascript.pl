# The reader in JavaScript (clients/js): it gives the server's answers, refuses the
# bytes that the server refuses, and reads the snapshots that its README makes.

use strict;
use warnings;

use Cwd;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $client = getcwd() . '/clients/js';
my $keys = 1700;    # of each type, half of them members
my $mutants = 3000;

plan skip_all => 'there is no node (18 or later) here'
  if system(q{node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' >/dev/null 2>&1}) != 0;
unless (-d "$client/node_modules/hash-wasm")
{
	plan skip_all => 'there is no npm here' if system('npm --version >/dev/null 2>&1') != 0;
	plan skip_all => 'npm cannot install the packages of the reader'
	  if system("cd $client && npm ci --no-audit --no-fund >&2") != 0;
}

# its own tests
is(system("cd $client && npm test >&2"), 0, 'the tests that need no server');

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->start;
# an offset with minutes, for the text forms of times
$node->safe_psql('postgres', q{
	ALTER DATABASE postgres SET timezone = 'Asia/Kathmandu';
	CREATE EXTENSION bloomset});
my $folder = PostgreSQL::Test::Utils::tempdir();
my $new = $node->safe_psql('postgres', 'SHOW server_version_num') >= 140000;

# Runs a script of the reader's; its lines.
sub script
{
	my (@command) = @_;
	my ($out, $err) = run_command([ 'node', @command ]);
	diag($err) if $err ne '';
	return map { [ split /\t/ ] } split /\n/, $out;
}

# -- the same answers --------------------------------------------------------

# name, how compare.js gets the key, the value made from a number x, its JSON (of v; text if
# it is not given)
my @types = (
	[ 'smallint', 'integer', '(x - 1200)::int2' ],
	[ 'integer', 'integer', '(x * 858993 * CASE WHEN x % 3 = 0 THEN -1 ELSE 1 END % 2147483647)::int4' ],
	[ 'bigint', 'integer', 'hashint8extended(x, 1) >> (x % 64)::int' ],
	[ 'integral numeric', 'numeric', '(x / 2)::numeric(10, 2)' ],
	[ 'numeric', 'numeric', '(hashint8extended(x, 2)::numeric * 10::numeric ^ (x % 40 - 30))::numeric(80, 25)' ],
	[ 'large numeric', 'numeric', q{CASE x % 50 WHEN 0 THEN 'NaN' WHEN 1 THEN } . ($new ? q{'-Infinity'} : q{'0'}) . q{ ELSE hashint8extended(x, 2) * (10::numeric ^ (x % 30)) END::numeric} ],
	[ 'real', 'real', q{CASE x % 100 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 'Infinity' ELSE (hashint8extended(x, 3)::float8 * 10::float8 ^ (x % 20 - 30))::float4::text END::float4} ],
	[ 'double precision', 'float', q{CASE x % 100 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '-Infinity' ELSE (hashint8extended(x, 3)::float8 * 10::float8 ^ (x % 300 - 150))::text END::float8} ],
	[ 'text', 'text', q{repeat(chr((32 + x * 7919 % 55000)::int), (x % 40)::int) || repeat(' ', (x % 4)::int) || E'\\\\\t"' || x || repeat(' ', (x % 3)::int)} ],
	[ 'varchar', 'text', q{(chr((70000 + x * 17)::int) || x % 1000 || ' ')::varchar(4)} ],
	[ 'char(n)', 'text', q{x::text::char(10)} ],
	[ 'name', 'text', q{('n' || x)::name} ],
	[ 'enum', 'text', q{('{sad,ok,happy}'::mood[])[1 + x % 3]} ],
	[ 'bytea', 'bytea', q{decode(repeat(md5(x::text), (x % 20)::int), 'hex')} ],
	[ 'boolean', 'boolean', 'x % 4 = 0' ],
	[ 'uuid', 'uuid', 'md5(x::text)::uuid' ],
	[ 'macaddr', 'macaddr', q{left(md5(x::text), 12)::macaddr} ],
	[ 'macaddr8', 'macaddr8', q{left(md5(x::text), 16)::macaddr8} ],
	[ 'inet of 4', 'inet', q{set_masklen('0.0.0.0'::inet + (hashint8extended(x, 4) & 4294967295), (x % 33)::int)} ],
	[ 'inet of 6', 'inet', q{set_masklen(('::'::inet + (hashint8extended(x, 4) & 9223372036854775807)) | ('2001:db8::'::inet + (x << 40)), (128 - x % 129)::int)} ],
	[ 'cidr', 'inet', q{set_masklen(('0.0.0.0'::inet + (hashint8extended(x, 4) & 4294967295))::cidr, (8 + x % 25)::int)} ],
	[ 'date', 'timestamp', q{CASE x WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' ELSE (date '2000-01-01' + (CASE WHEN x % 3 < 2 THEN x * 2000 - 2400000 ELSE x * 1250000 END)::int)::text END::date} ],
	[ 'timestamp', 'timestamp', q{CASE x WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' ELSE (timestamp '2000-01-01' + (hashint8extended(x, 5) >> 7 + (x % 6)::int) * interval '1 microsecond')::text END::timestamp} ],
	[ 'timestamptz', 'timestamptz', q{CASE x WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' ELSE (timestamptz '2000-01-01' + (hashint8extended(x, 5) >> 7 + (x % 6)::int) * interval '1 microsecond')::text END::timestamptz} ],
	[ 'instant', 'instant', q{to_timestamp(x * 1234567 - 2e9) + x % 1000 * interval '1 ms'}, q{to_json((extract(epoch FROM v) * 1000)::numeric::bigint::text)} ],
	[ 'time', 'time', q{CASE x WHEN 1 THEN '24:00' ELSE (time '00:00' + x * 17279999 * interval '1 microsecond')::text END::time} ],
	[ '"char"', 'char', q{chr((x % 128)::int + CASE WHEN x % 128 = 0 THEN 1 ELSE 0 END)::"char"}, 'to_json(ascii(v::text)::text)' ],
	[ 'integer[]', 'integers', q{CASE x % 5 WHEN 0 THEN '{}' WHEN 1 THEN ARRAY[NULL, x] WHEN 2 THEN ARRAY[ARRAY[x, 1], ARRAY[2, NULL]] ELSE ARRAY[x, -x, x % 7] END::int4[]}, 'to_json(v)' ],
	[ 'text[]', 'texts', q{CASE x % 3 WHEN 0 THEN ARRAY[x::text, ' '] ELSE ARRAY[NULL, 'é', chr((65 + x)::int)] END}, 'to_json(v)' ],
	[ 'record', 'row', q{ROW(x, CASE WHEN x % 3 > 0 THEN x::text END)::pair}, 'to_json(v)' ],
	[ 'int8range', 'range', q{CASE x % 5 WHEN 0 THEN 'empty' WHEN 1 THEN int8range(NULL, x)::text WHEN 2 THEN int8range(x, NULL)::text ELSE int8range(x % 50, 50 + x, '[]')::text END::int8range}, 'parts(v)' ],
	[ 'numrange', 'range', q{numrange(x, x + 1 + x % 3, ('{"[)","[]","()","(]"}'::text[])[1 + x % 4])}, 'parts(v)' ],
	[ 'daterange', 'dates', q{daterange(date '2024-01-01' + x::int, date '2031-01-01' + x::int, '(]')}, 'parts(v)' ],
	# PostgreSQL's own hashes
	[ 'interval', 'bfkey', q{x * interval '1 minute'} ],
	[ 'jsonb', 'bfkey', q{to_jsonb(x)} ]);
push @types, [ 'int8multirange', 'multirange',
	q{CASE x % 4 WHEN 0 THEN '{}' ELSE int8multirange(int8range(x, x + 2), int8range(x + 5, NULL)) END::int8multirange},
	q{(SELECT coalesce(json_agg(parts(r) ORDER BY r), '[]') FROM unnest(v) AS r)} ]
  if $new;

# other kinds of filters, and other sizes: name, how the filter f is made of the keys k, of
# integers or of texts
my @kinds = (
	[ 'rate 1e-4', 'bf_agg(v, 850, 1e-4)' ],
	[ 'one block', 'bf_agg(v, 5, 0.9)' ],
	[ 'a seed', 'bf_add_all(bf_create(850, 0.2, -42), array_agg(v))' ],
	[ 'countingfilter', 'bf_agg_counting(v, 850, 0.2)' ],
	[ 'cuckoofilter', 'bf_agg_cuckoo(v, 850, 0.03)' ],
	[ 'cuckoofilter of long fingerprints', 'bf_agg_cuckoo(v, 850, 2e-10)' ],
	[ 'cuckoofilter with a seed', 'bf_add_all(bf_create_cuckoo(850, 0.01, 7), array_agg(v))' ],
	[ 'scalablefilter', 'bf_agg_scalable(v, 100, 0.3)' ],
	[ 'scalablefilter with a seed', 'bf_add_all(bf_create_scalable(300, 0.2, 99), array_agg(v))' ],
	[ 'empty bloomfilter', 'bf_create(10)' ],
	[ 'empty cuckoofilter', 'bf_create_cuckoo(10)' ],
	[ 'empty scalablefilter', 'bf_create_scalable(10)' ]);

my $sql = q{
	CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
	CREATE TYPE pair AS (f1 bigint, f2 text);
	CREATE TABLE filters (name text, f text);
	CREATE TABLE probes (name text, form text, json text, bfkey bfkey, at text, member boolean, answer text);
	CREATE FUNCTION parts(r anyrange) RETURNS json LANGUAGE sql AS $$
	  SELECT json_build_object('lower', lower(r)::text, 'upper', upper(r)::text, 'bounds', CASE WHEN isempty(r) THEN 'empty'
	    ELSE CASE WHEN lower_inc(r) THEN '[' ELSE '(' END || CASE WHEN upper_inc(r) THEN ']' ELSE ')' END END) $$;
};
# bounds of numbers come as text
sub add_case
{
	my ($name, $form, $value, $json, $made) = @_;
	my $out = $json || 'to_json(v::text)';
	return qq{
		CREATE TEMP TABLE k AS SELECT x, $value AS v FROM generate_series(1::bigint, $keys) AS x;
		CREATE TEMP TABLE the AS SELECT $made AS f FROM k WHERE x % 2 = 0 LIMIT 1;
		INSERT INTO filters SELECT '$name', f::text FROM the;
		INSERT INTO probes SELECT '$name', '$form', $out, bf_key(v), NULL, x % 2 = 0, left(bf_contains(f, v)::text, 1) FROM the, k;
		DROP TABLE the, k;
	};
}
$sql .= add_case($_->[0], $_->[1], $_->[2], $_->[3], 'bf_agg(v, 850, 0.2)') for @types;
for my $kind (@kinds)
{
	$sql .= add_case("$kind->[0], integer", 'integer', 'x * 4294967296 + x', undef, $kind->[1]);
	$sql .= add_case("$kind->[0], text", 'text', q{'key ' || x}, undef, $kind->[1]);
}
# the times: before, while and after its layers live, and none; of two filters, one of which
# has layers dropped, whose newest span is far ahead
$sql .= q{
	CREATE FUNCTION answer(f layeredfilter, key bigint, at timestamptz) RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
	  RETURN CASE WHEN at IS NULL THEN bf_contains(f, key) ELSE bf_contains(f, key, at) END;
	EXCEPTION WHEN object_not_in_prerequisite_state THEN
	  RETURN 'e';
	END $$;
	CREATE TABLE layered AS
	  SELECT 'layeredfilter' AS name, bf_agg_layered(x, timestamptz '1999-12-31 12:00' + x * interval '1 minute', 200, 0.3, 20, '100 minutes') AS f
	  FROM generate_series(1, 2000) AS x
	  UNION ALL SELECT 'layeredfilter that forgot', bf_agg_layered(x, timestamptz '2500-01-01 00:00' + x * interval '1 minute', 200, 0.3, 10, '100 minutes')
	  FROM generate_series(1, 2000) AS x
	  UNION ALL SELECT 'layeredfilter without layers', bf_create_layered(10, 0.1, 3, '1 hour');
	INSERT INTO filters SELECT name, f::text FROM layered;
	INSERT INTO probes SELECT name, 'integer', to_json(x::text), bf_key(x), at::text, false, left(answer(f, x, at), 1)
	FROM layered, generate_series(1, 4000, 10) AS x, unnest(ARRAY[NULL, '1999-12-31 11:59', '1999-12-31 23:59:59.999999', '2000-01-01 05:00',
	  '2000-01-02 12:00', '2024-01-01', '2500-01-01 00:00', '2500-01-01 10:00', '2500-01-02 00:00', '2500-01-02 12:00', '2600-01-01']::timestamptz[]) AS at
	WHERE at IS NOT NULL OR name <> 'layeredfilter';
};
$node->safe_psql('postgres', $sql);
$node->safe_psql('postgres', qq{\\copy filters TO '$folder/filters'\n\\copy probes TO '$folder/probes'});

my %expected = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', 'SELECT name FROM filters');
my ($asked, $members) = (0, 0);
for (script("$client/test/server/compare.js", "$folder/filters", "$folder/probes"))
{
	my ($name, $kind, $count, $added, $others, $wrong, $first) = @$_;
	is($wrong, 0, "$name: $count keys, $added of them members, $others others taken for such") or diag($first);
	$asked += $count;
	$members += $added;
	delete $expected{$name};
}
is(join(', ', keys %expected), '', 'every filter was asked');
cmp_ok($asked, '>=', 100_000, "$asked answers compared, of $members members");
is($node->safe_psql('postgres', q{SELECT count(*) FROM probes WHERE member AND answer <> 't' AND name NOT LIKE 'empty%'}),
	'0', 'the server finds every member');
is($node->safe_psql('postgres', q{SELECT count(DISTINCT answer) FROM probes WHERE name = 'layeredfilter that forgot'}),
	'3', 'a layered filter says yes, no, and that it does not know');

# -- snapshots ---------------------------------------------------------------

# the commands of the README, as they stand there, but for the server's folder
my ($commands) = slurp_file("$client/README.md") =~ /^## Snapshot\n.*?^```sh\n(.*?)^```/ms or die 'no commands';
my @commands = grep { !/^#/ } split /\n/, $commands;
$node->safe_psql('postgres', q{
	CREATE TABLE users AS SELECT 'user-' || x AS email FROM generate_series(1, 1000) AS x;
	CREATE TABLE filters_of AS SELECT 'emails' AS name, bf_agg(email) AS f FROM users;
	ALTER TABLE filters RENAME TO compared;
	ALTER TABLE filters_of RENAME TO filters});
my $snapshots = PostgreSQL::Test::Utils::tempdir();
{
	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	local $ENV{PGDATABASE} = 'postgres';
	for my $command (@commands)
	{
		(my $here = $command) =~ s{/srv/}{$snapshots/}g;
		is(system("cd $snapshots && $here"), 0, $command);
	}
}
my @files = glob("$snapshots/*.bf");
is(scalar(@files), scalar(@commands), 'the commands have written files: ' . join(' ', map { s{.*/}{}r } @files));
is(scalar(glob("$snapshots/*.new")), undef, 'and left no other');
# the filter in each of them, told by its answers to 2000 questions
my $answers = $node->safe_psql('postgres', q{SELECT string_agg(CASE WHEN bf_contains(f, 'user-' || x) THEN '1' ELSE '0' END, '' ORDER BY x)
	FROM filters, generate_series(1, 2000) AS x});
for my $file (@files)
{
	my ($out) = run_command([ 'node', '--input-type=module', '-e', qq{
		import { Filter } from '$client/src/index.js';
		const filter = await Filter.open('$file', { kind: 'bloomfilter', keys: 'text' });
		console.log(Array.from({ length: 2000 }, (_, i) => Number(filter.has(`user-\${i + 1}`))).join(''));} ]);
	is($out, $answers, "$file is that filter");
}
# those that the example is tested with
is( $node->safe_psql('postgres', q{SELECT bf_agg('user-' || x, 1000, 0.01) FROM generate_series(501, 1500) AS x}) . "\n",
	slurp_file("$client/test/fixtures/users-2.base64"), 'the snapshot of the example is what the server makes');
my ($copy) = run_command([ 'psql', '-XAtqd', $node->connstr('postgres'), '-c', q{SELECT encode(bf_agg('user-' || x, 1000, 0.01)::bytea, 'hex') FROM generate_series(1, 1000) AS x} ]);
is(unpack('H*', substr(slurp_file("$client/test/fixtures/users-1.copy"), 25, -2)), $copy, 'and so is the other');

# -- the same judgement of foreign bytes --------------------------------------

$node->safe_psql('postgres', qq{
	CREATE TABLE samples AS
	  WITH k AS (SELECT x::bigint AS x FROM generate_series(1, 400) AS x),
	    l AS (SELECT bf_agg_layered(x, timestamptz '2024-01-01 00:00Z' + x * interval '1 minute', 30, 0.3, 4, '2 hours') AS f FROM k)
	  SELECT encode(f, 'hex') AS f FROM (
	    SELECT bf_create(1, 0.9)::bytea
	    UNION ALL SELECT bf_add(bf_create(8, 0.1), 1)::bytea
	    UNION ALL SELECT bf_agg(x, 300, 0.05)::bytea FROM k
	    UNION ALL SELECT bf_add(bf_create(20, 1e-10, -7), 'a')::bytea
	    UNION ALL SELECT bf_add(bf_create(8, 0.1), ARRAY[1])::bytea
	    UNION ALL SELECT bf_add(bf_create(8, 0.1), interval '1 day')::bytea
	    UNION ALL SELECT bf_create_counting(5, 0.1)::bytea
	    UNION ALL SELECT bf_agg_counting(x, 100, 0.2)::bytea FROM k
	    UNION ALL SELECT bf_create_cuckoo(5, 0.1)::bytea
	    UNION ALL SELECT bf_agg_cuckoo(x, 400, 0.01)::bytea FROM k
	    UNION ALL SELECT bf_agg_cuckoo(x::text, 10, 4e-10)::bytea FROM k WHERE x <= 10
	    UNION ALL SELECT bf_create_scalable(5, 0.1)::bytea
	    UNION ALL SELECT bf_agg_scalable(x, 30, 0.3)::bytea FROM k
	    UNION ALL SELECT bf_agg_scalable(x, 300, 1e-9)::bytea FROM k WHERE x <= 20
	    UNION ALL SELECT bf_union(bf_agg_scalable(x, 30, 0.3) FILTER (WHERE x < 29), bf_agg_scalable(x, 30, 0.3) FILTER (WHERE x BETWEEN 20 AND 49))::bytea FROM k
	    UNION ALL SELECT bf_create_layered(30, 0.1, 3, '1 hour')::bytea
	    UNION ALL SELECT f::bytea FROM l
	    UNION ALL SELECT bf_expire(f, '2024-01-02 00:00Z')::bytea FROM l
	    UNION ALL SELECT bf_expire(f, '2024-01-01 12:00Z')::bytea FROM l
	    UNION ALL SELECT bf_add(bf_add(bf_create_layered(30, 0.1, 3, '1 hour'), 5, '1999-12-31 23:30Z'), 6, '2000-01-01 00:10Z')::bytea
	  ) AS s (f);
	CREATE TABLE mutants (kind text, bytes bytea, accepted boolean, asked text[]);
	CREATE FUNCTION judge(kind text, bytes bytea) RETURNS text LANGUAGE plpgsql AS \$\$
	DECLARE
	  why text;
	BEGIN
	  EXECUTE format('SELECT \$1::%I', kind) USING bytes;
	  RETURN NULL;
	EXCEPTION WHEN invalid_binary_representation THEN
	  GET STACKED DIAGNOSTICS why = PG_EXCEPTION_DETAIL;
	  RETURN why;
	END \$\$;
	CREATE FUNCTION ask(kind text, bytes bytea, key text, at text) RETURNS text LANGUAGE plpgsql AS \$\$
	DECLARE
	  answer boolean;
	BEGIN
	  EXECUTE format('SELECT bf_contains(\$1::%I, \$2::bfkey' || CASE kind WHEN 'layeredfilter' THEN ', \$3::timestamptz)' ELSE ')' END, kind)
	    INTO answer USING bytes, key, at;
	  RETURN left(answer::text, 1);
	EXCEPTION WHEN object_not_in_prerequisite_state THEN
	  RETURN 'e';
	END \$\$;
	\\copy samples TO '$folder/samples'
});
my $seed = $ENV{BLOOMSET_SEED} || 20260101;
note("seed $seed");
script("$client/test/server/mutants.js", "$folder/samples", getcwd() . '/test/fuzz/corpus', $seed, $mutants, "$folder/mutants");
$node->safe_psql('postgres', qq{
	\\copy mutants FROM '$folder/mutants'
	ALTER TABLE mutants ADD why text;
	UPDATE mutants SET why = judge(kind, bytes)});
my ($accepted, $refused) = split /\|/,
  $node->safe_psql('postgres', 'SELECT count(*) FILTER (WHERE why IS NULL), count(why) FROM mutants');
cmp_ok($accepted, '>', $mutants / 10, "$accepted of $mutants changed filters are valid to the server");
cmp_ok($refused, '>', $mutants / 10, "$refused are not");
# it does not compute the sizes that layers ought to have
is( $node->safe_psql('postgres', q{SELECT kind, accepted, why, encode(bytes, 'hex') FROM mutants
		WHERE accepted <> (why IS NULL) AND why IS DISTINCT FROM 'A layer is not what its number of keys and rate call for.' LIMIT 3}),
	'', 'to the reader the same are');
is( $node->safe_psql('postgres', q{SELECT kind, key, encode(bytes, 'hex')
		FROM mutants, unnest(asked) AS key, string_to_array(key, '|') AS part
		WHERE why IS NULL AND ask(kind, bytes, part[1], part[2]) <> part[3] LIMIT 3}),
	'', 'and the answers of those that are valid');

$node->stop;
done_testing();
