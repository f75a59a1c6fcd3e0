#!/bin/sh
# Sourced by script/test after lib.sh: the server under UBSan, AddressSanitizer or
# valgrind. $checker is undefined, address, valgrind, or empty for none.
: "${tmp?}" "${checker?}"

# a line that sanitizers write
finding='runtime error:|ERROR: AddressSanitizer'

# Can the server be checked so? Sets what the extension is to be built with.
check_checker() {
  case $checker in
    undefined | address)
      # JIT would run code that is not checked
      export MAKEFLAGS=with_llvm=no
      export COPT='-fsanitize=undefined -fno-sanitize-recover=undefined'
      [ "$checker" = undefined ] || COPT="-fsanitize=address $COPT -O1"
      ;;
    valgrind)
      have valgrind || die "valgrind is missing"
      case $("$PG_CONFIG" --cflags) in
        *-DUSE_VALGRIND*) ;;
        *) die "the server in $bindir was not built for valgrind: make check-valgrind builds one" ;;
      esac
      ;;
  esac
}

# What the server is started with.
checker_command() {
  case $checker in
    address)
      say "env LD_PRELOAD=$(readlink -f "$(gcc -print-file-name=libasan.so)") \
ASAN_OPTIONS=print_legend=0:abort_on_error=1:detect_leaks=0:detect_stack_use_after_return=0"
      ;;
    valgrind)
      say "valgrind --quiet --leak-check=no --trace-children=yes --error-exitcode=99 \
--log-file=$tmp/reports/valgrind.%p --suppressions=$("$PG_CONFIG" --sharedir)/valgrind.supp"
      ;;
  esac
}

# A folder with all programs, in which "postgres" starts the server under the
# checker, pg_ctl starts that one, also when it restarts another, and pg_config
# names this folder. (initdb has no need to be checked.)
wrap_server() {
  export BLOOMSET_CHECKER="$checker"
  as_runner mkdir reports
  [ -n "$(checker_command)" ] || return 0
  as_runner mkdir bin
  as_runner ln -s "$bindir"/* bin/
  wrap postgres <<EOF
exec $(checker_command) "$bindir/postgres" "\$@"
EOF
  wrap pg_ctl <<EOF
exec "$bindir/pg_ctl" "\$@" -p "$tmp/bin/postgres"
EOF
  wrap pg_config <<EOF
[ "\$*" = --bindir ] && echo "$tmp/bin" && exit
exec "$PG_CONFIG" "\$@"
EOF
  PG_CONFIG=$tmp/bin/pg_config
  bindir=$tmp/bin
  # everything takes longer
  export PGCTLTIMEOUT=600 PG_TEST_TIMEOUT_DEFAULT=1800 PGISOLATIONTIMEOUT=1800
}

# The script on standard input becomes bin/$1.
wrap() {
  as_runner rm -f "bin/$1"
  { echo '#!/bin/sh' && cat; } | as_runner sh -c "cat >bin/$1 && chmod +x bin/$1"
}

# The files with something that was found: valgrind's reports, and the servers' logs
# (sanitizers cannot be told another place: they look for their options when the
# server has written its process title over them).
reports() {
  find reports -type f -size +0
  grep -lE "$finding" server.log src/tmp_check/log/*.log 2>/dev/null
}

# What a sanitizer says in a log, or the log if none does.
show_finding() {
  awk -v finding="$finding" '
    $0 ~ finding { found = 1 }
    found { print }
    found && /^SUMMARY/ { exit }' "$1" | head -n 40 >shown
  [ -s shown ] || head -n 60 "$1" >shown
  sed 's/^/  | /' shown
}
