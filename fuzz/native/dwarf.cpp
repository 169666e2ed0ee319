//===- dwarf.cpp - Fuzz target: the contents of debug sections ------------===//
//
// Owns which sections there are.  The input's form: DebugPieces.h.
//
//===----------------------------------------------------------------------===//

#include "DebugPieces.h"

using namespace llvm;
using namespace linemate::fuzz;

static constexpr SectionNames Names = {
    ".debug_info",     ".debug_types",       ".debug_abbrev", ".debug_str",
    ".debug_line_str", ".debug_str_offsets", ".debug_addr",   ".debug_line",
    ".debug_cu_index", ".debug_tu_index",    ".debug_rela",   ".debug_loclists",
    ".debug_rnglists", ".debug_info",        ".debug_info",   ".debug_types"};

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Bytes, size_t Size) {
  if (Size < 4)
    return 0;
  DebugFiles Files({Bytes, Size}, Names);
  raw_null_ostream Out;
  consumeError(linemate::dwarf::run(
      Files.options(), Out, [&](StringRef Path) { return Files.open(Path); }));
  return 0;
}
