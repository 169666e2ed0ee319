//===- Periods.cpp - Branches that ask what time it is --------------------===//
//
// Owns how compilers ask it.  What a clock returned, or wrote where an argument
// leads to, is compared with an older number, or less that with how much time
// has to pass; and one of the two ways keeps it in the older number's place.
//
//===----------------------------------------------------------------------===//

#include "Periods.h"

#include <algorithm>
#include <bit>

namespace linemate {

namespace {

/// Of which a period has one at least; what is asked for is that it be more.
constexpr double LeastSeconds = 0.00099;
/// Ops between a test and its branch, which compilers put there.
constexpr uint32_t MaxSinceAsked = 4;
/// Blocks of a way among which the number is kept.
constexpr size_t MaxWayBlocks = 12;
/// Registers that are looked for in all of a function.
constexpr unsigned MaxSettled = 64;
/// Words of the frame that are followed.
constexpr size_t MaxFrameWords = 16;
constexpr int64_t SecondsBytes = 8;

bool asksOrder(const Op &O) {
  return O.Compared != NoReg || O.Asked != NoReg ||
         (O.How == Transfer::Sub && O.Dst != NoReg);
}

/// The op that the branch at the end of a block asks about, or Ops.size().
uint32_t askedBy(const Block &Of, std::span<const Op> Ops) {
  uint32_t Last = Of.Last - 1;
  for (uint32_t I = Last; I-- > Of.First && Last - I <= MaxSinceAsked;) {
    if (asksOrder(Ops[I]))
      return I;
    if (!keepsFlags(Ops[I]) || Ops[I].isCall())
      break;
  }
  return Ops.size();
}

/// Of what is behind pointers only how far: these are loaded again.
bool isSamePlace(const MemOperand &A, const MemOperand &B, int8_t Frame) {
  bool Pointers = isFollowed(A.Base) && isFollowed(B.Base) && A.Base != Frame &&
                  B.Base != Frame;
  return (A.Base == B.Base || Pointers) && A.Index == B.Index &&
         A.Disp == B.Disp && A.Size == B.Size &&
         (A.Flags & ~(MemAtomic | MemSigned)) ==
             (B.Flags & ~(MemAtomic | MemSigned));
}

/// What a call returns, in parts of a second, or 0.
double returnedBy(uint32_t Clock) {
  switch (Clock) {
  case TellsSeconds:
    return 1;
  case TellsMilliseconds:
    return 1e3;
  case TellsMicroseconds:
    return 1e6;
  case TellsNanoseconds:
    return 1e9;
  default:
    return 0;
  }
}

} // namespace

bool Periods::asksClocks() {
  if (!AnyClock)
    AnyClock =
        !P.Clocks.empty() && std::ranges::any_of(Ops, [this](const Op &O) {
          return O.Next == Flow::Call && P.clockAt(uint64_t(O.Imm));
        });
  return *AnyClock;
}

Periods::State Periods::fresh() const {
  State S;
  for (int8_t Reg = 0; Reg < int8_t(MaxRegs); ++Reg)
    S.Regs[Reg] = {.Is = Told::Kept, .Where = {Reg, nullptr}};
  return S;
}

Periods::Told Periods::in(const State &S, int8_t Reg) const {
  return isFollowed(Reg) ? S.Regs[Reg] : Told();
}

Periods::Told Periods::load(const State &S, const MemOperand &M) const {
  if (S.IsFilled && M.Base == S.Filled.Base && M.Index == NoReg) {
    if (M.Disp == S.Filled.Disp)
      return {.Is = Told::Now, .PerSecond = 1};
    if (M.Disp == S.Filled.Disp + SecondsBytes && S.Part)
      return {.Is = Told::Now, .PerSecond = S.Part};
  }
  for (const Slot &At : S.Slots)
    if (isSamePlace(At.At, M, C.StackPointer))
      return At.What;
  return {.Is = Told::Kept, .Where = {NoReg, &M}};
}

/// Whole seconds that are scaled up are not told finer by what is added.
Periods::Told Periods::sum(const Told &A, const Told &B) const {
  if (A.Is == Told::Number && B.Is == Told::Number)
    return {.Is = Told::Number, .N = A.N + B.N};
  if (A.Is != Told::Now && (B.Is == Told::Now || A.Is == Told::Number))
    return sum(B, A);
  if (A.Is != Told::Now && A.Is != Told::Kept && A.Is != Told::Address)
    return {};
  Told Of = A;
  if (B.Is == Told::Number)
    Of.N += B.N;
  else if (A.Is == Told::Now && B.Is == Told::Now)
    Of.PerSecond = std::max(A.PerSecond, B.PerSecond);
  else if (A.Is != Told::Now)
    return {};
  else if (Told Settled = settled(B); Settled.Is == Told::Number)
    Of.N += Settled.N;
  return Of; // at some other time, where how much is added is not known
}

Periods::Told Periods::difference(const Told &A, const Told &B) {
  if (B.Is == Told::Number && A.Is != Told::Unknown) {
    Told Of = A;
    Of.N -= B.N;
    return Of;
  }
  const Told &Clock = A.Is == Told::Now ? A : B,
             &Old = A.Is == Told::Now ? B : A;
  if (Clock.Is != Told::Now || Old.Is != Told::Kept)
    return {};
  return {.Is = Told::Elapsed,
          .PerSecond = Clock.PerSecond,
          .N = Clock.N - Old.N,
          .Where = Old.Where};
}

/// What an op leaves in its register.
Periods::Told Periods::result(const State &S, const Op &O) const {
  switch (O.How) {
  case Transfer::Move:
  case Transfer::Extend:
    return O.Src == C.StackPointer
               ? Told{.Is = Told::Address, .Base = C.StackPointer}
               : in(S, O.Src);
  case Transfer::Constant:
    return {.Is = Told::Number, .N = O.Imm};
  case Transfer::Load:
    return load(S, O.Mem[0]);
  case Transfer::Lea: {
    const MemOperand &M = O.Mem[0];
    Told Base = in(S, M.Base);
    if (M.Index != NoReg)
      return M.Shift || M.Disp ? Told() : sum(Base, in(S, M.Index));
    if (Base.Is == Told::Now)
      return sum(Base, {.Is = Told::Number, .N = M.Disp});
    if (Base.Is == Told::Kept && M.Base != C.StackPointer && O.Mem[0].Disp > 0)
      return sum(Base, {.Is = Told::Number, .N = M.Disp});
    return {.Is = Told::Address, .Base = M.Base, .N = M.Disp};
  }
  case Transfer::Add:
    return O.Src2 == NoReg ? sum(in(S, O.Src), {.Is = Told::Number, .N = O.Imm})
           : O.Shift       ? Told()
                           : sum(in(S, O.Src), in(S, O.Src2));
  case Transfer::AddLoad:
    return sum(in(S, O.Src), load(S, O.Mem[0]));
  case Transfer::Sub:
    return O.Shift ? Told() : difference(in(S, O.Src), in(S, O.Src2));
  case Transfer::Scale:
  case Transfer::ScaleLoad: {
    Told Of = O.How == Transfer::Scale ? in(S, O.Src) : load(S, O.Mem[0]);
    if (Of.Is != Told::Now || O.Imm < 1)
      return {};
    Of.PerSecond *= double(O.Imm);
    Of.N *= O.Imm;
    return Of;
  }
  default:
    break;
  }
  // "sub reg, [memory]" has no form of its own.
  if (O.How == Transfer::None && O.Clobbers & bit(O.First) && O.MemCount &&
      O.Mem[0].Kind == Access::Load && in(S, O.First).Is == Told::Now)
    return difference(in(S, O.First), load(S, O.Mem[0]));
  return {};
}

/// What a register was given once: compilers keep addresses of locals and
/// constants so, in front of a loop.
Periods::Told Periods::settled(const Told &At) const {
  if (At.Is != Told::Kept || At.Where.Reg == NoReg || At.N ||
      ++Settled > MaxSettled)
    return At;
  const Op *Only = nullptr;
  for (const Op &O : Ops) {
    if (O.Dst != At.Where.Reg || (O.MemCount && O.Mem[0].Flags & MemImplicit))
      continue;
    if (Only)
      return At;
    Only = &O;
  }
  Told Of = Only && (Only->How == Transfer::Constant ||
                     Only->How == Transfer::Move || Only->How == Transfer::Lea)
                ? result(fresh(), *Only)
                : Told();
  return Of.Is == Told::Number || Of.Is == Told::Address ? Of : At;
}

void Periods::call(State &S, const Op &O) const {
  uint32_t Clock = O.Next == Flow::Call ? P.clockAt(uint64_t(O.Imm)) : 0;
  unsigned Given = Clock == FillsSecond ? 1 : 0;
  bool Fills =
      Clock == FillsFirst || Clock == FillsSecond || Clock == TellsSeconds;
  Told At = Fills && Given < C.Arguments.size()
                ? settled(in(S, C.Arguments[Given]))
                : Told();
  if (At.Is == Told::Address) {
    S.IsFilled = true;
    S.Filled.Base = At.Base;
    S.Filled.Disp = At.N;
    S.Part = Clock == FillsSecond ? 1e9 : Clock == FillsFirst ? 1e6 : 0;
    std::erase_if(S.Slots, [&](const Slot &One) {
      return One.At.Base == At.Base && One.At.Disp >= At.N &&
             One.At.Disp < At.N + 2 * SecondsBytes;
    });
  }
  for (uint32_t Left = C.CallerSaved; Left; Left &= Left - 1)
    if (unsigned Reg = std::countr_zero(Left); Reg < MaxRegs)
      S.Regs[Reg] = {};
  if (double PerSecond = returnedBy(Clock))
    S.Regs[std::countr_zero(C.Result)] = {.Is = Told::Now,
                                          .PerSecond = PerSecond};
}

void Periods::step(State &S, const Op &O) const {
  if (O.isCall())
    return call(S, O);
  Told New = result(S, O);
  if (O.MemCount && O.Mem[0].Kind != Access::Load &&
      O.Mem[0].Kind != Access::Address && O.Mem[0].Kind != Access::None) {
    const MemOperand &M = O.Mem[0];
    std::erase_if(S.Slots, [&](const Slot &At) {
      return isSamePlace(At.At, M, C.StackPointer);
    });
    Told What = M.Kind == Access::Store ? in(S, O.StoredAny) : Told();
    if (What.Is != Told::Unknown && S.Slots.size() < MaxFrameWords)
      S.Slots.push_back({M, What});
  }
  uint32_t Written = O.Clobbers | bit(O.Dst) | bit(O.Written) | bit(O.Second);
  for (uint32_t Left = Written; Left; Left &= Left - 1)
    S.Regs[std::countr_zero(Left)] = {};
  if (isFollowed(O.Dst))
    S.Regs[O.Dst] = New;
  else if (O.Clobbers & bit(O.First) && New.Is == Told::Elapsed)
    S.Regs[O.First] = New;
}

std::optional<Periods::Question> Periods::question(const State &S,
                                                   const Op &Test) const {
  auto Of = [&](int8_t Reg) {
    return Reg == MemReg ? load(S, Test.Mem[0]) : in(S, Reg);
  };
  Told A, B{.Is = Told::Number};
  if (Test.Compared != NoReg) {
    A = Of(Test.Compared);
    B = Of(Test.ComparedTo);
  } else if (Test.How == Transfer::Sub && Test.Dst != NoReg) {
    A = result(S, Test);
  } else {
    A = Of(Test.Asked);
    if (Test.Mask || (!(Test.Traits & HasSmall) && Test.Tested == NoReg))
      return std::nullopt;
    B.N = Test.Traits & HasSmall ? Test.Small : Test.Against;
  }
  if (A.Is != Told::Elapsed && A.Is != Told::Now)
    std::swap(A, B);
  B = settled(B);
  if (A.Is == Told::Now) {
    if (B.Is != Told::Kept)
      return std::nullopt;
    A = difference(A, B);
    B = {.Is = Told::Number};
  }
  if (A.Is != Told::Elapsed)
    return std::nullopt;
  int64_t Apart =
      B.Is == Told::Number ? std::max(A.N, -A.N) + std::max(B.N, -B.N) : 0;
  return Question{A.Where, A.PerSecond,
                  double(std::max<int64_t>(Apart, 1)) / A.PerSecond};
}

/// Does an op put what a clock said in the place of the older number?
bool Periods::keeps(const State &S, const Op &O, Question &Q) const {
  Told New;
  if (Q.Older.Reg != NoReg && O.Dst == Q.Older.Reg)
    New = result(S, O);
  else if (Q.Older.Mem && O.MemCount &&
           isSamePlace(O.Mem[0], *Q.Older.Mem, C.StackPointer))
    New = O.Mem[0].Kind == Access::Store ? in(S, O.StoredAny)
          : isFollowed(O.Swapped)        ? in(S, O.Swapped)
                                         : in(S, O.Proposed);
  if (New.Is != Told::Now)
    return false;
  if (New.N > 0)
    Q.Seconds = std::max(Q.Seconds, double(New.N) / New.PerSecond);
  return true;
}

/// Does all that block \p B leads to keep it, but for ways to \p Other on which
/// nothing was done?
bool Periods::keepsOnAllWays(State S, uint32_t B, uint32_t Other, bool Changed,
                             Question &Q) {
  Seen.push_back(B);
  for (uint32_t I = G.blocks()[B].First; I < G.blocks()[B].Last; ++I) {
    if (keeps(S, Ops[I], Q))
      return true;
    Changed |= Ops[I].isCall() ||
               (Ops[I].MemCount && (Ops[I].Mem[0].Kind == Access::Store ||
                                    Ops[I].Mem[0].Kind == Access::Rmw));
    step(S, Ops[I]);
  }
  bool Any = false;
  for (uint32_t To : G.successors(G.blocks()[B])) {
    if (To == Other && !Changed)
      continue;
    auto IsSeen = [this](uint32_t From) {
      return std::ranges::find(Seen, From) != Seen.end();
    };
    if (Seen.size() >= MaxWayBlocks || IsSeen(To) ||
        !std::ranges::all_of(G.predecessors(To), IsSeen) ||
        !keepsOnAllWays(S, To, Other, Changed, Q))
      return false;
    Any = true;
  }
  return Any;
}

std::optional<uint32_t> Periods::seldomWay(uint32_t B) {
  const Block &Of = G.blocks()[B];
  const Op &Branch = Ops[Of.Last - 1];
  std::span<const uint32_t> Ways = G.successors(Of);
  if (!asksClocks() || Ways.size() != 2 || Branch.Next != Flow::Branch ||
      Branch.TestsItself)
    return std::nullopt;
  uint32_t Test = askedBy(Of, Ops);
  if (Test == Ops.size())
    return std::nullopt;
  State S = fresh();
  for (uint32_t I = Of.First; I < Test; ++I)
    step(S, Ops[I]);
  std::optional<Question> Q = question(S, Ops[Test]);
  if (!Q)
    return std::nullopt;
  for (uint32_t I = Test; I < Of.Last; ++I)
    step(S, Ops[I]);
  for (uint32_t N = 0; N < 2; ++N) {
    Question Own = *Q;
    Seen.assign(1, B);
    if (Ways[N] != B && G.predecessors(Ways[N]).size() == 1 &&
        keepsOnAllWays(S, Ways[N], Ways[1 - N], false, Own) &&
        Own.Seconds >= LeastSeconds)
      return Ways[N];
  }
  return std::nullopt;
}

} // namespace linemate
