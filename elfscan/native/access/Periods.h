//===- Periods.h - Branches that ask what time it is ------------*- C++ -*-===//
//
// Owns which way of a block is taken only as a clock has moved on by a
// millisecond and more since it was taken last: what the clock said is compared
// with what that way keeps of it.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_PERIODS_H
#define LINEMATE_ACCESS_PERIODS_H

#include "Decoder.h"
#include "Graph.h"
#include "Op.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace linemate {

/// The chance of such a way: it is taken a few times a second, whatever the
/// program is busy with, as those of HasFailed are.  That of source is
/// FailedChance of analyzer's Chance.h as well.
inline constexpr float TimeHasPassed = 1.0F / 16384;

/// Of one function.
class Periods {
public:
  Periods(const Graph &G, const Plan &P, std::span<const Op> Ops,
          const Convention &C)
      : G(G), P(P), Ops(Ops), C(C) {}

  /// The successor of block number \p B, which has two, that is taken once in a
  /// period.
  std::optional<uint32_t> seldomWay(uint32_t B);

private:
  /// Where an older number is: a register, or memory.
  struct Place {
    int8_t Reg = NoReg;
    const MemOperand *Mem = nullptr;
    bool isKnown() const { return Reg != NoReg || Mem; }
  };
  struct Told {
    enum : uint8_t {
      Unknown,
      Number,  ///< N
      Address, ///< of what is N bytes behind Base
      Now,     ///< what a clock said, with N added to it
      Kept,    ///< of Where, with N added to it
      Elapsed, ///< what a clock said, less what is in Where
    } Is = Unknown;
    int8_t Base = NoReg;
    double PerSecond = 0; ///< the least that differs is one of so many parts
    int64_t N = 0;
    Place Where = {};
  };
  struct Slot {
    MemOperand At;
    Told What;
  };
  /// What registers and words of the frame hold behind an op.
  struct State {
    std::array<Told, MaxRegs> Regs;
    std::vector<Slot> Slots;
    MemOperand Filled; ///< by a clock, with seconds and a part of one
    double Part = 0;   ///< of a second, of the word behind these; 0: none
    bool IsFilled = false;
  };
  struct Question {
    Place Older;
    double PerSecond = 0;
    double Seconds = 0; ///< that pass at least
    bool Equality = false;
  };

  const Graph &G;
  const Plan &P;
  std::span<const Op> Ops;
  const Convention &C;
  std::optional<bool> AnyClock; ///< is one called?
  std::vector<uint32_t> Seen;   ///< blocks of the way
  mutable unsigned Settled = 0; ///< registers that were looked for everywhere

  bool asksClocks();
  Told in(const State &S, int8_t Reg) const;
  Told load(const State &S, const MemOperand &M) const;
  Told sum(const Told &A, const Told &B) const;
  static Told difference(const Told &A, const Told &B);
  Told result(const State &S, const Op &O) const;
  void step(State &S, const Op &O) const;
  void call(State &S, const Op &O) const;
  Told settled(const Told &At) const;
  std::optional<Question> question(const State &S, const Op &Test) const;
  bool keeps(const State &S, const Op &O, Question &Q) const;
  bool keepsOnAllWays(State S, uint32_t B, uint32_t Other, bool Changed,
                      Question &Q);
  State fresh() const;
};

} // namespace linemate

#endif // LINEMATE_ACCESS_PERIODS_H
