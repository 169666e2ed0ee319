//===- ElfImage.h - A small ELF file made in memory -------------*- C++ -*-===//
//
// Owns the header, the section headers and their names; what is in the
// sections is the caller's.  Without segments and symbols.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_FUZZ_ELFIMAGE_H
#define LINEMATE_FUZZ_ELFIMAGE_H

#include <cstdint>
#include <string>
#include <vector>

namespace linemate::fuzz {

struct ElfSection {
  std::string Name;
  std::string Data;
  uint32_t Type = 1; // SHT_PROGBITS
  uint64_t Flags = 0;
  uint64_t Address = 0;
  uint32_t Link = 0, Info = 0;
  uint64_t EntrySize = 0;
};

struct ElfKind {
  bool Is64 = true;
  bool IsBig = false;
  bool Relocatable = false;
  uint16_t Machine = 62; // EM_X86_64
};

/// The section with number 0 is added; \p Sections begin with number 1.
std::string makeElf(ElfKind Kind, const std::vector<ElfSection> &Sections);

} // namespace linemate::fuzz

#endif
