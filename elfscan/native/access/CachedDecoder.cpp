//===- CachedDecoder.cpp - Decoding equal instructions once ---------------===//
//
// Owns which instructions may be remembered and how they are found again.  What
// is remembered is larger than the caches next to a processor, so that the next
// instruction's is fetched while this one's is used.
//
//===----------------------------------------------------------------------===//

#include "CachedDecoder.h"
#include "X86Length.h"

#include <cstring>
#include <new>

namespace linemate {

namespace {

constexpr unsigned IndexBits = 13;
constexpr size_t Slots = size_t(1) << IndexBits;
/// That a processor fetches at a time.
constexpr size_t FetchedBytes = 64;

using Bytes = CachedDecoder::Bytes;
static_assert(sizeof(Bytes) == MaxX86Length + 1);

size_t slotOf(Bytes Key) {
  uint64_t Low = uint64_t(Key), High = uint64_t(Key >> 64);
  return (Low ^ High * 0xC2B2AE3D27D4EB4F) * 0x9E3779B97F4A7C15 >>
         (64 - IndexBits);
}

/// As much as an instruction may be, and zeros where there is less.
Bytes frontOf(std::span<const uint8_t> Code) {
  Bytes Word = 0;
  if (Code.size() >= sizeof Word)
    std::memcpy(&Word, Code.data(), sizeof Word); // its size is known
  else
    std::memcpy(&Word, Code.data(), Code.size());
  return Word;
}

bool isRelative(const Op &O) {
  return O.Next == Flow::Branch || O.Next == Flow::Jump || O.Next == Flow::Call;
}

Bytes lowest(unsigned Count) { return (Bytes(1) << 8 * Count) - 1; }

/// The bytes of an instruction without distances from its end, and on top its
/// length: never zero.
Bytes keyOf(Bytes Code, const X86Outline &Of) {
  Bytes Kept = lowest(Of.Length);
  Kept &= ~(lowest(Of.DistanceSize) << 8 * Of.Distance);
  return (Code & Kept) | Bytes(Of.Length) << 8 * MaxX86Length;
}

int64_t distanceIn(Bytes Code, const X86Outline &Of) {
  auto From = uint32_t(Code >> 8 * Of.Distance);
  return Of.DistanceSize == 1 ? int64_t(int8_t(From)) : int64_t(int32_t(From));
}

/// Puts what a distance leads to where the op has it.
void lead(Op &O, const X86Outline &Of, uint64_t To) {
  if (Of.IsTarget)
    O.Imm = int64_t(To);
  for (unsigned I = 0; I < O.MemCount; ++I)
    if (O.Mem[I].Flags & MemPcRelative)
      O.Mem[I].Disp = int64_t(To);
}

/// Is where the op stands in it only as the outline says?
bool isMovable(const Op &O, const X86Outline &Of, uint64_t To) {
  if (O.How == Transfer::Address || O.How == Transfer::Page)
    return false;
  if (isRelative(O) != Of.IsTarget || (Of.IsTarget && uint64_t(O.Imm) != To))
    return false;
  unsigned Relative = 0;
  for (unsigned I = 0; I < O.MemCount; ++I)
    if (O.Mem[I].Flags & MemPcRelative) {
      ++Relative;
      if (uint64_t(O.Mem[I].Disp) != To)
        return false;
    }
  return Relative == (Of.Distance && !Of.IsTarget);
}

} // namespace

CachedDecoder::CachedDecoder(std::unique_ptr<Decoder> Behind)
    : Behind(std::move(Behind)),
      Keys(static_cast<Bytes *>(std::calloc(Slots, sizeof(Bytes)))),
      Ops(static_cast<Op *>(std::malloc(sizeof(Op) << IndexBits))) {
  static_assert(std::is_trivially_copyable_v<Op>);
  if (!Keys || !Ops)
    throw std::bad_alloc();
}

CachedDecoder::Front CachedDecoder::look(Bytes Word) {
  Front F;
  F.Word = Word;
  F.Outline = outlineX86(reinterpret_cast<const uint8_t *>(&Word));
  F.Key = keyOf(Word, F.Outline);
  F.Slot = slotOf(F.Key);
  return F;
}

bool CachedDecoder::decode(std::span<const uint8_t> Code, uint64_t Ip,
                           Op &Out) {
  if (Bytes Word = frontOf(Code); Word != Next.Word)
    Next = look(Word);
  const auto [Word, Outline, Key, Slot] = Next;
  if (!Outline.Length || Outline.Length > Code.size())
    return Behind->decode(Code, Ip, Out);
  if (Outline.Length < Code.size()) {
    Next = look(frontOf(Code.subspan(Outline.Length)));
    __builtin_prefetch(&Keys[Next.Slot]);
    const char *Kept = reinterpret_cast<const char *>(&Ops[Next.Slot]);
    for (size_t At = 0; At < sizeof(Op); At += FetchedBytes)
      __builtin_prefetch(Kept + At);
  }
  uint64_t To = Ip + Outline.Length + uint64_t(distanceIn(Word, Outline));
  if (Keys[Slot] == Key) {
    Out = Ops[Slot];
    Out.Ip = Ip;
    if (Outline.Distance)
      lead(Out, Outline, To);
    return true;
  }
  if (!Behind->decode(Code, Ip, Out))
    return false;
  if (Out.Length != Outline.Length || !isMovable(Out, Outline, To))
    return true;
  Keys[Slot] = Key;
  Ops[Slot] = Out;
  return true;
}

} // namespace linemate
