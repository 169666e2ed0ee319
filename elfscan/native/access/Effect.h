//===- Effect.h - What one instruction does to registers --------*- C++ -*-===//
//
// Owns the reading of an Op that places of memory operands need: operands,
// registers written, and new values that are known.  Everything is in terms of
// the values before the instruction.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_EFFECT_H
#define LINEMATE_ACCESS_EFFECT_H

#include "Decoder.h"

#include <span>

namespace linemate {

/// Where control goes after an instruction, as far as samples need it.
enum class Control : uint8_t {
  Next,
  Branch,
  Jump,
  Call,
  Return,
  SystemCall,
  Stop,
};

Control controlOf(const Op &O);

/// The address that \p O names as where control goes, 0 none.
uint64_t targetOf(const Op &O);

/// Dst = Source + Constant; without Source the constant is all.
struct KnownValue {
  int8_t Dst = NoReg;
  int8_t Source = NoReg;
  bool IsAddress = false; ///< Constant is an address of the file
  int64_t Constant = 0;
  bool IsHalf = false; ///< of 4 bytes: the same only of small numbers
};

struct Effect {
  uint32_t Writes = 0; ///< all registers that change, those in Values included
  uint8_t MemCount = 0;
  uint8_t ValueCount = 0;
  MemOperand Mem[2]; ///< accesses only; flags that say nothing here are off
  KnownValue Values[2];

  std::span<const MemOperand> memory() const { return {Mem, MemCount}; }
  std::span<const KnownValue> values() const { return {Values, ValueCount}; }
};

/// What \p O does; not what a called function does beyond its convention.
Effect effectOf(const Op &O, const Convention &C);

inline bool isImplicit(const MemOperand &M) { return M.Flags & MemImplicit; }

} // namespace linemate

#endif // LINEMATE_ACCESS_EFFECT_H
