//===- Frame.cpp - What the slots of a function's frame hold --------------===//
//
// Owns keeping values that are spilled, and which of them others may change.
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

#include <algorithm>

namespace linemate {

void FunctionFlow::spill(int64_t Offset, const Value &Content, int64_t Size) {
  if (Content.isNothing() || Content.IsPage || Now.Slots.size() >= MaxSlots)
    return;
  auto It = std::ranges::lower_bound(Now.Slots, Offset, {}, &Slot::Offset);
  Now.Slots.insert(It, {Offset, Content, Size});
  if (Spilled.size() < MaxSlots && !std::ranges::count(Spilled, Offset))
    Spilled.push_back(Offset);
}

void FunctionFlow::forget(int64_t Offset, int64_t Size) {
  std::erase_if(Now.Slots,
                [&](const Slot &S) { return overlaps(S, Offset, Size); });
}

void FunctionFlow::expose(const Value &V, int64_t Size) {
  if (V.Kind != ValueKind::Stack || Exposed.size() >= MaxSlots)
    return;
  auto Known = std::ranges::find(Exposed, V.Base, &Exposure::Offset);
  if (Known == Exposed.end())
    Exposed.push_back({V.Base, Size});
  else
    Known->Size = std::max(Known->Size, Size);
}

bool FunctionFlow::exposesSpills() const {
  return std::any_of(Exposed.begin(), Exposed.end(), [this](Exposure At) {
    return std::any_of(Spilled.begin(), Spilled.end(), [&](int64_t Spill) {
      return overlaps({Spill, Value()}, At.Offset, At.Size);
    });
  });
}

} // namespace linemate
