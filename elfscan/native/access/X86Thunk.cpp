//===- X86Thunk.cpp - Jumps and calls that only return --------------------===//
//
// Owns the row of x86-64 and one of its idioms: the Linux kernel returns by a
// jump to a thunk that is patched at boot, and begins functions with a call of
// a tracer's hook.
//
//===----------------------------------------------------------------------===//

#include "Architectures.h"
#include "X86Registers.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace linemate {

namespace {

constexpr uint8_t Endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
constexpr uint8_t Ret = 0xc3, JumpRel32 = 0xe9;
constexpr unsigned MaxHops = 3;

bool startsWith(std::span<const uint8_t> Code,
                std::span<const uint8_t> Prefix) {
  return Code.size() >= Prefix.size() &&
         std::equal(Prefix.begin(), Prefix.end(), Code.begin());
}

bool returnsAtOnce(const Plan &P, uint64_t Target) {
  for (unsigned Hops = 0; Hops < MaxHops; ++Hops) {
    std::span<const uint8_t> Code = P.codeAt(Target);
    if (startsWith(Code, Endbr64)) {
      Code = Code.subspan(sizeof Endbr64);
      Target += sizeof Endbr64;
    }
    if (Code.empty())
      return false;
    if (Code[0] == Ret)
      return true;
    if (Code[0] != JumpRel32 || Code.size() < 5)
      return false;
    uint32_t Distance =
        Code[1] | Code[2] << 8 | Code[3] << 16 | uint32_t(Code[4]) << 24;
    Target += 5 + int64_t(int32_t(Distance));
  }
  return false;
}

bool isFirst(const Plan &P, std::span<const Op> Before) {
  return Before.empty() || (Before.size() == 1 &&
                            startsWith(P.codeAt(Before.front().Ip), Endbr64));
}

/// A jump to a bare return is a return (the kernel's return thunk).  A call of
/// one as a function's first act is a tracer's hook: it changes nothing.
void simplify(const Plan &P, const Function &F, std::span<const Op> Before,
              Op &O) {
  if (O.Next == Flow::Jump &&
      (uint64_t(O.Imm) < F.Begin || uint64_t(O.Imm) >= F.End)) {
    if (returnsAtOnce(P, O.Imm))
      O.Next = Flow::Return;
  } else if (O.Next == Flow::Call && isFirst(P, Before) &&
             returnsAtOnce(P, O.Imm)) {
    O.Next = Flow::Next;
  }
}

} // namespace

/// A load relative to fs or gs, with and without a REX prefix, but of what the
/// system keeps behind the thread pointer, as the stack protector's value.
static bool namesThread(std::span<const uint8_t> Code) {
  constexpr uint8_t Fs = 0x64, Gs = 0x65, Rex = 0x40;
  constexpr uint8_t NoRegister = 0x25; // only a distance follows
  constexpr std::array<uint8_t, 4> Loads = {0x8b, 0x03, 0x63, 0x0f};
  for (size_t I = 0; I + 2 < Code.size(); ++I) {
    if (Code[I] != Fs && Code[I] != Gs)
      continue;
    size_t At = (Code[I + 1] & 0xf0) == Rex ? I + 2 : I + 1;
    if (!std::ranges::count(Loads, Code[At]))
      continue;
    int32_t Distance = 0;
    if (At + 2 + sizeof Distance < Code.size() && Code[At + 2] == NoRegister)
      std::memcpy(&Distance, Code.data() + At + 3, sizeof Distance);
    if (Distance <= 0)
      return true;
  }
  return false;
}

/// A relative call or jump; lea or mov, relative to the next instruction, of
/// rax or a register that calls leave alone; a constant of 32 bits in eax.
static bool namesAddress(std::span<const uint8_t> Code, uint64_t Begin,
                         const WantedAddresses &Wanted) {
  constexpr uint8_t Call = 0xe8, Jump = 0xe9, ShortJump = 0xeb;
  constexpr uint8_t TwoBytes = 0x0f, Branch = 0x80;
  constexpr uint8_t Lea = 0x8d, Mov = 0x8b, MovEax = 0xb8, Relative = 5;
  constexpr uint8_t Rex = 0x48, RexHigh = 0x4c;
  constexpr uint32_t Low = 0b00101001,
                     High = 0b11110000; // rax, rbx, rbp; from r12
  for (size_t I = 1; I < Code.size(); ++I) {
    uint8_t Last = Code[I - 1];
    if (Last == ShortJump &&
        Wanted(Begin + I + 1 + int8_t(Code[I]), Naming::Whole))
      return true;
    bool IsConstant = Last == MovEax, IsBranch = Last == Call || Last == Jump;
    IsBranch |= I > 1 && Code[I - 2] == TwoBytes && (Last & 0xf0) == Branch;
    uint8_t Opcode = 0;
    if ((Last & 0xc7) == Relative && I > 2) {
      uint32_t Kept = Code[I - 3] == Rex       ? Low
                      : Code[I - 3] == RexHigh ? High
                                               : 0;
      if (Kept >> (Last >> 3) & 1)
        Opcode = Code[I - 2];
    }
    if (Code.size() - I < sizeof(int32_t) ||
        !(IsConstant || IsBranch || Opcode == Lea || Opcode == Mov))
      continue;
    int32_t Distance;
    std::memcpy(&Distance, Code.data() + I, sizeof Distance);
    uint64_t From = IsConstant ? 0 : Begin + I + sizeof Distance;
    bool IsLoaded = !IsConstant && !IsBranch && Opcode == Mov;
    if (Wanted(From + int64_t(Distance),
               IsLoaded ? Naming::Loaded : Naming::Whole))
      return true;
  }
  return false;
}

extern const Architecture X86Row;
const Architecture X86Row = {
    .Number = Arch::X86_64,
    .Name = "x86-64",
    .Make = x86::makeDecoder,
    .Library = CS_ARCH_X86,
    .LibraryMode = CS_MODE_64,
    .MakeNormaliser = x86::makeNormaliser,
    .Simplify = simplify,
    .Go = &x86::GoInternal,
    .NamesThread = namesThread,
    .NamesAddress = namesAddress,
};

} // namespace linemate
