//===- Architectures.cpp - The table of architectures that are decoded ----===//
//
// Owns which rows there are: one line each, defined beside its decoder.
//
//===----------------------------------------------------------------------===//

#include "Architectures.h"

namespace linemate {

extern const Architecture X86Row, AArch64Row, RiscV64Row;

static const Architecture *const Rows[] = {
    &X86Row,
    &AArch64Row,
    &RiscV64Row,
};

std::span<const Architecture *const> architectures() { return Rows; }

const Architecture *findArchitecture(uint32_t Number) {
  for (const Architecture *Row : Rows)
    if (uint32_t(Row->Number) == Number)
      return Row;
  return nullptr;
}

} // namespace linemate
