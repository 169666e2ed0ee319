//===- Failures.cpp - Which way of a branch a failed call takes -----------===//
//
// Owns how compilers ask what a call returned: the result's register, copies of
// it, and the word on the stack that it was put into.
//
//===----------------------------------------------------------------------===//

#include "Failures.h"
#include "Decoder.h"

#include <bit>

namespace linemate {

namespace {

/// Ops between a test and its branch, which compilers put there.
constexpr uint32_t MaxSinceTest = 4;
/// Ops between a call and the test of its result.
constexpr uint32_t MaxSinceCall = 8;
/// Ops between where an argument is given and the call.
constexpr uint32_t MaxToCall = 16;

bool asks(const Op &O) { return O.Tested != NoReg || O.AgainstNegative; }

/// What the branch that ends a block asks about, or null.
const Op *questionOf(const Block &B, std::span<const Op> Ops) {
  const Op &Branch = Ops[B.Last - 1];
  if (asks(Branch) || Branch.TestsItself)
    return &Branch;
  for (uint32_t I = B.Last - 1;
       I-- > B.First && B.Last - 1 - I <= MaxSinceTest;) {
    if (asks(Ops[I]))
      return &Ops[I];
    if (!keepsFlags(Ops[I]) || Ops[I].isCall())
      return nullptr;
  }
  return nullptr;
}

bool isPlace(const MemOperand &A, const MemOperand &B) {
  return A.Base == B.Base && A.Index == B.Index && A.Disp == B.Disp &&
         (A.Flags & ~MemSigned) == (B.Flags & ~MemSigned);
}

/// What is asked about: a register, or the word that \p Slot names.
int8_t subject(const Op &Test, const MemOperand *&Slot) {
  int8_t Reg = Test.Tested != NoReg ? Test.Tested : Test.First;
  bool InMemory = Reg == MemReg || (Reg == NoReg && Test.MemCount);
  Slot = InMemory ? &Test.Mem[0] : nullptr;
  return InMemory ? MemReg : Reg;
}

/// The call of the block whose result is in a register, or in the word that \p
/// Slot names, where an op looks at it; or Ops.size().
uint32_t callBehind(const Block &B, std::span<const Op> Ops, const Op &Test,
                    int8_t Reg, const MemOperand *Slot, int8_t Result) {
  uint32_t At = &Test - Ops.data();
  for (uint32_t I = At; I-- > B.First && At - I <= MaxSinceCall;) {
    const Op &O = Ops[I];
    if (O.isCall())
      return Reg == Result ? I : Ops.size();
    if (Reg == MemReg) {
      if (O.MemCount && O.Mem[0].Kind == Access::Store &&
          isPlace(O.Mem[0], *Slot))
        Reg = O.StoredAny;
      continue;
    }
    if (O.Dst != Reg && !(O.Clobbers & bit(Reg)))
      continue;
    if (O.How == Transfer::Load) {
      Reg = MemReg;
      Slot = &O.Mem[0];
    } else if (O.How == Transfer::Move || O.How == Transfer::Extend) {
      Reg = O.Src;
    } else {
      break;
    }
  }
  return Ops.size();
}

/// The call of the block whose result an op asks about, or Ops.size().
uint32_t askedCall(const Block &B, std::span<const Op> Ops, const Op &Test,
                   int8_t Result) {
  const MemOperand *Slot = nullptr;
  int8_t Reg = subject(Test, Slot);
  return callBehind(B, Ops, Test, Reg, Slot, Result);
}

bool compares(const Op &O) { return O.Compared != NoReg; }

bool comparesOrIsSmall(const Op &O) {
  return compares(O) || (O.Traits & HasSmall && O.Asked != NoReg && !O.Mask);
}

/// The op such as this by which the branch that ends a block is decided, or
/// null.
const Op *testBefore(const Block &B, std::span<const Op> Ops,
                     bool (*IsSuch)(const Op &)) {
  for (uint32_t I = B.Last; I-- > B.First && B.Last - 1 - I <= MaxSinceTest;) {
    if (IsSuch(Ops[I]))
      return &Ops[I];
    if (I != B.Last - 1 && (!keepsFlags(Ops[I]) || Ops[I].isCall()))
      return nullptr;
  }
  return nullptr;
}

/// Does the first call in front of another one in its block wait until a time?
bool isBehindWait(const Block &B, std::span<const Op> Ops, const Plan &P,
                  uint32_t Call) {
  for (uint32_t I = Call; I-- > B.First;)
    if (Ops[I].isCall())
      return Ops[I].Next == Flow::Call &&
             P.failuresOf(uint64_t(Ops[I].Imm)) & WaitsUntil;
  return false;
}

/// Is a branch taken where a clock that is asked behind such a wait says that
/// the time has come?  So std::condition_variable does, which asks no wait for
/// its result.
std::optional<bool> takenInTime(const Block &B, std::span<const Op> Ops,
                                const Plan &P, int8_t Result) {
  const Op &Branch = Ops[B.Last - 1];
  const Op *Test =
      P.Clocks.empty() || Branch.Order == OnOrder::Unknown || Branch.Unsigned
          ? nullptr
          : testBefore(B, Ops, compares);
  if (!Test)
    return std::nullopt;
  bool Less =
      Branch.Order == OnOrder::Below || Branch.Order == OnOrder::BelowOrSame;
  for (bool Second : {false, true}) {
    int8_t Reg = Second ? Test->ComparedTo : Test->Compared;
    const MemOperand *Slot = Reg == MemReg ? &Test->Mem[0] : nullptr;
    if (!isFollowed(Reg) && !Slot)
      continue;
    uint32_t Call = callBehind(B, Ops, *Test, Reg, Slot, Result);
    if (Call < Ops.size() && Ops[Call].Next == Flow::Call &&
        P.clockAt(uint64_t(Ops[Call].Imm)) && isBehindWait(B, Ops, P, Call))
      return Less == Second;
  }
  return std::nullopt;
}

/// Is a call's argument of this number given as a constant above zero, in the
/// call's block or in one that alone leads there?
bool waitsAWhile(const Graph &G, std::span<const Op> Ops, uint32_t B,
                 uint32_t Call, int8_t Argument) {
  for (uint32_t At = Call, Seen = 0; Seen < MaxToCall; ++Seen) {
    if (At == G.blocks()[B].First) {
      std::span<const uint32_t> Before = G.predecessors(B);
      if (Before.size() != 1)
        return false;
      B = Before[0];
      At = G.blocks()[B].Last;
    }
    const Op &O = Ops[--At];
    if (O.isCall())
      return false;
    if (O.Dst == Argument || (O.Clobbers & bit(Argument)))
      return O.How == Transfer::Constant && int32_t(O.Imm) > 0;
  }
  return false;
}

/// Is a branch taken on the numbers that mean failure, or passed?
std::optional<bool> takenOnFailure(const Op &Branch, const Op &Test,
                                   uint32_t How) {
  bool Negative = How & (FailsNegative | FailsNonzero);
  bool Equal = Branch.Zero == OnZero::Branches;
  if (Test.AgainstNegative || (Test.Tested != NoReg && Test.Against)) {
    // -1, or the number of an error.
    bool Means = Test.AgainstNegative ? Negative : How & FailsNonzero;
    return Means && Branch.Zero != OnZero::Unknown ? std::optional(Equal)
                                                   : std::nullopt;
  }
  switch (Branch.Sign) {
  case OnSign::Negative:
  case OnSign::NotNegative:
    return Negative ? std::optional(Branch.Sign == OnSign::Negative)
                    : std::nullopt;
  case OnSign::NotPositive:
  case OnSign::Positive:
    return How & TimesOutMask << TimesOutShift
               ? std::optional(Branch.Sign == OnSign::NotPositive)
               : std::nullopt;
  case OnSign::Unknown:
    break;
  }
  if (Branch.Zero == OnZero::Unknown || (How & FailsNegative))
    return std::nullopt;
  return How & FailsNonzero ? !Equal : Equal;
}

/// Is a call of the block given, as its third argument, this constant, or what
/// is in a register where the op at \p Until is reached?
bool isGivenThird(const Block &B, std::span<const Op> Ops, const Convention &C,
                  uint32_t Call, uint32_t Until, int8_t Reg,
                  std::optional<int64_t> Number) {
  constexpr size_t Third = 2;
  if (C.Arguments.size() <= Third)
    return false;
  int8_t Argument = C.Arguments[Third];
  auto Changes = [&](uint32_t I, int8_t R) {
    return Ops[I].Dst == R || Ops[I].Written == R || Ops[I].Second == R ||
           Ops[I].Clobbers & bit(R);
  };
  for (uint32_t I = Call + 1; !Number && I < Until; ++I)
    if (Changes(I, Reg))
      return false;
  for (uint32_t I = Call; I-- > B.First && Call - I <= MaxToCall;) {
    const Op &O = Ops[I];
    if (O.isCall())
      return false;
    if (Changes(I, Argument))
      return Number ? O.How == Transfer::Constant && O.Imm == *Number
                    : O.How == Transfer::Move && O.Src == Reg;
    if (!Number && Changes(I, Reg))
      return Ops[I].How == Transfer::Move && Ops[I].Src == Argument;
  }
  return false;
}

/// Is a branch taken where a call wrote less than it was given?
std::optional<bool> takenOnLess(const Block &B, std::span<const Op> Ops,
                                const Plan &P, const Convention &C) {
  const Op &Branch = Ops[B.Last - 1];
  if (Branch.Zero == OnZero::Unknown || P.TellFailures.empty())
    return std::nullopt;
  auto Result = int8_t(std::countr_zero(C.Result));
  const Op *Test = testBefore(B, Ops, comparesOrIsSmall);
  if (!Test)
    return std::nullopt;
  uint32_t At = Test - Ops.data();
  auto IsLess = [&](int8_t Asked, int8_t Whole, std::optional<int64_t> N) {
    if (!isFollowed(Asked) || (!N && !isFollowed(Whole)))
      return false;
    uint32_t Call = callBehind(B, Ops, *Test, Asked, nullptr, Result);
    return Call < Ops.size() && Ops[Call].Next == Flow::Call &&
           P.failuresOf(uint64_t(Ops[Call].Imm)) & FailsShort &&
           isGivenThird(B, Ops, C, Call, At, Whole, N);
  };
  bool Found = Test->Compared != NoReg
                   ? IsLess(Test->Compared, Test->ComparedTo, std::nullopt) ||
                         IsLess(Test->ComparedTo, Test->Compared, std::nullopt)
                   : IsLess(Test->Asked, NoReg, Test->Small);
  return Found ? std::optional(Branch.Zero == OnZero::Continues) : std::nullopt;
}

/// Is the branch of block number \p B taken where the result of a call says
/// that it failed?
std::optional<bool> takenOnResult(const Graph &G, const Plan &P,
                                  std::span<const Op> Ops, uint32_t B,
                                  const Convention &C) {
  const Block &Own = G.blocks()[B];
  const Op *Test = questionOf(Own, Ops);
  if (!Test)
    return std::nullopt;
  uint32_t Call =
      askedCall(Own, Ops, *Test, int8_t(std::countr_zero(C.Result)));
  uint32_t How = Call < Ops.size() ? P.failuresOf(uint64_t(Ops[Call].Imm)) : 0;
  unsigned Argument = How >> TimesOutShift & TimesOutMask;
  if (!How || Ops[Call].Next != Flow::Call ||
      (Argument && (Argument >= C.Arguments.size() ||
                    !waitsAWhile(G, Ops, B, Call, C.Arguments[Argument]))))
    return std::nullopt;
  return takenOnFailure(Ops[Own.Last - 1], *Test, How);
}

} // namespace

std::optional<uint32_t> failedWay(const Graph &G, const Plan &P,
                                  std::span<const Op> Ops, uint32_t B,
                                  const Convention &C) {
  const Block &Own = G.blocks()[B];
  const Op &Branch = Ops[Own.Last - 1];
  std::span<const uint32_t> Ways = G.successors(Own);
  if (Ways.size() != 2 || Branch.Next != Flow::Branch)
    return std::nullopt;
  auto Result = int8_t(std::countr_zero(C.Result));
  std::optional<bool> Taken = takenInTime(Own, Ops, P, Result);
  if (!Taken)
    Taken = takenOnLess(Own, Ops, P, C);
  if (!Taken)
    Taken = takenOnResult(G, P, Ops, B, C);
  if (!Taken)
    return std::nullopt;
  bool FirstIsTarget =
      Ops[G.blocks()[Ways[0]].First].Ip == uint64_t(Branch.Imm);
  return Ways[FirstIsTarget == *Taken ? 0 : 1];
}

} // namespace linemate
