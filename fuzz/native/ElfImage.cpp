//===- ElfImage.cpp - A small ELF file made in memory ---------------------===//
//
// Owns the layout: header, contents, section headers.
//
//===----------------------------------------------------------------------===//

#include "ElfImage.h"

namespace linemate::fuzz {

namespace {

class Writer {
public:
  explicit Writer(ElfKind Kind) : Kind(Kind) {}

  void number(uint64_t Value, unsigned Size) {
    for (unsigned I = 0; I < Size; ++I)
      Bytes.push_back(
          char(Value >> (8 * (Kind.IsBig ? Size - 1 - I : I)) & 0xff));
  }
  void word(uint64_t Value) { number(Value, Kind.Is64 ? 8 : 4); }

  ElfKind Kind;
  std::string Bytes;
};

} // namespace

std::string makeElf(ElfKind Kind, const std::vector<ElfSection> &Sections) {
  std::string Names(1, '\0'), Contents;
  const size_t HeaderBytes = Kind.Is64 ? 64 : 52;
  Writer Table(Kind);
  auto AddHeader = [&](uint32_t Name, const ElfSection &S, uint64_t Offset) {
    Table.number(Name, 4);
    Table.number(S.Type, 4);
    Table.word(S.Flags);
    Table.word(S.Address);
    Table.word(Offset);
    Table.word(S.Data.size());
    Table.number(S.Link, 4);
    Table.number(S.Info, 4);
    Table.word(1); // alignment
    Table.word(S.EntrySize);
  };
  AddHeader(0, {"", "", 0, 0, 0, 0, 0, 0}, 0);
  auto Add = [&](const ElfSection &S) {
    auto Name = uint32_t(Names.size());
    Names += S.Name + '\0';
    AddHeader(Name, S, HeaderBytes + Contents.size());
    Contents += S.Data;
  };
  for (const ElfSection &S : Sections)
    Add(S);
  ElfSection NameTable{".shstrtab", Names + ".shstrtab" + '\0', 3};
  Add(NameTable);

  Writer Out(Kind);
  Out.Bytes = std::string("\x7f"
                          "ELF");
  Out.number(Kind.Is64 ? 2 : 1, 1);
  Out.number(Kind.IsBig ? 2 : 1, 1);
  Out.number(1, 1);
  Out.Bytes.append(9, '\0');
  Out.number(Kind.Relocatable ? 1 : 2, 2);
  Out.number(Kind.Machine, 2);
  Out.number(1, 4);
  Out.word(0); // entry
  Out.word(0); // program headers
  Out.word(HeaderBytes + Contents.size());
  Out.number(0, 4);
  Out.number(HeaderBytes, 2);
  Out.number(0, 2);
  Out.number(0, 2);
  Out.number(Kind.Is64 ? 64 : 40, 2);
  Out.number(Sections.size() + 2, 2);
  Out.number(Sections.size() + 1, 2);
  return Out.Bytes + Contents + Table.Bytes;
}

} // namespace linemate::fuzz
