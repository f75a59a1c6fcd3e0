#!/bin/sh
# Shared by the scripts here: finds or installs what is missing,
# builds a copy of the source tree in a private temporary folder and runs a
# throwaway PostgreSQL server there. The folder is removed at the end. Outside it
# packages are installed, and the extension into a server that cannot load it from
# elsewhere: both only where needed, and after saying so.
#
# The caller sets $root (the source tree) and may define at_exit STATUS.

set -u
: "${root:?}"
umask 022

verbose=${verbose:-false}
tmp=       # the private folder
runner=    # the user everything runs as; empty: the caller
become=    # the command that runs another as that user
new_session=
child=     # process group of the command that is running
beside=    # process group of the one that runs beside it
server=    # the server, also the leader of its process group
install_log=
tee_pid=
PORT=50432 # only part of a socket's file name: no TCP port is opened

say() { printf '%s\n' "$*"; }
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# An existing server must never be used by accident, and a calling make must
# not pass its own flags on. (PG_CONFIG is not matched.)
clean_environment() {
  for var in $(env | sed -n 's/^\(PG[A-Z]*\)=.*/\1/p'); do
    unset "$var"
  done
  unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR CDPATH
  # shellcheck disable=SC2034 # for the caller
  caller_locale=${LC_ALL:-}
  export LC_ALL=C
}

# --- what has to be installed ------------------------------------------------

have() { command -v "$1" >/dev/null 2>&1; }

# Files under /usr/lib/postgresql/NN (Debian's layout), newest NN first.
newest() {
  for file in /usr/lib/postgresql/*/"$1"; do
    [ -x "$file" ] && say "$file"
  done | sort -t / -k 5,5nr
}

# Debian's /usr/bin/pg_config may belong to a version that has no server, and
# exists even where the files for building extensions do not.
can_build_and_serve() {
  bindir=$("$1" --bindir 2>/dev/null) &&
    [ -x "$bindir/postgres" ] && [ -x "$bindir/initdb" ] &&
    [ -x "$bindir/psql" ] && [ -f "$("$1" --pgxs)" ]
}

# Sets PG_CONFIG and bindir; fails if no installed PostgreSQL will do.
find_postgres() {
  for candidate in pg_config $(newest bin/pg_config); do
    if have "$candidate" && can_build_and_serve "$candidate"; then
      PG_CONFIG=$(command -v "$candidate")
      return 0
    fi
  done
  return 1
}

check_given_postgres() {
  given=$(command -v "$PG_CONFIG") ||
    die "PG_CONFIG=$PG_CONFIG does not exist or is not executable"
  PG_CONFIG=$(cd "$(dirname "$given")" && pwd)/${given##*/}
  major=$("$PG_CONFIG" --version | sed -n 's/^PostgreSQL \([0-9][0-9]*\).*/\1/p')
  [ -n "$major" ] || die "PG_CONFIG=$PG_CONFIG is not a pg_config"
  can_build_and_serve "$PG_CONFIG" && return
  die "PG_CONFIG=$PG_CONFIG: the server is missing in $bindir,
or the files for building extensions are; on Debian and Ubuntu install
  postgresql-$major postgresql-server-dev-$major"
}

# The server and server-dev packages of one major: the newest that is half
# installed, else the distribution's default.
postgres_packages() {
  for file in $(newest bin/postgres) $(newest bin/pg_config); do
    major=${file#/usr/lib/postgresql/}
    major=${major%%/*}
    if apt-cache show "postgresql-$major" "postgresql-server-dev-$major" >/dev/null 2>&1; then
      say "postgresql-$major postgresql-server-dev-$major"
      return
    fi
  done
  apt-cache depends postgresql 2>/dev/null |
    sed -n 's/^ *Depends: postgresql-\([0-9][0-9]*\)$/postgresql-\1 postgresql-server-dev-\1/p' |
    head -n 1
}

has_header() {
  for cc in gcc cc clang; do
    if have "$cc"; then
      echo "#include <$1>" | "$cc" -E - >/dev/null 2>&1
      return
    fi
  done
  return 1
}

# Debian package names of what is missing, one a line; "postgresql" stands for
# server and server-dev. $1: test or demo.
missing_packages() {
  have make || say make
  have gcc || say gcc
  has_header stdlib.h || say libc6-dev
  has_header xxhash.h || say libxxhash-dev
  [ -n "${PG_CONFIG:-}" ] || find_postgres || say postgresql
  case $1 in
    test)
      { have prove && perl -MIPC::Run -e 1 2>/dev/null; } || say libipc-run-perl
      ;;
    demo)
      [ -r /usr/share/dict/american-english ] || say wamerican
      [ -r /usr/share/dict/american-english-huge ] || say wamerican-huge
      ;;
  esac
}

# What the tests on other machines need; they are skipped without.
missing_cross_packages() {
  for machine in s390x/s390x powerpc/powerpc i686/i386; do
    cc=${machine%/*}-linux-gnu-gcc
    have "$cc" || say "gcc-${machine%/*}-linux-gnu"
    # a compiler that has no C library names the file without a folder
    case $("$cc" -print-file-name=libc.a 2>/dev/null) in
      */*) ;;
      *) say "libc6-dev-${machine#*/}-cross" ;;
    esac
  done
  { have qemu-s390x && have qemu-ppc && have qemu-i386; } || say qemu-user
  /usr/bin/python3 -c 'import xxhash' 2>/dev/null || say python3-xxhash
}

# What the test of the reader in JavaScript needs; it is skipped without.
missing_node_packages() {
  have node || say nodejs
  have npm || say npm
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Makes sure that everything is there; sets PG_CONFIG and bindir.
prerequisites() {
  [ -z "${PG_CONFIG:-}" ] || check_given_postgres
  missing=$(missing_packages "$1" | tr '\n' ' ')
  if [ -n "$missing" ]; then
    install_packages
    missing=$(missing_packages "$1" | tr '\n' ' ')
    [ -z "$missing" ] || die "still missing after the installation: $missing"
  fi
  if [ "$1" = test ] && [ "${BLOOMSET_TEST_TOOLS:-}" = all ]; then
    missing=$({ missing_cross_packages; missing_node_packages; } | tr '\n' ' ')
    # in a subshell: without them the tests go on
    [ -z "$missing" ] || (install_packages)
  fi
  [ -n "${PG_CONFIG:-}" ] || find_postgres
  export PG_CONFIG
}

install_packages() {
  needed=$(say "$missing" | sed 's/postgresql /postgresql postgresql-server-dev-NN (same major version) /')
  have apt-get ||
    die "these are needed (by their names in Debian): $needed"
  sudo=
  if [ "$(id -u)" != 0 ]; then
    have sudo ||
      die "these packages are needed, and neither root nor sudo is there to install them: $needed"
    sudo='sudo '
  fi

  install_log=$(mktemp) || die "cannot create a temporary file"
  say "Packages are missing; reading the package lists: ${sudo}apt-get update"
  as_root apt-get -qq update >"$install_log" 2>&1 || cat "$install_log" >&2
  cluster=
  case " $missing " in
    *' postgresql '*)
      server=$(postgres_packages)
      [ -n "$server" ] || die "apt-get knows no package postgresql"
      missing=$(say "$missing" | sed "s/postgresql /$server /")
      cluster=' (without the cluster "main" that Debian would create)'
      ;;
  esac
  say "Installing$cluster: ${sudo}apt-get install --no-install-recommends $missing"
  # The drop-in is postgresql-common's own switch for that cluster. It is gone
  # again afterwards: later installations behave as usual.
  # shellcheck disable=SC2016,SC2086
  if as_root sh -c '
    if [ -n "$1" ]; then
      dir=/etc/postgresql-common/createcluster.d
      file=$dir/zz-temporary.conf
      made=
      for d in "${dir%/*}" "$dir"; do
        [ -d "$d" ] || { mkdir "$d" && made="$d $made"; }
      done
      trap "rm -f $file; rmdir $made 2>/dev/null" EXIT
      trap "exit 130" INT TERM HUP
      echo "create_main_cluster = false" >"$file"
    fi
    shift
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=120 \
      install --no-install-recommends "$@" </dev/null' \
    sh "$cluster" $missing >"$install_log" 2>&1
  then
    rm -f "$install_log"
  else
    tail -n 30 "$install_log" >&2
    rm -f "$install_log"
    die "apt-get install failed"
  fi
}

# --- the private folder ------------------------------------------------------

# As root, work is done as another user, because the server refuses root.
choose_runner() {
  [ "$(id -u)" = 0 ] || return 0
  have setpriv || die "setpriv is missing; run this as an ordinary user"
  for runner in postgres nobody; do
    if id "$runner" >/dev/null 2>&1; then
      # unlike su and runuser, setpriv becomes the command: no signal is lost
      become="setpriv --reuid=$runner --regid=$(id -g "$runner") --init-groups env HOME=/"
      return
    fi
  done
  die "there is neither a user postgres nor nobody; run this as an ordinary user"
}

as_runner() {
  $become "$@"
}

make_folder() {
  choose_runner
  ! have setsid || new_session=setsid
  # The folder's name ends up in a socket's path (107 bytes at most), in
  # configuration files and in make's variables.
  base=${TMPDIR:-/tmp}
  case $base in
    *[!A-Za-z0-9_./-]* | [!/]*) base=/tmp ;;
  esac
  [ "${#base}" -le 50 ] || base=/tmp
  for base in "$base" /tmp; do
    tmp=$(mktemp -d "$base/bloomset.XXXXXX" 2>/dev/null) || continue
    [ -z "$runner" ] || chown "$runner:" "$tmp"
    # root's TMPDIR may lie where the other user cannot go
    as_runner test -w "$tmp/." && break
    rmdir "$tmp"
    tmp=
  done
  [ -n "$tmp" ] || die "cannot create a folder in ${TMPDIR:-/tmp}"
  cd "$tmp" || exit 1
  [ -z "$become" ] || become="${become% *} HOME=$tmp"
  # whatever the tests create goes there too
  export TMPDIR="$tmp"
  export PGHOST="$tmp" PGPORT="$PORT" PGUSER=postgres
}

source_files() {
  if [ -e "$root/.git" ] &&
    git -c safe.directory="$root" -C "$root" ls-files --cached --others --exclude-standard 2>/dev/null
  then
    return
  fi
  # no checkout, or git refuses it
  (cd "$root" && find . -name .git -prune -o \
    \( -name results -o -name output_iso -o -name 'tmp_check*' -o -path ./test/unit/build -o -name node_modules \) -prune -o \
    -type f ! -name '*.o' ! -name '*.bc' ! -name '*.so' -print)
}

# tree.tar in the current folder
pack_tree() {
  source_files | sort -u >files
  # a file deleted but not yet from git's index is still listed
  while IFS= read -r file; do
    if [ -f "$root/$file" ]; then say "$file"; fi
  done <files >present
  tar -C "$root" -cf tree.tar -T present || die "cannot copy the source tree"
}

# The copy is built, so that the source tree may be read-only, or readable by
# the caller alone, and stays as it is.
copy_tree() {
  as_runner mkdir src stage
  pack_tree
  as_runner tar -C src -xof tree.tar || die "cannot copy the source tree"
}

# Starts a command as the unprivileged user, in the background and in a process
# group of its own: the shell runs a trap only between commands, but at once
# while it waits for a background one, and cleanup can then end everything that
# the command has started.
start() {
  # shellcheck disable=SC2086
  $new_session $become "$@" </dev/null &
}

# Runs a command, its output to the log $1.
run() {
  log=$1
  shift
  if $verbose; then
    rm -f fifo
    mkfifo fifo
    tee "$log" <fifo &
    tee_pid=$!
    start "$@" >fifo 2>&1
  else
    start "$@" >"$log" 2>&1
  fi
  child=$!
  wait "$child"
  status=$?
  child=
  [ -z "$tee_pid" ] || wait "$tee_pid"
  tee_pid=
  return "$status"
}

# Starts a command that goes on beside others, its output to the log $1.
start_beside() {
  log=$1
  shift
  start "$@" >"$log" 2>&1
  beside=$!
}

# Waits for it; its status.
wait_beside() {
  wait "$beside"
  status=$?
  beside=
  return "$status"
}

show_log() {
  $verbose || tail -n "${2:-30}" "$1" | sed 's/^/  | /'
}

make_in_copy() {
  make_log=$1
  shift
  run "$make_log" make -C src --no-print-directory PG_CONFIG="$PG_CONFIG" "$@"
}

processors() { getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2; }

build() {
  # without the commands, so that a failure shows what the compiler says
  $verbose || set -- -s "$@"
  make_in_copy build.log -j "$(processors)" "$@"
}

# --- the throwaway server ----------------------------------------------------

# Lets the server find the staged extension. PostgreSQL has a setting for that
# from 18 on; Debian's older packages have one of their own.
install_extension() {
  stage=$tmp/stage
  as_runner "$bindir/postgres" --describe-config >settings 2>/dev/null
  if cut -f 1 settings | grep -qx extension_control_path; then
    path="extension_control_path = '$stage$("$PG_CONFIG" --sharedir):\$system'"
  elif cut -f 1 settings | grep -qx extension_destdir; then
    path="extension_destdir = '$stage'"
  else
    install_into_server
    : >bloomset.conf
    return
  fi
  make_in_copy install.log install DESTDIR="$stage" || { show_log install.log; return 1; }
  cat >bloomset.conf <<EOF
$path
dynamic_library_path = '$stage$("$PG_CONFIG" --pkglibdir):\$libdir'
EOF
}

install_into_server() {
  for dir in "$("$PG_CONFIG" --pkglibdir)" "$("$PG_CONFIG" --sharedir)/extension"; do
    [ -w "$dir" ] || die "this PostgreSQL loads extensions from its own folders only,
and $dir is not writable. Run this as the user who
owns it or as root, or take PostgreSQL 18 or a package of Debian or Ubuntu."
  done
  say "This PostgreSQL loads extensions from its own folders only: installing bloomset there (make install)"
  become_runner=$become
  become=
  make_in_copy install.log install
  status=$?
  become=$become_runner
  [ "$status" = 0 ] || { show_log install.log; die "make install failed"; }
}

# Extra settings are read from standard input.
start_server() {
  run initdb.log "$bindir/initdb" --pgdata=data --username=postgres --auth=trust \
    --encoding=UTF8 --locale=C --no-sync || { show_log initdb.log; die "initdb failed"; }
  cat - bloomset.conf >server.conf
  cat >>server.conf <<EOF
listen_addresses = ''
unix_socket_directories = '$tmp'
port = $PORT
fsync = off
synchronous_commit = off
full_page_writes = off
EOF
  as_runner sh -c 'cat >>data/postgresql.conf' <server.conf
  start "$bindir/postgres" -D "$tmp/data" >server.log 2>&1
  server=$!
  for _ in $(seq 150); do
    "$bindir/pg_isready" -q && return
    sleep 0.2
  done
  show_log server.log
  die "the server did not start"
}

# --- the end -----------------------------------------------------------------

# The living members of process group $1; a dead process that its parent has not
# waited for does not count.
members() {
  if [ -r /proc/self/stat ]; then
    cat /proc/[0-9]*/stat 2>/dev/null |
      sed -n "s/^\([0-9]*\) \((.*)\) [^ZX] [0-9]* $1 .*/\1 \2/p"
  elif kill -s 0 -- "-$1" 2>/dev/null; then
    say "-$1"
  fi
}

# Ends a process group: gently, by force after five seconds. A server that is
# killed leaves its shared memory behind, so those that initdb and the TAP tests
# run (through a shell) are left to whoever started them.
end_group() {
  [ -n "$1" ] || return 0
  kill -s TERM "$1" 2>/dev/null
  for try in $(seq 60); do
    list=$(members "$1")
    [ -n "$list" ] || return 0
    if [ "$try" -lt 50 ]; then
      list=$(say "$list" | sed '/(postgres)/d; /(sh)/d; s/ .*//')
      # shellcheck disable=SC2086
      [ "$try" != 1 ] || [ -z "$list" ] || kill -s TERM -- $list 2>/dev/null
    else
      kill -s KILL -- "-$1" 2>/dev/null
    fi
    sleep 0.1
  done
}

# Stops all servers in the folder, those of the TAP tests too, which have left the
# process group that started them.
stop_servers() {
  find "$tmp" -name postmaster.pid 2>/dev/null | while IFS= read -r pidfile; do
    dir=${pidfile%/*}
    read -r pid <"$pidfile" || continue
    shared_memory=$(sed -n '7s/.* //p' "$pidfile")
    # a stale file may name a process that is not ours
    if [ ! -d /proc/self ] || [ "$(readlink "/proc/$pid/cwd")" = "$dir" ]; then
      as_runner "$bindir/pg_ctl" --pgdata="$dir" -m immediate -t 10 stop >/dev/null 2>&1 ||
        kill -s KILL "$pid" 2>/dev/null
    fi
    # still there if the server was killed
    [ -z "$shared_memory" ] || ipcrm -m "$shared_memory" 2>/dev/null
  done
}

cleanup() {
  status=$?
  trap '' INT TERM HUP
  trap - EXIT
  rm -f "$install_log"
  if [ -n "$tmp" ]; then
    cd /
    end_group "$child"
    end_group "$beside"
    stop_servers
    end_group "$server"
    [ -z "$tee_pid" ] || kill "$tee_pid" 2>/dev/null
    # a process that is just ending may still create a file
    rm -rf "$tmp" 2>/dev/null || { sleep 1; rm -rf "$tmp"; }
  fi
  at_exit "$status"
  exit "$status"
}

at_exit() { :; }

trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
