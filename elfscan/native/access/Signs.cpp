//===- Signs.cpp - Which way of a branch is that of an error --------------===//
//
// Owns the pairing of branches with the test that they ask about: in their own
// block, or in front of an earlier branch that asked for another order.
//
//===----------------------------------------------------------------------===//

#include "Signs.h"

namespace linemate {

namespace {

/// Ops between a test and its branch, which compilers put there.
constexpr uint32_t MaxBetween = 4;
/// Ops between a call and the test of its result.
constexpr uint32_t MaxFromCall = 8;

bool isTest(const Op &O) { return O.Tested != NoReg || O.AgainstNegative; }

/// What the branch that ends a block asks about, or null.
const Op *testOf(const Block &B, std::span<const Op> Ops) {
  uint32_t Last = B.Last - 1;
  for (uint32_t I = Last; I-- > B.First && Last - I <= MaxBetween;) {
    if (isTest(Ops[I]))
      return &Ops[I];
    if (!keepsFlags(Ops[I]) || Ops[I].isCall())
      return nullptr;
  }
  return nullptr;
}

/// Is what the op tests what a call of its block has just returned?
bool testsResult(const Block &B, std::span<const Op> Ops, const Op &Test,
                 int8_t Result) {
  int8_t Reg = Test.Tested != NoReg ? Test.Tested : Test.First;
  uint32_t At = &Test - Ops.data();
  for (uint32_t I = At; I-- > B.First && At - I <= MaxFromCall;) {
    const Op &O = Ops[I];
    if (O.isCall())
      return Reg == Result;
    bool Writes = O.Dst == Reg || (O.Clobbers & bit(Reg));
    if (Writes && O.How != Transfer::Move && O.How != Transfer::Extend)
      return false;
    if (Writes)
      Reg = O.Src;
  }
  return false;
}

bool isAgainstZero(const Op &Test) {
  return !Test.AgainstNegative && Test.Against == 0;
}

/// Does nothing in front of a block's branch change flags?
bool passesFlags(const Block &B, std::span<const Op> Ops) {
  if (B.Last - 1 - B.First > MaxBetween)
    return false;
  for (uint32_t I = B.First; I + 1 < B.Last; ++I)
    if (isTest(Ops[I]) || !keepsFlags(Ops[I]) || Ops[I].isCall())
      return false;
  return true;
}

/// Is block \p B only come to with a number that an earlier branch found to be
/// zero or below?
bool isNotPositive(const Graph &G, std::span<const Op> Ops, uint32_t B,
                   int8_t Result) {
  std::span<const uint32_t> Before = G.predecessors(B);
  if (Before.size() != 1)
    return false;
  const Block &From = G.blocks()[Before[0]];
  const Op &Branch = Ops[From.Last - 1];
  bool Taken = Ops[G.blocks()[B].First].Ip == uint64_t(Branch.Imm);
  bool Asks = Branch.Next == Flow::Branch && !Branch.TestsItself &&
              Branch.Sign == (Taken ? OnSign::NotPositive : OnSign::Positive);
  const Op *Test = Asks ? testOf(From, Ops) : nullptr;
  return Test && isAgainstZero(*Test) && testsResult(From, Ops, *Test, Result);
}

/// Is the branch at the end of a block taken on a negative number, or passed?
std::optional<bool> takesNegative(const Graph &G, std::span<const Op> Ops,
                                  uint32_t B, int8_t Result, bool Below) {
  const Block &Own = G.blocks()[B];
  const Op &Branch = Ops[Own.Last - 1];
  if (Branch.Next != Flow::Branch)
    return std::nullopt;
  const Op *Test = Branch.TestsItself ? &Branch : testOf(Own, Ops);
  if (!Test) {
    if (Branch.Zero == OnZero::Unknown || !passesFlags(Own, Ops) ||
        !isNotPositive(G, Ops, B, Result))
      return std::nullopt;
    return Branch.Zero == OnZero::Continues; // what is not zero is below
  }
  if (!testsResult(Own, Ops, *Test, Result))
    return std::nullopt;
  if (Test->AgainstNegative)
    return Branch.Zero == OnZero::Unknown
               ? std::nullopt
               : std::optional(Branch.Zero == OnZero::Branches);
  if (!Branch.TestsItself && !isAgainstZero(*Test))
    return std::nullopt;
  switch (Branch.Sign) {
  case OnSign::Negative:
    return true;
  case OnSign::NotPositive:
    return Below ? std::nullopt : std::optional(true);
  case OnSign::NotNegative:
    return false;
  case OnSign::Positive:
    return Below ? std::nullopt : std::optional(false);
  case OnSign::Unknown:
    break;
  }
  return std::nullopt;
}

} // namespace

std::optional<uint32_t> negativeWay(const Graph &G, std::span<const Op> Ops,
                                    uint32_t B, int8_t Result, bool Below) {
  std::span<const uint32_t> Ways = G.successors(G.blocks()[B]);
  std::optional<bool> Taken = takesNegative(G, Ops, B, Result, Below);
  if (!Taken || Ways.size() != 2)
    return std::nullopt;
  uint64_t Target = uint64_t(Ops[G.blocks()[B].Last - 1].Imm);
  bool FirstIsTarget = Ops[G.blocks()[Ways[0]].First].Ip == Target;
  return Ways[FirstIsTarget == *Taken ? 0 : 1];
}

} // namespace linemate
