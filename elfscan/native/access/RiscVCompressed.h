//===- RiscVCompressed.h - The C extension in long form ---------*- C++ -*-===//
//
// Owns the expansion of 16-bit instructions of rv64gc.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_RISCVCOMPRESSED_H
#define LINEMATE_ACCESS_RISCVCOMPRESSED_H

#include <cstdint>

namespace linemate {

/// The 32-bit instruction that does the same as \p Half, 0 where \p Half is
/// reserved or of an extension beyond rv64gc.
uint32_t expandCompressed(uint16_t Half);

} // namespace linemate

#endif // LINEMATE_ACCESS_RISCVCOMPRESSED_H
