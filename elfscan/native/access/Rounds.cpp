//===- Rounds.cpp - Branches that ask which round it is -------------------===//
//
// Owns the ways in which compilers ask it.  "n % 1000 == 0" is a product that
// is below a bound (Granlund and Montgomery, PLDI 1994), or a number that
// equals a multiple of its quotient; "n % size" divides; "(n & 1023) == 0" is a
// test of bits; a counter that is set back is compared with where it ends.
//
//===----------------------------------------------------------------------===//

#include "Rounds.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace linemate {

namespace {

/// Values between what is tested and the counter or number behind it.
constexpr unsigned MaxTrace = 8;
/// Ops between a value and its use.
constexpr uint32_t MaxBack = 48;
/// Ops between a test and its branch, which compilers put there.
constexpr uint32_t MaxToBranch = 4;
/// A step of a counter; what moves by more walks through memory.
constexpr int64_t MaxStep = 8;
/// A factor by which numbers spread over all that a register holds.
constexpr int64_t LargeFactor = 1 << 16;
/// Ops of a function among which a register's one constant is looked for.
constexpr size_t MaxConstant = 2048;
/// Rounds of a loop of which nothing is known (LOOP_FACTOR of sharing), and
/// from which number of known ones on that is far off.
constexpr float UnknownRounds = 10;
constexpr float SeldomInner = 1.0F / 1000;
/// Numbers that are left of a counter, divided by what is no constant.  It may
/// be a small setting: of so few, what is done for one still counts as done as
/// a rule.
constexpr uint64_t UnknownNumbers = 4;
/// Of a loop that every round of the one around it runs: not only where a test,
/// which is taken for likely (88%), leads to it.
constexpr float SurelyRun = 0.9F;
constexpr float Unknown = 0.5F;

bool isPop(const Op &O) { return O.MemCount && O.Mem[0].Flags & MemImplicit; }

bool isSmallStep(int64_t Step) {
  return Step && Step >= -MaxStep && Step <= MaxStep;
}

bool isSmallLea(const Op &O) {
  return O.How == Transfer::Lea && O.Mem[0].Index == NoReg &&
         isSmallStep(O.Mem[0].Disp);
}

bool movesOn(const Op &O, int8_t Reg) {
  if (O.How == Transfer::Add)
    return O.Dst == Reg && O.Src == Reg && O.Src2 == NoReg &&
           isSmallStep(O.Imm);
  return isSmallLea(O) && O.Dst == Reg && O.Mem[0].Base == Reg;
}

bool changes(const Op &O, int8_t Reg) {
  return O.Dst == Reg || O.Clobbers & bit(Reg) || O.Written == Reg ||
         O.Second == Reg;
}

bool isOneWord(const MemOperand &A, const MemOperand &B) {
  return A.Base == B.Base && A.Index == B.Index && A.Disp == B.Disp &&
         A.Size == B.Size && (A.Flags & ~MemAtomic) == (B.Flags & ~MemAtomic);
}

bool setsFlags(const Op &O) {
  return O.Asked != NoReg || O.Mask ||
         ((O.How == Transfer::Add || O.How == Transfer::Sub ||
           O.How == Transfer::Align) &&
          O.Dst != NoReg);
}

uint64_t narrowed(int64_t Number, unsigned Width) {
  return Width >= 8 ? uint64_t(Number)
                    : uint64_t(Number) & ((uint64_t(1) << (8 * Width)) - 1);
}

/// Of so many numbers that are taken in turns, the share of one.
float oneOf(uint64_t Numbers) {
  return Numbers > 2 ? 1.0F / float(Numbers) : Unknown;
}

/// How many numbers these bits tell apart, where they are neighbours.
uint64_t numbersOf(uint64_t Mask) {
  if (!Mask)
    return 0;
  uint64_t Low = Mask >> std::countr_zero(Mask);
  return Low & (Low + 1) || std::popcount(Low) > 62 ? 0 : Low + 1;
}

} // namespace

const Rounds::Changes &Rounds::changesAround(uint32_t B) {
  if (!IsSorted) {
    for (uint32_t I = 0; I < G.blocks().size(); ++I)
      if (G.outermost(I) < G.blocks().size())
        InLoops.push_back(I);
    std::ranges::stable_sort(InLoops, {},
                             [this](uint32_t I) { return G.outermost(I); });
    IsSorted = true;
  }
  auto [Found, IsNew] = Around.try_emplace(G.outermost(B));
  if (!IsNew)
    return Found->second;
  for (uint32_t I :
       std::ranges::equal_range(InLoops, Found->first, {},
                                [this](uint32_t I) { return G.outermost(I); }))
    for (uint32_t At = G.blocks()[I].First; At < G.blocks()[I].Last; ++At)
      note(I, At, Found->second);
  Found->second.takeTurns();
  return Found->second;
}

void Rounds::note(uint32_t B, uint32_t At, Changes &To) const {
  const Op &O = Ops[At];
  bool StoresStep = O.MemCount && O.Mem[0].Kind == Access::Store &&
                    isFollowed(O.StoredAny) && isStep(B, At);
  if (O.StepsMemory || StoresStep)
    To.Words.push_back(O.Mem[0]);
  if (O.isCall()) {
    To.Returned |= bit(Result);
    return;
  }
  To.Other |= O.Clobbers | bit(O.Written) | bit(O.Second);
  if (O.Dst == NoReg || O.How == Transfer::Constant)
    return;
  if (movesOn(O, O.Dst))
    To.Stepped |= bit(O.Dst);
  else if (isSmallLea(O))
    To.keep(To.Next, O.Dst, O.Mem[0].Base);
  else if (O.How == Transfer::Move || O.How == Transfer::Extend)
    To.keep(To.Copied, O.Dst, O.Src);
  else
    To.Other |= bit(O.Dst);
}

/// Of what a register is made; of two others nothing is said.
void Rounds::Changes::keep(Sources &Of, int8_t Reg, int8_t From) {
  if (!isFollowed(Reg))
    return;
  if (!isFollowed(From) || (Of[Reg] != NoReg && Of[Reg] != From) ||
      (&Of == &Copied ? Next : Copied)[Reg] != NoReg)
    Other |= bit(Reg);
  Of[Reg] = From;
}

/// "lea next, [n+1]; ...; mov n, next": both are steps.
void Rounds::Changes::takeTurns() {
  uint32_t Turning = 0;
  for (int8_t Reg = 0; Reg < int8_t(MaxRegs); ++Reg) {
    int8_t Own = Next[Reg];
    if (Own != NoReg && Copied[Own] == Reg &&
        !((bit(Reg) | bit(Own)) & (Other | Stepped)))
      Turning |= bit(Reg) | bit(Own);
    else if (Own != NoReg)
      Other |= bit(Reg);
  }
  for (int8_t Reg = 0; Reg < int8_t(MaxRegs); ++Reg)
    if (Copied[Reg] != NoReg && !(Turning & bit(Reg)))
      Other |= bit(Reg);
  Stepped |= Turning;
  Other |= Returned & ~Turning;
}

/// The op of the same block that gave a register its value, or Ops.size().
uint32_t Rounds::definition(uint32_t B, int8_t Reg, uint32_t At) const {
  if (!isFollowed(Reg))
    return Ops.size();
  uint32_t First = G.blocks()[B].First;
  for (uint32_t I = At; I-- > First && At - I <= MaxBack;)
    if (Ops[I].isCall() ? Reg == Result : changes(Ops[I], Reg))
      return I;
  return Ops.size();
}

/// Does the store at an op put back what was loaded there, moved on by a step?
bool Rounds::isStep(uint32_t B, uint32_t At) const {
  uint32_t Sum = definition(B, Ops[At].StoredAny, At);
  if (Sum == Ops.size())
    return false;
  const Op &O = Ops[Sum];
  bool IsLea = isSmallLea(O);
  if (!(O.How == Transfer::Add && O.Src2 == NoReg && isSmallStep(O.Imm)) &&
      !IsLea)
    return false;
  uint32_t Load = definition(B, IsLea ? O.Mem[0].Base : O.Src, Sum);
  if (Load == Ops.size() || Ops[Load].How != Transfer::Load)
    return false;
  return isOneWord(Ops[Load].Mem[0], Ops[At].Mem[0]);
}

/// The one op of the function's begin that changes a register, or Ops.size().
uint32_t Rounds::onlyChange(int8_t Reg) {
  if (FirstChange.empty()) {
    FirstChange.assign(MaxRegs, uint32_t(Ops.size()));
    uint32_t Once = 0;
    for (uint32_t I = 0; I < std::min<size_t>(Ops.size(), MaxConstant); ++I) {
      const Op &O = Ops[I];
      if (O.isCall() || isPop(O))
        continue;
      uint32_t Changed =
          bit(O.Dst) | O.Clobbers | bit(O.Written) | bit(O.Second);
      Again |= Once & Changed;
      for (uint32_t New = Changed & ~Once; New; New &= New - 1)
        FirstChange[std::countr_zero(New)] = I;
      Once |= Changed;
    }
  }
  return Again & bit(Reg) ? uint32_t(Ops.size()) : FirstChange[Reg];
}

/// What a register holds in front of an op.
Rounds::Value Rounds::trace(uint32_t B, int8_t Reg, uint32_t At,
                            unsigned Depth) {
  if (!isFollowed(Reg) || Depth == MaxTrace)
    return {};
  const Changes &Here = changesAround(B);
  if (Here.Stepped & bit(Reg) && !(Here.Other & bit(Reg)))
    return {Kind::Counter, 0, Reg};
  uint32_t Defined = definition(B, Reg, At);
  if (Defined < Ops.size())
    return isFollowed(Ops[Defined].Divided)
               ? divided(B, Reg, Defined, Depth + 1)
               : result(B, Defined, Depth + 1);
  // A constant is put into a register once, in front of the loop.
  uint32_t Once = onlyChange(Reg);
  if (Once == Ops.size() || Once > At)
    return {};
  const Op &Only = Ops[Once];
  return Only.How == Transfer::Constant && Only.ImmIsValue
             ? Value{Kind::Number, uint64_t(Only.Imm)}
             : Value{};
}

/// What an op leaves in its register.
Rounds::Value Rounds::result(uint32_t B, uint32_t At, unsigned Depth) {
  const Op &O = Ops[At];
  if (isFollowed(O.Added))
    return {Kind::Counter, 0, NoReg};
  if (isFollowed(O.Rotated))
    return trace(B, O.Rotated, At, Depth);
  if (O.Multiplies) {
    for (uint32_t Left = O.Named; Left; Left &= Left - 1) {
      Value Factor = trace(B, int8_t(std::countr_zero(Left)), At, Depth);
      if (Factor.Is == Kind::Number && Factor.N & 1 &&
          Factor.N > uint64_t(LargeFactor))
        return {Kind::Spread};
    }
    return {};
  }
  switch (O.How) {
  case Transfer::Constant:
    return {Kind::Number, O.ImmIsValue ? uint64_t(O.Imm) : 0};
  case Transfer::Move:
  case Transfer::Extend:
    return trace(B, O.Src, At, Depth);
  case Transfer::Part:
  case Transfer::ShiftDown:
    return {Kind::Quotient};
  case Transfer::Scale:
  case Transfer::ScaleLoad: {
    Value Of = trace(B, O.Src, At, Depth);
    if ((Of.Is == Kind::Quotient || Of.Is == Kind::Multiple) && O.Imm > 1)
      return {Kind::Multiple, uint64_t(O.Imm) * std::max<uint64_t>(Of.N, 1)};
    return O.Imm & 1 && std::abs(O.Imm) > LargeFactor ? Value{Kind::Spread}
                                                      : Value{};
  }
  case Transfer::Add: {
    if (O.Src2 != NoReg)
      return {};
    Value Of = trace(B, O.Src, At, Depth);
    return Of.Is == Kind::Counter || Of.Is == Kind::Spread ? Of : Value{};
  }
  case Transfer::Lea: {
    if (O.Mem[0].Index != NoReg)
      return {};
    Value Of = trace(B, O.Mem[0].Base, At, Depth);
    return Of.Is == Kind::Counter ? Of : Value{};
  }
  case Transfer::Sub: {
    Value Less = trace(B, O.Src2, At, Depth);
    if (Less.Is != Kind::Multiple &&
        trace(B, O.Src, At, Depth).Is == Kind::Quotient)
      return {Kind::Quotient}; // of a number that may be below zero
    return Less.Is == Kind::Multiple ? Value{Kind::Remainder, Less.N} : Value{};
  }
  case Transfer::Align: {
    Value Of = trace(B, O.Src, At, Depth);
    uint64_t Numbers = numbersOf(narrowed(O.Imm, O.Width));
    return Of.Is == Kind::Counter && Numbers ? Value{Kind::Masked, Numbers}
                                             : Value{};
  }
  case Transfer::Load:
    return inMemory(B, O);
  default:
    return {};
  }
}

/// What a division leaves in one of its two registers.  A counter that is
/// divided by what is no constant begins again after several; of other numbers,
/// as sizes, nothing may be left as a rule.
Rounds::Value Rounds::divided(uint32_t B, int8_t Reg, uint32_t At,
                              unsigned Depth) {
  const Op &O = Ops[At];
  if (Reg != O.Remainder)
    return {Reg == O.Divided ? Kind::Quotient : Kind::Unknown};
  Value By = trace(B, O.First, At, Depth);
  if (By.Is == Kind::Number)
    return {Kind::Remainder, By.N};
  return trace(B, O.Divided, At, Depth).Is == Kind::Counter
             ? Value{Kind::Remainder, UnknownNumbers}
             : Value{};
}

/// What an op reads from memory.
Rounds::Value Rounds::inMemory(uint32_t B, const Op &O) {
  if (!O.MemCount)
    return {};
  for (const MemOperand &M : changesAround(B).Words)
    if (isOneWord(M, O.Mem[0]))
      return {Kind::Counter, 0, NoReg, &M};
  return {};
}

/// What the branch at the end of a block asks about, or Ops.size().
uint32_t Rounds::testOf(const Block &Of) const {
  uint32_t Last = Of.Last - 1;
  for (uint32_t I = Last; I-- > Of.First && Last - I <= MaxToBranch;) {
    if (setsFlags(Ops[I]))
      return I;
    if (!keepsFlags(Ops[I]) || Ops[I].isCall())
      break;
  }
  return Ops.size();
}

/// The one constant that a counter is set to, or 0: it counts down from there.
uint64_t Rounds::startOf(const Value &Counter) const {
  uint64_t Start = 0;
  for (const Op &O : Ops) {
    bool Sets = isFollowed(Counter.Reg)
                    ? O.How == Transfer::Constant && O.Dst == Counter.Reg &&
                          O.ImmIsValue
                    : Counter.Word && O.StoredAny == ImmReg && O.MemCount &&
                          isOneWord(O.Mem[0], *Counter.Word);
    if (Sets)
      Start = Start && Start != uint64_t(O.Imm) ? 1 : uint64_t(O.Imm);
  }
  return Start;
}

/// The chance that a value is a certain number.
float Rounds::equalTo(const Value &V, uint64_t Number) const {
  switch (V.Is) {
  case Kind::Masked:
  case Kind::Remainder:
    return oneOf(V.N);
  case Kind::Counter:
    return oneOf(Number ? Number : startOf(V));
  default:
    return Unknown;
  }
}

/// The chance that the two that a test compares are equal.
float Rounds::equal(uint32_t B, uint32_t Test) {
  const Op &O = Ops[Test];
  if (O.Asked == NoReg && !O.Mask) // flags of a result
    return equalTo(result(B, Test, 0), 0);
  Value V = O.Asked == MemReg ? inMemory(B, O) : trace(B, O.Asked, Test, 0);
  if (O.Mask) {
    uint64_t Numbers = numbersOf(narrowed(O.Mask, O.FirstWidth));
    return V.Is == Kind::Counter && Numbers ? oneOf(Numbers) : Unknown;
  }
  if (O.Compared != NoReg) {
    Value Other = trace(B, O.ComparedTo, Test, 0);
    if (V.Is == Kind::Multiple || Other.Is == Kind::Multiple)
      return oneOf(V.Is == Kind::Multiple ? V.N : Other.N);
    if (V.Is == Kind::Number)
      std::swap(V, Other);
    return Other.Is == Kind::Number ? equalTo(V, Other.N) : Unknown;
  }
  if (O.Tested != NoReg && !O.Against && V.Is == Kind::Counter &&
      O.FirstWidth < 4 && O.FirstWidth)
    return oneOf(uint64_t(1) << (8 * O.FirstWidth));
  // Down to -1 as well.
  if (O.Traits & HasSmall)
    return equalTo(V, uint64_t(std::max(O.Small, 0)));
  return O.Tested != NoReg ? equalTo(V, 0) : Unknown;
}

/// Does a way set a counter back?
bool Rounds::setsBack(uint32_t Way, const Value &V) const {
  const Block &To = G.blocks()[Way];
  for (uint32_t I = To.First; I < To.Last; ++I) {
    const Op &O = Ops[I];
    if (isFollowed(V.Reg) && O.Dst == V.Reg &&
        (O.How == Transfer::Constant || O.How == Transfer::Sub))
      return true;
    if (V.Word && O.MemCount && O.StoredAny == ImmReg &&
        isOneWord(O.Mem[0], *V.Word))
      return true;
  }
  return false;
}

/// Where a branch asks for an order: a spread number that is below a bound, or
/// a counter that has come to where it is set back.
std::optional<SeldomWay> Rounds::ordered(uint32_t B, uint32_t Test) {
  const Op &O = Ops[Test], &Branch = Ops[G.blocks()[B].Last - 1];
  if (O.Asked == NoReg || O.Mask)
    return std::nullopt;
  Value V = O.Asked == MemReg ? inMemory(B, O) : trace(B, O.Asked, Test, 0);
  unsigned Width = O.FirstWidth ? O.FirstWidth : O.Mem[0].Size;
  Value Bound = O.Compared != NoReg ? trace(B, O.ComparedTo, Test, 0)
                : O.Traits & HasSmall
                    ? Value{Kind::Number, narrowed(O.Small, Width)}
                    : Value{};
  bool Below =
      Branch.Order == OnOrder::Below || Branch.Order == OnOrder::BelowOrSame;
  if (V.Is == Kind::Number) {
    std::swap(V, Bound);
    Below = !Below;
  }
  if (Bound.Is != Kind::Number)
    return std::nullopt;
  uint64_t Target = uint64_t(Branch.Imm);
  std::span<const uint32_t> Ways = G.successors(G.blocks()[B]);
  bool FirstIsTarget = Ops[G.blocks()[Ways[0]].First].Ip == Target;
  uint32_t WayBelow = Ways[FirstIsTarget == Below ? 0 : 1];
  uint32_t WayAbove = Ways[FirstIsTarget == Below ? 1 : 0];
  if (V.Is == Kind::Spread && Branch.Unsigned) {
    double All = std::exp2(8.0 * Width);
    float Share = float(double(Bound.N + 1) / All);
    if (Share < Unknown)
      return SeldomWay{WayBelow, Share};
    return SeldomWay{WayAbove, 1 - Share};
  }
  bool Leaves = G.blocks()[WayAbove].LoopDepth < G.blocks()[B].LoopDepth;
  if (V.Is == Kind::Counter && Bound.N > 2 && (Leaves || setsBack(WayAbove, V)))
    return SeldomWay{WayAbove, oneOf(Bound.N)};
  return std::nullopt;
}

std::optional<SeldomWay> Rounds::seldom(uint32_t B) {
  const Block &Of = G.blocks()[B];
  const Op &Branch = Ops[Of.Last - 1];
  std::span<const uint32_t> Ways = G.successors(Of);
  if (Branch.Next != Flow::Branch || Branch.TestsItself || Ways.size() != 2)
    return std::nullopt;
  uint32_t Test = testOf(Of);
  if (Test == Ops.size())
    return std::nullopt;
  if (Branch.Order != OnOrder::Unknown)
    return ordered(B, Test);
  if (Branch.Zero == OnZero::Unknown)
    return std::nullopt;
  bool FirstIsTarget =
      Ops[G.blocks()[Ways[0]].First].Ip == uint64_t(Branch.Imm);
  bool TargetIsEqual = Branch.Zero == OnZero::Branches;
  uint32_t Way = Ways[FirstIsTarget == TargetIsEqual ? 0 : 1];
  float Chance = equal(B, Test);
  return Chance < Unknown ? std::optional(SeldomWay{Way, Chance})
                          : std::nullopt;
}

/// What is in one loop with an inner one that is surely run, and goes round so
/// often as a large constant says, is done that much more seldom.
void Graph::spreadRounds() {
  for (const auto &[Exit, OfExit] : Counted) {
    const Block &Inner = Blocks[Exit];
    if (Inner.LoopDepth < 2 || OfExit > SeldomInner ||
        Chance[Exit] < SurelyRun * Chance[Outer[Exit]])
      continue;
    for (uint32_t B = 0; B < Blocks.size(); ++B)
      if (Outer[B] == Outer[Exit] && Blocks[B].LoopDepth < Inner.LoopDepth)
        Chance[B] *= OfExit * UnknownRounds;
  }
}

} // namespace linemate
