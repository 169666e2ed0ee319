//===- Elf.cpp - Tables of an ELF file that may be damaged ----------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Elf.h"
#include "llvm/BinaryFormat/ELF.h"

using namespace llvm;
using namespace llvm::object;

namespace linemate::dwarf {

/// The value that relocations use: of a common symbol its size, as LLVM has it.
template <typename ELFT>
static uint64_t valueOf(const ELFFile<ELFT> &Elf,
                        const typename ELFT::Sym &Symbol) {
  if (Symbol.st_shndx == ELF::SHN_UNDEF)
    return 0;
  if (Symbol.st_shndx == ELF::SHN_COMMON || Symbol.getType() == ELF::STT_COMMON)
    return Symbol.st_size;
  uint64_t Value = Symbol.st_value;
  uint16_t Machine = Elf.getHeader().e_machine;
  // The lowest bit says which instruction set a function uses.
  if (Symbol.st_shndx != ELF::SHN_ABS && Symbol.getType() == ELF::STT_FUNC &&
      (Machine == ELF::EM_ARM || Machine == ELF::EM_MIPS))
    Value &= ~uint64_t(1);
  return Value;
}

void forEachSymbol(const ObjectFile &File,
                   function_ref<void(StringRef, uint64_t)> Do) {
  withElf(File, [&](const auto &Elf) {
    auto Sections = Elf.sections();
    if (!Sections)
      return consumeError(Sections.takeError());
    for (const auto &Section : *Sections) {
      if (Section.sh_type != ELF::SHT_SYMTAB)
        continue;
      auto Symbols = Elf.symbols(&Section);
      auto Strings = Elf.getStringTableForSymtab(Section);
      if (Symbols && Strings) {
        for (const auto &Symbol : Symbols->drop_front(!Symbols->empty())) {
          if (Expected<StringRef> Name = Symbol.getName(*Strings))
            Do(*Name, valueOf(Elf, Symbol));
          else
            consumeError(Name.takeError());
        }
        return;
      }
      consumeError(Symbols.takeError());
      consumeError(Strings.takeError());
    }
  });
}

namespace {

/// The symbols that the relocations of one section name.
template <typename ELFT> class SymbolTable {
public:
  static Expected<SymbolTable> of(const ELFFile<ELFT> &Elf,
                                  const typename ELFT::Shdr &Relocations) {
    auto Section = Elf.getSection(Relocations.sh_link);
    if (!Section)
      return Section.takeError();
    auto Sections = Elf.sections();
    if (!Sections)
      return Sections.takeError();
    SymbolTable Result(Elf, {}, Sections->size());
    if ((*Section)->sh_type != ELF::SHT_SYMTAB &&
        (*Section)->sh_type != ELF::SHT_DYNSYM)
      return Result; // no relocation names a symbol, or those are damaged
    auto Symbols = Elf.symbols(*Section);
    if (!Symbols)
      return Symbols.takeError();
    Result.Symbols = *Symbols;
    // Numbers of sections that do not fit into a symbol.
    for (const auto &Other : *Sections) {
      if (Other.sh_type != ELF::SHT_SYMTAB_SHNDX ||
          Other.sh_link != Relocations.sh_link)
        continue;
      if (auto Numbers = Elf.getSHNDXTable(Other))
        Result.Numbers = *Numbers;
      else
        consumeError(Numbers.takeError());
    }
    return Result;
  }

  void resolve(uint64_t Index, Relocation &R) const {
    if (Index == 0)
      return;
    if (Index >= Symbols.size()) {
      R.Damage = "a relocation names a symbol that is not there";
      return;
    }
    const typename ELFT::Sym &Symbol = Symbols[Index];
    R.SymbolValue = valueOf(Elf, Symbol);
    uint32_t Section = Symbol.st_shndx;
    if (Section == ELF::SHN_XINDEX) {
      if (Index >= Numbers.size()) {
        R.Damage = "a relocation names a symbol of an unknown section";
        return;
      }
      Section = Numbers[Index];
    } else if (Section >= ELF::SHN_LORESERVE) {
      return;
    }
    if (Section == ELF::SHN_UNDEF)
      return;
    if (Section >= SectionCount)
      R.Damage = "a relocation names a symbol of an unknown section";
    else
      R.Section = static_cast<int32_t>(Section);
  }

private:
  SymbolTable(const ELFFile<ELFT> &Elf, typename ELFT::SymRange Symbols,
              size_t SectionCount)
      : Elf(Elf), Symbols(Symbols), SectionCount(SectionCount) {}

  const ELFFile<ELFT> &Elf;
  typename ELFT::SymRange Symbols;
  ArrayRef<typename ELFT::Word> Numbers;
  size_t SectionCount;
};

template <typename ELFT>
Error decode(const ELFFile<ELFT> &Elf, uint64_t Index,
             function_ref<void(const Relocation &)> Do) {
  auto Section = Elf.getSection(static_cast<uint32_t>(Index));
  if (!Section)
    return Section.takeError();
  auto Symbols = SymbolTable<ELFT>::of(Elf, **Section);
  if (!Symbols)
    return Symbols.takeError();
  bool IsMips64EL = Elf.isMips64EL();
  auto Pass = [&](const auto &Entry, int64_t Addend, bool HasAddend) {
    Relocation R;
    R.Offset = Entry.r_offset;
    R.Type = Entry.getType(IsMips64EL);
    R.Addend = Addend;
    R.HasAddend = HasAddend;
    Symbols->resolve(Entry.getSymbol(IsMips64EL), R);
    Do(R);
  };
  if ((*Section)->sh_type == ELF::SHT_RELA) {
    auto Entries = Elf.relas(**Section);
    if (!Entries)
      return Entries.takeError();
    for (const auto &Entry : *Entries)
      Pass(Entry, Entry.r_addend, true);
    return Error::success();
  }
  if ((*Section)->sh_type == ELF::SHT_REL) {
    auto Entries = Elf.rels(**Section);
    if (!Entries)
      return Entries.takeError();
    for (const auto &Entry : *Entries)
      Pass(Entry, 0, false);
    return Error::success();
  }
  return createStringError(inconvertibleErrorCode(),
                           "their encoding is not supported");
}

} // namespace

Error forEachRelocation(const ObjectFile &File, uint64_t Index,
                        function_ref<void(const Relocation &)> Do) {
  return withElf(File, [&](const auto &Elf) { return decode(Elf, Index, Do); });
}

} // namespace linemate::dwarf
