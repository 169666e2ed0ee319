# Makes this checkout ready to run: packages, virtual environment, native tools.
#
# Sourced by scripts/linemate and scripts/test, with `root` set to the checkout.  Owns what is installed and
# when it counts as current.  Everything it says goes to standard error; a step that fails ends the process
# with exit code 2, its name and the end of its log.
# shellcheck shell=bash

log_dir=$root/build/logs
python=$root/.venv/bin/python
installed=/var/lib/dpkg/status # changes with each package

# One line a need: the test that it is there, then the Debian package that brings it.  Tests rather than
# package names, so that a tool from elsewhere counts as well.
runtime_needs='
find_python >/dev/null|python3-venv
has c++|g++
has clang++-19|clang-19
has cmake|cmake
has ninja|ninja-build
[ -e /usr/lib/llvm-19/lib/cmake/llvm/LLVMConfig.cmake ]|llvm-19-dev
[ -e /usr/lib/llvm-19/lib/libclangFrontend.a ]|libclang-19-dev
[ -e /usr/include/zlib.h ]|zlib1g-dev
[ -e /usr/include/zstd.h ]|libzstd-dev
[ -e /usr/include/seccomp.h ]|libseccomp-dev
has perf|linux-perf
has git|git
'
package_needs='
has dpkg-deb|dpkg
has objdump|binutils
'
test_needs='
has gcc|gcc
has make|make
has readelf|binutils
ls /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-*.a >/dev/null 2>&1|libclang-rt-19-dev
has ld.lld-19|lld-19
has clang-format-19|clang-format-19
has aarch64-linux-gnu-gcc|gcc-aarch64-linux-gnu
has aarch64-linux-gnu-g++|g++-aarch64-linux-gnu
has riscv64-linux-gnu-gcc|gcc-riscv64-linux-gnu
has riscv64-linux-gnu-g++|g++-riscv64-linux-gnu
has pahole|dwarves
has eu-readelf|elfutils
has dwz|dwz
has bear|bear
has valgrind|valgrind
has rustc|rustc
[ -e /usr/include/tbb ]|libtbb-dev
has strace|strace
'

said=
say() {
  said=yes
  printf 'linemate: %s\n' "$*" >&2
}
has() { command -v "$1" >/dev/null 2>&1; }

fail() {
  say "$*"
  exit 2
}

# step NAME COMMAND…: runs it quietly; on failure names the step and shows the end of its log.
step() {
  local name=$1 log
  shift
  log=$log_dir/${name// /-}.log
  say "$name …"
  if ! "$@" >"$log" 2>&1 </dev/null; then
    say "failed: $name. The end of $log:"
    tail -n 20 "$log" >&2
    exit 2
  fi
}

# A Python that is new enough and can make virtual environments.
find_python() {
  local candidate
  for candidate in ${LINEMATE_PYTHON:+"$LINEMATE_PYTHON"} /usr/bin/python3 python3; do
    if "$candidate" -I -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

# missing_packages NEEDS: the Debian packages whose test fails.
missing_packages() {
  local test package
  while IFS='|' read -r test package; do
    [ -n "$package" ] || continue
    eval "$test" || printf '%s ' "$package"
  done <<<"$1"
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

apt_install() {
  # A cache that knows the packages saves the update; a stale or empty one is renewed once.
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" && return
  as_root apt-get update &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

install_packages() {
  local packages
  packages=$(missing_packages "$1")
  [ -n "$packages" ] || return 0
  if ! has apt-get; then
    fail "missing, by their Debian names: $packages"
  fi
  if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
    fail "missing packages and no right to install them. Run: sudo apt-get install -y --no-install-recommends $packages"
  fi
  say "packages: $packages"
  # shellcheck disable=SC2086 # a list of names
  step "install packages" apt_install $packages
  packages=$(missing_packages "$1")
  [ -z "$packages" ] || fail "still missing after installing: $packages"
}

# A stamp holds a hash of what its step was made from.  Its time is when this set-up began, so that an edit
# made meanwhile counts as newer.
hash_of() { (cd "$root" && find "$@" -type f -exec sha256sum {} + | LC_ALL=C sort | sha256sum); }
is_current() { [ -e "$1" ] && [ "$(cat "$1")" = "$2" ]; }

set_stamp() {
  printf '%s\n' "$2" >"$1.new" && touch -r "$log_dir/started" "$1.new" && mv "$1.new" "$1"
}

make_environment() {
  local base
  base=$(find_python)
  "$base" -m venv --clear "$root/.venv" || return
  # Found by a path relative to site-packages, so that a checkout can be moved; the launcher runs Python
  # isolated, where neither PYTHONPATH nor the current folder counts.
  local site
  site=$("$python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  "$python" -I -c 'import os, sys; print(os.path.relpath(*sys.argv[1:]))' "$root" "$site" >"$site/linemate-checkout.pth"
}

# The interpreter is part of it: after a system upgrade the packages have to be installed anew.
environment_hash() {
  hash_of "$@"
  "$python" -VV 2>&1
}

# ensure_environment STAMP REQUIREMENTS…: the virtual environment with these pinned requirements; the last
# file includes the others.
ensure_environment() {
  local stamp=$1 want
  shift
  if is_current "$stamp" "$(environment_hash "$@")" && "$python" -I -c 'import msgspec, numpy' 2>/dev/null; then
    touch -r "$log_dir/started" "$stamp"
    return
  fi
  if ! "$python" -I -c 'import pip, sharing' 2>/dev/null; then
    step "make the virtual environment" make_environment
  fi
  want=$(environment_hash "$@")
  step "install requirements" "$python" -I -m pip install --disable-pip-version-check -r "$root/${!#}"
  set_stamp "$stamp" "$want"
}

# forget_moved FOLDER: a checkout that was moved has a cache that names its old place, and one made with another compiler
# would lose settings.
forget_moved() {
  local cache=$1/CMakeCache.txt
  [ -e "$cache" ] || return 0
  grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache" && grep -q '^CMAKE_CXX_COMPILER:.*clang++-19$' "$cache" ||
    rm -rf "$cache" "$1/CMakeFiles"
}

# forget_old_headers FOLDER: an upgraded package brings headers that are older than the build and yet others than it
# read, which the build tool does not see and the compiler refuses.
forget_old_headers() {
  [ ! -e "$installed" ] || [ ! -e "$1" ] || find "$1" -name '*.pch' ! -newer "$installed" -delete
}

# In a shell of its own: whoever ran the launcher from another folder means paths from there.
build_native() (
  cd "$root" || exit
  forget_moved build/release
  forget_old_headers build/release
  cmake --preset release -DPython_EXECUTABLE="$python" && cmake --build --preset release
)

ensure_native() {
  local stamp=$root/build/.native-ready want
  want=$(hash_of elfscan/native analyzer/src analyzer/CMakeLists.txt CMakeLists.txt CMakePresets.json requirements-build.txt)
  if ! is_current "$stamp" "$want" || [ ! -e "$root/build/release/CMakeCache.txt" ]; then
    step "build the native tools" build_native
  fi
  set_stamp "$stamp" "$want"
}

# set_up run|package|test [COMMAND]: bring everything up to date, one process at a time.  COMMAND runs beside what comes
# after the packages; whoever wants it done waits for it.
set_up() {
  mkdir -p "$log_dir" 2>/dev/null || fail "cannot write to $root/build: a checkout of your own is needed"
  exec 9>"$root/build/.setup-lock"
  if ! flock -n 9; then
    say "waiting for another set-up of this checkout …"
    flock 9
  fi
  if [ "$1" != run ]; then
    [ "$1" = test ] || test_needs=
    install_packages "$runtime_needs$package_needs$test_needs"
    touch "$log_dir/started"
    [ -z "${2:-}" ] || "$2" 9>&- &
    ensure_environment "$root/.venv/.run-ready" requirements.txt requirements-build.txt
    # The build needs only what is installed by now; what tests need is mostly waited for.
    ensure_native 9>&- &
    local building=$!
    ensure_environment "$root/.venv/.test-ready" requirements.txt requirements-build.txt requirements-lsp.txt requirements-dev.txt
    wait "$building" || exit
  else
    install_packages "$runtime_needs"
    touch "$log_dir/started"
    ensure_environment "$root/.venv/.run-ready" requirements.txt requirements-build.txt
    ensure_native
  fi
  # What the command itself says, on either stream, begins apart from this.
  [ -z "$said" ] || printf '\n' >&2
  exec 9>&-
}
