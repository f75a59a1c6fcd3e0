# The scripts of doc/recipes.md for the tests: the SQL under a heading, in a database of
# its own; and what a rate allows.

package Recipes;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(recipe_headings recipe transactions run_recipe rate_kept);

my $recipes = slurp_file('doc/recipes.md');

sub recipe_headings
{
	return $recipes =~ /^## (.*)$/mg;
}

# The SQL under the heading that begins so.
sub recipe
{
	my ($heading) = @_;
	my ($text) = $recipes =~ /^## \Q$heading\E[^\n]*\n(.*?)(?=^## |\z)/ms or die "no recipe $heading";
	return join("\n", $text =~ /^```sql\n(.*?)^```/msg);
}

# Its transactions, BEGIN to COMMIT.
sub transactions
{
	return recipe(@_) =~ /^(BEGIN;.*?^COMMIT;)/msg;
}

# In a database of its own; returns what the last queries say.
sub run_recipe
{
	my ($node, $database, $heading) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION bloomset');
	return $node->safe_psql($database, recipe($heading));
}

# So many wrong answers of so many are what the rate allows: within five standard
# deviations of the binomial distribution.  With "some" there has to be one, or nobody
# knows whether false positives are dealt with; the expected number must be above 20.
sub rate_kept
{
	my ($wrong, $asked, $p, $what, %option) = @_;
	my $expected = $asked * $p;
	my $most = $expected + 5 * sqrt($expected * (1 - $p)) + 1;

	cmp_ok($wrong, '<=', $most, "$what: $wrong false positives of $asked at $p");
	cmp_ok($wrong, '>', 0, "$what: there are false positives") if $option{some};
}

1;
