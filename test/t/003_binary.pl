# The shared library: no instruction beyond the baseline of its architecture, and
# no symbol that could be taken for one of the server's.

use strict;
use warnings;

use Config;
use Test::More;

my $library = 'bloomset.so';
plan skip_all => "$library is not in this folder" unless -e $library;
plan skip_all => 'no objdump' if system('objdump --version >/dev/null 2>&1') != 0;

# A package is built on one CPU and run on another.  (tzcnt is not looked for: compilers
# write it as "rep bsf", which older CPUs take for the bsf it stands for.)
SKIP:
{
	skip 'not x86-64', 1 unless $Config{archname} =~ /x86_64/;
	my %found;
	open(my $code, '-|', "objdump -d --no-show-raw-insn $library") or die;
	while (<$code>)
	{
		$found{$1}++ if /\s(v[a-z0-9]+)\s.*%[xyz]mm/;    # AVX and later
		$found{$1}++ if /\s(pclmul\w*|aes\w+|popcnt|crc32\w*|pshufb|pmulld|ptest|blendv\w*|mulx|pdep|pext|lzcnt)\s/;
	}
	close($code);
	is_deeply(\%found, {}, 'no instruction beyond SSE2');
}

# The backend exports bloom_create and others: such a function of ours would be
# replaced by the backend's without a word.
my @symbols = map { (split)[-1] } grep { / [TDBRVW] / } `nm -D --defined-only $library`;
ok(scalar(@symbols) > 20, 'there are exported symbols');
my @foreign = grep { !/^(pg_finfo_)?bs_/ && !/^(_PG_init|Pg_magic_func|_init|_fini|__bss_start|_edata|_end)$/ } @symbols;
is_deeply(\@foreign, [], 'all of them have our prefix');

done_testing();
