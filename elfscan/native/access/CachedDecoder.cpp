//===- CachedDecoder.cpp - Decoding short instructions once ---------------===//
//
// Owns which instructions may be remembered and how they are found again.
//
//===----------------------------------------------------------------------===//

#include "CachedDecoder.h"

#include <algorithm>
#include <cstring>

namespace linemate {

namespace {

constexpr unsigned MaxLength = 7; ///< longer ones carry an address, mostly
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
      Ops(size_t(1) << IndexBits) {}

bool CachedDecoder::decode(std::span<const uint8_t> Code, uint64_t Ip,
                           Op &Out) {
  uint64_t Word = 0;
  std::memcpy(&Word, Code.data(), std::min<size_t>(Code.size(), sizeof(Word)));
  unsigned Longest = std::min<size_t>(Code.size(), MaxLength);
  for (unsigned Length = 1; Length <= Longest; ++Length) {
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
  if (Out.Length > MaxLength || !isMovable(Out))
    return true;
  uint64_t Key = keyOf(Word, Out.Length);
  size_t Slot = slotOf(Key);
  Keys[Slot] = Key;
  Ops[Slot] = Out;
  if (isRelative(Out))
    Ops[Slot].Imm -= int64_t(Ip);
  return true;
}

} // namespace linemate
