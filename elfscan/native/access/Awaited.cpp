//===- Awaited.cpp - Which loads an instruction waits for -----------------===//
//
// Owns the registers that are followed, and where that ends.
//
//===----------------------------------------------------------------------===//

#include "Awaited.h"

#include <algorithm>

namespace linemate {

namespace {

/// Of more loads none is likely to be the one.
constexpr size_t MaxLoads = 4;

/// Registers that an instruction computes with, its addresses left out.
uint32_t readsOf(const Op &O) {
  switch (O.How) {
  case Transfer::Constant:
  case Transfer::Address:
  case Transfer::Page:
  case Transfer::High:
  case Transfer::Load:
  case Transfer::ScaleLoad:
    return 0;
  case Transfer::Lea:
    return bit(O.Mem[0].Base) | bit(O.Mem[0].Index);
  case Transfer::Move:
  case Transfer::Extend:
  case Transfer::Add:
  case Transfer::Sub:
  case Transfer::Scale:
  case Transfer::AddLoad:
    return bit(O.Src) | bit(O.Src2);
  default:
    break;
  }
  uint32_t Reads = O.Named;
  for (unsigned I = 0; I < O.MemCount; ++I)
    Reads &= ~(bit(O.Mem[I].Base) | bit(O.Mem[I].Index));
  return Reads;
}

bool loads(const Effect &E) {
  return std::ranges::any_of(E.memory(), [](const MemOperand &M) {
    return !isImplicit(M) && M.Kind != Access::Store;
  });
}

bool isPlain(Control How) {
  return How == Control::Next || How == Control::Branch || How == Control::Jump;
}

class Search {
public:
  explicit Search(const Body &B) : B(B) {}

  Awaited run(uint32_t Row) {
    Body::Round Before = B.roundTo(Row);
    Found.Way = std::move(Before.Rows);
    if (Found.Way.empty())
      return {};
    uint32_t Last = uint32_t(Found.Way.size()) - 1;
    if (!isPlain(B.control(Found.Way[Last])) ||
        !std::ranges::all_of(B.effect(Found.Way[Last]).memory(), isImplicit))
      return {};
    Live = readsAt(Last);
    for (uint32_t At = Last; Live && At-- > 0;)
      pass(At);
    if (Before.IsWhole)
      Live &= Written | B.effect(Found.Way[Last]).Writes;
    if (Live && !Before.IsEntry)
      ++Found.Others;
    if (Found.Loads.size() > MaxLoads)
      return {};
    std::ranges::reverse(Found.Loads);
    return std::move(Found);
  }

private:
  const Body &B;
  Awaited Found;
  uint32_t Live = 0, Written = 0;

  /// A branch and what takes flags need what was compared before it.
  uint32_t readsAt(uint32_t At) const {
    const Op &O = B.op(Found.Way[At]);
    uint32_t Reads = readsOf(O);
    bool Tests =
        B.control(Found.Way[At]) == Control::Branch || O.Traits & TakesFlags;
    return Tests && At > 0 ? Reads | readsOf(B.op(Found.Way[At - 1])) : Reads;
  }

  void pass(uint32_t At) {
    uint32_t Row = Found.Way[At];
    Effect E = B.effect(Row);
    Written |= E.Writes;
    uint32_t Set = Live & E.Writes;
    if (!Set)
      return;
    Live &= ~Set;
    if (!isPlain(B.control(Row))) {
      ++Found.Others;
      return;
    }
    if (loads(E))
      Found.Loads.push_back(At);
    Live |= readsAt(At);
  }
};

} // namespace

Awaited awaitedBefore(const Body &B, uint32_t Row) {
  return Search(B).run(Row);
}

} // namespace linemate
