//===- LineFiles.cpp - The file names of a unit's line table --------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "LineFiles.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

LineFiles::LineFiles(const Unit &U, uint64_t Offset, uint64_t StrOffsets) {
  const Object &File = U.List->File;
  Offset = SaturatingAdd(Offset, U.LineBase);
  Cursor C(File.Line.Data, Offset, File.Line.Data.size(), File.swap());
  uint64_t Length = C.u32();
  bool Is64 = Length == DW_LENGTH_DWARF64;
  if (Is64)
    Length = C.u64();
  if (C.failed() || Length > C.left())
    return;
  C = Cursor(File.Line.Data, C.offset(), C.offset() + Length, File.swap());
  uint16_t Version = C.u16();
  if (Version < 2 || Version > 5)
    return;
  if (Version >= 5)
    C.skip(2);                  // address size, segment selector size
  C.offsetOf(Is64);             // header length
  C.skip(Version >= 4 ? 5 : 4); // instruction lengths, flags, line base, range
  uint8_t OpcodeBase = C.u8();
  C.skip(OpcodeBase ? OpcodeBase - 1 : 0);
  if (Version >= 5)
    readNew(C, U, Is64, StrOffsets);
  else
    readOld(C);
}

void LineFiles::readOld(Cursor &C) {
  Directories.emplace_back(); // 0: the compilation directory
  while (!C.failed()) {
    StringRef Name = C.string();
    if (Name.empty())
      break;
    Directories.push_back(Name);
  }
  Entries.push_back({}); // counted from 1
  while (!C.failed()) {
    StringRef Name = C.string();
    if (Name.empty())
      break;
    auto Directory = static_cast<uint32_t>(C.uleb());
    C.uleb(); // time
    C.uleb(); // length
    Entries.push_back({Name, Directory});
  }
}

void LineFiles::readNew(Cursor &C, const Unit &U, bool Is64,
                        uint64_t StrOffsets) {
  FromZero = true;
  const Object &File = U.List->File;
  FormSizes Sizes{5, U.Sizes.AddressSize, Is64};
  for (bool ForFiles : {false, true}) {
    SmallVector<Format, 5> Formats;
    unsigned FormatCount = C.u8();
    for (unsigned I = 0; I < FormatCount; ++I) {
      uint64_t Content = C.uleb();
      Formats.push_back({Content, static_cast<uint16_t>(C.uleb())});
    }
    uint64_t Count = C.uleb();
    for (uint64_t I = 0; I < Count && !C.failed(); ++I) {
      if (C.atEnd() || Formats.empty())
        return;
      FileEntry E{{}, 0};
      uint64_t Begin = C.offset();
      for (const Format &F : Formats) {
        if (F.Content == DW_LNCT_directory_index) {
          E.Directory = static_cast<uint32_t>(
              F.Form == DW_FORM_udata
                  ? C.uleb()
                  : C.uintOfSize(std::max(fixedFormSize(F.Form, Sizes), 0)));
          continue;
        }
        if (F.Content != DW_LNCT_path) {
          if (!skipForm(F.Form, Sizes, C))
            return;
          continue;
        }
        switch (F.Form) {
        case DW_FORM_string:
          E.Name = C.string();
          break;
        case DW_FORM_line_strp:
          E.Name = stringAt(File.LineStr.Data, C.offsetOf(Is64));
          break;
        case DW_FORM_strp:
          E.Name = stringAt(File.Str.Data, C.offsetOf(Is64));
          break;
        case DW_FORM_strx:
        case DW_FORM_strx1:
        case DW_FORM_strx2:
        case DW_FORM_strx3:
        case DW_FORM_strx4: {
          int Size = fixedFormSize(F.Form, Sizes);
          uint64_t Index = Size < 0 ? C.uleb() : C.uintOfSize(Size);
          uint64_t Where = SaturatingMultiplyAdd<uint64_t>(
              Index, U.Sizes.Is64 ? 8 : 4, StrOffsets);
          Cursor O(File.StrOffsets.Data, Where, File.StrOffsets.Data.size(),
                   File.swap());
          E.Name = stringAt(File.Str.Data, O.offsetOf(U.Sizes.Is64));
          break;
        }
        default:
          if (!skipForm(F.Form, Sizes, C))
            return;
        }
      }
      if (C.offset() == Begin)
        return; // any number of entries fits into no bytes
      if (ForFiles)
        Entries.push_back(E);
      else
        Directories.push_back(E.Name);
    }
  }
}

std::string LineFiles::path(uint64_t Index) const {
  if (Index >= Entries.size() || (!FromZero && Index == 0))
    return {};
  const FileEntry &E = Entries[Index];
  StringRef Name = E.Name;
  while (Name.consume_front("./"))
    ;
  // Directory 0 is the compilation directory: names stay relative to it.
  if (E.Directory == 0 || E.Directory >= Directories.size() ||
      Name.starts_with("/"))
    return Name.str();
  StringRef Directory = Directories[E.Directory];
  while (Directory.consume_front("./"))
    ;
  if (Directory.empty() || Directory == ".")
    return Name.str();
  return (Directory + "/" + Name).str();
}

} // namespace linemate::dwarf
