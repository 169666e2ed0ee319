//===- Location.cpp - Locations that name one static address --------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Location.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

static Cursor expressionCursor(const UnitView &View, const Value &V) {
  return {View.U.data(), V.Position, V.Position + V.Bytes.size(),
          View.U.List->File.swap()};
}

/// A constant operand at the cursor, if the operation pushes one.
static std::optional<uint64_t> pushedConstant(const UnitView &View, Cursor &C,
                                              uint8_t Op) {
  switch (Op) {
  case DW_OP_const1u:
    return C.u8();
  case DW_OP_const2u:
    return C.u16();
  case DW_OP_const4u:
  case DW_OP_const4s: // offsets from the thread pointer are not negative here
    return C.u32();
  case DW_OP_const8u:
  case DW_OP_const8s:
    return C.u64();
  case DW_OP_constu:
    return C.uleb();
  case DW_OP_constx:
  case DW_OP_GNU_const_index: {
    uint64_t Constant = 0;
    int32_t Section = -1;
    if (View.indexedAddress(C.uleb(), Constant, Section))
      return Constant;
    return std::nullopt;
  }
  default:
    if (Op >= DW_OP_lit0 && Op <= DW_OP_lit31)
      return Op - DW_OP_lit0;
    return std::nullopt;
  }
}

std::optional<StaticLocation> staticLocation(const UnitView &View,
                                             const Value &Expression) {
  Cursor C = expressionCursor(View, Expression);
  StaticLocation L;
  uint8_t Op = C.u8();
  bool IsConstant = false; // only an address once a TLS operation follows
  if (Op == DW_OP_addr) {
    L.Section = View.U.section().targetOf(C.offset());
    L.Address = C.uintOfSize(View.U.Sizes.AddressSize);
  } else if (Op == DW_OP_addrx || Op == DW_OP_GNU_addr_index) {
    if (!View.indexedAddress(C.uleb(), L.Address, L.Section))
      return std::nullopt;
  } else if (auto Constant = pushedConstant(View, C, Op)) {
    L.Address = *Constant;
    IsConstant = true;
  } else {
    return std::nullopt;
  }
  while (!C.atEnd() && !C.failed()) {
    Op = C.u8();
    if (Op == DW_OP_form_tls_address || Op == DW_OP_GNU_push_tls_address) {
      L.Tls = true;
    } else if (Op == DW_OP_plus_uconst) {
      L.Address += C.uleb();
    } else if (Op == DW_OP_piece || Op == DW_OP_bit_piece) {
      L.Piece = true;
      break;
    } else if (auto Constant = pushedConstant(View, C, Op)) {
      uint8_t Next = C.u8();
      if (Next != DW_OP_plus && Next != DW_OP_minus)
        return std::nullopt;
      L.Address += Next == DW_OP_plus ? *Constant : -*Constant;
    } else {
      // A dereference or DW_OP_stack_value: the variable itself is elsewhere
      // or nowhere.
      return std::nullopt;
    }
  }
  if (C.failed() || (IsConstant && !L.Tls))
    return std::nullopt;
  if (View.U.Sizes.AddressSize < 8)
    L.Address &= (uint64_t(1) << (8 * View.U.Sizes.AddressSize)) - 1;
  if (L.Tls)
    L.Section = -1;
  return L;
}

std::optional<uint64_t> memberOffset(const UnitView &View,
                                     const Value &Expression) {
  Cursor C = expressionCursor(View, Expression);
  uint8_t Op = C.u8();
  uint64_t Offset = 0;
  if (Op == DW_OP_plus_uconst) {
    Offset = C.uleb();
  } else if (auto Constant = pushedConstant(View, C, Op)) {
    Offset = *Constant;
    if (!C.atEnd() && C.u8() != DW_OP_plus)
      return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (C.failed() || !C.atEnd())
    return std::nullopt;
  return Offset;
}

} // namespace linemate::dwarf
