//===- DecodeAArch64.cpp - aarch64 instructions as Ops --------------------===//
//
// Owns the translation from capstone's arm64 detail.  Not written yet: a plan
// for aarch64 is refused with a reason.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

namespace linemate {

std::unique_ptr<Decoder> makeAArch64Decoder() { return nullptr; }

} // namespace linemate
