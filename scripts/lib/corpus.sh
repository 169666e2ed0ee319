# The real servers that tests analyse: Debian's own binaries, unpacked and never installed or started, and sources.
#
# Sourced by scripts/test after setup.sh.  Fills build/corpus with the files of a few packages; a package
# that cannot be fetched is said and left out, and tests that want it say why they are skipped.
# shellcheck shell=bash

corpus_packages='mariadb-server-core redis-tools memcached postgresql-15'
corpus_sources='redis'

fetch_corpus() {
  local corpus=$root/build/corpus package
  for package in $corpus_packages; do
    [ -e "$corpus/.have-$package" ] || fetch_package "$corpus" "$package" || say "left out of the corpus: $package"
  done
  for package in $corpus_sources; do
    [ -e "$corpus/.have-source-$package" ] || fetch_source "$corpus" "$package" ||
      say "left out of the corpus: source of $package"
  done
}

# fetch_source FOLDER NAME: download and unpack a source package; works where the system lists sources.
fetch_source() {
  local corpus=$1 package=$2
  has apt-get && has dpkg-source || return
  mkdir -p "$corpus/source" || return
  say "corpus: source of $package …"
  (
    cd "$corpus/source" || exit
    apt-get source --only-source "$package"
  ) >"$log_dir/corpus-source-$package.log" 2>&1 </dev/null || return
  : >"$corpus/.have-source-$package"
}

# fetch_package FOLDER NAME: download, unpack, mark.
fetch_package() {
  local corpus=$1 package=$2 download=$1/.download
  has apt-get && has dpkg-deb || return
  rm -rf "$download"
  mkdir -p "$download" || return
  say "corpus: $package …"
  (
    cd "$download" || exit
    apt-get download "$package" || { as_root apt-get update && apt-get download "$package"; }
  ) >"$log_dir/corpus-$package.log" 2>&1 </dev/null || return
  dpkg-deb -x "$download"/*.deb "$corpus" || return
  rm -rf "$download"
  : >"$corpus/.have-$package"
}
