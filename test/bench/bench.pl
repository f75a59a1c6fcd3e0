# The comparisons of test/bench/bench, which starts the server for them.
#
# A comparison is a group of queries that are run in turn, round after round, in
# one session: what slows the machine down for a while slows both sides of a
# ratio. The time is psql's \timing: the clock around the query, so that no
# instrumentation inside the executor dilutes the ratios. Every query gives back
# one small row. The ratio of a row is the median of its rounds' ratios.
use strict;
use warnings;

use Getopt::Long;
use IO::Select;
use IPC::Open3;
use List::Util qw(max min);

my ($psql, $out, $quick, $only, $runs) = ('psql', undef, 0, '', 7);
GetOptions('psql=s' => \$psql, 'out=s' => \$out, quick => \$quick, 'only=s' => \$only, 'runs=i' => \$runs)
  or exit 2;
$| = 1;

my $N     = $quick ? 1_000_000 : 10_000_000;   # rows
my $prime = $quick ? 1_000_003 : 10_000_019;
my $small = $N / 10;                           # keys of the filters
my $large = $N * 10;
my $wide  = $N;                                # rows of 200 bytes
my $texts = $N / 2;

# ---- a session ----

package Session;

sub new {
    my $self = bless {}, shift;
    $self->{pid} = IPC::Open3::open3($self->{in}, $self->{out}, undef, $psql, '--no-psqlrc', '--quiet',
        '--no-align', '--tuples-only', '--set=ON_ERROR_STOP=1', 'bench');
    $self->{in}->autoflush(1);
    $self->{backend} = $self->run('SELECT pg_backend_pid()');
    return $self;
}

# Sends one statement; returns its output and the milliseconds. While it runs,
# tick is called now and then.
sub timed {
    my ($self, $sql, $tick) = @_;
    print { $self->{in} } "\\timing on\n$sql;\n\\timing off\nSELECT '__done__';\n";
    my $select = IO::Select->new($self->{out});
    my ($text, $ms) = ('');
    while ($text !~ /^__done__\n/m) {
        if ($tick) { $tick->($self->{backend}) until $select->can_read(0.005) }
        sysread($self->{out}, $text, 65536, length $text) or die "psql ended:\n$sql;\n$text\n";
    }
    $text =~ s/__done__\n//;
    $text =~ s/^Time: ([\d.]+) ms.*\n//m and $ms = $1;
    chomp $text;
    return ($text, $ms);
}

sub run {
    my ($self, $sql) = @_;
    return ($self->timed($sql))[0];
}

sub end {
    my $self = shift;
    close $self->{in};
    waitpid $self->{pid}, 0;
}

package main;

sub status_kb {    # of a process: VmHWM, RssAnon, ...
    my ($pid, $what) = @_;
    open my $file, '<', "/proc/$pid/status" or return 0;
    while (<$file>) { return $1 if /^$what:\s+(\d+) kB/ }
    return 0;
}

my $session = Session->new;
sub run { $session->run(@_) }

# ---- results ----

my @results;

sub median {
    my @sorted = sort { $a <=> $b } @_;
    return ($sorted[ $#sorted / 2 ] + $sorted[ @sorted / 2 ]) / 2;
}

sub progress { print STDERR @_ }

my $unit = '';

sub record {
    my %r = @_;
    $r{group} = $unit;
    $r{unit} //= 'ms';
    ($r{min}, $r{max}) = ($r{ratio}, $r{ratio}) unless defined $r{min};
    $r{verdict} = !defined $r{figure} ? '' : $r{ratio} <= $r{figure} ? 'ok' : 'missed';
    push @results, \%r;
    progress(sprintf "  %-70s %s %s\n", $r{work}, number($r{ratio}), $r{verdict});
}

# compare(queries => [name => sql, ...], rows => [[work, ours, against, alternative, figure], ...])
# A query may be a reference to code that gives the SQL of a round, and may have
# settings: name => [sql, setting => value, ...]. "same" names queries whose
# results have to be the same.
sub compare {
    my %c = @_;
    my @queries = @{ $c{queries} };
    my (@names, %query, %set, %ms, %result);
    while (my ($name, $sql) = splice @queries, 0, 2) {
        my @set;
        ($sql, @set) = @$sql if ref $sql eq 'ARRAY';
        push @names, $name;
        $query{$name} = ref $sql ? $sql : sub { $sql };
        $set{$name} = \@set;
    }
    my $rounds = $c{rounds} // ($c{slow} ? int(($runs + 1) / 2) : $runs);
    for my $round (0 .. $rounds) {    # round 0 warms up
        for my $name (@names) {
            my @set = @{ $set{$name} };
            for (my $i = 0; $i < @set; $i += 2) { run("SET $set[$i] = $set[$i + 1]") }
            ($result{$name}, my $ms) = $session->timed($query{$name}->($round));
            for (my $i = 0; $i < @set; $i += 2) { run("RESET $set[$i]") }
            push @{ $ms{$name} }, $ms if $round > 0;
            progress("\r  round $round of $rounds: $name " . (' ' x 20)) if $c{slow} && -t STDERR;
        }
    }
    progress("\r" . (' ' x 60) . "\r") if $c{slow} && -t STDERR;
    if (my @same = @{ $c{same} // [] }) {
        $result{$_} eq $result{ $same[0] } or die "$_: $result{$_}, $same[0]: $result{$same[0]}\n" for @same;
    }
    for my $row (@{ $c{rows} }) {
        my ($work, $ours, $against, $alternative, $figure) = @$row;
        my @ratios = map { $ms{$ours}[$_] / $ms{$alternative}[$_] } 0 .. $rounds - 1;
        record(
            work    => $work,
            against => $against,
            ours    => median(@{ $ms{$ours} }),
            other   => median(@{ $ms{$alternative} }),
            ratio   => median(@ratios),
            min     => min(@ratios),
            max     => max(@ratios),
            figure  => $figure,
        );
    }
}

sub explain { return run("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) $_[0]") }

# Pages that a query hit, read or wrote: the first such line is the whole query's.
sub pages {
    my ($plan, $kind, @what) = @_;
    my ($buffers) = $plan =~ /^\s*Buffers: (.*)/m;
    my ($part) = ($buffers // '') =~ /\b$kind ([^,]*)/;
    my $sum = 0;
    for my $what (@what) { $sum += $1 if ($part // '') =~ /\b$what=(\d+)/ }
    return $sum;
}

# The nodes of a plan without costs, conditions and InitPlans.
sub shape {
    my ($sql) = @_;
    my (@shape, $skip);
    for (split /\n/, run("EXPLAIN (COSTS OFF) $sql")) {
        my ($indent) = /^( *)/;
        if (defined $skip) {
            next if length $indent > $skip;
            undef $skip;
        }
        if (/InitPlan/) { $skip = length $indent; next }
        s/->//;
        push @shape, $1 if /^\s*((?:\w+ )*(?:Scan|Join|Loop|Hash|Aggregate|Sort|Materialize|Memoize|Unique)\b.*)/;
    }
    return join ', ', @shape;
}

# ---- data ----

my %made;

sub make {
    my ($name, @sql) = @_;
    return if $made{$name}++;
    progress("  making $name ...\n");
    run($_) for @sql;
}

sub drop {
    for my $name (@_) { run("DROP TABLE $name") if delete $made{$name} }
}

# The numbers 1 to N (and a few more), each once, in scattered order.
sub scattered { return "(i * 7368787 % $prime)" }

# A scan does not bring a large table into the server's buffers, pg_prewarm does.
my $prewarm = run(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_prewarm'});

sub make_table {
    my ($name, $select, $rows) = @_;
    make($name, "CREATE UNLOGGED TABLE $name AS SELECT $select FROM generate_series(1::bigint, $rows) i",
        "VACUUM (FREEZE, ANALYZE) $name", $prewarm ? "SELECT pg_prewarm('$name')" : ());
}

sub need_ids  { make_table('ids', scattered() . ' AS id', $N) }
sub need_keys { make_table('keys', (2 * $N) . ' + i AS id', $small) }

# every row's id is among the keys
sub need_members { make_table('members', 2 * $N . " + 1 + (i * 7368787 % $prime) % $small AS id", $N) }

my %filter = (small => [ 2 * $N, $small ], medium => [ 4 * $N, $N ], large => [ 20 * $N, $large ]);

sub need_filter {
    my ($name) = @_;
    my ($from, $n) = @{ $filter{$name} };
    make('filters', 'CREATE UNLOGGED TABLE filters (name text, f bloomfilter)');
    make("filter $name",
        "INSERT INTO filters SELECT '$name', bf_agg($from + i, $n, 0.01)"
          . " FROM (SELECT generate_series(1::bigint, $n) i) s",
        'VACUUM (FREEZE, ANALYZE) filters');
}

sub mb {
    my ($bytes) = @_;
    return $bytes < 1e7 ? sprintf '%.1f MB', $bytes / 1e6 : sprintf '%.0f MB', $bytes / 1e6;
}
sub filter_mb { return mb(run("SELECT bytes FROM bf_size($filter{$_[0]}[1], 0.01)")) }

# A filter in the memory of the query, at the cost of reading it twice (less than a
# millisecond for the small one) instead of that of building it.
sub in_query { return "(SELECT bf_union(f, f) FROM filters WHERE name = '$_[0]')" }
sub stored   { return "(SELECT f FROM filters WHERE name = '$_[0]')" }

sub rows {
    my ($n) = @_;
    return $n % 1_000_000 == 0 ? $n / 1_000_000 . ' million' : scalar reverse(reverse($n) =~ s/(\d{3})(?=\d)/$1,/gr);
}
my $rows = rows($N);

# ---- the comparisons ----

my @groups = (
    scan => sub {
        need_ids();
        need_filter($_) for qw(small medium large);
        my $hash = 'SELECT count(*) FROM ids WHERE hashint8extended(id, 0) <> 0';
        my $size = filter_mb('small');
        my $what = "scan of $rows bigint, no members";
        compare(
            queries => [
                hash      => $hash,
                in_query  => 'SELECT count(*) FROM ids WHERE bf_contains(' . in_query('small') . ', id)',
                init_plan => 'SELECT count(*) FROM ids WHERE bf_contains(' . stored('small') . ', id)',
                column    => q{SELECT count(*) FROM ids, filters WHERE name = 'small' AND bf_contains(f, id)},
                join_mem  => 'SELECT count(*) FROM ids, (SELECT bf_union(f, f) AS f FROM filters'
                  . q{ WHERE name = 'small' OFFSET 0) s WHERE bf_contains(f, id)},
                cte => 'WITH c AS MATERIALIZED ' . stored('small')
                  . ' SELECT count(*) FROM ids WHERE bf_contains((SELECT f FROM c), id)',
                medium => 'SELECT count(*) FROM ids WHERE bf_contains(' . stored('medium') . ', id)',
                large  => 'SELECT count(*) FROM ids WHERE bf_contains(' . stored('large') . ', id)',
            ],
            same => [qw(in_query init_plan column join_mem cte)],
            rows => [
                [ "$what, $size built in the query", 'in_query', 'hashint8extended(id, 0) <> 0', 'hash', 1.3 ],
                [ "stored $size, InitPlan", 'init_plan', 'the filter built in the query', 'in_query', 1.1 ],
                [ "stored $size, materialised CTE", 'cte', 'the filter built in the query', 'in_query', 1.1 ],
                [ "stored $size, column of a join", 'column', 'the filter built in the query', 'in_query', 1.1 ],
                [ "stored $size, column of a join", 'column', 'the same join, filter built in the query', 'join_mem', 1.1 ],
                [ "$what, stored " . filter_mb('medium'), 'medium', 'hashint8extended(id, 0) <> 0', 'hash' ],
                [ "$what, stored " . filter_mb('large'),  'large',  'hashint8extended(id, 0) <> 0', 'hash' ],
            ],
        );
    },

    members => sub {
        need_members();
        need_filter('small');
        compare(
            queries => [
                hash    => 'SELECT count(*) FROM members WHERE hashint8extended(id, 0) <> 0',
                members => 'SELECT count(*) FROM members WHERE bf_contains(' . in_query('small') . ', id)',
            ],
            same => [qw(hash members)],
            rows => [
                [ "scan of $rows bigint, all members, " . filter_mb('small') . ' built in the query', 'members',
                    'hashint8extended(id, 0) <> 0', 'hash', 1.5 ],
            ],
        );
        drop('members');
    },

    # the same question to every kind of filter of the same n and p
    kinds => sub {
        need_ids();
        need_members();
        my ($from, $n) = @{ $filter{small} };
        my $keys = "(SELECT $from + generate_series(1::bigint, $n) AS i) s";
        my $at = "'2026-01-01Z'::timestamptz";
        make('kinds', 'CREATE UNLOGGED TABLE kinds AS SELECT'
          . " bf_agg(i, $n, 0.01) AS standard, bf_agg_counting(i, $n, 0.01) AS counting,"
          . " bf_agg_cuckoo(i, $n, 0.01) AS cuckoo, bf_agg_scalable(i, $n, 0.01) AS scalable_1,"
          . " bf_agg_scalable(i, $n / 7, 0.01) AS scalable_3,"
          . " bf_agg_layered(i, $at, $n, 0.01, 4, '1 hour') AS layered_1,"
          . " bf_agg_layered(i, $at + i % 4 * interval '1 hour', $n, 0.01, 4, '1 hour') AS layered_4 FROM $keys");
        my @kinds = qw(standard counting cuckoo scalable_1 scalable_3 layered_1 layered_4);
        my $ask = sub {
            my ($table, $kind) = @_;
            my $time = $kind =~ /layered/ ? ", $at + interval '3 hours'" : '';
            return "SELECT count(*) FROM $table WHERE bf_contains((SELECT $kind FROM kinds), id$time)";
        };
        my %figure = (counting => 2, cuckoo => 2, scalable_1 => 2, scalable_3 => 6, layered_1 => 2, layered_4 => 8);
        my %label = (scalable_1 => 'scalable, 1 layer', scalable_3 => 'scalable, 3 layers',
            layered_1 => 'layered, 1 layer', layered_4 => 'layered, 4 layers');
        for my $table (qw(ids members)) {
            my $what = $table eq 'ids' ? 'no members' : 'all members';
            compare(
                queries => [ map { $_ => $ask->($table, $_) } @kinds ],
                rows    => [ map { [ "$rows bigint, $what: " . ($label{$_} // $_), $_, 'the standard filter', 'standard', $figure{$_} ] }
                        grep { $_ ne 'standard' } @kinds ],
            );
        }
        drop('members');
        drop('kinds');
    },

    text => sub {
        my $url = sub { "'https://www.example.com/a/' || md5(($_[0])::text) || '?page=' || lpad(($_[0])::text, 16, '0')" };
        make_table('urls', $url->('i') . ' AS url', $texts);
        make('url_filters', 'CREATE UNLOGGED TABLE url_filters (name text, f bloomfilter)',
            "INSERT INTO url_filters SELECT 'others', bf_agg(" . $url->("-i") . ", $small, 0.01)"
              . " FROM generate_series(1::bigint, $small) i",
            "INSERT INTO url_filters SELECT 'members', bf_agg(url, $small, 0.01) FROM (SELECT url FROM urls LIMIT $small) s");
        make_table('member_urls', $url->("1 + i % $small") . ' AS url', $texts);
        my $in_query = sub { "(SELECT bf_union(f, f) FROM url_filters WHERE name = '$_[0]')" };
        my $size     = filter_mb('small');
        compare(
            queries => [
                hash         => 'SELECT count(*) FROM urls WHERE hashtextextended(url, 0) <> 0',
                others       => 'SELECT count(*) FROM urls WHERE bf_contains(' . $in_query->('others') . ', url)',
                member_hash  => 'SELECT count(*) FROM member_urls WHERE hashtextextended(url, 0) <> 0',
                members      => 'SELECT count(*) FROM member_urls WHERE bf_contains(' . $in_query->('members') . ', url)',
            ],
            same => [qw(member_hash members)],
            rows => [
                [ 'scan of ' . rows($texts) . " URLs of 80 bytes, no members, $size", 'others',
                    'hashtextextended(url, 0) <> 0', 'hash', 1.3 ],
                [ 'scan of ' . rows($texts) . " URLs of 80 bytes, all members, $size", 'members',
                    'hashtextextended(url, 0) <> 0', 'member_hash' ],
            ],
        );
        drop('urls', 'member_urls', 'url_filters');
    },

    lookup => sub {
        need_filter('large');
        need_filter('medium');
        need_ids();
        make('bits', 'CREATE UNLOGGED TABLE bits (b bytea)', 'ALTER TABLE bits ALTER b SET STORAGE external',
            q{INSERT INTO bits SELECT f::bytea FROM filters WHERE name = 'large'}, 'VACUUM (FREEZE, ANALYZE) bits');
        run('CREATE UNIQUE INDEX ids_id ON ids (id)');
        run(q{PREPARE look(bigint) AS SELECT bf_contains(f, $1) FROM filters WHERE name = 'large'});
        run(q{PREPARE look_medium(bigint) AS SELECT bf_contains(f, $1) FROM filters WHERE name = 'medium'});
        run('PREPARE get_bit(bigint) AS SELECT get_bit(b, $1) FROM bits');
        run(q{PREPARE count AS SELECT bf_count(f) FROM filters WHERE name = 'large'});
        run('PREPARE by_index(bigint) AS SELECT EXISTS (SELECT FROM ids WHERE id = $1)');
        my $key  = sub { my $name = shift; sub { "EXECUTE $name(" . (1 + $_[0] * 104729 % $N) . ')' } };
        my $size = filter_mb('large');
        run("SELECT f FROM filters WHERE false");
        compare(
            rounds  => $runs * 5,
            queries => [
                look    => $key->('look'),
                get_bit => $key->('get_bit'),
                count   => 'EXECUTE count',
                medium  => $key->('look_medium'),
                index   => $key->('by_index'),
            ],
            rows => [
                [ "one look-up, stored $size", 'look', 'get_bit() of a bytea of that size', 'get_bit', 1 / 300 ],
                [ "one look-up, stored $size", 'look', 'bf_count(f), reads the whole', 'count', 1 / 300 ],
                [ 'one look-up, stored ' . filter_mb('medium'), 'medium', "index on $rows bigint", 'index' ],
            ],
        );
        my $pages = 0;
        for my $i (1 .. 20) {
            $pages = max($pages, pages(explain('EXECUTE look(' . $i * 1000003 . ')'), 'shared', 'hit', 'read'));
        }
        my $all = pages(explain('EXECUTE count'), 'shared', 'hit', 'read');
        record(
            work => "one look-up, stored $size: most of 20", against => 'bf_count(f), reads the whole', unit => 'pages',
            ours => $pages, other => $all, ratio => $pages / $all, figure => 9 / $all, figure_text => '9 pages',
        );
        run('DEALLOCATE ALL');

        need_questions();
        compare(
            queries => [
                filter => 'SELECT count(*) FROM asked_mixed WHERE bf_contains(' . stored('medium') . ', id)',
                index  => [
                    'SELECT count(*) FROM asked_mixed a WHERE EXISTS (SELECT FROM ids WHERE ids.id = a.id)',
                    enable_hashjoin => 'off', enable_mergejoin => 'off',
                ],
            ],
            rows => [
                [ rows($N / 10) . ' look-ups, stored ' . filter_mb('medium'), 'filter', "index on $rows bigint", 'index' ],
            ],
        );
        run('DROP INDEX ids_id');
        drop('bits');
    },

    shards => sub {
        need_filter('small');
        need_questions();
        make('shards',
            'CREATE UNLOGGED TABLE shards (shard int PRIMARY KEY, f bloomfilter)',
            'INSERT INTO shards SELECT i, bf_add(f, -i)'
              . q{ FROM filters, generate_series(0, 99) i WHERE name = 'small'},
            'VACUUM (FREEZE, ANALYZE) shards');
        # CASE keeps the planner from asking the one filter before the join
        my $ask = sub {
            my ($table, $filter) = @_;
            return "SELECT count(*) FROM $table a JOIN shards s USING (shard)"
              . " WHERE bf_contains(CASE WHEN s.shard >= 0 THEN $filter END, a.id)";
        };
        my $size      = filter_mb('small');
        my $what      = "100 stored filters of $size, " . rows($N / 1000) . ' keys each';
        my $one       = 'the same join, one filter for all';
        compare(
            queries => [
                one_by_one => $ask->('asked',       stored('small')),
                by_filter  => $ask->('asked',       's.f'),
                one_mixed  => $ask->('asked_mixed', stored('small')),
                mixed_mem  => [ $ask->('asked_mixed', 's.f'), work_mem => "'256MB'" ],
            ],
            same => [qw(one_by_one by_filter one_mixed mixed_mem)],
            rows => [
                [ "$what, filter after filter", 'by_filter', $one, 'one_by_one', 1.5 ],
                [ "$what, in mixed order, work_mem 256 MB", 'mixed_mem', $one, 'one_mixed', 1.5 ],
            ],
        );
        # a tenth of the questions: this is slow
        make_table('asked_less', "(i * 7919 % 100)::int AS shard, 2 * $N + 1 + i * 104729 % $small AS id", $N / 100);
        compare(
            queries => [
                one_mixed => $ask->('asked_less', stored('small')),
                mixed     => $ask->('asked_less', 's.f'),
            ],
            same => [qw(one_mixed mixed)],
            rows => [
                [ "100 stored filters of $size, " . rows($N / 10000) . " keys each, in mixed order, work_mem 4 MB", 'mixed',
                    $one, 'one_mixed', 1.5 ],
            ],
        );
        my $peak = 0;
        for my $table (qw(asked asked_less)) {
            my $fresh = Session->new;
            $fresh->run('SELECT bf_contains(bf_create(1), 1)');
            my $base = status_kb($fresh->{backend}, 'RssAnon');
            $fresh->timed($ask->($table, 's.f'), sub { $peak = max($peak, status_kb($_[0], 'RssAnon') - $base) });
            $fresh->end;
        }
        my $limit = 8192 + 4096;
        record(
            work => "$what: memory of the backend, work_mem 4 MB", against => 'all of the filters', unit => 'MB',
            ours => $peak / 1024, other => 100 * $small * 1.22 / 1048576,
            ratio  => $peak / (100 * $small * 1.22 / 1024),
            figure => $limit / (100 * $small * 1.22 / 1024), figure_text => '12 MB',
        ) if $peak;
        drop('shards');
    },

    # what it costs to keep filters current: shards, none, or one filter for all keys
    maintained => sub {
        my $half = $small / 2;
        my %table = (none => 'untracked', shards => 'tracked', single => 'one_filter');
        my $next  = $small;
        make($_, "CREATE TABLE $_ (id bigint)", "INSERT INTO $_ SELECT generate_series(1, $half)") for values %table;
        run("CALL bf_track('tracked', 'id', $small, 0.01)");
        make('one_filter_f', "CREATE TABLE one_filter_f AS SELECT bf_agg(id, $small, 0.01) AS f FROM one_filter");
        run(q{CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS }
          . q{'BEGIN UPDATE one_filter_f SET f = bf_add_all(f, (SELECT array_agg(id) FROM new)); RETURN NULL; END'});
        run('CREATE TRIGGER keep AFTER INSERT ON one_filter REFERENCING NEW TABLE AS new FOR EACH STATEMENT EXECUTE FUNCTION keep()');

        # each row a transaction of its own; the disk's time to flush is nobody's merit
        my $one_by_one = sub {
            my ($table, $count) = @_;
            my $first = $next;
            $next += $count;
            return "DO 'BEGIN FOR i IN $first .. $next - 1 LOOP INSERT INTO $table VALUES (i); COMMIT; END LOOP; END'";
        };
        my $at_once = sub {
            my ($table) = @_;
            my $first = $next;
            $next += 1000;
            return "INSERT INTO $table SELECT generate_series($first, $next - 1)";
        };
        my $size = mb(run("SELECT bytes FROM bf_size($small, 0.01)"));
        for ([ '50 INSERTs of one row', sub { $one_by_one->($_[0], 50) } ], [ 'INSERT of 1,000 rows', $at_once ]) {
            my ($work, $sql) = @$_;
            compare(
                queries => [ map { my $table = $table{$_}; $_ => [ sub { $sql->($table) }, synchronous_commit => 'off' ] } qw(none shards single) ],
                rows    => [
                    [ "$work, filters maintained", 'shards', 'the same without filters',              'none' ],
                    [ "$work, filters maintained", 'shards', "a single filter of $size by a trigger", 'single' ],
                ],
            );
        }

        # bytes for each key
        my %filters = (shards => 'tracked_id_filter', single => 'one_filter_f');
        my (%wal, %growth);
        for my $how (qw(none shards single)) {
            my $relation = $filters{$how} // $table{$how};
            my $count    = $how eq 'single' ? 50 : 1000;
            my $state = sub { split /\|/, run("SELECT pg_current_wal_insert_lsn() - '0/0', pg_total_relation_size('$relation')") };
            my @before = $state->();
            run($one_by_one->($table{$how}, $count));
            my @after = $state->();
            $wal{$how}    = ($after[0] - $before[0]) / $count / 1000;
            $growth{$how} = ($after[1] - $before[1]) / $count / 1000;
        }
        record(work => 'WAL of an INSERT of one row, filters maintained', against => $_->[0], unit => 'kB',
            ours => $wal{shards}, other => $wal{ $_->[1] }, ratio => $wal{shards} / $wal{ $_->[1] })
          for [ 'the same without filters', 'none' ], [ "a single filter of $size by a trigger", 'single' ];
        record(work => 'growth of the filters by an INSERT of one row', against => "a single filter of $size by a trigger", unit => 'kB',
            ours => $growth{shards}, other => $growth{single}, ratio => $growth{shards} / $growth{single})
          if $growth{single} > 0;
        run('DROP FUNCTION keep CASCADE');
        run(q{CALL bf_untrack('tracked', 'id')});
        drop(values %table, 'one_filter_f');
    },

    aggregate => sub {
        need_ids();
        my $agg = "SELECT pg_column_size(bf_agg(id, $N, 0.01)) FROM ids";
        my $hll = run(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'hll'});
        run('CREATE EXTENSION IF NOT EXISTS hll') if $hll;
        compare(
            queries => [
                agg   => $agg,
                count => 'SELECT count(id) FROM ids',
                $hll ? (hll => 'SELECT # hll_add_agg(hll_hash_bigint(id)) FROM ids') : (),
            ],
            rows => [
                [ "bf_agg(id, n, p) of $rows bigint", 'agg', 'count(id)', 'count', 1.6 ],
                $hll ? [ "bf_agg(id, n, p) of $rows bigint", 'agg', 'hll_add_agg(hll_hash_bigint(id))', 'hll' ] : (),
            ],
        );
        progress("  hll is not there: left out\n") unless $hll;
        compare(
            slow    => 1,
            queries => [ agg => $agg, distinct => 'SELECT count(DISTINCT id) FROM ids' ],
            rows => [ [ "bf_agg(id, n, p) of $rows bigint", 'agg', 'count(DISTINCT id)', 'distinct', 1 / 2.5 ] ],
        );
        my @parallel = (
            parallel_leader_participation => 'off', parallel_setup_cost => 0, parallel_tuple_cost => 0,
            min_parallel_table_scan_size => 0,
        );
        my @workers = map { [ $agg, @parallel, max_parallel_workers_per_gather => $_ ] } 1, 2;
        compare(
            queries => [ serial => $agg, one => $workers[0], two => $workers[1] ],
            same    => [qw(serial one two)],
            rows => [
                [ "bf_agg(id, n, p) of $rows bigint, two workers", 'two', 'one worker', 'one', 1 ],
                [ "bf_agg(id, n, p) of $rows bigint, two workers", 'two', 'no workers', 'serial' ],
            ],
        );
    },

    collect => sub {
        need_ids();
        compare(
            slow    => 1,
            queries => [
                given     => "SELECT pg_column_size(bf_agg(id, $N, 0.01)) FROM ids",
                collect   => 'SELECT pg_column_size(bf_agg(id)) FROM ids',
                in_memory => [ 'SELECT pg_column_size(bf_agg(id)) FROM ids', work_mem => "'1GB'" ],
            ],
            same => [qw(given collect in_memory)],
            rows => [
                [ "bf_agg(id) of $rows distinct keys, work_mem 4 MB", 'collect', 'bf_agg(id, n, p)', 'given', 1.7 ],
                [ "bf_agg(id) of $rows distinct keys, work_mem 1 GB", 'in_memory', 'bf_agg(id, n, p)', 'given', 1.7 ],
            ],
        );
    },

    memory => sub {
        if ($quick) { progress("  left out with --quick\n"); return }
        my %over;
        for my $n ($N, $large) {
            my $fresh = Session->new;
            my $query = sub { "SELECT pg_column_size(bf_agg(i)) FROM (SELECT generate_series(1::bigint, $_[0]) i) s" };
            $fresh->run($query->(1000));
            my $base = status_kb($fresh->{backend}, 'VmHWM');
            my ($size) = $fresh->timed($query->($n));
            my $peak = (status_kb($fresh->{backend}, 'VmHWM') - $base) / 1024;
            $fresh->end;
            $size /= 1048576;
            $over{$n} = $peak - $size;
            record(
                work => 'bf_agg(id) of ' . rows($n) . ' keys, work_mem 4 MB: peak memory', against => "the filter's size",
                unit => 'MB', ours => $peak, other => $size, ratio => $peak / $size,
                figure => ($size + 16) / $size, figure_text => 'filter + 16 MB',
            ) if $base;
        }
    },

    join => sub {
        need_events();
        make_table('vip', 'i * 10 AS user_id', $small);
        my $join = 'SELECT count(*), sum(length(payload)), max(created) FROM events JOIN vip USING (user_id)';
        my $screen = "$join WHERE bf_contains((SELECT bf_agg(user_id) FROM vip), events.user_id)";
        my $what = "hash join of $rows rows of 200 bytes, 10% match, pre-screened";
        compare(
            slow => 1, queries => [ join => $join, screened => $screen ], same => [qw(join screened)],
            rows => [ [ $what, 'screened', 'the join alone', 'join', 1 / 1.8 ] ],
        );
        my ($ours, $other) = map { pages(explain($_), 'temp', 'written') * 8 / 1024 } $screen, $join;
        record(
            work => "$what: temporary files", against => 'the join alone', unit => 'MB',
            ours => $ours, other => $other, ratio => $ours / $other, figure => 0.15, figure_text => 'about a tenth',
        ) if $other;
        drop('vip');
    },

    grouped => sub {
        need_events();
        make_table('vip_accounts', 'i * 100 AS account_id', $N / 1000);
        my $query = sub {
            return 'SELECT count(*), sum(n), max(payload) FROM (SELECT account_id, count(*) AS n, max(payload) AS payload'
              . " FROM events $_[0] GROUP BY account_id) s JOIN vip_accounts USING (account_id)";
        };
        compare(
            slow    => 1,
            queries => [
                plain    => $query->(''),
                screened => $query->('WHERE bf_contains((SELECT bf_agg(account_id) FROM vip_accounts), account_id)'),
            ],
            same => [qw(plain screened)],
            rows => [
                [ "join with a subquery of $rows rows, " . rows($N / 10) . ' groups, 1% of them, pre-screened', 'screened',
                    'the query alone', 'plain', 1 / 6 ],
            ],
        );
        drop('vip_accounts', 'events');
    },

    allmatch => sub {
        need_members();
        need_keys();
        my $join   = 'SELECT count(*) FROM members JOIN keys USING (id)';
        my $screen = "$join WHERE bf_contains((SELECT bf_agg(id) FROM keys), members.id)";
        compare(
            slow => 1, queries => [ join => $join, screened => $screen ], same => [qw(join screened)],
            rows => [ [ "join in which all $rows rows match, pre-screened", 'screened', 'the join alone', 'join', 1.25 ] ],
        );
        my @shapes = map { shape($_) } $join, $screen;
        if ($shapes[0] ne $shapes[1]) { progress("  its plan alone:    $shapes[0]\n  pre-screened: $shapes[1]\n") }
        my $differ = $shapes[0] ne $shapes[1] ? 1 : 0;
        record(
            work => 'join in which all rows match: plans that differ', against => 'the join alone', unit => '',
            ours => $differ, other => 0, ratio => $differ, figure => 0, figure_text => 'none', no_chart => 1,
        );
        drop('members');
    },

    update => sub {
        need_filter('small');
        my $key = 2 * $N + 1;
        run('CREATE TABLE updated (f bloomfilter) WITH (fillfactor = 10)');
        run('INSERT INTO updated ' . stored('small'));
        my $toast = q{SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE relname = 'updated'};
        my (@ours, @same, @new);
        run('CHECKPOINT');
        my $before = run($toast);
        for my $round (0 .. $runs) {
            # a vacuum, so that no round has old versions to remove from the page
            for my $case ([ \@same, 'f' ], [ \@ours, "bf_add(f, $key)" ]) {
                run('VACUUM updated');
                my $lsn = run('SELECT pg_current_wal_insert_lsn()');
                run("UPDATE updated SET f = $case->[1]");
                push @{ $case->[0] }, run("SELECT pg_current_wal_insert_lsn() - '$lsn'") if $round > 0;
            }
        }
        my $after = run($toast);
        my $lsn   = run('SELECT pg_current_wal_insert_lsn()');
        run('UPDATE updated SET f = bf_add(f, -1)');
        my $new = run("SELECT pg_current_wal_insert_lsn() - '$lsn'");
        my @ratios = map { $ours[$_] / $same[$_] } 0 .. $#ours;
        record(
            work => 'UPDATE with bf_add of a key that is in: WAL', against => 'SET f = f', unit => 'bytes',
            ours => median(@ours), other => median(@same), ratio => median(@ratios),
            min  => min(@ratios), max => max(@ratios), figure => 1,
        );
        record(
            work => 'UPDATE with bf_add of a key that is in: TOAST after ' . @ours . ' updates', against => 'before',
            unit => 'bytes', ours => $after, other => $before, ratio => $after / $before, figure => 1,
        );
        record(
            work => 'UPDATE with bf_add of a new key: WAL', against => "the filter's size", unit => 'bytes',
            ours => $new, other => run("SELECT bytes FROM bf_size($small)"),
            ratio => $new / run("SELECT bytes FROM bf_size($small)"),
        );
        run('DROP TABLE updated');
    },

    exact => sub {
        need_ids();
        need_keys();
        my $semi = 'SELECT count(*) FROM ids WHERE';
        my $what = "bf_contains of $rows rows, filter of " . rows($small) . ' keys built in the query';
        compare(
            slow    => 1,
            queries => [
                filter => "$semi bf_contains((SELECT bf_agg(id) FROM keys), id)",
                in     => "$semi id IN (SELECT id FROM keys)",
                exists => "$semi EXISTS (SELECT FROM keys WHERE keys.id = ids.id)",
                join   => 'SELECT count(*) FROM ids JOIN keys USING (id)',
                in_mem => [ "$semi id IN (SELECT id FROM keys)", work_mem => "'256MB'" ],
            ],
            rows => [
                [ $what, 'filter', 'id IN (SELECT ...)', 'in' ],
                [ $what, 'filter', 'EXISTS (SELECT ...)', 'exists' ],
                [ $what, 'filter', 'a hash join', 'join' ],
                [ $what, 'filter', 'id IN (SELECT ...), work_mem 256 MB', 'in_mem' ],
            ],
        );
    },
);

sub need_events {
    make_table('events',
        scattered() . " AS user_id, i * 7368787 % $small AS account_id, "
          . q{repeat(md5(i::text), 6) || right(i::text, 8) AS payload, timestamp '2026-01-01' + i * interval '1 second' AS created},
        $wide);
}

# members of the small filter, filter after filter, and in mixed order
sub need_questions {
    my $asked = $N / 10;
    my $each  = $N / 1000;
    make_table('asked',       "((i - 1) / $each)::int AS shard, 2 * $N + 1 + i * 7919 % $small AS id", $asked);
    make_table('asked_mixed', "(i * 7919 % 100)::int AS shard, 2 * $N + 1 + i * 104729 % $small AS id",  $asked);
}

# ---- output ----

sub number {
    my ($x) = @_;
    return '0' if $x == 0;
    return sprintf '%.0f', $x if $x >= 10;
    return sprintf '%.2f', $x if $x >= 0.1;
    return sprintf '%.2g', $x if $x >= 0.01;
    return sprintf '%.4f', $x;
}

sub amount {
    my ($x, $unit) = @_;
    my $text = $unit eq 'bytes' || $unit eq 'pages' || $unit eq '' || $x >= 100 ? sprintf('%.0f', $x)
      : $x >= 10 ? sprintf("%.1f", $x) : $x >= 1 ? sprintf("%.2f", $x) : sprintf("%.3f", $x);
    $text = reverse(reverse($text) =~ s/(\d{3})(?=\d)/$1,/gr) if $text =~ /^\d{4,}$/;
    return $unit eq '' ? $text : "$text $unit";
}

sub figure {
    my ($r) = @_;
    return '' unless defined $r->{figure};
    return $r->{figure_text} if $r->{figure_text};
    return number($r->{figure}) if $r->{figure} >= 1;
    return sprintf '%s (%g times faster)', number($r->{figure}), sprintf('%.3g', 1 / $r->{figure});
}

sub range {
    my ($r) = @_;
    return number($r->{ratio}) if $r->{min} == $r->{max};
    return sprintf '%s [%s-%s]', map { number($_) } @$r{qw(ratio min max)};
}

sub table {
    my @lines = ([ 'work', 'against', 'bloomset', 'alternative', 'ratio', 'at most', '' ]);
    for my $r (@results) {
        push @lines, [ @$r{qw(work against)}, (map { amount($_, $r->{unit}) } @$r{qw(ours other)}), range($r), figure($r), $r->{verdict} ];
    }
    my @width = map { my $i = $_; max(map { length $_->[$i] } @lines) } 0 .. 6;
    splice @lines, 1, 0, [ map { '-' x max($_, 1) } @width ];
    my $text = '';
    for my $line (@lines) {
        $text .= '| ' . join(' | ', map { sprintf '%-*s', $width[$_], $line->[$_] } 0 .. 6) . " |\n";
    }
    return $text;
}

sub csv {
    my $text = "group,work,against,unit,bloomset,alternative,ratio,ratio_min,ratio_max,figure,result\n";
    for my $r (@results) {
        my @fields = (
            @$r{qw(group work against unit)},
            (map { sprintf '%.6g', $_ } @$r{qw(ours other ratio min max)}),
            defined $r->{figure} ? sprintf('%.6g', $r->{figure}) : '', $r->{verdict},
        );
        $text .= join(',', map { /[",]/ ? '"' . s/"/""/gr . '"' : $_ } @fields) . "\n";
    }
    return $text;
}

# Bars from "as fast as the alternative" to the left (less) or right (more), on a
# logarithmic scale; a mark where the figure to reach is.
sub svg {
    my @bars  = grep { !$_->{no_chart} && $_->{ratio} > 0 } @results;
    my $step  = 32;
    my $width = 860;
    my ($left, $right, $top) = (28, 90, 74);
    my $height = $top + $step * @bars + 16;
    my $lowest = min(0.05, map { min($_->{min}, $_->{figure} || 1) * 0.8 } @bars);
    my $highest = max(2, map { $_->{max} * 1.1 } @bars);
    my $x = sub {
        my $share = log(max(min($_[0], $highest), $lowest) / $lowest) / log($highest / $lowest);
        return sprintf '%.1f', $left + $share * ($width - $left - $right);
    };
    my $quote = sub { $_[0] =~ s/&/&amp;/gr =~ s/</&lt;/gr =~ s/>/&gt;/gr };
    my $svg = <<"END";
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height" font-family="system-ui, sans-serif" font-size="12" role="img">
<title>bloomset: cost in proportion to the alternative</title>
<style>
  text { fill: #222 }
  .paper { fill: #fff }
  .line { stroke: #ccc }
  .one { stroke: #555 }
  .ok { fill: #2f7d4f }
  .missed { fill: #c0522b }
  .none { fill: #6b7f99 }
  .mark { stroke: #111; stroke-width: 3 }
  .range { stroke: #111 }
  .faint { fill: #666 }
  \@media (prefers-color-scheme: dark) {
    text { fill: #e6e6e6 }
    .paper { fill: #16181c }
    .line { stroke: #3a3f47 }
    .one { stroke: #aaa }
    .ok { fill: #4caf7a }
    .missed { fill: #e07b52 }
    .none { fill: #8fa3bf }
    .mark, .range { stroke: #fff }
    .faint { fill: #a0a0a0 }
  }
</style>
<rect class="paper" width="$width" height="$height"/>
<text x="16" y="20" font-size="15">bloomset: cost in proportion to the alternative (log scale; left is better)</text>
END
    my ($lx, $ly) = (16, 38);
    for my $item ([ ok => 'figure reached', 120 ], [ missed => 'figure missed', 115 ], [ none => 'no figure set', 110 ]) {
        $svg .= sprintf qq{<rect class="%s" x="%d" y="%d" width="10" height="10"/><text x="%d" y="%d">%s</text>\n},
          $item->[0], $lx, $ly - 9, $lx + 15, $ly, $item->[1];
        $lx += $item->[2];
    }
    $svg .= sprintf qq{<line class="mark" x1="%d" x2="%d" y1="%d" y2="%d"/><text x="%d" y="%d">figure to reach</text>\n},
      $lx + 4, $lx + 4, $ly - 11, $ly + 2, $lx + 12, $ly;
    $lx += 125;
    $svg .= sprintf qq{<line class="range" x1="%d" x2="%d" y1="%d" y2="%d"/><text x="%d" y="%d">least and most of the rounds</text>\n},
      $lx, $lx + 16, $ly - 4, $ly - 4, $lx + 22, $ly;
    for my $tick (0.001, 0.01, 0.1, 0.25, 0.5, 1, 2, 4, 10, 100) {
        next if $tick < $lowest || $tick > $highest;
        $svg .= sprintf qq{<line class="%s" x1="%s" x2="%s" y1="%d" y2="%d"/><text class="faint" x="%s" y="%d" text-anchor="middle">%gx</text>\n},
          $tick == 1 ? 'one' : 'line', $x->($tick), $x->($tick), $top - 6, $height - 10, $x->($tick), $top - 10, $tick;
    }
    my $y = $top;
    for my $r (@bars) {
        my ($from, $to) = sort { $a <=> $b } $x->(1), $x->($r->{ratio});
        my $bar = $y + 16;
        $svg .= sprintf qq{<text x="%d" y="%d" font-size="11">%s <tspan class="faint">/ %s</tspan></text>\n}, $left, $y + 12,
          $quote->($r->{work}), $quote->($r->{against});
        $svg .= sprintf qq{<rect class="%s" x="%s" y="%d" width="%.1f" height="8"/>\n}, $r->{verdict} || 'none', $from, $bar,
          max($to - $from, 1);
        $svg .= sprintf qq{<line class="range" x1="%s" x2="%s" y1="%d" y2="%d"/>\n}, $x->($r->{min}), $x->($r->{max}), $bar + 4,
          $bar + 4
          if $r->{min} < $r->{max};
        $svg .= sprintf qq{<line class="mark" x1="%s" x2="%s" y1="%d" y2="%d"/>\n}, $x->($r->{figure}), $x->($r->{figure}),
          $bar - 3, $bar + 11
          if $r->{figure};
        $svg .= sprintf qq{<text x="%d" y="%d">%s</text>\n}, $width - $right + 12, $bar + 8, number($r->{ratio}) . 'x';
        $y += $step;
    }
    return "$svg</svg>\n";
}

sub write_file {
    my ($name, $text) = @_;
    open my $file, '>', "$out/$name" or die "$out/$name: $!\n";
    print $file $text;
    close $file or die "$out/$name: $!\n";
}

# ---- all of it ----

my %known = @groups;
my %wanted = map { $_ => 1 } split /,/, $only;
for (keys %wanted) { $known{$_} or die "there is no comparison $_\n" }
run("SET client_min_messages = warning");
run('SHOW jit') eq 'off' or die "the server has not got its settings\n";
run('CREATE EXTENSION bloomset');
run('CREATE EXTENSION pg_prewarm') if $prewarm;
my $start = time;
while (my ($name, $code) = splice @groups, 0, 2) {
    next if %wanted && !$wanted{$name};
    $unit = $name;
    my $began = time;
    progress("$name\n");
    $code->();
    progress(sprintf "  (%d s)\n", time - $began);
}
my $version = run('SHOW server_version') =~ s/ .*//r;
$session->end;
print "\nPostgreSQL $version, ", time - $start, " seconds", $quick ? ', a tenth of the rows' : '', "\n\n";
print table();
if ($out) {
    write_file('performance.csv', csv());
    write_file('performance.svg', svg());
}
