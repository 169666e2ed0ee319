//===- Normal.h - Instructions without what a linker sets -------*- C++ -*-===//
//
// Owns the form in which the code of two builds is compared: the bytes of each
// instruction with those fields zero that hold an address, and what such a
// field said of the function itself.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_NORMAL_H
#define LINEMATE_ACCESS_NORMAL_H

#include "Plan.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace linemate {

/// What a field of an instruction holds.
enum class Operand : uint8_t {
  Kept,     ///< a number, or nothing: Bytes has it
  Inside,   ///< an address in the function: its offset
  Address,  ///< an address of the image, wherever that is
  Absolute, ///< where a jump leads, in no part of the image
  Behind,   ///< how far behind a pointer, as where a member of a record is
};

/// What an instruction does apart from memory, as far as it says whether it
/// may be there for the access beside it.
enum class Deed : uint8_t {
  Other,   ///< calls, uses memory, divides; or not told
  Moves,   ///< puts a register, an address or a number into a register
  Reckons, ///< adds, shifts, compares and the like in registers
  Jumps,   ///< directly
};

/// INSTRUCTION_DTYPE of sharing/model/instructions.py.
struct InstructionRow {
  uint32_t Offset; ///< in the function
  uint8_t Length;
  uint8_t IsJump; ///< Target is where it leads, if that is Inside
  Operand TargetIs;
  Operand OtherIs; ///< of a displacement, also beside an immediate
  uint64_t Target, Other;
  uint8_t Bytes[16];
  uint64_t Shape; ///< the same for the same with other registers; 0 not told
  Deed Does;
  uint8_t Unused[7];
};
static_assert(sizeof(InstructionRow) == 56);

/// Numbers below are no addresses: LEAST_ADDRESS of sharing/explain/code.py.
constexpr uint64_t LeastAddress = 0x1000;

/// Where code is: which numbers are addresses.
struct Surroundings {
  Range Function;
  Range Image;

  /// What the number \p N is; \p Value becomes its offset in the function.
  Operand kindOf(uint64_t N, uint64_t &Value) const {
    Value = 0;
    if (N >= Function.Begin && N < Function.End) {
      Value = N - Function.Begin;
      return Operand::Inside;
    }
    return N >= Image.Begin && N < Image.End ? Operand::Address : Operand::Kept;
  }

  /// Whether the file begins at zero, to be loaded anywhere.
  bool isMovable() const { return Image.Begin <= LeastAddress; }

  /// The same of where a jump leads: how far that is depends on the place.
  Operand kindOfTarget(uint64_t N, uint64_t &Value) const {
    Operand Kind = kindOf(N, Value);
    if (Kind != Operand::Kept)
      return Kind;
    // Small numbers are addresses of a file that begins at zero, where code is
    // reached; zero is what a weak function is that nothing defines.
    if (N != 0 && isMovable() && N < Image.End)
      return Operand::Address;
    Value = N;
    return Operand::Absolute;
  }
};

class Normaliser {
public:
  virtual ~Normaliser() = default;
  /// The instruction at the front of \p Code, which is not empty.  What cannot
  /// be decoded is a row of its own bytes.  Offset is left to the caller.
  virtual InstructionRow read(std::span<const uint8_t> Code, uint64_t Ip,
                              const Surroundings &Around) = 0;
};

} // namespace linemate

#endif // LINEMATE_ACCESS_NORMAL_H
