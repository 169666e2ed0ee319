//===- CalleeRegisters.cpp - What small functions leave alone -------------===//
//
// Owns the walk through the instructions of a function and of those it calls.
//
//===----------------------------------------------------------------------===//

#include "CalleeRegisters.h"
#include "Effect.h"

#include <algorithm>

namespace linemate {

namespace {

/// Code bytes of a function that is read: a larger one writes most of what its
/// caller need not have saved.
constexpr uint64_t ReadBytes = 128;
/// Functions that call each other.
constexpr unsigned MaxCalls = 4;

} // namespace

std::vector<CalleeRegisters> CalleeRegisterSearch::search() {
  std::vector<CalleeRegisters> Found;
  for (const Function &F : P.Functions) {
    CalleeRegisters Of = of(F.Begin, MaxCalls);
    if (C.CallerSaved & ~C.Result & ~Of.Written)
      Found.push_back(Of);
  }
  return Found; // as the plan's functions are sorted
}

/// What is not known to be left alone may be changed.
CalleeRegisters CalleeRegisterSearch::of(uint64_t Function, unsigned Depth) {
  auto Known = Seen.find(Function);
  if (Known != Seen.end())
    return Known->second;
  auto It = std::ranges::lower_bound(P.Functions, Function, {},
                                     &linemate::Function::Begin);
  bool IsRead = Depth && It != P.Functions.end() && It->Begin == Function &&
                It->End - It->Begin <= ReadBytes &&
                !(It->Flags & (StubFunction | GoFunction));
  if (!IsRead)
    return all(Function);
  Seen[Function] = all(Function); // what a cycle comes to
  CalleeRegisters Of = read(*It, Depth - 1);
  return Seen[Function] = Of;
}

CalleeRegisters CalleeRegisterSearch::read(const Function &F, unsigned Depth) {
  CalleeRegisters Of{F.Begin};
  std::span<const uint8_t> Code = P.codeAt(F.Begin);
  Code = Code.first(std::min<uint64_t>(Code.size(), F.End - F.Begin));
  for (uint64_t At = F.Begin; !Code.empty();) {
    Op Next;
    if (!D.decode(Code, At, Next) || Next.IsUnknown || !Next.Length ||
        Next.Length > Code.size() || controlOf(Next) == Control::SystemCall ||
        Next.Next == Flow::IndirectCall || Next.Next == Flow::IndirectJump)
      return all(F.Begin);
    At += Next.Length;
    Code = Code.subspan(Next.Length);
    uint64_t To = targetOf(Next);
    if (Next.isCall() || (To && To - F.Begin >= F.End - F.Begin)) {
      CalleeRegisters There = of(To, Depth);
      Of.Written |= There.Written;
      Of.Used |= There.Used;
    } else {
      uint32_t Written = effectOf(Next, C).Writes & C.CallerSaved;
      Of.Written |= Written;
      Of.Used |= Written | (Next.Named & C.CallerSaved);
    }
    if (!(C.CallerSaved & ~C.Result & ~Of.Written))
      break;
  }
  return Of;
}

} // namespace linemate
