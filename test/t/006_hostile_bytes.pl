# Bytes from strangers, through COPY in binary and in text: an error or a valid
# value each time, and the server alive.

use strict;
use warnings;

use MIME::Base64;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $mutations = 10_000;
my $seed = $ENV{BLOOMSET_SEED} || 20260101;
srand($seed);
note("seed $seed");

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomset;
	CREATE TABLE arrived (f bloomfilter);
});
my $pid = $node->safe_psql('postgres', q{SELECT pg_postmaster_start_time()});

my @samples = map { pack('H*', $_) } split /\n/, $node->safe_psql('postgres', q{
	SELECT encode(f::bytea, 'hex') FROM unnest(ARRAY[bf_create(1, 0.9), bf_add(bf_create(8, 0.1), 1),
		bf_add_all(bf_create(20, 0.01, -1), ARRAY['a', 'b']), bf_add(bf_create(100, 1e-9), ARRAY[1, 2])]) AS f});

sub mutate
{
	my $bytes = $samples[ rand @samples ];
	my $how = int(rand 6);

	if ($how == 0)    # flip bits
	{
		vec($bytes, int(rand(8 * length $bytes)), 1) ^= 1 for 0 .. rand 4;
	}
	elsif ($how == 1)    # a header field of extreme values
	{
		my ($at, $length) = @{ ([3, 1], [4, 4], [8, 4], [12, 8], [20, 8], [28, 8], [36, 8], [44, 8])[ rand 8 ] };
		substr($bytes, $at, $length) = (("\x00", "\xff", "\x7f", "\x80")[ rand 4 ]) x $length;
	}
	elsif ($how == 2)    # cut short
	{
		substr($bytes, rand length $bytes) = '';
	}
	elsif ($how == 3)    # lengthened
	{
		$bytes .= join '', map { chr rand 256 } 0 .. rand 100;
	}
	elsif ($how == 4)    # claims half a gigabyte
	{
		substr($bytes, 28, 8) = pack('Q<', 2**32);
		substr($bytes, 8, 4) = pack('V', 1024);
	}
	else    # noise
	{
		$bytes = join '', map { chr rand 256 } 0 .. rand 200;
	}
	return $bytes;
}

my @mutants = map { mutate() } 1 .. $mutations;
my %sample = map { $_ => 1 } @samples;
my $unchanged = grep { $sample{$_} } @mutants;
my $folder = PostgreSQL::Test::Utils::tempdir();

# binary: a file each, since an error ends a COPY
my $script = '';
for my $i (0 .. $#mutants)
{
	open(my $file, '>:raw', "$folder/$i") or die;
	print $file "PGCOPY\n\xff\r\n\0", pack('NN', 0, 0), pack('nN', 1, length $mutants[$i]), $mutants[$i], pack('n', 0xffff);
	close($file);
	$script .= "\\copy arrived FROM '$folder/$i' (FORMAT binary)\n";
}
my ($ret, $out, $err) = (0, '', '');
$node->psql('postgres', "\\set VERBOSITY sqlstate\n$script", on_error_stop => 0, stdout => \$out, stderr => \$err);
my %codes;
$codes{$1}++ while $err =~ /ERROR:  (\w+)/g;
is(($codes{'22P03'} || 0), $mutations - $unchanged, "binary: $mutations mutations, each changed one refused with 22P03")
  or diag(explain(\%codes));
is($node->safe_psql('postgres', 'SELECT count(*) FROM arrived'), $unchanged, 'binary: nothing else arrived');

# text: base64 of the same, and base64 that is itself mutated
my @texts;
for my $mutant (@mutants)
{
	my $text = MIME::Base64::encode_base64($mutant, '');
	substr($text, rand length $text, 1) = ('!', '=', ' ', 'A', "\xc3\xa9")[ rand 5 ] if rand() < 0.3;
	push @texts, $text;
}
open(my $file, '>:raw', "$folder/texts") or die;
print $file "$_\n" for @texts;
close($file);
$node->safe_psql('postgres', "CREATE TABLE texts (t text);\n\\copy texts FROM '$folder/texts'");
my $answer = $node->safe_psql('postgres', q{
	TRUNCATE arrived;
	CREATE FUNCTION try_all() RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		t text;
		refused int := 0;
		accepted int := 0;
	BEGIN
		FOR t IN SELECT texts.t FROM texts LOOP
			BEGIN
				INSERT INTO arrived VALUES (t::bloomfilter);
				accepted := accepted + 1;
			EXCEPTION WHEN invalid_text_representation OR invalid_binary_representation THEN
				refused := refused + 1;
			END;
		END LOOP;
		RETURN refused + accepted;
	END $$;
	SELECT try_all()});
is($answer, $mutations, "text: $mutations mutations, each refused with 22P02 or 22P03 or accepted");

# what was accepted is a filter like any other
is( $node->safe_psql('postgres', q{
		SELECT count(*) > 0, count(*) FILTER (WHERE NOT (fpp BETWEEN 0 AND 1 AND count >= 0 AND bytes = octet_length(f::bytea) - 4
		  AND f::text::bloomfilter = f AND bf_count(f | f) = count)) FROM arrived, bf_info(f)}),
	't|0', 'text: what was accepted is in order');
is( $node->safe_psql('postgres', 'SELECT count(*) FROM arrived WHERE encode(f::bytea, \'hex\') NOT IN (' .
		join(', ', map { "'" . unpack('H*', $_) . "'" } @samples) . ')'),
	'0', 'text: and is one of the samples');
is($node->safe_psql('postgres', q{SELECT pg_postmaster_start_time()}), $pid, 'the server has not restarted');
my $log = slurp_file($node->logfile);
unlike($log, qr/terminated by signal|server process .* exited with exit code/, 'and no process of it has crashed');

$node->stop;
done_testing();
