//===- LineFiles.h - The file names of a unit's line table ------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns the file table in the header of a line program (DWARF 2 to 5).  Entries
// are located once and turned into names on demand: a unit lists hundreds of
// headers and a report needs a few.  Does not read the line program.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_LINEFILES_H
#define LINEMATE_DWARF_LINEFILES_H

#include "Unit.h"
#include <string>

namespace linemate::dwarf {

class LineFiles {
public:
  LineFiles() = default;
  /// \p StrOffsets: the unit's string offsets, for DW_FORM_strx names.
  LineFiles(const Unit &U, uint64_t Offset, uint64_t StrOffsets);

  /// The path as the compiler was given it: relative ones stay relative to
  /// the compilation directory.  Empty when unknown.
  std::string path(uint64_t Index) const;

private:
  struct FileEntry {
    llvm::StringRef Name;
    uint32_t Directory;
  };
  struct Format {
    uint64_t Content;
    uint16_t Form;
  };
  void readOld(Cursor &C);
  void readNew(Cursor &C, const Unit &U, bool Is64, uint64_t StrOffsets);

  bool FromZero = false; // DWARF 5 counts files and directories from 0
  std::vector<llvm::StringRef> Directories;
  std::vector<FileEntry> Entries;
};

} // namespace linemate::dwarf

#endif
