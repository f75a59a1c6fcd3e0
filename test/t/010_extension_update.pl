# ALTER EXTENSION UPDATE, from the oldest version step by step to the newest: the
# catalog is as after a fresh installation, and filters and keys are as they were.
# That the comparison can fail is shown with a made-up older version.

use strict;
use warnings;

use File::Copy;
use File::Path qw(make_path);

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->start;

# Every member of the extension with all that the catalog says of it, and what hangs
# on its operator families; by names, since object identifiers differ.
my $catalog = q{
	WITH extension AS (SELECT * FROM pg_extension WHERE extname = 'bloomset'),
	member AS (SELECT classid, objid, objsubid, pg_describe_object(classid, objid, objsubid) AS object
		FROM pg_depend JOIN extension AS e ON refobjid = e.oid AND refclassid = 'pg_extension'::regclass WHERE deptype = 'e'),
	line AS (
		SELECT object, 'comment' AS what, obj_description(objid, classid::regclass::name) AS value FROM member
		UNION ALL SELECT object, 'privileges at the start', concat_ws(' ', privtype, initprivs) FROM member JOIN pg_init_privs AS i ON (objoid, classoid, i.objsubid) = (objid, classid, member.objsubid)
		UNION ALL SELECT object, 'function', CASE WHEN prokind = 'a' THEN concat_ws(' ', pg_get_function_arguments(p.oid), provolatile, proparallel, prosecdef, proleakproof, proisstrict, procost)
			ELSE pg_get_functiondef(p.oid) END FROM member JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND objid = p.oid
		UNION ALL SELECT object, 'owner and privileges', concat_ws(' ', proowner::regrole, coalesce(proacl::text, 'default')) FROM member JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND objid = p.oid
		UNION ALL SELECT object, 'aggregate', (to_jsonb(a) - 'aggfnoid' || jsonb_build_object('aggtranstype', aggtranstype::regtype, 'aggmtranstype', aggmtranstype::regtype, 'aggsortop', aggsortop::regoperator))::text
			FROM member JOIN pg_aggregate AS a ON classid = 'pg_proc'::regclass AND objid = aggfnoid
		UNION ALL SELECT object, 'type', concat_ws(' ', typowner::regrole, coalesce(typacl::text, 'default'), typlen, typbyval, typtype, typcategory, typispreferred, typdelim, typinput, typoutput, typreceive, typsend,
			typmodin, typmodout, typanalyze, typalign, typstorage, typcollation, typdefault, typarray::regtype, typelem::regtype) FROM member JOIN pg_type AS t ON classid = 'pg_type'::regclass AND objid = t.oid
		UNION ALL SELECT object, 'operator', concat_ws(' ', oprowner::regrole, oprcanmerge, oprcanhash, oprresult::regtype, oprcom::regoperator, oprnegate::regoperator, oprcode, oprrest, oprjoin)
			FROM member JOIN pg_operator AS o ON classid = 'pg_operator'::regclass AND objid = o.oid
		UNION ALL SELECT object, 'cast', concat_ws(' ', castfunc::regprocedure, castcontext, castmethod) FROM member JOIN pg_cast AS c ON classid = 'pg_cast'::regclass AND objid = c.oid
		UNION ALL SELECT object, 'operator class', concat_ws(' ', opcowner::regrole, opcintype::regtype, opcdefault, opckeytype::regtype, pg_describe_object('pg_opfamily'::regclass, opcfamily, 0))
			FROM member JOIN pg_opclass AS o ON classid = 'pg_opclass'::regclass AND objid = o.oid
		UNION ALL SELECT object, 'in the family', concat_ws(' ', pg_describe_object('pg_amop'::regclass, a.oid, 0), amoppurpose) FROM member JOIN pg_amop AS a ON classid = 'pg_opfamily'::regclass AND objid = amopfamily
		UNION ALL SELECT object, 'in the family', pg_describe_object('pg_amproc'::regclass, a.oid, 0) FROM member JOIN pg_amproc AS a ON classid = 'pg_opfamily'::regclass AND objid = amprocfamily
		UNION ALL SELECT 'extension', 'itself', concat_ws(' ', extversion, extrelocatable, extconfig, obj_description(oid)) FROM extension)
	SELECT object, what, coalesce(value, 'none') FROM line ORDER BY object COLLATE "C", what COLLATE "C", value COLLATE "C"};

my $data = q{
	CREATE TABLE filters (name text PRIMARY KEY, f bloomfilter DEFAULT bf_create(10), k bfkey);
	INSERT INTO filters SELECT 'integers', bf_agg(x, 100000, 0.01), bf_key(1) FROM generate_series(1, 1000) AS x;
	INSERT INTO filters VALUES ('texts', bf_add_all(bf_create(8, 0.1, 42), ARRAY['apple', 'pear']), bf_key('apple'));
	CREATE INDEX ON filters (k);
	CREATE INDEX ON filters USING hash (f);
	CREATE VIEW sizes AS SELECT name, (bf_info(f)).n FROM filters;
	CREATE MATERIALIZED VIEW united AS SELECT bf_union_agg(f) AS f FROM filters WHERE name = 'integers';
};
my $digest = q{
	SET enable_seqscan = off;
	SELECT name, md5(bf_send(f)), k FROM filters ORDER BY k;
	SELECT count(*) FROM generate_series(1, 1000) AS x WHERE NOT bf_contains((SELECT f FROM filters WHERE k = bf_key(1)), x);
	SELECT count(*) FROM united JOIN filters USING (f);
	SELECT * FROM sizes ORDER BY name};

sub by_number
{
	my @a = split /\./, shift;
	my @b = split /\./, shift;
	while (@a || @b)
	{
		my $order = (shift(@a) // 0) <=> (shift(@b) // 0);
		return $order if $order;
	}
	return 0;
}

# From the scripts that the server finds.  (Debian's extension_destdir is not looked
# at by pg_available_extension_versions.)
$node->safe_psql('postgres', 'CREATE EXTENSION bloomset');
my $default = $node->safe_psql('postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'bloomset'});

sub versions
{
	return sort { by_number($a, $b) } split /\n/, $node->safe_psql('postgres', qq{
		SELECT '$default' UNION SELECT source FROM pg_extension_update_paths('bloomset') UNION SELECT target FROM pg_extension_update_paths('bloomset')});
}

# A new database in which the extension came to the last of these versions through
# all the others; nothing of the data may have changed on the way.
my $databases = 0;

sub catalog_after
{
	my ($first, @steps) = @_;
	my $database = 'update' . ++$databases;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, "CREATE EXTENSION bloomset VERSION '$first'; $data");
	my $before = $node->safe_psql($database, $digest);
	for my $version (@steps)
	{
		$node->safe_psql($database, "ALTER EXTENSION bloomset UPDATE TO '$version'");
		is($node->safe_psql($database, $digest), $before, "$version: the data are as before");
	}
	return $node->safe_psql($database, $catalog);
}

my @versions = versions();
is($versions[-1], $default, 'the newest version is the default one');
is( $node->safe_psql('postgres', qq{SELECT source FROM pg_extension_update_paths('bloomset') WHERE target = '$default' AND path IS NULL}),
	'', "every other version can be updated to $default");
my $fresh = catalog_after($default);
cmp_ok(scalar(split /\n/, $fresh), '>', 300, 'the catalog says much about it');
is(catalog_after(@versions), $fresh, 'after updates the catalog is as after an installation: ' . join(' -> ', @versions));

# The same with version 0.9, which lacks a function that an update adds: rightly, and
# with a mistake.  The scripts stand in a folder of this test's own.
SKIP:
{
	my $share = $node->safe_psql('postgres', q{SELECT setting FROM pg_config() WHERE name = 'SHAREDIR'});
	my $setting = $node->safe_psql('postgres',
		q{SELECT name FROM pg_settings WHERE name IN ('extension_destdir', 'extension_control_path') ORDER BY name LIMIT 1});
	skip 'this server takes extensions from its own folder only', 1 if $setting eq '';

	my $current = $node->safe_psql('postgres', "SHOW $setting");
	my $own = PostgreSQL::Test::Utils::tempdir();
	my $value = "$own:$current";
	my @folders;
	if ($setting eq 'extension_destdir')
	{
		# the library is looked for there, too
		my $libraries = $node->safe_psql('postgres', q{SELECT setting FROM pg_config() WHERE name = 'PKGLIBDIR'});
		make_path("$own$libraries");
		symlink("$current$libraries/bloomset.so", "$own$libraries/bloomset.so") or die $!;
		@folders = ("$current$share/extension", "$share/extension");
		$value = $own;
		$own .= $share;
	}
	else
	{
		@folders = map { s/^\$system$/$share/r . '/extension' } split /:/, $current;
	}
	my ($folder) = grep { -e "$_/bloomset.control" } @folders;
	make_path("$own/extension");
	copy($_, "$own/extension") or die "$_: $!" for glob("$folder/bloomset*");
	$node->append_conf('postgresql.conf', "$setting = '$value'");
	$node->restart;

	my ($base) = grep { -e "$own/extension/bloomset--$_.sql" } reverse @versions;
	my $whole = slurp_file("$own/extension/bloomset--$base.sql");
	my $statement = qr/^(?:CREATE|COMMENT ON) FUNCTION bf_intersect_count\(.*?;\n/ms;
	my @removed = $whole =~ /$statement/g;
	is(scalar @removed, 2, 'a function and its comment are taken out') or last SKIP;
	write_script('0.9', $whole =~ s/$statement//gr);
	write_script("0.9--$base", join('', @removed));
	is(join(' ', versions()), "0.9 @versions", 'there is an older version');
	is(catalog_after('0.9', @versions), $fresh, 'a right update');

	my %mistakes = (
		'no comment' => $removed[0],
		'another volatility' => join('', @removed) =~ s/IMMUTABLE/STABLE/r,
		'not parallel safe' => join('', @removed) =~ s/PARALLEL SAFE//r,
		'another name of the argument' => join('', @removed) =~ s/\(a bloomfilter,/(filter bloomfilter,/r,
		'a privilege' => join('', @removed) . 'REVOKE ALL ON FUNCTION bf_intersect_count FROM public;',
		'an operator too many' => join('', @removed) . 'CREATE OPERATOR |& (LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bf_union);',);
	for my $mistake (sort keys %mistakes)
	{
		write_script("0.9--$base", $mistakes{$mistake});
		isnt(catalog_after('0.9', @versions), $fresh, "a wrong update is noticed: $mistake");
	}

	sub write_script
	{
		my ($name, $content) = @_;
		my $path = "$own/extension/bloomset--$name.sql";
		unlink $path;
		open(my $file, '>', $path) or die "$path: $!";
		print $file $content;
		close($file);
		return;
	}
}

$node->stop;
done_testing();
