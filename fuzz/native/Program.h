//===- Program.h - Small C and C++ programs out of bytes --------*- C++ -*-===//
//
// Owns a grammar of programs that compile, mostly: records, variables,
// functions that access them, locks, atomics, threads.  Each byte of the input
// is one choice; where there are none left the simplest is taken.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_FUZZ_PROGRAM_H
#define LINEMATE_FUZZ_PROGRAM_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace linemate::fuzz {

std::string makeProgram(const uint8_t *Bytes, size_t Size, bool IsCxx);

} // namespace linemate::fuzz

#endif
