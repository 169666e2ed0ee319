//===- Body.cpp - The code around an instruction --------------------------===//
//
// Owns the ways that lead to an instruction.
//
//===----------------------------------------------------------------------===//

#include "Body.h"

#include <algorithm>

namespace linemate {

namespace {

/// Instructions of a run that are looked at.
constexpr size_t BeforeLimit = 24, AfterLimit = 16;
/// Instructions of a loop that is followed round.
constexpr size_t RoundLimit = 64;
/// From an instruction to the end of its loop.
constexpr uint32_t LoopLimit = 256;
/// From the jump back of a retry to its compare-exchange.
constexpr uint32_t RetryLimit = 8;

bool sameMemory(const Effect &A, const Effect &B) {
  return std::ranges::equal(A.memory(), B.memory());
}

} // namespace

void Body::build(Decoder &D, std::span<const uint8_t> Code, uint64_t Begin) {
  Ops.clear();
  Controls.clear();
  Op Next;
  for (uint64_t Ip = Begin; !Code.empty() && D.decode(Code, Ip, Next);
       Ip = Next.end(), Code = Code.subspan(Next.Length)) {
    Ops.push_back(Next);
    Controls.push_back(controlOf(Next));
  }
  // Sources by target: counted, then filled in order.
  FirstSource.assign(Ops.size() + 1, 0);
  JumpsOver.assign(Ops.size() + 1, 0);
  std::vector<std::pair<uint32_t, uint32_t>> Jumps;
  for (uint32_t Row = 0; Row < size(); ++Row)
    if (uint32_t To = target(Row); To != NoRow) {
      Jumps.emplace_back(To, Row);
      ++FirstSource[To + 1];
    }
  for (size_t I = 1; I < FirstSource.size(); ++I)
    FirstSource[I] += FirstSource[I - 1];
  Sources.resize(Jumps.size());
  std::vector<uint32_t> Fill(FirstSource);
  for (auto [To, Row] : Jumps)
    Sources[Fill[To]++] = Row;
  for (uint32_t Row = 0; Row < size(); ++Row)
    if (auto From = sources(Row); !From.empty() && From.back() >= Row) {
      ++JumpsOver[Row];
      --JumpsOver[From.back() + 1];
    }
  for (size_t I = 1; I < JumpsOver.size(); ++I)
    JumpsOver[I] += JumpsOver[I - 1];
}

uint32_t Body::at(uint64_t Address) const {
  auto It = std::ranges::lower_bound(Ops, Address, {}, &Op::Ip);
  return It != Ops.end() && It->Ip == Address ? uint32_t(It - Ops.begin())
                                              : NoRow;
}

std::span<const uint32_t> Body::sources(uint32_t Row) const {
  return std::span(Sources).subspan(FirstSource[Row],
                                    FirstSource[Row + 1] - FirstSource[Row]);
}

uint32_t Body::target(uint32_t Row) const {
  if (Controls[Row] != Control::Branch && Controls[Row] != Control::Jump)
    return NoRow;
  uint64_t To = targetOf(Ops[Row]);
  return To ? at(To) : NoRow;
}

bool Body::fallsInto(uint32_t Row) const {
  if (Row == 0)
    return false;
  Control Before = Controls[Row - 1];
  return Before != Control::Jump && Before != Control::Return &&
         Before != Control::Stop;
}

/// The one instruction that control can come from; none where there are
/// several, none, or a call.
uint32_t Body::onlyWay(uint32_t Row) const {
  auto From = sources(Row);
  if (fallsInto(Row))
    return From.empty() ? Row - 1 : NoRow;
  return From.size() == 1 ? From[0] : NoRow;
}

/// The instruction with memory operands that retires when \p Row does.
uint32_t Body::lastTouch(uint32_t Row) const {
  if (Controls[Row] == Control::Call)
    return NoRow;
  if (Controls[Row] == Control::Branch && Row > 0 && onlyWay(Row) == Row - 1 &&
      Ops[Row - 1].Traits & Fuses && effect(Row - 1).MemCount)
    return Row - 1;
  Effect E = effect(Row);
  return std::ranges::all_of(E.memory(), isImplicit) ? NoRow : Row;
}

/// The first and the last instruction of the loop around \p Row; all there are
/// where it is in none.
std::pair<uint32_t, uint32_t> Body::loopAround(uint32_t Row) const {
  if (JumpsOver[Row])
    for (uint32_t Last = Row; Last < size() && Last - Row < LoopLimit; ++Last)
      if (uint32_t First = target(Last); First <= Row)
        return {First, Last};
  return {0, size()};
}

/// Whether the jump back of \p Row is taken where a compare-exchange failed.
bool Body::isRetry(uint32_t Row) const {
  bool IsChosen = false;
  for (uint32_t Left = RetryLimit; Row != NoRow && Left; --Left) {
    if (lastTouch(Row) == Row) {
      Effect E = effect(Row);
      return IsChosen && Ops[Row].Traits & KeepsOld &&
             !(Ops[Row].Traits & Exchanges) &&
             std::ranges::any_of(E.memory(), [](const MemOperand &M) {
               return M.Flags & MemAtomic;
             });
    }
    IsChosen |= Controls[Row] == Control::Branch;
    Row = onlyWay(Row);
  }
  return false;
}

uint32_t Body::usualWay(uint32_t Row) const {
  auto From = sources(Row);
  if (fallsInto(Row) && !From.empty() && From.front() >= Row &&
      std::ranges::all_of(From, [this](uint32_t Way) { return isRetry(Way); }))
    return Row - 1;
  return onlyWay(Row);
}

/// The same where several ways lead there, of which a loop takes one each time
/// around.
uint32_t Body::wayRound(uint32_t Row) const {
  auto From = sources(Row);
  if (From.empty())
    return usualWay(Row);
  auto Back = std::ranges::lower_bound(From, Row);
  if (From.end() - Back == 1 && !isRetry(*Back))
    return *Back;
  if (Back != From.end() || !JumpsOver[Row] || !fallsInto(Row))
    return usualWay(Row);
  auto [First, Last] = loopAround(Row);
  bool IsOutside =
      std::ranges::all_of(From, [First](uint32_t Way) { return Way < First; });
  return IsOutside && Row - 1 >= First ? Row - 1 : usualWay(Row);
}

Body::Round Body::roundTo(uint32_t Row) const {
  Round Out;
  uint32_t At = wayRound(Row), Earliest = Row;
  while (At != NoRow && At != Row && Out.Rows.size() < RoundLimit &&
         std::ranges::find(Out.Rows, At) == Out.Rows.end()) {
    Out.Rows.push_back(At);
    Earliest = At;
    At = wayRound(At);
  }
  Out.IsWhole = At == Row;
  Out.IsEntry = At == NoRow && Earliest == 0;
  if (Out.IsWhole)
    Out.Rows.push_back(Row);
  std::ranges::reverse(Out.Rows);
  return Out;
}

Earlier Body::cameBefore(uint32_t Row) const {
  auto From = sources(Row);
  auto Back = std::ranges::lower_bound(From, Row);
  // Somebody else was quicker once in a while: a retry is entered more often
  // than repeated.
  bool IsLoop = std::any_of(Back, From.end(),
                            [this](uint32_t Way) { return !isRetry(Way); });
  bool SomeTouchNothing = false, AreAlike = true;
  Earlier Found;
  auto Consider = [&](uint32_t Way) {
    uint32_t Touch = lastTouch(Way);
    if (Touch == NoRow) {
      SomeTouchNothing = true;
    } else if (Found.Row == NoRow) {
      Found.Row = Touch;
    } else if (Touch != Found.Row) {
      AreAlike &= sameMemory(effect(Touch), effect(Found.Row));
      Found.Row = std::max(Found.Row, Touch);
    }
  };
  // A loop that is entered at its test: the way from its body is taken each
  // time around, that from outside once.
  auto [First, Last] = loopAround(Row);
  if (IsLoop || !fallsInto(Row) || Row - 1 < First)
    First = 0, Last = size();
  for (uint32_t Way : std::ranges::subrange(IsLoop ? Back : From.begin(),
                                            IsLoop ? From.end() : Back))
    if (Way >= First && Way <= Last)
      Consider(Way);
  if (fallsInto(Row) && !IsLoop)
    Consider(Row - 1);
  if (Found.Row == NoRow)
    return Found;
  Found.IsCertain = AreAlike && !SomeTouchNothing;
  if (!AreAlike)
    Found.Row = NoRow;
  return Found;
}

std::vector<uint32_t> Body::run(uint32_t Row, uint32_t &Here) const {
  std::vector<uint32_t> Run;
  for (uint32_t At = usualWay(Row);
       At != NoRow && At != Row && Run.size() < BeforeLimit; At = usualWay(At))
    Run.push_back(At);
  std::ranges::reverse(Run);
  Here = uint32_t(Run.size());
  Run.push_back(Row);
  for (uint32_t At = Row; Run.size() - Here <= AfterLimit &&
                          Controls[At] == Control::Next && At + 1 < size() &&
                          sources(At + 1).empty();)
    Run.push_back(++At);
  return Run;
}

} // namespace linemate
