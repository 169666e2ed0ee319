//===- ZeroRanges.h - Code behind a test for zero ---------------*- C++ -*-===//
//
// Owns which code of a function runs only where a variable of static storage
// was just found to be zero, or not to be zero or another small number, which
// is how most programs do a thing once.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_ZERORANGES_H
#define LINEMATE_ACCESS_ZERORANGES_H

#include "Graph.h"
#include "Op.h"
#include "Tables.h"

#include <span>
#include <vector>

namespace linemate {

/// Fed with the ops of one function in their order; keeps its memory.
class ZeroRanges {
public:
  struct Variable {
    uint64_t Address = 0;
    uint32_t Size = 0; ///< 0: no variable
    auto operator<=>(const Variable &) const = default;
  };

  void clear();
  /// Op number \p Index loads \p From into a register.
  void loads(uint32_t Index, Variable From) { Loads.push_back({Index, From}); }
  /// \p O, which is op number \p Index of block \p Block, tests \p What.
  void sees(const Op &O, uint32_t Index, uint32_t Block, Variable What);
  /// Block \p Block changes \p What.
  void stores(uint32_t Block, Variable What) {
    Stores.push_back({Block, What});
  }
  /// What the op numbered \p Index loaded.
  Variable loadedBy(uint32_t Index) const;
  /// Appends a row for each run of instructions that a test leads to.
  void finish(const Graph &G, std::span<const Op> Ops, int32_t Function,
              std::vector<ZeroRangeRow> &Out);

private:
  struct Load {
    uint32_t Index;
    Variable From;
  };
  struct Store {
    uint32_t Block;
    Variable What;
  };
  struct Test {
    Variable What;
    uint32_t Block;
    OnZero Zero;
    uint64_t Target;
    uint8_t Against;
  };
  struct Way {
    uint8_t Against; ///< first: what is compared with zero has precedence
    Variable What;
    bool IsZero;
    uint32_t To, From; ///< blocks
    auto operator<=>(const Way &) const = default;
  };

  std::vector<Load> Loads;
  std::vector<Store> Stores; ///< by block
  std::vector<Test> Tests;
  std::vector<Way> Ways;
  Variable Pending; ///< tested, and no flag has changed since
  uint32_t PendingAt = 0;
  uint8_t PendingAgainst = 0;

  std::vector<uint32_t> Position, Mark, Region, Seen, Stack;
  uint64_t Work = 0;

  void findWays(const Graph &G, std::span<const Op> Ops);
  void follow(const Graph &G, uint32_t First, uint32_t Number);
  bool comesAgain(const Graph &G, std::span<const Way> Alike, uint32_t First,
                  uint32_t Number);
};

} // namespace linemate

#endif // LINEMATE_ACCESS_ZERORANGES_H
