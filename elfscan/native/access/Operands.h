//===- Operands.h - Memory operands around sampled code ---------*- C++ -*-===//
//
// Owns which operand is charged with a sample, and through which registers, as
// they are at the sample, an operand can still be computed.
//
// Along the straight run around a sampled instruction every register is a
// value number plus a constant.  An operand can be computed when some register
// holds its value number at the sample, so that copies, constant steps, push
// and pop between the two cost nothing.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_OPERANDS_H
#define LINEMATE_ACCESS_OPERANDS_H

#include "Body.h"
#include "Waiting.h"

#include <cstdint>
#include <vector>

namespace linemate {

// As in sharing/model/operands.py.
enum class Role : uint8_t { Before = 1, At = 2, Witness = 3, Awaited = 4 };
enum class Holds : uint8_t { Yes, Overwritten, Never };
enum class Segment : uint8_t { None, Fs, Gs };
enum OperandFlag : uint8_t {
  OperandAtomic = 1,
  OperandLink = 2,
  OperandImplicit = 4,
  OperandSpins = 8,
  OperandUses = 16,
};
enum PointFlag : uint8_t {
  PointFutex = 1,
  PointDecoded = 2,
  PointWakes = 4,
};
// As in sharing/model/attribution.py.
enum class Reason : uint8_t { None = 0, Undecoded = 5, Ambiguous = 7 };

/// OPERAND_DTYPE of sharing/model/operands.py.
struct OperandRow {
  uint64_t Ip;
  int64_t Displacement;
  int8_t Base, Index;
  uint8_t Scale, Segment;
  uint16_t Size;
  uint8_t Kind, Flags, Role, Holds;
  uint16_t Reserved;
  int32_t Point;
};
static_assert(sizeof(OperandRow) == 32);

/// POINT_DTYPE of sharing/model/operands.py.  Function: of the query.
struct PointRow {
  uint64_t Ip;
  int32_t Function, Before, At, First, Count;
  uint8_t Reason, Flags;
  uint16_t Others;
};
static_assert(sizeof(PointRow) == 32);

/// How a call of the futex system call is known: its number, and by perf's
/// numbers the registers of the number and of the operation.
struct FutexCall {
  int32_t Number = -1;
  int8_t NumberRegister = NoReg;
  int8_t OperationRegister = NoReg;
};

/// Turns sampled addresses into rows, function by function.
class OperandWriter {
public:
  OperandWriter(const Body &B, const FutexCall &Futex);

  /// The body is of another function from now on.
  void enter() { Loops.clear(); }
  /// The sampled instruction \p Row.
  void point(uint32_t Row, int32_t Function);
  /// A sampled address at which no instruction begins.
  void nothing(uint64_t Ip, int32_t Function);

  std::vector<PointRow> Points;
  std::vector<OperandRow> Operands;

private:
  struct Number;
  struct Values;
  struct Place;

  const Body &B;
  const FutexCall &Futex;
  Waiting Loops;
  std::vector<int8_t> Order; ///< registers by perf's numbers

  void operand(const Place &P, Role What);
  Place computed(const Place &P, const Values &AtSample) const;
  void around(uint32_t Row, PointRow &Point);
  void alongRun(std::span<const uint32_t> Run, uint32_t Here, uint32_t Skipped,
                uint32_t Before, PointRow &Point);
  void awaited(uint32_t Row, PointRow &Point);
  uint8_t futex(std::span<const uint32_t> Run, uint32_t Here) const;
};

} // namespace linemate

#endif // LINEMATE_ACCESS_OPERANDS_H
