//===- Places.cpp - Where the blocks of a function are --------------------===//
//
// Owns the table of blocks: their place in the other order, where loops begin,
// and at which stage of a round that all threads take together each one is.
//
// Places where all threads of a group wait for each other part what they do
// into stages.  If every way around every loop of a function passes a multiple
// of N of them, and ways that meet differ by one, a block is at the same stage
// of N whenever it is come to, whatever loops compilers made of the source's.
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

#include <numeric>

namespace linemate {

namespace {

constexpr uint32_t Unseen = UINT32_MAX;

/// How many calls of each block, by order, wait for all threads; empty where
/// the function makes none or one.
std::vector<uint32_t> waitsForAll(std::span<const CallRow> Calls,
                                  const std::vector<uint64_t> &ForAll,
                                  size_t Blocks) {
  std::vector<uint32_t> Waits;
  uint32_t All = 0;
  for (const CallRow &Call : Calls) {
    if (!std::ranges::binary_search(ForAll, Call.Callee))
      continue;
    Waits.resize(Blocks);
    ++Waits[Call.Order];
    ++All;
  }
  if (All < 2)
    Waits.clear();
  return Waits;
}

} // namespace

/// Into Stage, by block, how many waits are passed before it, and how many
/// stages there are: 1 where ways around loops pass any number, 0 where they
/// pass none or more than can be told.
uint32_t FunctionFlow::countStages(const RowsBefore &First) {
  std::span<const Block> Blocks = G.blocks();
  if (P.WaitsForAll.empty())
    return 0;
  std::vector<uint32_t> Waits = waitsForAll(
      std::span(Out->Calls).subspan(First.Calls), P.WaitsForAll, Blocks.size());
  if (Waits.empty())
    return 0;
  Stage.assign(Blocks.size(), Unseen);
  Stage[0] = 0;
  std::vector<uint32_t> Next = {0};
  int64_t Stages = 0;
  while (!Next.empty()) {
    const Block &B = Blocks[Next.back()];
    int64_t Behind = int64_t(Stage[Next.back()]) + Waits[B.Order];
    Next.pop_back();
    for (uint32_t To : G.successors(B)) {
      if (Stage[To] == Unseen) {
        Stage[To] = uint32_t(Behind);
        Next.push_back(To);
      } else {
        Stages = std::gcd(Stages, Behind - int64_t(Stage[To]));
      }
    }
  }
  return Stages <= UINT8_MAX ? uint32_t(Stages) : 0;
}

/// The other order of those blocks that rows from here on speak of, where
/// loops begin, and stages.
void FunctionFlow::placeBlocks(const RowsBefore &First) {
  std::span<const Block> Blocks = G.blocks();
  if (Blocks.size() > UINT16_MAX)
    return; // several have one number
  HasRow.assign(Blocks.size(), 0);
  auto Mark = [this](const auto &Rows, size_t From) {
    for (size_t I = From; I < Rows.size(); ++I)
      HasRow[Rows[I].Order] = 1;
  };
  Mark(Out->Sites, First.Sites);
  Mark(Out->Calls, First.Calls);
  Mark(Out->Params, First.Params);
  Mark(Out->Behind, First.Behind);
  uint32_t Stages = countStages(First);
  std::span<const uint32_t> Last = G.postOrder();
  for (size_t I = Last.size(); I-- > 0;) {
    const Block &B = Blocks[Last[I]];
    bool IsStaged = Stages && Stage[Last[I]] != Unseen;
    if (B.IsOutermostHead ||
        (HasRow[B.Order] && (B.Mirror != B.Order || B.Reached || IsStaged)))
      Out->Blocks.push_back({Current.Row, B.Order, B.Mirror, B.Reached,
                             B.IsOutermostHead, uint8_t(IsStaged ? Stages : 0),
                             uint8_t(IsStaged ? Stage[Last[I]] % Stages : 0)});
  }
}

} // namespace linemate
