//===- X86Length.h - Where an x86-64 instruction ends -----------*- C++ -*-===//
//
// Owns the outline of an instruction's encoding: how long it is, and which of
// its bytes are a distance from its end.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_X86LENGTH_H
#define LINEMATE_ACCESS_X86LENGTH_H

#include <cstdint>

namespace linemate {

/// The longest instruction that processors run.
inline constexpr unsigned MaxX86Length = 15;

struct X86Outline {
  uint8_t Length = 0;       ///< 0: not known
  uint8_t Distance = 0;     ///< where bytes begin that are counted from the end
                            ///< of the instruction; 0: none
  uint8_t DistanceSize = 0; ///< 1 or 4
  bool IsTarget = false;    ///< they say where a branch leads, not which memory
                            ///< an operand is
};

/// Of the instruction at the front of \p Code, which has MaxX86Length + 1
/// bytes, zeros where there are fewer.  What is not known here is no error: it
/// is for a disassembler to say what such bytes are.
X86Outline outlineX86(const uint8_t *Code);

} // namespace linemate

#endif // LINEMATE_ACCESS_X86LENGTH_H
