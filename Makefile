# bloomset: Bloom filters for PostgreSQL
#
#   make && make install        build and install into the server of PG_CONFIG
#   make installcheck           all tests that need a (running) server
#   make unit                   the tests of the pure C parts, no server needed, all but
#                               the slow ones under AddressSanitizer and UBSan too
#   make unit-sanitize          all of them under AddressSanitizer and UBSan
#   make check-cancel           how long operations on 512 MB take to stop
#   make check-faults           crashes, standbys, writers, lack of memory at length (CRASHES=50 UPDATES=500 REPEAT=10)
#   make unit-cross             the same on other machines (emulated): CROSS='s390x-linux-gnu ...'
#   make format-check           the fixed values of the format, by another implementation
#   make fuzz                   hostile bytes for a minute (clang's libFuzzer)
#   make sweep                  every function with every wrong thing, 200,000 calls (SWEEP_CALLS, SWEEP_SEED)
#   make bench                  ratios against the alternatives (BENCH='--quick', BENCH='--out doc')
#   make instructions           instructions per row, counted by valgrind
#   make check-majors           script/test with PostgreSQL 13 to 18 in chroots (MAJORS='13 18')
#   make check-upgrade          pg_upgrade from 15 to 17 (FROM=17 TO=18)
#   script/test                 both, in a throwaway server of its own
#   make check-sanitize         the server's tests with the extension under UBSan
#   make check-asan             under AddressSanitizer and UBSan, in a chroot with PostgreSQL 17
#   make check-assert           with a server that has assertions (script/assert-server builds it)
#   make check-valgrind         with the whole server under valgrind
#
# The version number stands in bloomset.control only; "make check-version"
# compares the other places that name it.

EXTENSION = bloomset
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(EXTENSION).control)

MODULE_big = bloomset
# pure C, then the PostgreSQL side
PURE = src/bloom.o src/counting.o src/cuckoo.o src/format.o src/layered.o src/scalable.o src/structure.o
OBJS = $(PURE) \
	src/bloomset.o src/fetch.o src/key.o src/key_nested.o src/key_type.o \
	src/aggregate.o src/bfkey.o src/collect.o src/countingfilter.o src/cuckoofilter.o src/distinct.o src/functions.o src/io.o src/layeredfilter.o src/maintain.o src/maybe.o src/remove.o src/row.o src/scalablefilter.o src/seen.o src/setops.o src/stats.o src/support.o src/track.o src/tracked.o

# every version, and the ways from one to the next
DATA = $(wildcard sql/$(EXTENSION)--*.sql)

REGRESS = create key key_golden format_1 format_1_kinds key_pairs contains stored union io errors aggregate collect window seen maintain maintain_ddl altered estimates planner privileges padding family counting cuckoo layered scalable shards partitions catalog
REGRESS_OPTS = --inputdir=. --load-extension=bloomset
ISOLATION = concurrent_add maintained
ISOLATION_OPTS = --inputdir=test --load-extension=bloomset
TAP_TESTS = 1
PROVE_TESTS ?= test/t/*.pl
FAULT_TESTS = $(patsubst %,test/t/%.pl,020_crash 021_standby 022_logical 023_writers 024_memory 025_interrupted 026_maintained)

PG_CONFIG ?= pg_config
# Server headers as system headers: our warnings are about our code.
PG_CPPFLAGS = -isystem $(shell $(PG_CONFIG) --includedir-server) \
	-DBLOOMSET_VERSION='"$(EXTVERSION)"'
PG_CFLAGS = -Wall -Wextra -Wshadow $(WERROR)

EXTRA_CLEAN = test/unit/build output_iso tmp_check tmp_check_iso

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

ifneq ($(MAJORVERSION),13)
REGRESS += key_pg14
endif

$(OBJS): $(wildcard src/*.h)

# gcc cannot inline all that xxhash.h insists on with this option of debugging servers
ifneq ($(filter -Og,$(CFLAGS)),)
override CPPFLAGS += -DXXH_NO_INLINE_HINTS=1
endif

# loops over whole filters: union, intersection
src/bloom.o src/counting.o src/layered.o src/scalable.o: CFLAGS += $(CFLAGS_VECTORIZE) $(CFLAGS_UNROLL_LOOPS)

UNIT_CFLAGS = -std=c11 -O2 -g -Wall -Wextra -Wshadow -Werror -Isrc $(UNIT_COPT)
# each test, and one again with the compiler option that takes most liberties
UNIT_BUILD = test/unit/build
UNIT_TESTS = $(patsubst test/unit/%.c,%,$(wildcard test/unit/*_test.c)) format_test_ofast
# calls the same as others do, but millions of times
UNIT_SLOW = rate_test
UNIT = $(UNIT_TESTS:%=$(UNIT_BUILD)/%)
UNIT_PURE = $(PURE:.o=.c)
UNIT_SOURCES = $(wildcard test/unit/*.h) $(FUZZ_TARGET) $(UNIT_PURE) $(wildcard src/*.h)
FUZZ_TARGET = test/fuzz/format_fuzz.c

SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined
SANITIZED = UNIT_BUILD=test/unit/build/sanitize UNIT_COPT='$(SANITIZE) -DUNIT_SCALE=10'

# $(call can_build,COMMAND,FUNCTION): are the libraries of these options there?
can_build = mkdir -p $(UNIT_BUILD) && \
	echo 'int $(2)(void); int $(2)(void) { return 0; }' | $(1) -o $(UNIT_BUILD)/probe -x c - 2>/dev/null

.PHONY: unit unit-sanitize unit-cross format-check check-cancel check-faults fuzz sweep bench instructions check-version sizing-table
.PHONY: unit-run fuzz-run
unit: unit-run
	@if $(call can_build,$(CC) $(SANITIZE),main) && $(UNIT_BUILD)/probe; then \
		$(MAKE) unit-run $(SANITIZED) UNIT_TESTS='$(filter-out $(UNIT_SLOW),$(UNIT_TESTS))'; \
	else \
		echo 'ok 1 # skip $(CC) has no -fsanitize=address,undefined here'; \
	fi

unit-sanitize:
	$(MAKE) unit-run $(SANITIZED)

unit-run: $(UNIT)
	@for t in $(UNIT); do echo "# $$t"; $(UNIT_RUN) $$t || exit 1; done

# the pure parts once for all tests
$(UNIT_BUILD)/pure_%.o: src/%.c $(wildcard src/*.h)
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -c -o $@ $<

UNIT_OBJS = $(PURE:src/%=$(UNIT_BUILD)/pure_%)
$(UNIT_BUILD)/%_test: test/unit/%_test.c $(UNIT_OBJS) $(UNIT_SOURCES)
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -o $@ $< $(UNIT_OBJS) -lm

$(UNIT_BUILD)/%_test_ofast: test/unit/%_test.c $(UNIT_SOURCES)
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -Ofast -o $@ $< $(UNIT_PURE) -lm

# the quick forms are in installcheck
CRASHES = 50
UPDATES = 500
REPEAT = 10
check-faults:
	BLOOMSET_CRASHES=$(CRASHES) BLOOMSET_UPDATES=$(UPDATES) BLOOMSET_REPEAT=$(REPEAT) script/test faults

# 64 and 32 bits, big-endian and not.  Static, so that the emulator needs none of the
# machine's libraries; xxHash's headers are those of this one.
CROSS = s390x-linux-gnu powerpc-linux-gnu i686-linux-gnu
QEMU_powerpc-linux-gnu = qemu-ppc
QEMU_i686-linux-gnu = qemu-i386
QEMU = $(or $(QEMU_$*),qemu-$(firstword $(subst -, ,$*)))

unit-cross: $(CROSS:%=unit-cross-%)
unit-cross-%:
	$(MAKE) unit-run CC=$*-gcc UNIT_RUN=$(QEMU) UNIT_BUILD=test/unit/build/$* \
		UNIT_COPT='-static -idirafter /usr/include -DUNIT_SCALE=100 -g0'

format-check:
	@test/format/format_1.py
	@test/format/kinds_1.py

# libFuzzer, so clang: the server's own, if it was built with one
FUZZ_CC = $(or $(CLANG),clang) -fsanitize=fuzzer $(SANITIZE)
FUZZ_SECONDS = 60
fuzz:
	@if $(call can_build,$(FUZZ_CC),LLVMFuzzerTestOneInput); then \
		$(MAKE) fuzz-run; \
	else \
		echo 'ok 1 # skip clang has no -fsanitize=fuzzer,address,undefined here (Debian: libclang-rt-dev)'; \
	fi

# the corpus grows in a copy
fuzz-run: $(FUZZ_TARGET) $(UNIT_SOURCES)
	@mkdir -p $(UNIT_BUILD)/corpus
	$(FUZZ_CC) -g -O1 -Isrc -o $(UNIT_BUILD)/format_fuzz $(FUZZ_TARGET) $(UNIT_PURE) -lm
	$(UNIT_BUILD)/format_fuzz -max_len=4096 -max_total_time=$(FUZZ_SECONDS) \
		-artifact_prefix=$(UNIT_BUILD)/found- $(UNIT_BUILD)/corpus test/fuzz/corpus
	@echo 'ok 1 - no hostile bytes found in $(FUZZ_SECONDS) s'

# another seed each time, which the test prints
SWEEP_CALLS = 200000
SWEEP_SEED = $(shell date +%s)
sweep:
	PROVE_TESTS=test/t/007_sweep.pl SWEEP_CALLS=$(SWEEP_CALLS) SWEEP_SEED=$(SWEEP_SEED) script/test -v tap

# how long each operation on a filter of 512 MB takes to stop
check-cancel:
	CANCEL_KEYS=440000000 CANCEL_POINTS=5 PROVE_TESTS=test/t/011_cancel.pl script/test -v tap | grep -E '^(# |not ok|[0-9]+ passed)'

bench:
	test/bench/bench $(BENCH)

instructions:
	test/bench/instructions

.PHONY: check-majors check-upgrade
check-majors:
	script/other-majors check $(MAJORS)

FROM = 15
TO = 17
check-upgrade:
	script/check-upgrade $(FROM) $(TO)

SERVER_TESTS = regress isolation tap
.PHONY: check-sanitize check-asan check-assert check-valgrind
check-sanitize:
	script/test --sanitize=undefined $(SERVER_TESTS)

check-asan:
	script/other-majors run 17 script/test --sanitize=address $(SERVER_TESTS)

check-assert:
	server=$$(script/assert-server) && PG_CONFIG=$$server script/test $(SERVER_TESTS)

check-valgrind:
	server=$$(script/assert-server) && PG_CONFIG=$$server script/test --valgrind $(SERVER_TESTS)

check-version:
	@script/check-version $(EXTVERSION)

sizing-table:
	@mkdir -p test/unit/build
	$(CC) -O2 -Wall -Wextra -o test/unit/build/make_sizing_table test/unit/make_sizing_table.c -lm
	test/unit/build/make_sizing_table > src/sizing_table.h
