//===- Choices.cpp - Values that are one of two ---------------------------===//
//
// Owns the union of what two ways bring, and what an op makes of either.
//
//===----------------------------------------------------------------------===//

#include "Choices.h"

#include "Flow.h"

#include <algorithm>
#include <cmath>

namespace linemate {

namespace {

/// Pairs of one function; few have more, and each is compared with all.
constexpr size_t MaxChoices = 64;
static_assert(MaxChoices <= UINT8_MAX); // Value::Choice
/// Rarity that each of two is taken with where nothing else is known.
constexpr unsigned HalfAsOften = 4;

/// One of two, or all that it is.
struct Candidates {
  TwoValues Are;
  unsigned Count = 0;

  /// False where that makes three, and no series of two.
  bool add(Value V, bool IsLoop) {
    V.IsStale = false;
    for (unsigned I = 0; I < Count; ++I)
      if (Are[I].same(V))
        return true;
    if (Count < Are.size()) {
      Are[Count++] = V;
      return true;
    }
    for (Value &One : Are) {
      Value Both = join(One, V, IsLoop);
      if (Both.Kind == ValueKind::Unknown)
        continue;
      One = Both;
      return true;
    }
    return false;
  }
};

} // namespace

uint8_t Choices::either(const Value &Old, const Value &New, bool IsLoop) {
  Candidates Found;
  for (const Value *V : {&Old, &New}) {
    bool Fits = true;
    if (V->Choice) {
      TwoValues Two = of(V->Choice);
      Fits = Found.add(Two[0], IsLoop) && Found.add(Two[1], IsLoop);
    } else {
      Fits = Found.add(*V, IsLoop);
    }
    if (!Fits)
      return 0;
  }
  auto IsNoPlace = [](const Value &V) {
    return isNull(V) || V.Kind == ValueKind::Stack;
  };
  if (Found.Count < 2 || std::ranges::all_of(Found.Are, IsNoPlace))
    return 0;
  auto IsSame = [&Found](const TwoValues &Two) {
    return std::ranges::equal(
        Two, Found.Are, [](const Value &A, const Value &B) {
          return A.same(B) && A.sameMarks(B) && A.Origin == B.Origin;
        });
  };
  auto Known = std::ranges::find_if(All, IsSame);
  if (Known == All.end()) {
    if (All.size() == MaxChoices)
      return 0;
    Known = All.insert(Known, Found.Are);
  }
  return uint8_t(Known - All.begin() + 1);
}

/// \p Lost, which is all that is known of what is \p Old or \p New, with what
/// it may be.
Value FunctionFlow::eitherOf(Value Lost, const Value &Old, const Value &New,
                             bool IsLoop) {
  if (Lost.Kind == ValueKind::Unknown && !Lost.Choice &&
      Choices::isCandidate(Old) && Choices::isCandidate(New))
    Lost.Choice = Chosen.either(Old, New, IsLoop);
  return Lost;
}

/// The register of an op's operands that holds one of two, where the op makes
/// something of either; NoReg: none.
int8_t FunctionFlow::chosenOperand(const Op &O) const {
  auto IsChosen = [this](int8_t Reg) {
    return isFollowed(Reg) && Now.Regs[Reg].Choice;
  };
  switch (O.How) {
  case Transfer::Add:
  case Transfer::AddLoad:
    if (IsChosen(O.Src))
      return O.Src;
    if (O.How == Transfer::Add && !O.Narrow && !O.Shift && IsChosen(O.Src2))
      return O.Src2;
    return NoReg;
  case Transfer::Lea:
  case Transfer::Load:
    return O.MemCount && IsChosen(O.Mem[0].Base) ? O.Mem[0].Base : NoReg;
  default:
    return NoReg;
  }
}

/// What an op makes of an operand that is one of two is one of two as well.
/// \p Lost is what it makes of an unknown one.
Value FunctionFlow::computedOfEither(const Op &O, uint32_t Origin,
                                     const Value &Lost) {
  int8_t Reg = chosenOperand(O);
  if (Reg == NoReg)
    return Lost;
  Value Whole = Now.Regs[Reg];
  TwoValues Made = Chosen.of(Whole.Choice);
  for (Value &One : Made) {
    Now.Regs[Reg] = One;
    Effective E;
    if (O.MemCount)
      E = effective(O.Mem[0], Origin);
    One = Choices::isNull(One) ? One : computed(O, Origin, &E);
  }
  Now.Regs[Reg] = Whole;
  Value Either = eitherOf(unknownFrom(Lost), Made[0], Made[1], false);
  return Either.Choice ? Either : Lost;
}

/// How seldom a run of the function comes to here with the first and with the
/// second of the two.  One that was made on a way that is taken less often is
/// had no more often than that, and the other one the rest of the time.
std::array<uint8_t, 2> FunctionFlow::raritiesOf(const TwoValues &Two) const {
  // Nothing is accessed through a pointer that leads nowhere.
  if (std::ranges::any_of(Two, Choices::isNull))
    return {Rarity, Rarity};
  auto RarityOf = [this](const Value &V) -> unsigned {
    if (!V.Origin || V.Origin > Code.size())
      return 0;
    return std::prev(std::ranges::upper_bound(G.blocks(), V.Origin - 1, {},
                                              &Block::First))
        ->Rarity;
  };
  std::array Made = {RarityOf(Two[0]), RarityOf(Two[1])};
  bool IsSecond = Made[1] > Made[0];
  unsigned Rarer = Made[IsSecond], Rest = HalfAsOften;
  if (Rarer > Rarity) {
    float Others = 1 - std::exp2((float(Rarity) - float(Rarer)) / 4);
    Rest = unsigned(std::lround(-4 * std::log2(Others)));
  } else {
    Rarer = Rarity + HalfAsOften;
  }
  auto Limited = [](unsigned R) {
    return uint8_t(std::min(R, unsigned(UINT8_MAX)));
  };
  std::array<uint8_t, 2> Both;
  Both[IsSecond] = Limited(Rarer);
  Both[!IsSecond] = Limited(Rarity + Rest);
  return Both;
}

/// Reports an access to either of two places.
void FunctionFlow::accessEither(const Op &O, const MemOperand &M,
                                uint32_t Origin) {
  Value Whole = Now.Regs[M.Base];
  uint8_t Usual = Rarity;
  TwoValues Two = Chosen.of(Whole.Choice);
  std::array<uint8_t, 2> Rarities = raritiesOf(Two);
  for (unsigned I : {0U, 1U}) {
    if (Choices::isNull(Two[I]))
      continue;
    Now.Regs[M.Base] = Two[I];
    Rarity = Rarities[I];
    access(O, M, effective(M, Origin));
  }
  Now.Regs[M.Base] = Whole;
  Rarity = Usual;
}

} // namespace linemate
