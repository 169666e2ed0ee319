//===- access.cpp - Fuzz target: access plans and machine code ------------===//
//
// Owns the input's form: a byte of switches, then either code that becomes
// functions, or the size of a plan (2 bytes), the plan, and the file that the
// plan speaks of.
//
//===----------------------------------------------------------------------===//

#include "Plan.h"
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
};
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

/// Everything that code can touch is near: data, constants, one GOT slot.
std::vector<uint8_t> planFor(uint8_t Switches, size_t CodeBytes) {
  uint64_t Step = Switches & ManyFunctions ? FunctionBytes : CodeBytes;
  uint64_t Count = Step ? (CodeBytes + Step - 1) / Step : 0;
  Writer Out;
  Out.add("LMPLAN1", 8);
  Out.u32(uint32_t(Switches & AArch64 ? Arch::AArch64 : Arch::X86_64));
  Out.u32(Switches & Absolute ? 1 : 0);
  for (uint64_t Number :
       {uint64_t(1), uint64_t(1), uint64_t(1), Count, uint64_t(1)})
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
      if (!P.inData(S.Target))
        unsound("a site outside of the data");
      if (P.codeAt(S.Ip).empty())
        unsound("a site outside of the code");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Bytes, size_t Size) {
  if (Size < 3)
    return 0;
  uint8_t Switches = Bytes[0];
  std::span<const uint8_t> Rest(Bytes + 1, Size - 1);
  std::vector<uint8_t> Raw;
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
