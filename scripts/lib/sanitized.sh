# The native tools with sanitizers, and the fuzz targets: preset `sanitized` for the tests, `fuzz` for long runs.
#
# Sourced by scripts/test and scripts/fuzz after setup.sh.  Owns which targets the tests need and the environment of
# programs with sanitizers.  The build tool knows what changed, so that there is no stamp.
# shellcheck shell=bash

sanitized_targets='linemate-dwarf linemate-access linemate-facts fuzz_elf fuzz_dwarf fuzz_locals fuzz_unwind fuzz_access fuzz_facts'
sanitized_files='tests/dwarf/test_dwarf_hostile.py tests/dwarf/test_dwarf_hostile_frames.py
  tests/dwarf/test_dwarf_damaged_units.py tests/dwarf/test_dwarf_files.py
  tests/access/test_access_hostile.py tests/access/test_access_query.py tests/fuzz/test_fuzz_native.py
  tests/analyzer_functions tests/analyzer/test_analyzer_driver.py tests/analyzer/test_analyzer_shared_beginnings.py
  tests/analyzer/test_analyzer_records.py tests/analyzer/test_analyzer_stream.py
  tests/analyzer/test_analyzer_variables.py'

# Memory limits count the shadow memory of a sanitizer.  The tools end without giving back what they hold; LLVM's code
# as installed does not undo the poisoning that its headers do where they are compiled with the sanitizer.
export LINEMATE_NATIVE_UNLIMITED=1 ASAN_OPTIONS=detect_leaks=0:allow_user_poisoning=0

# Nice: scripts/test runs checks beside it that one processor is enough for.
build_sanitized() (
  cd "$root" || exit
  local preset=$1
  shift
  forget_moved build/sanitized
  forget_moved build/fuzz-native
  forget_old_headers build/sanitized
  forget_old_headers build/fuzz-native
  cmake --preset "$preset" -DPython_EXECUTABLE="$python" && nice cmake --build --preset "$preset" --target "$@"
)

# ensure_sanitized PRESET TARGET…
ensure_sanitized() { step "build with sanitizers" build_sanitized "$@"; }

# sanitized_tests ARGUMENT…: the tests of hostile input, and every kept input of the fuzz targets.
# A sanitizer's own start can fail, seldom and before there is any stack of ours: such a test is tried again.
sanitized_tests() {
  # shellcheck disable=SC2086 # a list of names
  LINEMATE_NATIVE_DIR=$root/build/sanitized/bin "$python" -m pytest -q -n 2 --dist worksteal \
    --reruns 1 --only-rerun 'LinemateError: <empty stack>' $sanitized_files "$@"
}
