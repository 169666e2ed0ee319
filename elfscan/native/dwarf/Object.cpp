//===- Object.cpp - One file's debug sections -----------------------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Object.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/Decompressor.h"
#include "llvm/Object/RelocationResolver.h"
#include "llvm/Support/Endian.h"
#include <algorithm>

using namespace llvm;
using namespace llvm::object;

namespace linemate::dwarf {

// A compressed section may claim any size; zlib and zstd reach about 1000:1.
constexpr uint64_t MaxExpansion = 1100;
constexpr uint64_t MaxSectionBytes = uint64_t(4) << 30;

int32_t DebugSection::targetOf(uint64_t Offset) const {
  auto *It = std::lower_bound(
      Words.data(), Words.data() + Words.size(), Offset,
      [](const RelocatedWord &W, uint64_t O) { return W.Offset < O; });
  if (It == Words.data() + Words.size() || It->Offset != Offset)
    return -1;
  return It->Section;
}

Expected<std::unique_ptr<Object>> Object::open(StringRef Path) {
  auto Read = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!Read)
    return errorCodeToError(Read.getError());
  std::unique_ptr<Object> Result(new Object);
  Result->Path = Path.str();
  Result->Buffer = std::move(*Read);
  auto File = ObjectFile::createELFObjectFile(Result->Buffer->getMemBufferRef(),
                                              /*InitContent=*/true);
  if (!File)
    return File.takeError();
  Result->File = std::move(*File);
  Result->Elf = cast<ELFObjectFileBase>(Result->File.get());
  Result->Swap = Result->Elf->isLittleEndian() != sys::IsLittleEndianHost;
  if (Error E = Result->load())
    return E;
  return Result;
}

/// Bytes of the word that a relocation of debug data patches, 0: none of the
/// kinds that carry an address or a section offset.
static unsigned relocationWidth(uint16_t Machine, uint64_t Type) {
  switch (Machine) {
  case ELF::EM_X86_64:
    return is_contained(
               {ELF::R_X86_64_64, ELF::R_X86_64_PC64, ELF::R_X86_64_DTPOFF64},
               Type)
               ? 8
               : 4;
  case ELF::EM_AARCH64:
    return is_contained({ELF::R_AARCH64_ABS64, ELF::R_AARCH64_PREL64}, Type)
               ? 8
               : 4;
  case ELF::EM_PPC64:
    return is_contained(
               {ELF::R_PPC64_ADDR64, ELF::R_PPC64_REL64, ELF::R_PPC64_DTPREL64},
               Type)
               ? 8
               : 4;
  case ELF::EM_S390:
    return is_contained({ELF::R_390_64, ELF::R_390_PC64, ELF::R_390_TLS_LDO64},
                        Type)
               ? 8
               : 4;
  case ELF::EM_SPARCV9:
    return is_contained(
               {ELF::R_SPARC_64, ELF::R_SPARC_UA64, ELF::R_SPARC_TLS_DTPOFF64},
               Type)
               ? 8
               : 4;
  case ELF::EM_MIPS: // n64 packs up to three types into one word
    return is_contained({ELF::R_MIPS_64, ELF::R_MIPS_TLS_DTPREL64}, Type & 0xff)
               ? 8
               : 4;
  case ELF::EM_RISCV:
    if (is_contained({ELF::R_RISCV_64, ELF::R_RISCV_ADD64, ELF::R_RISCV_SUB64},
                     Type))
      return 8;
    return is_contained({ELF::R_RISCV_32, ELF::R_RISCV_ADD32,
                         ELF::R_RISCV_SUB32, ELF::R_RISCV_32_PCREL},
                        Type)
               ? 4
               : 0;
  case ELF::EM_LOONGARCH:
    if (is_contained({ELF::R_LARCH_64, ELF::R_LARCH_ADD64, ELF::R_LARCH_SUB64},
                     Type))
      return 8;
    return is_contained(
               {ELF::R_LARCH_32, ELF::R_LARCH_ADD32, ELF::R_LARCH_SUB32}, Type)
               ? 4
               : 0;
  default: // the 32-bit architectures
    return 4;
  }
}

static DebugSection *slotFor(Object &O, StringRef Name) {
  return StringSwitch<DebugSection *>(Name)
      .Case("info", &O.Info)
      .Case("types", &O.Types)
      .Case("abbrev", &O.Abbrev)
      .Case("str", &O.Str)
      .Case("line_str", &O.LineStr)
      .Case("str_offsets", &O.StrOffsets)
      .Case("addr", &O.Addr)
      .Case("line", &O.Line)
      .Case("cu_index", &O.CuIndex)
      .Case("tu_index", &O.TuIndex)
      .Default(nullptr);
}

Error Object::load() {
  DenseMap<uint64_t, std::pair<DebugSection *, uint64_t>> Loaded;
  SmallVector<std::pair<SectionRef, DebugSection *>, 16> Plain, Dwo;
  for (const SectionRef &Section : Elf->sections()) {
    ELFSectionRef Ref(Section);
    if ((Ref.getFlags() & ELF::SHF_ALLOC) && !(Ref.getFlags() & ELF::SHF_TLS) &&
        Section.getSize())
      Data.push_back({Section.getAddress(),
                      SaturatingAdd(Section.getAddress(), Section.getSize())});
    Expected<StringRef> Name = Section.getName();
    if (!Name) {
      consumeError(Name.takeError());
      continue;
    }
    StringRef Short = *Name;
    if (Ref.getType() == ELF::SHT_NOBITS ||
        !(Short.consume_front(".debug_") || Short.consume_front(".zdebug_")))
      continue;
    bool IsDwoSection = Short.consume_back(".dwo");
    DebugSection *Slot = slotFor(*this, Short);
    if (!Slot)
      continue;
    // A package's index alone goes without the suffix.
    bool IsIndex = Slot == &CuIndex || Slot == &TuIndex;
    (IsDwoSection || IsIndex ? Dwo : Plain).push_back({Section, Slot});
  }
  // A file made with -gsplit-dwarf=single has both kinds: the skeleton is read
  // first and the reader opens the same file again for the rest.
  bool HasInfo = any_of(Plain, [&](auto &P) { return P.second == &Info; });
  IsDwo = !HasInfo && !Dwo.empty();
  for (auto &[Section, Slot] : IsDwo ? Dwo : Plain) {
    Loaded[Section.getIndex()] = {Slot, Slot->Data.size()};
    if (Error E = append(*Slot, Section, cantFail(Section.getName())))
      return E;
  }
  if (!relocatable())
    return Error::success(); // linked: emitted relocations are already applied
  for (const SectionRef &Section : Elf->sections()) {
    Expected<section_iterator> Target = Section.getRelocatedSection();
    if (!Target) {
      consumeError(Target.takeError());
      continue;
    }
    if (*Target == Elf->section_end())
      continue;
    auto It = Loaded.find((*Target)->getIndex());
    if (It == Loaded.end())
      continue;
    auto [Slot, Base] = It->second;
    if (Error E = relocate(*Slot, Base, Section))
      return E;
  }
  for (auto &[Index, Where] : Loaded)
    llvm::sort(Where.first->Words,
               [](const RelocatedWord &A, const RelocatedWord &B) {
                 return A.Offset < B.Offset;
               });
  return Error::success();
}

/// Adds a section's contents.  Object files have several sections of one name,
/// one for each type unit; only then, and when compressed, are bytes copied.
Error Object::append(DebugSection &Into, const SectionRef &Section,
                     StringRef Name) {
  Expected<StringRef> Contents = Section.getContents();
  if (!Contents)
    return Contents.takeError();
  bool Compressed = Name.starts_with(".zdebug_") ||
                    (ELFSectionRef(Section).getFlags() & ELF::SHF_COMPRESSED);
  if (!Compressed && Into.Data.empty()) {
    Into.Data = *Contents;
    return Error::success();
  }
  if (Into.Storage.empty())
    Into.Storage.assign(Into.Data.bytes_begin(), Into.Data.bytes_end());
  size_t Old = Into.Storage.size();
  if (!Compressed) {
    Into.Storage.insert(Into.Storage.end(), Contents->bytes_begin(),
                        Contents->bytes_end());
  } else {
    Expected<Decompressor> D = Decompressor::create(
        Name, *Contents, littleEndian(), addressSize() == 8);
    if (!D)
      return D.takeError();
    uint64_t Size = D->getDecompressedSize();
    if (Size > MaxSectionBytes || Size / MaxExpansion > Contents->size())
      return createStringError(inconvertibleErrorCode(),
                               "section " + Name +
                                   " claims an impossible uncompressed size");
    Into.Storage.resize(Old + Size);
    if (Error E = D->decompress(
            MutableArrayRef<uint8_t>(Into.Storage).drop_front(Old)))
      return E;
  }
  Into.Data = toStringRef(Into.Storage);
  return Error::success();
}

Error Object::relocate(DebugSection &Into, uint64_t Base,
                       const SectionRef &Relocations) {
  auto [Supports, Resolver] = getRelocationResolver(*File);
  if (!Supports)
    return createStringError(inconvertibleErrorCode(),
                             "relocations of this architecture are unknown");
  if (Into.Storage.empty())
    Into.Storage.assign(Into.Data.bytes_begin(), Into.Data.bytes_end());
  MutableArrayRef<uint8_t> Bytes(Into.Storage);
  for (const RelocationRef &Reloc : Relocations.relocations()) {
    uint64_t Offset = SaturatingAdd(Base, Reloc.getOffset());
    if (!Supports(Reloc.getType()))
      continue; // a NONE or a thread-local offset that no section has
    uint64_t SymbolValue = 0;
    int32_t Target = -1;
    symbol_iterator Symbol = Reloc.getSymbol();
    if (Symbol != File->symbol_end()) {
      Expected<uint64_t> Value = Symbol->getValue();
      Expected<section_iterator> Section = Symbol->getSection();
      if (!Value || !Section) {
        consumeError(Value.takeError());
        consumeError(Section.takeError());
        continue;
      }
      SymbolValue = *Value;
      if (*Section != File->section_end())
        Target = static_cast<int32_t>((*Section)->getIndex());
    }
    unsigned Width = relocationWidth(Elf->getEMachine(), Reloc.getType());
    if (Width == 0 || Offset > Bytes.size() || Bytes.size() - Offset < Width)
      continue;
    endianness Order = littleEndian() ? endianness::little : endianness::big;
    uint8_t *Word = Bytes.data() + Offset;
    uint64_t Old = Width == 8 ? support::endian::read<uint64_t>(Word, Order)
                              : support::endian::read<uint32_t>(Word, Order);
    uint64_t New = resolveRelocation(Resolver, Reloc, SymbolValue, Old);
    if (Width == 8)
      support::endian::write<uint64_t>(Word, New, Order);
    else
      support::endian::write<uint32_t>(Word, static_cast<uint32_t>(New), Order);
    if (Target >= 0)
      Into.Words.push_back({Offset, Target});
  }
  Into.Data = toStringRef(Into.Storage);
  return Error::success();
}

bool Object::isData(uint64_t Address) const {
  return any_of(Data, [&](const AddressRange &R) {
    return R.Begin <= Address && Address < R.End;
  });
}

} // namespace linemate::dwarf
