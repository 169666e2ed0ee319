//===- Shape.h - Loops, order and frequency of a graph's blocks --*- C++
//-*-===//
//
// Owns what the control flow alone says of each block: how many loops are
// around it, what comes before what, and how rarely it runs.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_SHAPE_H
#define LINEMATE_ANALYZER_FUNCTION_SHAPE_H

#include "Bounds.h"
#include "Chance.h"
#include "Fixed.h"
#include "Periods.h"
#include "Rounds.h"

#include "clang/AST/ASTContext.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace linemate {

struct BlockShape {
  uint8_t LoopDepth = 0;
  uint8_t Rarity = 0; ///< 4 * -log2 of the chance that a run comes here
  uint16_t Order = 0; ///< every block comes after those that lead to it
  /// The same, of two ways from one block the other one first: a block leads to
  /// another one only where it comes before in both.
  uint16_t Mirror = 0;
  bool Reached = false; ///< from the entry, or as a handler of exceptions
  bool Handler = false; ///< reached by exceptions only
  bool IsOutermostHead = false; ///< of a loop that is in no other
  unsigned Outer = 0;           ///< header of its outermost loop
  uint32_t OuterSize = 0;       ///< blocks of that
  uint32_t InnerSize = 0;       ///< blocks of its inmost loop
  uint32_t InnerExits = 0;      ///< those of them that leave it
};

/// By edge (from, to) how many loops it leaves.
using LoopExits = llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned>;

class Shape {
public:
  Shape(const clang::CFG &Graph, const clang::ASTContext &Context,
        const FixedValues &Fixed);

  const BlockShape &operator[](unsigned BlockId) const {
    return Blocks[BlockId];
  }
  /// Reached blocks, each after those that lead to it, loops aside.
  const std::vector<const clang::CFGBlock *> &inOrder() const { return Sorted; }

private:
  const clang::CFG &Graph;
  const clang::ASTContext &Context;
  SaidElsewhere Said;
  const FixedValues &Fixed;
  Rounds InRounds;
  Periods ByClock;
  Bounds OfArrays;
  std::vector<BlockShape> Blocks;
  std::vector<const clang::CFGBlock *> Sorted;
  std::vector<std::pair<unsigned, unsigned>> BackEdges; ///< header, source
  LoopExits Exits;
  std::vector<bool> Doomed; ///< every way ends in a call without return

  void reach();
  void countLoops();
  void countExits(const std::vector<unsigned> &Body, uint32_t Count);
  void sort();
  void leaveBlocks(bool Mirrored);
  void findDoomed();
  void estimate();
  void spreadRounds(std::vector<float> &Chance) const;
  bool entersLoop(const clang::CFGBlock *To, unsigned Depth) const;
  std::optional<bool> always(const clang::CFGBlock &B) const;
  float chanceOfFirst(const clang::CFGBlock &B) const;
};

} // namespace linemate

#endif
