//===- CachedDecoder.cpp - Decoding short instructions once ---------------===//
//
// Owns which instructions may be remembered and how they are found again.
//
//===----------------------------------------------------------------------===//

#include "CachedDecoder.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace linemate {

namespace {

constexpr unsigned MaxKeptLength = 7; ///< longer ones carry an address, mostly
constexpr unsigned IndexBits = 13;
constexpr uint64_t NoKey = 0;

/// The first \p Length bytes with their number on top: never NoKey.
uint64_t keyOf(uint64_t Word, unsigned Length) {
  uint64_t Mask = (uint64_t(1) << (8 * Length)) - 1;
  return (Word & Mask) | uint64_t(Length) << 56;
}

size_t slotOf(uint64_t Key) {
  return Key * 0x9E3779B97F4A7C15 >> (64 - IndexBits);
}

bool isRelative(const Op &O) {
  return O.Next == Flow::Branch || O.Next == Flow::Jump || O.Next == Flow::Call;
}

/// Length of the opcode of a near call or jump with a 32-bit displacement, 0
/// for all else (Intel SDM volume 2: E8, E9, 0F 80 to 0F 8F).
unsigned nearOpcode(uint64_t Word) {
  if ((Word & 0xfe) == 0xe8)
    return 1;
  return (Word & 0xf0ff) == 0x800f ? 2 : 0;
}

/// The key of such an instruction, its displacement aside.
uint64_t nearKey(uint64_t Word, unsigned Opcode) {
  return keyOf(Word, Opcode) | uint64_t(1) << 63;
}

/// Nothing in it but branch targets may depend on where it stands.
bool isMovable(const Op &O) {
  if (O.How == Transfer::Address || O.How == Transfer::Page)
    return false;
  return std::none_of(O.Mem, O.Mem + O.MemCount, [](const MemOperand &M) {
    return M.Flags & MemPcRelative;
  });
}

} // namespace

CachedDecoder::CachedDecoder(std::unique_ptr<Decoder> Behind)
    : Behind(std::move(Behind)), Keys(size_t(1) << IndexBits, NoKey),
      Ops(static_cast<Op *>(std::malloc(sizeof(Op) << IndexBits))) {
  static_assert(std::is_trivially_copyable_v<Op>);
  if (!Ops)
    throw std::bad_alloc();
}

bool CachedDecoder::decode(std::span<const uint8_t> Code, uint64_t Ip,
                           Op &Out) {
  uint64_t Word = 0;
  std::memcpy(&Word, Code.data(), std::min<size_t>(Code.size(), sizeof(Word)));
  unsigned Longest = std::min<size_t>(Code.size(), MaxKeptLength);
  unsigned Opcode = Code.size() >= 6 ? nearOpcode(Word) : 0;
  if (Opcode) {
    uint64_t Key = nearKey(Word, Opcode);
    size_t Slot = slotOf(Key);
    if (Keys[Slot] == Key) {
      int32_t Displacement;
      std::memcpy(&Displacement, Code.data() + Opcode, sizeof(Displacement));
      Out = Ops[Slot];
      Out.Ip = Ip;
      Out.Imm = int64_t(Ip + Out.Length) + Displacement;
      return true;
    }
  }
  for (unsigned Length = 1; !Opcode && Length <= Longest; ++Length) {
    uint64_t Key = keyOf(Word, Length);
    size_t Slot = slotOf(Key);
    if (Keys[Slot] != Key)
      continue;
    Out = Ops[Slot];
    Out.Ip = Ip;
    if (isRelative(Out))
      Out.Imm += int64_t(Ip);
    return true;
  }
  if (!Behind->decode(Code, Ip, Out))
    return false;
  if (Out.Length > MaxKeptLength || !isMovable(Out))
    return true;
  if (Opcode && (Out.Length != Opcode + 4 || !isRelative(Out)))
    return true;
  uint64_t Key = Opcode ? nearKey(Word, Opcode) : keyOf(Word, Out.Length);
  size_t Slot = slotOf(Key);
  Keys[Slot] = Key;
  Ops[Slot] = Out;
  if (isRelative(Out))
    Ops[Slot].Imm -= int64_t(Ip);
  return true;
}

} // namespace linemate
