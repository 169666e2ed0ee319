//===- WaitedWords.h - Words that loops wait for ----------------*- C++ -*-===//
//
// Owns which code of a function is behind a loop that goes on until a word of
// static storage has another content: for ever, or until the function sets the
// word itself, as threads do that take turns.  Who sets it for whom is for who
// reads the rows to say.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_WAITEDWORDS_H
#define LINEMATE_ACCESS_WAITEDWORDS_H

#include "Graph.h"
#include "Op.h"
#include "Tables.h"

#include <array>
#include <span>
#include <vector>

namespace linemate {

/// Fed with the ops of one function in their order; keeps its memory.
class WaitedWords {
public:
  struct Word {
    uint64_t Address = 0;
    uint32_t Size = 0;   ///< 0: no word
    bool Turned = false; ///< its lowest bit the other way round
    /// In its place a bool: whether it is Number, or is not.
    bool IsAnswer = false, IfEqual = false;
    uint16_t Number = 0;
    bool operator==(const Word &) const = default;
  };
  /// What an op accesses: a word, or where on the stack.
  struct Place {
    Word What;
    bool OnStack = false;
    int64_t Offset = 0;
    /// What a call of a function does that loads or stores a word: the word,
    /// and the register that it is returned in, or NoReg.
    Word Handed;
    int8_t ReturnedIn = NoReg;
  };

  /// Forgets the function before.
  void start(const Graph &G);
  /// Whether the function has loops.
  bool isNeeded() const { return Needed; }
  /// \p O is op number \p Index of block \p Block, and accesses \p At.
  void sees(const Op &O, uint32_t Index, uint32_t Block, const Place &At);
  /// Appends a row for each run of instructions behind such a loop.
  void finish(const Graph &G, std::span<const Op> Ops, int32_t Function,
              std::vector<ZeroRangeRow> &Out);

private:
  struct Test {
    Word What;
    uint32_t Block;
    uint16_t Against; ///< a number, or Other
    bool EqualBranches;
    uint64_t Target;
  };
  struct Store {
    uint32_t Index, Block;
    uint64_t Address;
  };
  struct Way {
    uint16_t Found; ///< a number that the word was found to be, NotZero, Other
    uint32_t From, To; ///< blocks
    bool GoesRound;    ///< else, to the test again
  };
  struct Slot {
    int64_t Offset;
    Word Content;
  };

  bool Needed = false;
  std::array<Word, MaxRegs> Regs;
  std::vector<Slot> Slots;
  uint32_t Here = 0; ///< block that registers and slots are of
  bool Follows = false;
  Word Pending; ///< tested, and no flag has changed since
  uint16_t PendingAgainst = 0;
  std::vector<Test> Tests;
  std::vector<Store> Stores; ///< by op
  std::vector<Way> Ways;
  std::vector<uint8_t> In, Out, Sets; ///< by block
  std::vector<uint32_t> Seen;

  Word operand(int8_t Reg, const Place &At) const;
  void follow(const Op &O, const Place &At, const Word &Tested);
  void forget();
  bool comesAgain(const Graph &G, uint32_t From, uint32_t To, uint32_t Without);
  void findWays(const Graph &G, std::span<const Op> Ops, Word What);
  bool solve(const Graph &G, auto Leads);
  /// Does a block that was found set the word?
  bool givesOn() const;
  bool report(const Graph &G, std::span<const Op> Ops, Word What,
              int32_t Function, ZeroRange Is, uint8_t Value,
              std::vector<ZeroRangeRow> &Rows) const;
};

} // namespace linemate

#endif // LINEMATE_ACCESS_WAITEDWORDS_H
