# The scripts of doc/recipes.md, as they stand there.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->start;

my $recipes = slurp_file('doc/recipes.md');

# the SQL under a heading
sub script
{
	my ($heading) = @_;
	my ($text) = $recipes =~ /^## \Q$heading\E[^\n]*\n(.*?)(?=^## |\z)/ms or die "no recipe $heading";
	return join("\n", $text =~ /^```sql\n(.*?)^```/msg);
}

# a database of its own
sub run_recipe
{
	my ($name, $heading) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, "CREATE EXTENSION bloomset");
	$node->safe_psql($name, script($heading));
}

SKIP:
{
	skip 'the extension hll is not installed', 3
	  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'hll'}) eq '0';
	run_recipe('counting', '"Seen?" and "how many?"');
	my ($lost, $exact, $filter, $sketch) =
	  split /\|/, $node->safe_psql('counting', 'SELECT * FROM answer');
	is($lost, 0, 'every visitor was seen');
	# 27000 keys in a filter for 40000: a standard deviation is about 0.15%; of the sketch
	# of 2^11 registers 2.3%
	cmp_ok(abs($filter / $exact - 1), '<', 0.01, "the filter counts $filter of $exact");
	cmp_ok(abs($sketch / $exact - 1), '<', 0.12, "the sketch counts $sketch");
}

$node->stop;
done_testing();
