//===- access.cpp - Fuzz target: access plans and machine code ------------===//
//
// Owns the input's form: a byte of switches, then code that becomes functions
// of a plan, or of a query whose kind stands in bits 6 and 7; or the size of a
// plan (2 bytes), the plan, and the file that the plan speaks of; or a query.
//
//===----------------------------------------------------------------------===//

#include "Plan.h"
#include "Query.h"
#include "Scan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace linemate;

namespace {

enum Switch : uint8_t {
  AArch64 = 1,
  WholePlan = 2,
  Absolute = 4,
  ManyFunctions = 8,
  WholeQuery = 16,
  RiscV = 32, ///< before AArch64
};
constexpr unsigned KindShift = 6, KindMask = 3;
constexpr uint64_t CodeAddress = 0x401000, DataAddress = 0x402000,
                   ConstantAddress = 0x404000, SlotAddress = 0x402100;
constexpr uint64_t FunctionBytes = 64;

class Writer {
public:
  void u32(uint32_t Value) { add(&Value, sizeof Value); }
  void u64(uint64_t Value) { add(&Value, sizeof Value); }
  void add(const void *From, size_t Size) {
    const auto *First = static_cast<const uint8_t *>(From);
    Bytes.insert(Bytes.end(), First, First + Size);
  }
  std::vector<uint8_t> Bytes;
};

uint32_t machine(uint8_t Switches) {
  if (Switches & RiscV)
    return uint32_t(Arch::RiscV64);
  return uint32_t(Switches & AArch64 ? Arch::AArch64 : Arch::X86_64);
}

/// Everything that code can touch is near: data, constants, one GOT slot.
std::vector<uint8_t> planFor(uint8_t Switches, size_t CodeBytes) {
  uint64_t Step = Switches & ManyFunctions ? FunctionBytes : CodeBytes;
  uint64_t Count = Step ? (CodeBytes + Step - 1) / Step : 0;
  Writer Out;
  Out.add("LMPLAN2", 8);
  Out.u32(machine(Switches));
  Out.u32(Switches & Absolute ? 1 : 0);
  for (uint64_t Number :
       {uint64_t(1), uint64_t(1), uint64_t(1), Count, uint64_t(1), uint64_t(1)})
    Out.u64(Number);
  for (uint64_t Field : {CodeAddress, uint64_t(0), uint64_t(CodeBytes)})
    Out.u64(Field);
  for (uint64_t Field : {DataAddress, uint64_t(0x1000)})
    Out.u64(Field);
  // Jump tables are read from the same bytes.
  for (uint64_t Field : {ConstantAddress, uint64_t(0), uint64_t(CodeBytes)})
    Out.u64(Field);
  for (uint64_t I = 0; I < Count; ++I) {
    Out.u64(CodeAddress + I * Step);
    Out.u64(Step);
    Out.u32(0);
    Out.u32(uint32_t(I));
  }
  Out.u64(SlotAddress);
  Out.u64(CodeAddress);
  Out.u64(CodeAddress); // an instruction that a static key switches
  Out.u64(CodeAddress + CodeBytes / 2);
  Out.u32(0);
  Out.u32(0);
  return Out.Bytes;
}

[[noreturn]] void unsound(const char *What) {
  std::fprintf(stderr, "unsound result: %s\n", What);
  std::abort();
}

/// What the tables promise to those who read them.
void check(const Plan &P, const std::vector<Tables> &Parts) {
  for (const Tables &T : Parts)
    for (const SiteRow &S : T.Sites) {
      bool IsTaken = S.Kind == uint8_t(Access::Address) &&
                     P.startsFunction(S.Target); // a function's address
      if (!P.inData(S.Target) && !IsTaken)
        unsound("a site outside of the data");
      if (P.codeAt(S.Ip).empty())
        unsound("a site outside of the code");
    }
}

/// Every instruction of the code is asked for.
std::vector<uint8_t> queryFor(uint8_t Switches, QueryKind Kind,
                              std::span<const uint8_t> Code) {
  uint64_t Step = Switches & ManyFunctions ? FunctionBytes : Code.size();
  uint64_t Count = Step ? (Code.size() + Step - 1) / Step : 0;
  Writer Out;
  Out.add("LMQUERY1", 8);
  Out.u32(machine(Switches));
  Out.u32(uint32_t(Kind));
  for (uint64_t Field : {CodeAddress, SlotAddress})
    Out.u64(Field); // the image
  Out.u32(98);      // the futex call, in registers that both have
  Out.u32(0x0108);
  Out.u64(Count);
  bool IsOfAddresses = Kind == QueryKind::Operands ||
                       Kind == QueryKind::Origins || Kind == QueryKind::Text;
  Out.u64(IsOfAddresses ? Code.size() : 0);
  for (uint64_t I = 0; I < Count; ++I) {
    Out.u64(CodeAddress + I * Step);
    Out.u64(std::min<uint64_t>(Step, Code.size() - I * Step));
  }
  if (IsOfAddresses)
    for (uint64_t I = 0; I < Code.size(); ++I) {
      Out.u64(CodeAddress + I);
      Out.u32(uint32_t(I / Step));
      Out.u32(0);
    }
  Out.add(Code.data(), Code.size());
  return Out.Bytes;
}

/// What answers promise to those who read them.
void check(const Query &Q, const Answer &A) {
  if (Q.Kind == QueryKind::Operands && A.Points.size() != Q.Addresses.size())
    unsound("an address without a point");
  for (const PointRow &P : A.Points) {
    int64_t End = int64_t(P.First) + P.Count;
    if (P.First < 0 || P.Count < 0 || End > int64_t(A.Operands.size()))
      unsound("a point with operands of others");
    for (int32_t Row : {P.Before, P.At})
      if (Row != -1 && (Row < P.First || Row >= End))
        unsound("a point charged with an operand of another");
  }
  for (const OperandRow &O : A.Operands) {
    constexpr int8_t MaxPerf = 32;
    if (O.Base < -1 || O.Base > MaxPerf || O.Index < -1 || O.Index > MaxPerf)
      unsound("an operand with an unknown register");
    if (O.Kind == 0 || O.Kind > uint8_t(Access::Rmw) || !O.Scale)
      unsound("an operand that is no access");
    if (O.Point < 0 || size_t(O.Point) >= A.Points.size())
      unsound("an operand of no point");
  }
  for (size_t Row = 0; Row < A.Origins.size(); ++Row)
    if (A.Origins[Row].Parent >= int32_t(Row))
      unsound("an origin before what it stands for");
  uint32_t Letters = 0;
  for (const TextRow &T : A.Lines) {
    if (T.End < Letters || T.Asked >= Q.Addresses.size())
      unsound("text of nothing that was asked");
    Letters = T.End;
  }
  if (Letters != A.Letters.size())
    unsound("letters of no instruction");
  if (Q.Kind != QueryKind::Instructions)
    return;
  size_t Row = 0;
  for (size_t I = 0; I < Q.Functions.size(); ++I) {
    uint64_t At = 0;
    for (; Row < A.Ends[I]; ++Row) {
      if (A.Instructions[Row].Offset != At || !A.Instructions[Row].Length)
        unsound("instructions with a gap");
      At += A.Instructions[Row].Length;
    }
    if (At != Q.Functions[I].Data.size())
      unsound("a function without its end");
  }
}

void ask(std::span<const uint8_t> Raw) {
  Query Q;
  if (Q.parse(Raw))
    return;
  Answer A;
  if (answer(Q, A))
    unsound("the disassembler cannot be opened");
  check(Q, A);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Bytes, size_t Size) {
  if (Size < 3)
    return 0;
  uint8_t Switches = Bytes[0];
  std::span<const uint8_t> Rest(Bytes + 1, Size - 1);
  std::vector<uint8_t> Raw;
  if (Switches & WholeQuery) {
    ask(std::vector<uint8_t>(Rest.begin(), Rest.end()));
    return 0;
  }
  if (unsigned Kind = Switches >> KindShift & KindMask;
      Kind && !(Switches & WholePlan)) {
    ask(queryFor(Switches, QueryKind(Kind), Rest));
    if (QueryKind(Kind) == QueryKind::Operands) {
      ask(queryFor(Switches, QueryKind::Origins, Rest));
      ask(queryFor(Switches, QueryKind::Text, Rest));
    }
    return 0;
  }
  if (Switches & WholePlan) {
    size_t Length = std::min<size_t>(Rest[0] | Rest[1] << 8, Rest.size() - 2);
    Raw.assign(Rest.begin() + 2, Rest.begin() + 2 + ptrdiff_t(Length));
    Rest = Rest.subspan(2 + Length);
  } else {
    Raw = planFor(Switches, Rest.size());
  }
  // Exactly as long as the input, so that a read behind it is seen.
  std::vector<uint8_t> File(Rest.begin(), Rest.end());
  Plan P;
  if (P.parse(Raw, File))
    return 0;
  std::vector<Tables> Parts;
  if (scan(P, 1, Parts))
    unsound("the disassembler cannot be opened");
  check(P, Parts);
  return 0;
}
