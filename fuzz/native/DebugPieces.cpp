//===- DebugPieces.cpp - Inputs that are contents of debug sections -------===//
//
// Owns the ELF files around the contents.
//
//===----------------------------------------------------------------------===//

#include "DebugPieces.h"
#include "ElfImage.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace linemate::fuzz {

namespace {

constexpr uint8_t OfSecond = 0x10;
constexpr unsigned InfoKind = 0, RelaOfInfoKind = 10;
constexpr uint64_t DataAddress = 0x402000;

struct Piece {
  unsigned Kind;
  std::string Data;
};

std::string fileOf(uint8_t Switches, const SectionNames &Names,
                   const std::vector<Piece> &Pieces, const char *Suffix) {
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
    bool IsRela = P.Kind == RelaOfInfoKind;
    if (IsRela && Info) {
      Sections.push_back({".rela.debug_info", P.Data, 4, 0, 0, 0, Info,
                          Kind.Is64 ? 24u : 12u});
      continue;
    }
    bool IsIndex = StringRef(Names[P.Kind]).ends_with("_index");
    Sections.push_back({std::string(Names[P.Kind]) + (IsIndex ? "" : Suffix),
                        P.Data, 1, 0, 0, 0, 0, 0});
    if (P.Kind == InfoKind)
      Info = uint32_t(Sections.size());
  }
  return makeElf(Kind, Sections);
}

} // namespace

DebugFiles::DebugFiles(ArrayRef<uint8_t> Input, const SectionNames &Names) {
  Switches = Input.empty() ? 0 : Input[0];
  std::vector<Piece> First, Second;
  for (size_t At = 1; At + 3 <= Input.size();) {
    uint8_t Kind = Input[At];
    size_t Length = Input[At + 1] | Input[At + 2] << 8;
    At += 3;
    Length = std::min(Length, Input.size() - At);
    (Kind & OfSecond ? Second : First)
        .push_back({Kind & 15u, toStringRef(Input.slice(At, Length)).str()});
    At += Length;
  }
  Main = fileOf(Switches, Names, First, "");
  Other = fileOf(Switches, Names, Second, Switches & Common ? "" : ".dwo");
}

dwarf::Options DebugFiles::options() const {
  dwarf::Options Out;
  Out.Path = "main";
  Out.Threads = 1;
  Out.AllRecords = Switches & AllRecords;
  if (Switches & Common)
    Out.AlternatePath = "common";
  return Out;
}

Expected<std::unique_ptr<dwarf::Object>>
DebugFiles::open(StringRef Path) const {
  bool IsPackage = Path.ends_with(".dwp");
  if (Path != "main" && IsPackage != bool(Switches & Package))
    return nullptr;
  return dwarf::Object::read(
      MemoryBuffer::getMemBufferCopy(Path == "main" ? Main : Other), Path);
}

} // namespace linemate::fuzz
