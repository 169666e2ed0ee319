//===- Elf.h - Tables of an ELF file that may be damaged --------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns the ways to symbols and relocations that return an error.  LLVM's own
// iterators over them end the process at a damaged entry, and divide by an
// entry size that may be zero.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_ELF_H
#define LINEMATE_DWARF_ELF_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Error.h"

namespace linemate::dwarf {

/// Calls \p Do with the reader of \p File's class and byte order.
template <typename Function>
auto withElf(const llvm::object::ObjectFile &File, Function Do) {
  using namespace llvm;
  using namespace llvm::object;
  if (const auto *Elf = dyn_cast<ELF64LEObjectFile>(&File))
    return Do(Elf->getELFFile());
  if (const auto *Elf = dyn_cast<ELF32LEObjectFile>(&File))
    return Do(Elf->getELFFile());
  if (const auto *Elf = dyn_cast<ELF64BEObjectFile>(&File))
    return Do(Elf->getELFFile());
  return Do(cast<ELF32BEObjectFile>(&File)->getELFFile());
}

/// Calls \p Do with the name and the value of each symbol of the table that
/// linkers read.  Passes over those that cannot be read.
void forEachSymbol(
    const llvm::object::ObjectFile &File,
    llvm::function_ref<void(llvm::StringRef Name, uint64_t Value)> Do);

/// One relocation, decoded.
struct Relocation {
  uint64_t Offset = 0;
  uint64_t Type = 0;
  int64_t Addend = 0;
  bool HasAddend = false;
  uint64_t SymbolValue = 0;
  int32_t Section = -1;         // of the symbol, -1 none
  const char *Damage = nullptr; // why the symbol is unknown
};

/// Calls \p Do with each relocation of the section with header number
/// \p Index.  An error: none of them can be read.
llvm::Error forEachRelocation(const llvm::object::ObjectFile &File,
                              uint64_t Index,
                              llvm::function_ref<void(const Relocation &)> Do);

} // namespace linemate::dwarf

#endif
