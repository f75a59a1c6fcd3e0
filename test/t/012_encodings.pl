# Text keys are the same in every encoding: filters built in a database of one are
# those that are built in another, and find their keys after dump and restore there.
# All of it by an ordinary user, who has installed the extension.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE ordinary LOGIN NOSUPERUSER');

sub create_database
{
	my ($name, $encoding) = @_;
	$node->safe_psql('postgres',
		"CREATE DATABASE $name OWNER ordinary TEMPLATE template0 ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C'");
	return;
}

sub ask
{
	my ($database, $sql) = @_;
	return $node->safe_psql($database, $sql, extra_params => [ '-U', 'ordinary' ]);
}

# the fixed filters and keys of the format; those of text that LATIN1 has not left out
my $folder = -e 'test/format/keys.tsv' ? 'test/format' : '../../test/format';
my $version = ask('postgres', 'SHOW server_version_num') / 10000;
my %rows;
for my $name ('filters', 'keys')
{
	$rows{$name} = slurp_file("$folder/$name.tsv");
}
create_database('latin1', 'LATIN1');
my $copies = join '', map { "COPY $_ FROM STDIN (ENCODING 'UTF8');\n$rows{$_}\\.\n" } 'filters', 'keys';
ask('latin1', qq{
	CREATE EXTENSION bloomset;
	CREATE TYPE mood AS ENUM ('sad', 'ok');
	CREATE TABLE filters (name text PRIMARY KEY, least_version int, n bigint, p float8, seed bigint, sha256 text, literal text);
	CREATE TABLE keys (name text, sql text, bfkey bfkey, member boolean, answer boolean);
	$copies
	DELETE FROM filters WHERE least_version > $version OR name = 'text beyond LATIN1';
	DELETE FROM keys WHERE name NOT IN (SELECT name FROM filters);
	} . q{
	CREATE FUNCTION ask(question text, f bloomfilter DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE answer text;
	BEGIN
		EXECUTE 'SELECT ' || question INTO answer USING f;
		RETURN answer;
	END $$;
	CREATE FUNCTION build(filter filters) RETURNS bloomfilter LANGUAGE plpgsql AS $$
	DECLARE
		result bloomfilter := bf_create(filter.n, filter.p, filter.seed);
		key text;
	BEGIN
		FOR key IN SELECT sql FROM keys WHERE name = filter.name AND member LOOP
			EXECUTE format('SELECT bf_add($1, %s)', key) INTO result USING result;
		END LOOP;
		RETURN result;
	END $$;
	CREATE TABLE built AS SELECT name, literal, build(filters) AS f FROM filters;
	CREATE TABLE words (w text, k bfkey GENERATED ALWAYS AS (bf_key(w)) STORED, CHECK (bf_key(w) = k));
	INSERT INTO words VALUES ('plain'), (U&'caf\00e9'), (U&'\00fcber  '), (U&'\00df');
	CREATE INDEX ON words (k);
	CREATE INDEX ON words USING hash (k);
	CREATE INDEX ON words (bf_key(w));
	CREATE INDEX ON words (bf_shard(w, 10)) WHERE bf_contains(bf_create(10), w) IS NOT NULL;
	CREATE TABLE used AS SELECT bf_agg(w) AS f FROM words;
	ALTER TABLE used ADD CHECK (bf_contains(f, 'plain'));
	CREATE VIEW asked AS SELECT w FROM words, used WHERE bf_contains(f, w);
	CREATE MATERIALIZED VIEW united AS SELECT bf_union_agg(f) AS f FROM used;});

my $built = q{SELECT count(*) > 30, count(*) FILTER (WHERE f::text <> literal), count(*) FILTER (WHERE f <> build(filters)) FROM built JOIN filters USING (name, literal)};
sub check
{
	my ($database) = @_;
	is(ask($database, $built), 't|0|0', "$database: filters built in LATIN1 have the fixed bytes, and so have those built here");
	is( ask($database, q{SELECT count(*) > 250, count(*) FILTER (WHERE ask(format('bf_contains($1, %s)', sql), f)::boolean <> answer OR bf_contains(f, bfkey) <> answer
			OR ask(format('bf_key(%s)', sql)) <> bfkey::text) FROM keys JOIN built USING (name)}),
		't|0', "$database: every key is found, and others have the answers that they had");
	is(ask($database, 'SELECT count(*), count(*) FILTER (WHERE bf_key(w) = k) FROM words'), '4|4', "$database: generated keys are right");
	for my $word ('plain', 'caf\00e9', '\00fcber', '\00df')
	{
		is( ask($database, qq{SET enable_seqscan = off; SELECT count(*) FROM words WHERE k = bf_key(U&'$word')}) .
			  ask($database, qq{SET enable_seqscan = off; SELECT count(*) FROM words WHERE bf_key(w) = bf_key(U&'$word')}),
			'11', "$database: found by index: $word");
	}
	is( ask($database, 'SELECT (SELECT count(*) FROM asked), (SELECT count(*) FROM united JOIN used USING (f))'),
		'4|1', "$database: views are in place");
	like( ($node->psql($database, 'INSERT INTO used VALUES (bf_create(10))'))[2], qr/violates check constraint/, "$database: a constraint is in place");
	is( ask($database, q{SELECT extname, extowner::regrole FROM pg_extension WHERE extname = 'bloomset'}),
		'bloomset|ordinary', "$database: the extension belongs to the user");
	return;
}

check('latin1');
my $dir = $node->backup_dir;
mkdir $dir;
my @as = ('-U', 'ordinary');
my $here = $node->connstr('latin1');

# in every format
$node->command_ok([ 'pg_dump', @as, '-f', "$dir/plain.sql", $here ], 'dump as SQL');
my $dump = slurp_file("$dir/plain.sql");
like($dump, qr/^CREATE EXTENSION .*bloomset/m, 'the dump asks for the extension');
unlike($dump, qr/^CREATE (?:FUNCTION|TYPE|OPERATOR|AGGREGATE|CAST)[^\n]*(?:bf_|bloomfilter \(|bfkey \()/m, 'and has nothing of its members');
create_database('utf8_plain', 'UTF8');
$node->command_ok([ 'psql', @as, '-XqAt', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/plain.sql", $node->connstr('utf8_plain') ], 'restore');
check('utf8_plain');

$node->command_ok([ 'pg_dump', @as, '-Fd', '-j2', '-f', "$dir/directory", $here ], 'dump as directory');
create_database('utf8_directory', 'UTF8');
$node->command_ok([ 'pg_restore', @as, '-e', '-j2', '-d', $node->connstr('utf8_directory'), "$dir/directory" ], 'restore with two jobs');
check('utf8_directory');

$node->command_ok([ 'pg_dump', @as, '-Fc', '-f', "$dir/custom", $node->connstr('utf8_plain') ], 'dump in custom format');
create_database('win1252', 'WIN1252');
$node->command_ok([ 'pg_restore', @as, '-e', '-d', $node->connstr('win1252'), "$dir/custom" ], 'restore');
check('win1252');

# an encoding of several bytes a character, without any ASCII in the key
my %keys;
for (split /\n/, $rows{keys})
{
	my ($name, $sql, $key) = split /\t/;
	$keys{ $sql =~ s/\\\\/\\/gr } = $key if $name =~ /^text/;
}
create_database('euc_jp', 'EUC_JP');
ask('euc_jp', 'CREATE EXTENSION bloomset');
for my $sql (q{U&'\65e5\672c'::text}, q{U&'\043a\043b\044e\0447 '::varchar})
{
	is(ask('euc_jp', "SELECT bf_key($sql)"), $keys{$sql}, "EUC_JP: $sql");
}

# SQL_ASCII promises less: what is not ASCII is bytes
create_database('sql_ascii', 'SQL_ASCII');
ask('sql_ascii', 'CREATE EXTENSION bloomset');
my $cafe = $keys{q{U&'caf\00e9'::text}};
is( ask('sql_ascii', qq{SELECT bf_key('apple') = '$keys{"'apple'"}', bf_key(E'caf\\xc3\\xa9') = '$cafe', bf_key(E'caf\\xe9') = '$cafe'}),
	't|t|f', 'SQL_ASCII: ASCII is as everywhere, other text is the key of its bytes');

$node->stop;
done_testing();
