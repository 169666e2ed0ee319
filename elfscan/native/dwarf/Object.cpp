//===- Object.cpp - One file's debug sections -----------------------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Object.h"
#include "Elf.h"
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

// All debug sections of a file together may have so many times its size when
// they are uncompressed, and so much in any case.  Those of compilers have 3 to
// 6 times; zlib reaches 1000 and zstd more, so that a claim may well be true.
constexpr uint64_t MaxExpansion = 16;
constexpr uint64_t AlwaysBytes = uint64_t(32) << 20;
// Beyond that, what lies between two damaged words is given up as well.
constexpr size_t MaxDamages = 1000;

int32_t DebugSection::targetOf(uint64_t Offset) const {
  auto *It = std::lower_bound(
      Words.data(), Words.data() + Words.size(), Offset,
      [](const RelocatedWord &W, uint64_t O) { return W.Offset < O; });
  if (It == Words.data() + Words.size() || It->Offset != Offset)
    return -1;
  return It->Section;
}

void DebugSection::damage(uint64_t Begin, uint64_t End, StringRef Reason) {
  if (Damaged.size() < MaxDamages) {
    Damaged.push_back({Begin, End, Reason.str()});
    return;
  }
  Damage &Last = Damaged.back();
  Last.Begin = std::min(Last.Begin, Begin);
  Last.End = std::max(Last.End, End);
}

const Damage *DebugSection::damageIn(uint64_t Begin, uint64_t End) const {
  // Sorted by Begin; pieces that overlap were joined, so ends ascend as well.
  auto It = llvm::partition_point(
      Damaged, [&](const Damage &D) { return D.End <= Begin; });
  return It != Damaged.end() && It->Begin < End ? &*It : nullptr;
}

/// Sorts and joins what overlaps.
static void normalise(std::vector<Damage> &Damaged) {
  llvm::stable_sort(Damaged, [](const Damage &A, const Damage &B) {
    return A.Begin < B.Begin;
  });
  std::vector<Damage> Joined;
  for (Damage &D : Damaged) {
    if (!Joined.empty() && D.Begin < Joined.back().End)
      Joined.back().End = std::max(Joined.back().End, D.End);
    else
      Joined.push_back(std::move(D));
  }
  Damaged = std::move(Joined);
}

Expected<std::unique_ptr<Object>> Object::open(StringRef Path) {
  auto Read = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!Read)
    return errorCodeToError(Read.getError());
  return read(std::move(*Read), Path);
}

Expected<std::unique_ptr<Object>>
Object::read(std::unique_ptr<MemoryBuffer> Buffer, StringRef Path) {
  std::unique_ptr<Object> Result(new Object);
  Result->Path = Path.str();
  Result->Buffer = std::move(Buffer);
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

/// The sections that hold debug information, in their place or beside it; all
/// that a program loads goes into Data.
void Object::sortSections(DebugParts &Plain, DebugParts &Dwo) {
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
}

/// Reads the contents.  An error where .debug_info cannot be.
Error Object::readParts(const DebugParts &Parts, LoadedParts &Loaded) {
  std::string NoInfo;
  for (const auto &[Section, Slot] : Parts) {
    StringRef Name = cantFail(Section.getName());
    uint64_t Base = Slot->Data.size();
    if (Error E = append(*Slot, Section, Name)) {
      std::string Reason = toString(std::move(E));
      if (Slot == &Info)
        NoInfo = Reason;
      Problems.push_back(("section " + Name + " at offset 0x" +
                          Twine::utohexstr(ELFSectionRef(Section).getOffset()) +
                          " is not read: " + Reason)
                             .str());
      continue;
    }
    Loaded[Section.getIndex()] = {Slot, Base, Slot->Data.size() - Base,
                                  Name.str(), false};
  }
  if (!NoInfo.empty() && Info.Data.empty())
    return createStringError(inconvertibleErrorCode(), NoInfo);
  return Error::success();
}

Error Object::relocateParts(LoadedParts &Loaded) {
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
    LoadedPart &Part = It->second;
    if (std::exchange(Part.Relocated, true)) {
      Part.Slot->damage(Part.Base, Part.Base + Part.Size,
                        "it has relocations twice");
      continue;
    }
    if (Error E = relocate(*Part.Slot, Part.Base, Part.Size, Section))
      return E;
  }
  for (auto &[Index, Part] : Loaded) {
    DebugSection &Section = *Part.Slot;
    llvm::sort(Section.Words,
               [](const RelocatedWord &A, const RelocatedWord &B) {
                 return A.Offset < B.Offset;
               });
    if (!Section.Damaged.empty())
      normalise(Section.Damaged);
  }
  return Error::success();
}

Error Object::load() {
  DebugParts Plain, Dwo;
  sortSections(Plain, Dwo);
  // A file made with -gsplit-dwarf=single has both kinds: the skeleton is read
  // first and the reader opens the same file again for the rest.
  bool HasInfo = any_of(Plain, [&](auto &P) { return P.second == &Info; });
  IsDwo = !HasInfo && !Dwo.empty();
  LoadedParts Loaded;
  if (Error E = readParts(IsDwo ? Dwo : Plain, Loaded))
    return E;
  if (!relocatable())
    return Error::success(); // linked: emitted relocations are already applied
  if (Error E = relocateParts(Loaded))
    return E;
  // Of a damaged .debug_info the units around the damage are left out.  What
  // points into the other sections cannot be told apart.
  for (auto &[Index, Part] : Loaded)
    if (Part.Slot != &Info && Part.Slot != &Types &&
        !Part.Slot->Damaged.empty())
      leaveOut(*Part.Slot, Part.Name);
  llvm::sort(Problems); // Loaded has no order
  return Error::success();
}

void Object::leaveOut(DebugSection &Section, StringRef Name) {
  const Damage &First = Section.Damaged.front();
  Problems.push_back(("section " + Name + " is not read: " + First.Reason +
                      " at offset 0x" + Twine::utohexstr(First.Begin))
                         .str());
  Section = DebugSection();
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
    uint64_t Most = std::max(AlwaysBytes, MaxExpansion * size());
    if (Size > Most - Uncompressed)
      return createStringError(
          inconvertibleErrorCode(),
          "it would take " + Twine(Size) + " bytes uncompressed, " +
              Twine(Uncompressed) + " are taken, and a file of this size has " +
              Twine(Most) + " for all");
    Uncompressed += Size;
    Into.Storage.resize(Old + Size);
    if (Error E = D->decompress(
            MutableArrayRef<uint8_t>(Into.Storage).drop_front(Old))) {
      Into.Storage.resize(Old);
      Into.Data = toStringRef(Into.Storage);
      return E;
    }
  }
  Into.Data = toStringRef(Into.Storage);
  return Error::success();
}

Error Object::relocate(DebugSection &Into, uint64_t Base, uint64_t Size,
                       const SectionRef &Relocations) {
  auto [Supports, Resolver] = getRelocationResolver(*File);
  if (!Supports)
    return createStringError(inconvertibleErrorCode(),
                             "relocations of this architecture are unknown");
  if (Into.Storage.empty())
    Into.Storage.assign(Into.Data.bytes_begin(), Into.Data.bytes_end());
  MutableArrayRef<uint8_t> Bytes =
      MutableArrayRef<uint8_t>(Into.Storage).slice(Base, Size);
  uint16_t Machine = Elf->getEMachine();
  // These two describe a difference in steps that build on each other.
  bool AddsToWord = Machine == ELF::EM_RISCV || Machine == ELF::EM_LOONGARCH;
  auto Apply = [&, Supports = Supports,
                Resolver = Resolver](const Relocation &R) {
    if (!Supports(R.Type))
      return; // a NONE or a thread-local offset that no section has
    unsigned Width = relocationWidth(Machine, R.Type);
    if (Width == 0 || R.Offset > Size || Size - R.Offset < Width)
      return;
    uint64_t Offset = Base + R.Offset;
    if (R.Damage)
      return Into.damage(Offset, Offset + Width, R.Damage);
    endianness Order = littleEndian() ? endianness::little : endianness::big;
    uint8_t *Word = Bytes.data() + R.Offset;
    uint64_t Old = Width == 8 ? support::endian::read<uint64_t>(Word, Order)
                              : support::endian::read<uint32_t>(Word, Order);
    if (R.HasAddend && !AddsToWord)
      Old = 0;
    uint64_t New = Resolver(R.Type, R.Offset, R.SymbolValue, Old, R.Addend);
    if (Width == 8)
      support::endian::write<uint64_t>(Word, New, Order);
    else
      support::endian::write<uint32_t>(Word, static_cast<uint32_t>(New), Order);
    if (R.Section >= 0)
      Into.Words.push_back({Offset, R.Section});
  };
  if (Error E = forEachRelocation(*File, Relocations.getIndex(), Apply))
    Into.damage(Base, Base + Size,
                "its relocations cannot be read: " + toString(std::move(E)));
  Into.Data = toStringRef(Into.Storage);
  return Error::success();
}

bool Object::isData(uint64_t Address) const {
  return any_of(Data, [&](const AddressRange &R) {
    return R.Begin <= Address && Address < R.End;
  });
}

} // namespace linemate::dwarf
