//===- unwind.cpp - Fuzz target: how functions are left, by their frames --===//
//
// Owns the input's form: a byte of switches, the size of .eh_frame (two bytes,
// little-endian, cut at the end), its contents, then those of .debug_frame.
// seeds.py writes the same form.
//
//===----------------------------------------------------------------------===//

#include "ElfImage.h"
#include "Reader.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace linemate::fuzz;

namespace {

enum Switch : uint8_t { Big = 1, Narrow = 2, MachineShift = 2 };
constexpr uint16_t Machines[] = {62, 183, 243, 21}; // x86-64, AArch64, RISC-V,
                                                    // PowerPC
constexpr uint64_t FrameAddress = 0x408000, CodeAddress = 0x401000;

std::string fileOf(const uint8_t *Bytes, size_t Size) {
  StringRef Contents(reinterpret_cast<const char *>(Bytes) + 3, Size - 3);
  size_t Length = Bytes[1] | Bytes[2] << 8;
  ElfKind Kind;
  Kind.IsBig = Bytes[0] & Big;
  Kind.Is64 = !(Bytes[0] & Narrow);
  Kind.Machine = Machines[(Bytes[0] >> MachineShift) & 3];
  constexpr uint64_t Loaded = 2; // SHF_ALLOC
  return makeElf(
      Kind, {{".eh_frame", Contents.take_front(Length).str(), 1, Loaded,
              FrameAddress},
             {".debug_frame",
              Contents.drop_front(std::min(Length, Contents.size())).str()}});
}

/// Where the code of seeds.py is: every few bytes of it.
const std::vector<uint64_t> &asked() {
  static const std::vector<uint64_t> Ips = [] {
    constexpr uint64_t CodeBytes = 0x200, Step = 16;
    std::vector<uint64_t> Out;
    for (uint64_t At = 0; At < CodeBytes; At += Step)
      Out.push_back(CodeAddress + At + 5);
    Out.insert(Out.begin(), {0, UINT32_MAX, UINT64_MAX});
    return Out;
  }();
  return Ips;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Bytes, size_t Size) {
  if (Size < 4)
    return 0;
  std::string File = fileOf(Bytes, Size);
  linemate::dwarf::Options Opts;
  Opts.Path = "main";
  Opts.Unwind = asked();
  raw_null_ostream Out;
  consumeError(linemate::dwarf::run(Opts, Out, [&](StringRef Path) {
    return linemate::dwarf::Object::read(
        MemoryBuffer::getMemBuffer(File, "", false), Path);
  }));
  return 0;
}
