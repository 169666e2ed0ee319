//===- dwarf.cpp - Fuzz target: the contents of debug sections ------------===//
//
// Owns the input's form: a byte of switches, then pieces of
//
//   kind (1 byte)   low four bits: which section, 0x10: of the second file
//   size (2 bytes)  of the contents, little-endian; cut at the end
//   contents
//
// Pieces of one section are put together.  The second file is a split file, a
// package or the common file of dwz.  seeds.py writes the same form.
//
//===----------------------------------------------------------------------===//

#include "ElfImage.h"
#include "Reader.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace linemate::fuzz;

namespace {

enum Switch : uint8_t {
  Big = 1,
  Narrow = 2, // 32 bits
  Relocatable = 4,
  Package = 8,
  Common = 16,
  AllRecords = 32,
};
constexpr uint8_t OfSecond = 0x10;
constexpr const char *Names[16] = {
    "info",     "types", "abbrev",   "str",      "line_str", "str_offsets",
    "addr",     "line",  "cu_index", "tu_index", "rela",     "loclists",
    "rnglists", "info",  "info",     "types"};
constexpr unsigned RelaOfInfo = 10;
constexpr uint64_t DataAddress = 0x402000;

struct Piece {
  unsigned Kind;
  std::string Data;
};

std::string fileOf(uint8_t Switches, const std::vector<Piece> &Pieces,
                   const char *Suffix) {
  ElfKind Kind;
  Kind.Is64 = !(Switches & Narrow);
  Kind.IsBig = Switches & Big;
  Kind.Relocatable = Switches & Relocatable;
  Kind.Machine = Kind.IsBig ? (Kind.Is64 ? 21 : 20) : (Kind.Is64 ? 62 : 3);
  std::vector<ElfSection> Sections;
  Sections.push_back(
      {".data", std::string(64, '\0'), 1, 3, DataAddress, 0, 0, 0});
  uint32_t Info = 0;
  for (const Piece &P : Pieces) {
    bool IsRela = P.Kind == RelaOfInfo;
    if (IsRela && Info) {
      Sections.push_back({".rela.debug_info", P.Data, 4, 0, 0, 0, Info,
                          Kind.Is64 ? 24u : 12u});
      continue;
    }
    bool IsIndex = StringRef(Names[P.Kind]).ends_with("_index");
    Sections.push_back(
        {std::string(".debug_") + Names[P.Kind] + (IsIndex ? "" : Suffix),
         P.Data, 1, 0, 0, 0, 0, 0});
    if (P.Kind == 0)
      Info = uint32_t(Sections.size());
  }
  return makeElf(Kind, Sections);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Bytes, size_t Size) {
  if (Size < 4)
    return 0;
  uint8_t Switches = Bytes[0];
  std::vector<Piece> First, Second;
  for (size_t At = 1; At + 3 <= Size;) {
    uint8_t Kind = Bytes[At];
    size_t Length = Bytes[At + 1] | Bytes[At + 2] << 8;
    At += 3;
    Length = std::min(Length, Size - At);
    (Kind & OfSecond ? Second : First)
        .push_back(
            {Kind & 15u,
             std::string(reinterpret_cast<const char *>(Bytes) + At, Length)});
    At += Length;
  }
  std::string Main = fileOf(Switches, First, "");
  std::string Other = fileOf(Switches, Second, Switches & Common ? "" : ".dwo");

  linemate::dwarf::Options Opts;
  Opts.Path = "main";
  Opts.Threads = 1;
  Opts.AllRecords = Switches & AllRecords;
  if (Switches & Common)
    Opts.AlternatePath = "common";
  auto Open = [&](StringRef Path)
      -> Expected<std::unique_ptr<linemate::dwarf::Object>> {
    bool IsPackage = Path.ends_with(".dwp");
    if (Path != "main" && IsPackage != bool(Switches & Package))
      return nullptr;
    return linemate::dwarf::Object::read(
        MemoryBuffer::getMemBufferCopy(Path == "main" ? Main : Other), Path);
  };
  raw_null_ostream Out;
  consumeError(linemate::dwarf::run(Opts, Out, Open));
  return 0;
}
