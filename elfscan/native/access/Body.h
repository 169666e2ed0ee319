//===- Body.h - The code around an instruction ------------------*- C++ -*-===//
//
// Owns one decoded function as samples need it: instructions in memory order,
// who jumps where, what came just before an instruction in time.
//
// An interrupt is taken when the oldest instruction has retired, so the time
// since the last one was spent on the instruction before the sampled one.
// Within straight code that is the one before it in memory.  At the target of
// backward branches it is the branch: loops run round more often than in.  A
// compare with memory and the branch behind it retire as one.  After a call it
// is the return of the callee, at a function's start the call: neither counts.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_BODY_H
#define LINEMATE_ACCESS_BODY_H

#include "Effect.h"

#include <span>
#include <utility>
#include <vector>

namespace linemate {

/// No instruction.
inline constexpr uint32_t NoRow = ~uint32_t(0);

/// An instruction that touched memory before another one.
struct Earlier {
  uint32_t Row = NoRow;
  /// False where several ways lead here and their last instructions touch
  /// different memory.  With Row, a breakpoint that was hit still says that it
  /// was that one.
  bool IsCertain = true;
};

/// Rebuilt for each function; its memory is kept between functions.
class Body {
public:
  explicit Body(const Convention &C) : C(C) {}

  /// Decodes until nothing decodes any more: what comes behind is not known to
  /// be code.
  void build(Decoder &D, std::span<const uint8_t> Code, uint64_t Begin);

  uint32_t size() const { return uint32_t(Ops.size()); }
  const Op &op(uint32_t Row) const { return Ops[Row]; }
  Control control(uint32_t Row) const { return Controls[Row]; }
  Effect effect(uint32_t Row) const { return effectOf(Ops[Row], C); }
  const Convention &convention() const { return C; }

  /// The instruction that begins at \p Address.
  uint32_t at(uint64_t Address) const;
  /// The instructions that jump to \p Row, ascending.
  std::span<const uint32_t> sources(uint32_t Row) const;
  /// Where the instruction jumps to, within the function.
  uint32_t target(uint32_t Row) const;
  /// Whether control can come from the instruction before in memory.
  bool fallsInto(uint32_t Row) const;
  /// Whether a jump back leads over an instruction, as one does in every loop
  /// that it is part of.
  bool mayRepeat(uint32_t Row) const { return JumpsOver[Row] > 0; }
  /// The touch of memory that came just before \p Row in time.
  Earlier cameBefore(uint32_t Row) const;

  /// The instructions that led to one, in order.
  struct Round {
    std::vector<uint32_t> Rows;
    bool IsWhole = false; ///< a loop: the first is the instruction itself
    bool IsEntry = false; ///< they begin where the function does
  };
  Round roundTo(uint32_t Row) const;

  /// Instructions that were executed if \p Row was: those before it, itself,
  /// and those behind up to a branch.  \p Here becomes its position.
  std::vector<uint32_t> run(uint32_t Row, uint32_t &Here) const;

private:
  const Convention &C;
  std::vector<Op> Ops;
  std::vector<Control> Controls;
  std::vector<uint32_t> FirstSource, Sources;
  std::vector<int32_t> JumpsOver;

  uint32_t onlyWay(uint32_t Row) const;
  uint32_t usualWay(uint32_t Row) const;
  uint32_t wayRound(uint32_t Row) const;
  uint32_t lastTouch(uint32_t Row) const;
  bool isRetry(uint32_t Row) const;
  std::pair<uint32_t, uint32_t> loopAround(uint32_t Row) const;
};

} // namespace linemate

#endif // LINEMATE_ACCESS_BODY_H
