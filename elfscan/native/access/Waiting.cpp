//===- Waiting.cpp - Does an access wait for a value? ---------------------===//
//
// Owns the bounded walk round a loop.
//
//===----------------------------------------------------------------------===//

#include "Waiting.h"

#include <algorithm>

namespace linemate {

namespace {

/// Instructions of a loop that only waits, counting of turns included.
constexpr uint32_t MaxWaitLength = 16;
constexpr unsigned MaxSteps = 64;

/// The operands that code names, without the top of the stack.
template <typename Predicate> bool allNamed(const Effect &E, Predicate P) {
  return std::ranges::all_of(
      E.memory(), [&](const MemOperand &M) { return isImplicit(M) || P(M); });
}

/// The one operand, null where there are several or none.
const MemOperand *onlyOperand(const Effect &E) {
  const MemOperand *Only = nullptr;
  for (const MemOperand &M : E.memory()) {
    if (isImplicit(M))
      continue;
    if (Only)
      return nullptr;
    Only = &M;
  }
  return Only;
}

bool contains(const std::vector<uint32_t> &Rows, uint32_t Row) {
  return std::ranges::find(Rows, Row) != Rows.end();
}

} // namespace

bool Waiting::waits(uint32_t Row) {
  Effect E = B.effect(Row);
  const MemOperand *Own = onlyOperand(E);
  if (!Own || Own->Kind != Access::Store)
    return !loop(Row).empty();
  uint32_t Low = Row - std::min(Row, MaxWaitLength);
  for (uint32_t At = Low; At < std::min(Row + MaxWaitLength, B.size()); ++At)
    if (At != Row && contains(loop(At), Row))
      return true;
  return false;
}

bool Waiting::usesResult(uint32_t Row) const {
  if (B.op(Row).Traits & KeepsOld)
    return true;
  if (Row + 1 >= B.size() || !B.fallsInto(Row + 1))
    return false;
  return B.control(Row + 1) == Control::Branch ||
         B.op(Row + 1).Traits & TakesFlags;
}

/// The loop in which a load does nothing but wait, empty where it does more.
const Waiting::Way &Waiting::loop(uint32_t Row) {
  auto [It, IsNew] = Loops.try_emplace(Row);
  if (IsNew && B.mayRepeat(Row))
    It->second = find(Row);
  return It->second;
}

Waiting::Way Waiting::find(uint32_t Row) const {
  const Op &O = B.op(Row);
  Effect E = B.effect(Row);
  const MemOperand *Own = onlyOperand(E);
  if (!Own || !(Own->Kind == Access::Load ||
                (Own->Kind == Access::Rmw && O.Traits & Exchanges)))
    return {};
  uint32_t Address = bit(Own->Base) | bit(Own->Index);
  bool IsTest = O.Traits & Compares;
  if (Address & E.Writes || (!IsTest && !E.Writes))
    return {};
  std::vector<Step> Todo;
  follow(Row, {Row, IsTest, E.Writes, Address, {}}, Todo);
  for (unsigned Steps = 0; !Todo.empty() && Steps < MaxSteps; ++Steps) {
    Step S = std::move(Todo.back());
    Todo.pop_back();
    if (S.Row == Row) {
      if (S.Tested == 2)
        return S.Passed;
      continue;
    }
    uint32_t At = S.Row;
    if (advance(S))
      follow(At, S, Todo);
  }
  return {};
}

/// Passes the instruction that \p S has come to; false where the loop does
/// more than wait.
bool Waiting::advance(Step &S) const {
  if (contains(S.Passed, S.Row) || S.Passed.size() >= MaxWaitLength)
    return false;
  Control How = B.control(S.Row);
  if (How != Control::Next && How != Control::Branch && How != Control::Jump)
    return false;
  const Op &O = B.op(S.Row);
  Effect E = B.effect(S.Row);
  if (!allNamed(E, [](const MemOperand &M) {
        return M.Kind == Access::Store && !(M.Flags & MemAtomic) &&
               M.Index == NoReg;
      }))
    return false;
  for (const MemOperand &M : E.memory())
    if (!isImplicit(M))
      S.Fixed |= bit(M.Base);
  if (S.Fixed & E.Writes)
    return false;
  bool Uses = O.Named & S.Value;
  if (How == Control::Branch) // some branches test themselves
    S.Tested = S.Tested || Uses ? 2 : 0;
  else if (O.Traits & Compares)
    S.Tested = std::max<uint8_t>(S.Tested, Uses);
  else
    S.Value = Uses ? S.Value | E.Writes : S.Value & ~E.Writes;
  return true;
}

/// Where control goes from \p Row, within the function.
void Waiting::follow(uint32_t Row, const Step &From,
                     std::vector<Step> &Todo) const {
  auto Go = [&](uint32_t To) {
    Todo.push_back(From);
    Todo.back().Row = To;
    Todo.back().Passed.push_back(Row);
  };
  if (Row + 1 < B.size() && B.fallsInto(Row + 1))
    Go(Row + 1);
  if (uint32_t To = B.target(Row); To != NoRow)
    Go(To);
}

} // namespace linemate
