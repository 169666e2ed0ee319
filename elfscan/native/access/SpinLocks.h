//===- SpinLocks.h - Locks that code takes by itself ------------*- C++ -*-===//
//
// Owns which code of a function runs only while a word is held that the
// function itself took: by an exchange or a compare-and-swap that found it
// zero, or by a ticket that was its turn.  What else is done to such words, and
// whether they are locks at all, is for who reads the rows to say.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_SPINLOCKS_H
#define LINEMATE_ACCESS_SPINLOCKS_H

#include "Graph.h"
#include "Op.h"
#include "Tables.h"

#include <span>
#include <vector>

namespace linemate {

/// Fed with the ops of one function in their order; keeps its memory.
class SpinLocks {
public:
  /// A word by what stands for its place: an address, or a Value of kind
  /// Pointee.  Size 0: none.
  struct Word {
    uint64_t Place = 0;
    uint32_t Size = 0;
    auto operator<=>(const Word &) const = default;
  };

  /// Forgets the function before; \p Ops are those of the next one, which
  /// \p Calls what may take a word for it.
  void start(std::span<const Op> Ops, bool Calls);
  /// Whether the function has anything that may take a word.
  bool isNeeded() const { return Needed; }

  /// Op number \p Index of block \p Block puts a number above zero into \p What
  /// and leaves what was there in \p Old; NoReg: it did so only where that was
  /// zero, which the flags say.
  void tries(uint32_t Index, uint32_t Block, Word What, int8_t Old);
  /// Whether op number \p Index is one of these, of \p What, by an exchange.
  bool isTriedBy(uint32_t Index, Word What) const;
  /// Op number \p Index adds one to \p Next and leaves the number before in a
  /// register, whose value then has the origin \p Index + 1.
  void draws(uint32_t Index, Word Next);
  /// Op number \p Index loads \p From into a register.
  void loads(uint32_t Index, Word From) { Loads.push_back({Index, From}); }
  /// \p O compares what the ops \p First and \p Second left; \p Memory is the
  /// one that it loads itself.
  void compares(uint32_t Index, uint32_t First, uint32_t Second, Word Memory);
  /// The op changes \p What; to zero where \p Clears.
  void stores(uint32_t Index, uint32_t Block, Word What, bool Clears) {
    Stores.push_back({Index, Block, What, Clears});
  }
  /// \p O is op number \p Index of block \p Block.
  void sees(const Op &O, uint32_t Index, uint32_t Block);

  /// Appends a row for each run of instructions that holds a word, for each op
  /// that tries to take one, and for each word that is held where the function
  /// returns.
  void finish(const Graph &G, std::span<const Op> Ops, int32_t Function,
              std::vector<ZeroRangeRow> &Out);

private:
  static constexpr uint32_t NoBlock = UINT32_MAX;

  /// A word that is taken, and the one behind or before it by which a ticket is
  /// given back.
  struct Lock {
    uint64_t Place = 0;
    uint32_t Size = 0;
    uint8_t Ticket = 0; ///< of a ticket lock 1 + bytes from Place to that word
    auto operator<=>(const Lock &) const = default;
  };
  struct Access {
    uint32_t Index;
    Word What;
  };
  struct Store {
    uint32_t Index, Block;
    Word What;
    bool Clears;
  };
  struct Attempt {
    uint32_t Index;
    Lock What;
  };
  struct Way {
    Lock What;
    uint32_t From, To; ///< blocks
    uint32_t Failed;   ///< where it goes on which the word was not taken
    auto operator<=>(const Way &) const = default;
  };
  struct Branch {
    Lock What;
    uint32_t Block;
    OnZero Zero;
    uint64_t Target;
  };

  bool Needed = false;
  std::vector<Access> Loads, Draws;
  std::vector<Store> Stores; ///< by op
  std::vector<Attempt> Attempts;
  std::vector<Branch> Branches;
  std::vector<Way> Ways;
  Lock Pending; ///< what the flags tell of
  uint32_t PendingAt = 0;
  Lock Asked; ///< taken where this register is zero
  int8_t AskedBy = NoReg;
  uint32_t AskedIn = 0;

  std::vector<uint8_t> HeldIn, HeldOut, Gives, Takes; ///< by block

  Word loadedBy(uint32_t Index, const std::vector<Access> &By) const;
  void findWays(const Graph &G, std::span<const Op> Ops);
  bool releases(const Store &S, const Lock &What) const;
  uint32_t waitsBy(const Graph &G, std::span<const Op> Ops, const Way &W) const;
  void solve(const Graph &G, std::span<const Op> Ops,
             std::span<const Way> Taken, bool Waits);
  void report(const Graph &G, std::span<const Op> Ops, const Lock &What,
              int32_t Function, uint8_t Mark,
              std::vector<ZeroRangeRow> &Out) const;
};

} // namespace linemate

#endif // LINEMATE_ACCESS_SPINLOCKS_H
