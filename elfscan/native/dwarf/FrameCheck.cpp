//===- FrameCheck.cpp - Whether LLVM may read a frame section -------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "FrameCheck.h"
#include "llvm/ADT/DenseMapInfo.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

constexpr uint8_t StatesAddressSize = 4; // from this version on

/// LLVM looks a CIE up in a DenseMap under whatever number an entry gives, and
/// takes what is not even set up in it for two of them.
static bool isKey(uint64_t Number) {
  using Info = DenseMapInfo<uint64_t>;
  return Number != Info::getEmptyKey() && Number != Info::getTombstoneKey();
}

/// LLVM reads addresses of whatever size a CIE gives, and has code for four.
static bool hasAddresses(const DWARFDataExtractor &Data, uint64_t At) {
  if (Data.getU8(&At) < StatesAddressSize)
    return true;
  Data.getCStr(&At);
  uint8_t Bytes = Data.getU8(&At);
  return Bytes == 1 || Bytes == 2 || Bytes == 4 || Bytes == 8;
}

bool isSafeToRead(const DWARFDataExtractor &Data, bool IsEh) {
  for (uint64_t At = 0; Data.isValidOffset(At);) {
    auto [Length, Format] = Data.getInitialLength(&At);
    if (!Length)
      return true; // the end, for LLVM as well
    const uint64_t Start = At, End = At + Length;
    bool IsWide = Format == DWARF64 && !IsEh;
    Error Failed = Error::success();
    uint64_t Id = Data.getRelocatedValue(IsWide ? 8 : 4, &At, nullptr, &Failed);
    if (Failed) {
      consumeError(std::move(Failed));
      return true;
    }
    uint64_t CieId = IsEh ? 0 : IsWide ? DW64_CIE_ID : DW_CIE_ID;
    if (Id == CieId ? !hasAddresses(Data, At) : !isKey(IsEh ? Start - Id : Id))
      return false;
    if (End < At)
      return true; // refused by LLVM
    At = End;
  }
  return true;
}

} // namespace linemate::dwarf
