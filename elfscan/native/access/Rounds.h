//===- Rounds.h - Branches that ask which round it is -----------*- C++ -*-===//
//
// Owns which way of a block is taken in one of so many rounds: where a number
// that moves on by steps is divided, masked or compared with a constant.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_ROUNDS_H
#define LINEMATE_ACCESS_ROUNDS_H

#include "Graph.h"
#include "Op.h"

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace linemate {

/// One of two ways from a block.
struct SeldomWay {
  uint32_t To;
  float Chance; ///< that it is taken
};

/// Of one function.  Only decoders that state what is compared (Op::Asked) tell
/// anything.
class Rounds {
public:
  /// \p Result is the register of what calls return.  What is read from any
  /// other one after a call, the compiler knew to be left as it was.
  Rounds(const Graph &G, std::span<const Op> Ops, int8_t Result)
      : G(G), Ops(Ops), Result(Result) {}

  /// The way from block number \p B, which is in a loop, that its branch seldom
  /// takes.
  std::optional<SeldomWay> seldom(uint32_t B);

private:
  enum class Kind : uint8_t {
    Unknown,
    Number,    ///< N
    Counter,   ///< moves on by steps
    Masked,    ///< a counter's lowest bits: one of N numbers
    Quotient,  ///< what is above some of a number's bits
    Multiple,  ///< N times a quotient
    Remainder, ///< of a division by N
    Spread,    ///< anywhere among all numbers: a product with a large constant
  };
  struct Value {
    Kind Is = Kind::Unknown;
    uint64_t N = 0;
    int8_t Reg = NoReg;               ///< that a counter is in
    const MemOperand *Word = nullptr; ///< the same
  };
  /// What is done in one outermost loop.
  struct Changes {
    uint32_t Stepped = 0;  ///< registers that move on by a constant
    uint32_t Other = 0;    ///< that are set to anything but a constant besides
    uint32_t Returned = 0; ///< that a call returned something in
    std::vector<MemOperand> Words; ///< that move on by a constant
    using Sources = std::array<int8_t, MaxRegs>;
    Sources Next = filled();   ///< by register the one that it is a step from
    Sources Copied = filled(); ///< by register the one that it is set to

    static Sources filled() {
      Sources Of;
      Of.fill(NoReg);
      return Of;
    }
    void keep(Sources &Of, int8_t Reg, int8_t From);
    void takeTurns();
  };

  const Graph &G;
  std::span<const Op> Ops;
  int8_t Result;
  // Each is filled as soon as it is asked for: few functions ask.
  std::vector<uint32_t> InLoops; ///< blocks in loops, by the outermost one
  bool IsSorted = false;
  std::map<uint32_t, Changes> Around; ///< by head
  std::vector<uint32_t> FirstChange;  ///< of each register, the op
  uint32_t Again = 0;                 ///< registers that change twice

  const Changes &changesAround(uint32_t B);
  void note(uint32_t B, uint32_t At, Changes &To) const;
  uint32_t onlyChange(int8_t Reg);
  uint32_t definition(uint32_t B, int8_t Reg, uint32_t At) const;
  bool isStep(uint32_t B, uint32_t At) const;
  Value trace(uint32_t B, int8_t Reg, uint32_t At, unsigned Depth);
  Value result(uint32_t B, uint32_t At, unsigned Depth);
  Value divided(uint32_t B, int8_t Reg, uint32_t At, unsigned Depth);
  Value inMemory(uint32_t B, const Op &O);
  uint32_t testOf(const Block &Of) const;
  float equal(uint32_t B, uint32_t Test);
  float equalTo(const Value &V, uint64_t Number) const;
  std::optional<SeldomWay> ordered(uint32_t B, uint32_t Test);
  uint64_t startOf(const Value &Counter) const;
  bool setsBack(uint32_t Way, const Value &V) const;
};

} // namespace linemate

#endif // LINEMATE_ACCESS_ROUNDS_H
