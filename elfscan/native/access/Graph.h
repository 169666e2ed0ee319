//===- Graph.h - The control flow of one function ---------------*- C++ -*-===//
//
// Owns basic blocks, their edges (jump tables included) and loop depths.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_GRAPH_H
#define LINEMATE_ACCESS_GRAPH_H

#include "Op.h"
#include "Plan.h"

#include <span>
#include <vector>

namespace linemate {

struct Convention;

struct Block {
  uint32_t First = 0; ///< ops [First, Last)
  uint32_t Last = 0;
  uint32_t FirstEdge = 0; ///< edges [FirstEdge, LastEdge)
  uint32_t LastEdge = 0;
  uint8_t LoopDepth = 0;
  uint8_t Retries = 0; ///< of these loops, those that only try again
  uint8_t Naps = 0;    ///< and of those, the ones that only sleep again
  uint8_t Rarity = 0;  ///< see estimateRarity
  uint16_t Order = 0;  ///< every block comes after those that lead to it
  /// The same, of two ways from one block the other one first: a block leads to
  /// another one only where it comes before in both.
  uint16_t Mirror = 0;
  uint8_t Reached =
      0; ///< Rarity of the outermost loop around, as it is entered
  bool HasPredecessor = false;
  bool IsKeyed = false;         ///< a key leads to it, and nothing else
  bool IsOutermostHead = false; ///< of a loop that is in no other

  /// In how many loops it is that do something each time around.
  unsigned depth() const { return LoopDepth - Retries; }
};

/// A block that nothing but the key of a branch leads to.
struct KeyedBlock {
  uint32_t Op;    ///< the branch
  uint32_t Block; ///< where it leads
  float Chance;   ///< that the key is open
};

/// Rebuilt for each function; its memory is kept between functions.
class Graph {
public:
  /// \p Ops by address; the function is [Begin, End).
  void build(const Plan &P, std::span<const Op> Ops, uint64_t Begin,
             uint64_t End, const Convention &C, Counts &Seen);

  std::span<const Block> blocks() const { return Blocks; }
  std::span<const uint32_t> successors(const Block &B) const {
    return std::span(Edges).subspan(B.FirstEdge, B.LastEdge - B.FirstEdge);
  }

  /// The blocks that lead to block number \p B.
  std::span<const uint32_t> predecessors(uint32_t B) const {
    return std::span(Preds).subspan(PredStart[B],
                                    PredStart[B + 1] - PredStart[B]);
  }

  /// No edges: what a key opens counts as hardly ever done.  Registers are
  /// there what they were at the branch all the same.
  std::span<const KeyedBlock> keyed() const { return Keyed; }

  /// The head of the outermost loop around block number \p B, or a number that
  /// no block has.
  uint32_t outermost(uint32_t B) const { return Outer[B]; }

  /// Does the op at this position exchange memory for a register that nothing
  /// asks afterwards?
  bool onlyStores(std::span<const Op> Ops, uint32_t At,
                  const Convention &C) const;

  /// Every block before those that lead to it, back edges aside.
  std::span<const uint32_t> postOrder() const { return PostOrder; }

  /// Does the op at this position jump through a table that was read?
  bool isSwitch(uint32_t Op) const;

private:
  struct TableJump {
    uint32_t Op;
    uint32_t First, Last; ///< in Targets
  };

  std::vector<Block> Blocks;
  std::vector<uint32_t> Edges;
  std::vector<uint32_t> BlockOf; ///< of each op
  std::vector<uint8_t> Leader;
  std::vector<TableJump> Tables;
  std::vector<uint32_t> Targets; ///< op numbers

  std::vector<uint32_t> Preds, PredStart;

  // For the loops.
  std::vector<uint32_t> Stack, NextEdge, Body, Mark;
  std::vector<uint8_t> Colour;
  /// Of a block, as of the walk that finds back edges: how many were come to
  /// before it, and until all that it leads to was.
  std::vector<uint32_t> Entered, Left;
  std::vector<std::pair<uint32_t, uint32_t>> BackEdges; ///< header, source
  std::vector<uint32_t> PostOrder;                      ///< without back edges
  std::vector<KeyedBlock> Keyed;                        ///< by op
  std::vector<float> Chance;        ///< of a block, in one run of the function
  std::vector<uint8_t> Ends;        ///< by block: nothing comes back from there
  std::vector<uint32_t> Alive;      ///< the ways of one block that go on
  std::vector<uint8_t> OutOfBounds; ///< by block, see Bounds.h
  uint32_t FirstUses = 0; ///< that were looked for in all of the function
  bool AnyEnds = false;
  std::vector<uint32_t> Outer; ///< of a block, the head of its largest loop
  std::vector<uint32_t> OuterSize;
  using Exit = std::pair<uint32_t, uint32_t>; ///< head of a loop, block behind
  std::vector<Exit> Exits;                    ///< of loops, by their heads
  std::vector<uint32_t>
      WaysOut; ///< of a block, those that leave its inmost loop
  std::vector<uint32_t> InnerSize;
  /// Inner loops that go round as often as a constant says: a block that leaves
  /// one, and the chance that it does.
  std::vector<std::pair<uint32_t, float>> Counted;

  void readTables(const Plan &P, std::span<const Op> Ops, uint64_t Begin,
                  uint64_t End, Counts &Seen);
  void connect(std::span<const Op> Ops);
  void findPredecessors();
  void dropPadding(std::span<const Op> Ops);
  void findBackEdges();
  void orderBlocks();
  void sortExits();
  std::span<const Exit> exitsOf(uint32_t B) const;
  void leaveBlocks(bool Mirrored);
  uint32_t way(const Block &B, uint32_t Nth, bool Mirrored) const;
  bool entersLoop(uint32_t To, uint32_t Other, unsigned Depth);
  bool comesTo(uint32_t From, uint32_t To);
  void findKeyed(std::span<const Op> Ops);
  void startChances();
  void findEndings(std::span<const Op> Ops);
  std::span<const uint32_t> goesOn(const Block &B, float Here);
  void countExits(uint32_t Loop, uint32_t Header);
  bool isBelow(uint32_t B, uint32_t Header) const;
  void estimateRarity(const Plan &P, std::span<const Op> Ops,
                      const Convention &C);
  void spreadRounds();
  bool returnsSoon(std::span<const Op> Ops, uint32_t To, uint32_t Calls) const;
  bool returnsEarly(std::span<const Op> Ops, uint32_t To, uint32_t Other) const;
  bool isWayOfZero(std::span<const Op> Ops, uint32_t Test, const Block &From,
                   uint32_t To) const;
  bool isFirstUse(const Plan &P, std::span<const Op> Ops, const Block &From,
                  uint32_t To);
  void countLoops(const Plan &P, std::span<const Op> Ops, const Convention &C);
  bool triesAgain(std::span<const Op> Ops, uint32_t Header, uint32_t Loop,
                  uint32_t Handed) const;
  bool sleepsAgain(const Plan &P, std::span<const Op> Ops,
                   const Convention &C) const;
  uint32_t onZero(std::span<const Op> Ops, const Block &B) const;
  bool isUsed(std::span<const Op> Ops, uint32_t From, uint32_t Loop,
              const Op &Exchange, uint32_t Handed) const;
};

/// The op at \p Address, or Ops.size().
uint32_t opAt(std::span<const Op> Ops, uint64_t Address);

} // namespace linemate

#endif // LINEMATE_ACCESS_GRAPH_H
