//===- Bytes.h - A bounds-checked position in untrusted bytes ---*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns the decoding of integers, LEB128 and strings of either byte order.
// Knows nothing of DWARF.  A read past the end yields zero, moves to the end
// and sets failed(): callers test once per entry, not once per read.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_BYTES_H
#define LINEMATE_DWARF_BYTES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SwapByteOrder.h"
#include <cstdint>
#include <cstring>

namespace linemate::dwarf {

class Cursor {
public:
  Cursor(llvm::StringRef Data, uint64_t Offset, uint64_t EndOffset, bool Swap)
      : Begin(Data.bytes_begin()),
        End(Begin + std::min<uint64_t>(EndOffset, Data.size())), Pos(Begin),
        Swap(Swap) {
    seek(Offset);
  }
  Cursor(llvm::StringRef Data, bool Swap)
      : Cursor(Data, 0, Data.size(), Swap) {}

  bool failed() const { return Fail; }
  bool atEnd() const { return Pos == End; }
  uint64_t offset() const { return Pos - Begin; }
  uint64_t left() const { return End - Pos; }
  const uint8_t *position() const { return Pos; }

  template <typename T> T read() {
    if (left() < sizeof(T))
      return fail();
    T Value;
    std::memcpy(&Value, Pos, sizeof(T));
    Pos += sizeof(T);
    return Swap ? llvm::byteswap(Value) : Value;
  }
  uint8_t u8() { return left() ? *Pos++ : static_cast<uint8_t>(fail()); }
  uint16_t u16() { return read<uint16_t>(); }
  uint32_t u32() { return read<uint32_t>(); }
  uint64_t u64() { return read<uint64_t>(); }
  uint64_t offsetOf(bool Is64) { return Is64 ? u64() : u32(); }

  /// An unsigned integer of 1 to 8 bytes.
  uint64_t uintOfSize(unsigned Size) {
    switch (Size) {
    case 1:
      return u8();
    case 2:
      return u16();
    case 4:
      return u32();
    case 8:
      return u64();
    default:
      break;
    }
    if (Size == 0 || Size > 8 || left() < Size)
      return fail();
    uint64_t Value = 0;
    bool Little = llvm::sys::IsLittleEndianHost != Swap;
    for (unsigned I = 0; I < Size; ++I)
      Value |= uint64_t(Pos[I]) << (8 * (Little ? I : Size - 1 - I));
    Pos += Size;
    return Value;
  }

  uint64_t uleb() {
    if (Pos != End && *Pos < 0x80) // nearly all are one byte
      return *Pos++;
    uint64_t Value = 0;
    for (unsigned Shift = 0; Pos != End; Shift += 7) {
      uint8_t Byte = *Pos++;
      if (Shift < 64)
        Value |= uint64_t(Byte & 0x7f) << Shift;
      if (Byte < 0x80)
        return Value;
    }
    return fail();
  }

  int64_t sleb() {
    uint64_t Value = 0;
    for (unsigned Shift = 0; Pos != End;) {
      uint8_t Byte = *Pos++;
      if (Shift < 64)
        Value |= uint64_t(Byte & 0x7f) << Shift;
      Shift += 7;
      if (Byte < 0x80) {
        if (Shift < 64 && (Byte & 0x40))
          Value |= ~uint64_t(0) << Shift;
        return static_cast<int64_t>(Value);
      }
    }
    return static_cast<int64_t>(fail());
  }

  llvm::StringRef string() {
    // A section that is not there has no bytes to search.
    const void *Zero = left() ? std::memchr(Pos, 0, left()) : nullptr;
    if (!Zero) {
      fail();
      return {};
    }
    const auto *Stop = static_cast<const uint8_t *>(Zero);
    llvm::StringRef Text(reinterpret_cast<const char *>(Pos), Stop - Pos);
    Pos = Stop + 1;
    return Text;
  }

  llvm::StringRef bytes(uint64_t Size) {
    if (left() < Size) {
      fail();
      return {};
    }
    llvm::StringRef Data(reinterpret_cast<const char *>(Pos), Size);
    Pos += Size;
    return Data;
  }

  void skip(uint64_t Size) {
    if (left() < Size)
      fail();
    else
      Pos += Size;
  }
  void seek(uint64_t Offset) {
    if (Offset > static_cast<uint64_t>(End - Begin))
      fail();
    else
      Pos = Begin + Offset;
  }

private:
  uint64_t fail() {
    Fail = true;
    Pos = End;
    return 0;
  }

  const uint8_t *Begin;
  const uint8_t *End;
  const uint8_t *Pos;
  bool Swap;
  bool Fail = false;
};

/// Names may each be the end of another: what is told of one is bounded.
constexpr size_t MaxStringBytes = 1 << 14;

/// The zero-terminated string at \p Offset, empty when out of range, cut where
/// it is longer than any name.
inline llvm::StringRef stringAt(llvm::StringRef Data, uint64_t Offset) {
  if (Offset >= Data.size())
    return {};
  const char *Start = Data.data() + Offset;
  size_t Most = std::min<size_t>(Data.size() - Offset, MaxStringBytes);
  const void *Zero = std::memchr(Start, 0, Most);
  if (!Zero)
    return Most == MaxStringBytes ? llvm::StringRef(Start, Most)
                                  : llvm::StringRef();
  return {Start, static_cast<size_t>(static_cast<const char *>(Zero) - Start)};
}

} // namespace linemate::dwarf

#endif
