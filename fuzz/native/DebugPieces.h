//===- DebugPieces.h - Inputs that are contents of debug sections -*- C++
//-*-===//
//
// Owns the input's form: a byte of switches, then pieces of
//
//   kind (1 byte)   low four bits: which section, 0x10: of the second file
//   size (2 bytes)  of the contents, little-endian; cut at the end
//   contents
//
// Pieces of one section are put together.  The second file is a split file, a
// package or the common file of dwz.  seeds.py writes the same form.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_FUZZ_DEBUGPIECES_H
#define LINEMATE_FUZZ_DEBUGPIECES_H

#include "Reader.h"
#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <cstdint>
#include <string>

namespace linemate::fuzz {

enum Switch : uint8_t {
  Big = 1,
  Narrow = 2, // 32 bits
  Relocatable = 4,
  Package = 8,
  Common = 16,
  AllRecords = 32,
};

/// Names of sections by the kind of a piece.  Kinds 0 and 10 are .debug_info
/// and its relocations.
using SectionNames = std::array<const char *, 16>;

/// The two files that an input stands for, opened by the paths of options().
class DebugFiles {
public:
  DebugFiles(llvm::ArrayRef<uint8_t> Input, const SectionNames &Names);

  dwarf::Options options() const;
  llvm::Expected<std::unique_ptr<dwarf::Object>>
  open(llvm::StringRef Path) const;

private:
  uint8_t Switches = 0;
  std::string Main, Other;
};

} // namespace linemate::fuzz

#endif
