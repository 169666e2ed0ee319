//===- locals.cpp - Fuzz target: local variables at given instructions ----===//
//
// Owns which sections there are and which instructions are asked about.  The
// input's form: DebugPieces.h.
//
//===----------------------------------------------------------------------===//

#include "DebugPieces.h"

using namespace llvm;
using namespace linemate::fuzz;

static constexpr SectionNames Names = {
    ".debug_info",     ".debug_loc",         ".debug_abbrev", ".debug_str",
    ".debug_line_str", ".debug_str_offsets", ".debug_addr",   ".debug_line",
    ".debug_cu_index", ".debug_ranges",      ".debug_rela",   ".debug_loclists",
    ".debug_rnglists", ".debug_frame",       ".eh_frame",     ".debug_aranges"};

/// Where the code of seeds.py is, and where that of a relocatable file is.
static std::vector<uint64_t> asked() {
  constexpr uint64_t CodeAddress = 0x401000, CodeBytes = 0x200, Step = 16;
  std::vector<uint64_t> Out;
  for (uint64_t At = 0; At < CodeBytes; At += Step)
    Out.push_back(At);
  for (uint64_t At = 0; At < CodeBytes; At += Step)
    Out.push_back(CodeAddress + At + 5);
  return Out;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Bytes, size_t Size) {
  if (Size < 4)
    return 0;
  DebugFiles Files({Bytes, Size}, Names);
  linemate::dwarf::Options Opts = Files.options();
  Opts.AllRecords = false;
  Opts.Locals = asked();
  raw_null_ostream Out;
  consumeError(linemate::dwarf::run(
      Opts, Out, [&](StringRef Path) { return Files.open(Path); }));
  return 0;
}
