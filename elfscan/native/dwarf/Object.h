//===- Object.h - One file's debug sections ---------------------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns the mapped file and its debug sections: found by name, decompressed and,
// in relocatable files, relocated; what of them is damaged.  Does not interpret
// their contents.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_OBJECT_H
#define LINEMATE_DWARF_OBJECT_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace linemate::dwarf {

/// Where relocated words of a section point to: section index by offset.
struct RelocatedWord {
  uint64_t Offset;
  int32_t Section;
};

/// Bytes [Begin, End) of a section that are not what the compiler wrote.
struct Damage {
  uint64_t Begin;
  uint64_t End;
  std::string Reason;
};

/// One debug section.  Data stays in the mapped file unless it had to be
/// decompressed or relocated.
struct DebugSection {
  llvm::StringRef Data;
  std::vector<RelocatedWord> Words; // by offset; relocatable files only
  std::vector<uint8_t> Storage;
  std::vector<Damage> Damaged; // by offset

  /// Notes damage.  Very many pieces become one.
  void damage(uint64_t Begin, uint64_t End, llvm::StringRef Reason);
  /// The first damage between two offsets, or null.
  const Damage *damageIn(uint64_t Begin, uint64_t End) const;

  /// Index of the section that the word at \p Offset points into, else -1.
  int32_t targetOf(uint64_t Offset) const;
};

/// An allocated section: the addresses where variables can live.
struct AddressRange {
  uint64_t Begin;
  uint64_t End;
};

class Object {
public:
  static llvm::Expected<std::unique_ptr<Object>> open(llvm::StringRef Path);
  /// The same for a file that is in memory already.
  static llvm::Expected<std::unique_ptr<Object>>
  read(std::unique_ptr<llvm::MemoryBuffer> Buffer, llvm::StringRef Path);

  DebugSection Info, Types, Abbrev, Str, LineStr, StrOffsets, Addr, Line;
  DebugSection CuIndex, TuIndex;
  bool IsDwo = false; // the sections are the .dwo variants

  const std::string &path() const { return Path; }
  bool swap() const { return Swap; }
  bool littleEndian() const { return Elf->isLittleEndian(); }
  bool relocatable() const { return Elf->isRelocatableObject(); }
  unsigned addressSize() const { return Elf->getBytesInAddress(); }
  const llvm::object::ObjectFile &elf() const { return *File; }
  /// Sections that are left out since they cannot be read, and why.
  llvm::ArrayRef<std::string> problems() const { return Problems; }

  /// Whether \p Address is in a section that is loaded and is not thread-local.
  bool isData(uint64_t Address) const;
  uint64_t size() const { return Buffer->getBufferSize(); }

private:
  Object() = default;
  /// Where the contents of an ELF section went.
  struct LoadedPart {
    DebugSection *Slot;
    uint64_t Base;
    uint64_t Size;
    std::string Name;
    bool Relocated = false;
  };
  using LoadedParts = llvm::DenseMap<uint64_t, LoadedPart>; ///< by section
  using DebugParts =
      llvm::SmallVector<std::pair<llvm::object::SectionRef, DebugSection *>>;
  llvm::Error load();
  void sortSections(DebugParts &Plain, DebugParts &Dwo);
  llvm::Error readParts(const DebugParts &Parts, LoadedParts &Loaded);
  llvm::Error relocateParts(LoadedParts &Loaded);
  llvm::Error append(DebugSection &Into,
                     const llvm::object::SectionRef &Section,
                     llvm::StringRef Name);
  llvm::Error relocate(DebugSection &Into, uint64_t Base, uint64_t Size,
                       const llvm::object::SectionRef &Relocations);
  void leaveOut(DebugSection &Section, llvm::StringRef Name);

  std::string Path;
  std::unique_ptr<llvm::MemoryBuffer> Buffer;
  std::unique_ptr<llvm::object::ObjectFile> File;
  const llvm::object::ELFObjectFileBase *Elf = nullptr;
  std::vector<AddressRange> Data;
  std::vector<std::string> Problems;
  uint64_t Uncompressed = 0; // bytes of sections that were compressed
  bool Swap = false;
};

} // namespace linemate::dwarf

#endif
