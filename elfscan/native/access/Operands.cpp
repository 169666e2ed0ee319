//===- Operands.cpp - Memory operands around sampled code -----------------===//
//
// Owns the value numbers of registers along a run.
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "Awaited.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace linemate {

namespace {

/// Value numbers of constants: an address of the file, and any other.
constexpr int32_t LinkNumber = -1, PlainNumber = -2;

/// FUTEX_WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP, UNLOCK_PI, WAKE_BITSET.
constexpr uint32_t FutexWakes =
    1u << 1 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 7 | 1u << 10;
constexpr int32_t FutexOperation = 0x7f; ///< without the private flag

/// Our numbers in the order of perf's.
std::vector<int8_t> byPerfNumber(const Convention &C) {
  std::vector<int8_t> Order(C.Registers);
  std::iota(Order.begin(), Order.end(), int8_t(0));
  std::ranges::sort(Order, {}, [&C](int8_t Reg) { return C.perfNumber(Reg); });
  return Order;
}

} // namespace

/// What a register holds: an unknown value with a number, plus a constant.
struct OperandWriter::Number {
  int32_t Value = 0;
  uint64_t Offset = 0;
  /// Only the lower 4 bytes are known to: an index of type int is extended
  /// before it is used, and counted on at its own size.
  bool IsHalf = false;
};

struct OperandWriter::Values {
  std::array<Number, MaxRegs> Of;
  std::vector<int8_t> Seen; ///< registers in the order of their first use
  uint32_t Known = 0;
  int32_t Next = 0;

  void set(int8_t Reg, Number N) {
    if (!(Known & bit(Reg)))
      Seen.push_back(Reg);
    Known |= bit(Reg);
    Of[Reg] = N;
  }

  Number get(int8_t Reg) {
    if (!(Known & bit(Reg)))
      set(Reg, {Next++, 0});
    return Of[Reg];
  }

  void step(const Effect &E) {
    Number Results[std::size(Effect().Values)];
    for (size_t I = 0; I < E.ValueCount; ++I) {
      const KnownValue &V = E.Values[I];
      Number N = {V.IsAddress ? LinkNumber : PlainNumber, 0};
      if (V.Source != NoReg)
        N = get(V.Source);
      bool IsHalf = N.IsHalf || V.IsHalf;
      if (IsHalf && N.Value == LinkNumber)
        N = {Next++, 0};
      Results[I] = {N.Value, N.Offset + uint64_t(V.Constant), IsHalf};
    }
    for (uint32_t Left = E.Writes; Left; Left &= Left - 1)
      set(int8_t(std::countr_zero(Left)), {Next++, 0});
    for (size_t I = 0; I < E.ValueCount; ++I)
      set(E.Values[I].Dst, Results[I]);
  }

  /// The register that holds a value, the last of several; one that holds as
  /// much of it first.
  int8_t holder(const Number &N) const {
    for (bool IsHalf : {N.IsHalf, !N.IsHalf})
      for (size_t I = Seen.size(); I-- > 0;)
        if (Of[Seen[I]].Value == N.Value && Of[Seen[I]].IsHalf == IsHalf)
          return Seen[I];
    return NoReg;
  }
};

/// An operand on the way to its row.
struct OperandWriter::Place {
  uint32_t Row = 0;
  MemOperand Memory;
  Number Base, Index; ///< where the registers are followed
  int8_t BaseNow = NoReg, IndexNow = NoReg;
  uint64_t Displacement = 0;
  bool IsLink = false;
  Holds Held = Holds::Yes;
};

OperandWriter::OperandWriter(const Body &B, const FutexCall &Futex)
    : B(B), Futex(Futex), Loops(B), Order(byPerfNumber(B.convention())) {}

void OperandWriter::nothing(uint64_t Ip, int32_t Function) {
  Points.push_back({Ip, Function, -1, -1, int32_t(Operands.size()), 0,
                    uint8_t(Reason::Undecoded), 0, 0});
}

void OperandWriter::point(uint32_t Row, int32_t Function) {
  PointRow Point = {
      B.op(Row).Ip,          Function,     -1, -1, int32_t(Operands.size()), 0,
      uint8_t(Reason::None), PointDecoded, 0};
  Earlier Before = B.cameBefore(Row);
  if (!Before.IsCertain)
    Point.Reason = uint8_t(Reason::Ambiguous);
  uint32_t Here;
  std::vector<uint32_t> Run = B.run(Row, Here);
  uint32_t Skipped = NoRow;
  if (Before.Row != NoRow && std::find(Run.begin(), Run.begin() + Here,
                                       Before.Row) == Run.begin() + Here) {
    around(Before.Row, Point);
    Skipped = Before.Row;
  }
  alongRun(Run, Here, Skipped, Before.Row, Point);
  bool IsAccess =
      Point.At >= 0 && !(Operands[size_t(Point.At)].Flags & OperandImplicit);
  if (Before.IsCertain && Before.Row == NoRow && !IsAccess)
    awaited(Row, Point);
  Point.Flags |= futex(Run, Here);
  Point.Count = int32_t(Operands.size()) - Point.First;
  Points.push_back(Point);
}

/// The branch of a loop leads to the sample: only that branch is between the
/// access of \p Row and the sample.
void OperandWriter::around(uint32_t Row, PointRow &Point) {
  Effect E = B.effect(Row);
  Point.Before = int32_t(Operands.size());
  Place P;
  P.Row = Row;
  P.Memory = E.Mem[0];
  P.BaseNow = isFollowed(P.Memory.Base) ? P.Memory.Base : NoReg;
  P.IndexNow = isFollowed(P.Memory.Index) ? P.Memory.Index : NoReg;
  P.Displacement = uint64_t(P.Memory.Disp);
  P.IsLink = P.Memory.Flags & MemPcRelative;
  if ((bit(P.BaseNow) | bit(P.IndexNow)) & E.Writes)
    P.Held = Holds::Overwritten;
  operand(P, Role::Before);
}

void OperandWriter::alongRun(std::span<const uint32_t> Run, uint32_t Here,
                             uint32_t Skipped, uint32_t Before,
                             PointRow &Point) {
  Values Now, AtSample;
  std::vector<Place> Found;
  for (uint32_t At = 0; At < Run.size(); ++At) {
    Effect E = B.effect(Run[At]);
    if (At == Here) {
      for (int8_t Reg : Order)
        Now.get(Reg);
      AtSample = Now;
    }
    for (const MemOperand &M : E.memory()) {
      if (isImplicit(M) && At != Here)
        continue;
      Place &P = Found.emplace_back();
      P.Row = Run[At];
      P.Memory = M;
      if (isFollowed(M.Base))
        P.Base = Now.get(M.Base);
      if (isFollowed(M.Index))
        P.Index = Now.get(M.Index);
    }
    Now.step(E);
  }
  for (const Place &P : Found) {
    if (P.Row == Skipped)
      continue;
    // Of two operands the first is charged.
    Role What = Role::Witness;
    int32_t *Charged = nullptr;
    if (P.Row == Run[Here]) {
      What = Role::At;
      Charged = &Point.At;
    } else if (P.Row == Before) {
      What = Role::Before;
      Charged = &Point.Before;
    }
    if (Charged && *Charged >= 0)
      What = Role::Witness;
    else if (Charged)
      *Charged = int32_t(Operands.size());
    operand(computed(P, AtSample), What);
  }
}

/// The loads that the instruction before the sample waits for.
void OperandWriter::awaited(uint32_t Row, PointRow &Point) {
  Awaited Waits = awaitedBefore(B, Row);
  if (Waits.Loads.empty())
    return;
  Point.Others = Waits.Others;
  Values Now;
  std::vector<Place> Found;
  auto Next = Waits.Loads.begin();
  for (uint32_t At = 0; At < Waits.Way.size(); ++At) {
    Effect E = B.effect(Waits.Way[At]);
    if (Next != Waits.Loads.end() && *Next == At) {
      ++Next;
      Place &P = Found.emplace_back();
      P.Row = Waits.Way[At];
      P.Memory = *std::ranges::find_if(E.memory(), [](const MemOperand &M) {
        return !isImplicit(M) && M.Kind != Access::Store;
      });
      if (isFollowed(P.Memory.Base))
        P.Base = Now.get(P.Memory.Base);
      if (isFollowed(P.Memory.Index))
        P.Index = Now.get(P.Memory.Index);
    }
    Now.step(E);
  }
  for (int8_t Reg : Order)
    Now.get(Reg);
  for (const Place &P : Found)
    operand(computed(P, Now), Role::Awaited);
}

/// \p P in terms of the registers at the sample.
OperandWriter::Place OperandWriter::computed(const Place &P,
                                             const Values &AtSample) const {
  Place Out = P;
  Out.Displacement = uint64_t(P.Memory.Disp);
  Out.IsLink = P.Memory.Flags & MemPcRelative;
  auto Add = [&](int8_t Reg, Number N, unsigned Shift, int8_t &RegNow) {
    if (!isFollowed(Reg))
      return;
    if (N.Value == LinkNumber) {
      if (Shift || Out.IsLink)
        Out.Held = Holds::Never;
      Out.IsLink = true;
    } else if (N.Value != PlainNumber) {
      RegNow = AtSample.holder(N);
      if (RegNow == NoReg)
        Out.Held = std::max(Out.Held, Holds::Overwritten);
      else
        N.Offset -= AtSample.Of[RegNow].Offset;
    }
    Out.Displacement += N.Offset << Shift;
  };
  Add(P.Memory.Base, P.Base, 0, Out.BaseNow);
  Add(P.Memory.Index, P.Index, P.Memory.Shift, Out.IndexNow);
  return Out;
}

void OperandWriter::operand(const Place &P, Role What) {
  const MemOperand &M = P.Memory;
  const Convention &C = B.convention();
  uint8_t Flags = 0;
  if (M.Flags & MemAtomic)
    Flags |= OperandAtomic;
  if (P.IsLink)
    Flags |= OperandLink;
  if (isImplicit(M))
    Flags |= OperandImplicit;
  if (Loops.waits(P.Row))
    Flags |= OperandSpins;
  if (M.Kind == Access::Rmw && Loops.usesResult(P.Row))
    Flags |= OperandUses;
  Segment In = Segment::None;
  if (M.Flags & MemSegment)
    In = M.Flags & MemOtherBase ? Segment::Gs : Segment::Fs;
  auto Unknown = [](int8_t Reg) { return Reg != NoReg && !isFollowed(Reg); };
  Holds Held = Unknown(M.Base) || Unknown(M.Index) ? Holds::Never : P.Held;
  Operands.push_back(
      {B.op(P.Row).Ip, int64_t(P.Displacement), C.perfNumber(P.BaseNow),
       C.perfNumber(P.IndexNow), uint8_t(1u << std::min<unsigned>(M.Shift, 7)),
       uint8_t(In), uint16_t(std::min<uint32_t>(M.Size, UINT16_MAX)),
       uint8_t(M.Kind), Flags, uint8_t(What), uint8_t(Held), 0,
       int32_t(Points.size())});
}

/// Whether the instruction before is a futex system call (its number is set in
/// the same run), and whether it wakes.
///
/// A wrapper builds the operation from its argument, as in `xor $0x81, %sil`:
/// the constant is the operation with the private flag flipped.
uint8_t OperandWriter::futex(std::span<const uint32_t> Run,
                             uint32_t Here) const {
  if (Here == 0 || B.control(Run[Here - 1]) != Control::SystemCall)
    return 0;
  const Convention &C = B.convention();
  constexpr int64_t Unknown = -1;
  int64_t Number = Unknown, Operation = Unknown;
  bool HasNumber = false;
  for (uint32_t At = Here - 1; At-- > 0;) {
    const Op &O = B.op(Run[At]);
    Control How = B.control(Run[At]);
    if (How == Control::Call || How == Control::SystemCall)
      break;
    if (O.First == NoReg)
      continue;
    int8_t First = C.perfNumber(O.First);
    if (!HasNumber && First == Futex.NumberRegister && O.FirstWidth >= 4) {
      HasNumber = true;
      if (O.How == Transfer::Constant)
        Number = O.Imm;
    }
    if (Operation == Unknown && First == Futex.OperationRegister &&
        O.Traits & HasSmall && O.Small >= 0)
      Operation = O.Small & FutexOperation;
  }
  if (Number == Unknown || Number != Futex.Number)
    return 0;
  bool Wakes = Operation >= 0 && Operation < 32 && FutexWakes >> Operation & 1;
  return Wakes ? PointFutex | PointWakes : PointFutex;
}

} // namespace linemate
