#!/usr/bin/env bash
# Builds the native fuzz targets as OSS-Fuzz asks for them: compiler, flags and engine come from the environment, the
# targets with their first inputs go to $OUT.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.."
: "${CXX:?}" "${CXXFLAGS:?}" "${LIB_FUZZING_ENGINE:?}" "${OUT:?}"
work=$(realpath -m -- "${WORK:-build}/oss-fuzz")

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --disable-pip-version-check --quiet -r requirements-build.txt
cmake -G Ninja -S . -B "$work" -DPython_EXECUTABLE="$work/venv/bin/python" -DCMAKE_BUILD_TYPE=None \
  -DCMAKE_CXX_FLAGS="$CXXFLAGS" -DLINEMATE_FUZZ=ON -DLINEMATE_FUZZ_ENGINE="$LIB_FUZZING_ENGINE"
for source in fuzz/native/*.cpp; do
  grep -q LLVMFuzzerTestOneInput "$source" || continue
  name=$(basename "$source" .cpp)
  [ "$name" != facts ] || continue # reads sharing/knowledge, which is not where OSS-Fuzz runs it
  cmake --build "$work" --target "fuzz_$name"
  cp "$work/bin/fuzz_$name" "$OUT/"
  zip -q -j "$OUT/fuzz_${name}_seed_corpus.zip" "fuzz/native/corpus/$name"/*
done
cp "$work"/bin/libcapstone.so.5 "$OUT/"
