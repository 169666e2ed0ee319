//===- MemoryForm.h - aarch64 loads and stores by mnemonic ------*- C++ -*-===//
//
// Owns the reading of an aarch64 mnemonic as a memory access: the names are
// regular (stem, ordering, width), and one rule covers the hundreds of atomic
// instructions.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_MEMORYFORM_H
#define LINEMATE_ACCESS_MEMORYFORM_H

#include "Tables.h"

#include <cstdint>
#include <string_view>

namespace linemate {

struct MemoryForm {
  Access Kind = Access::None;
  uint8_t UnitBytes = 0;  ///< bytes per element, 0: of the register
  uint8_t Elements = 1;   ///< registers that are moved
  uint8_t FirstMoved = 0; ///< operand number of the first of them
  bool IsVector = false;
  bool Replicates = false; ///< ld1r: one element, copied
  bool IsAtomic = false;
  bool IsExclusive = false;
  bool IsSigned = false;
  bool IsCompare = false;  ///< cas
  bool IsExchange = false; ///< swp
  bool IsBits = false;     ///< ldset, ldclr, ldeor and their stores
  bool KeepsOld = false;   ///< a register receives the old content
};

/// Kind None when \p Mnemonic moves no data to or from memory.
MemoryForm memoryForm(std::string_view Mnemonic);

} // namespace linemate

#endif // LINEMATE_ACCESS_MEMORYFORM_H
