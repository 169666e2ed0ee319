//===- Frame.h - A unit's result between processes ----------------*- C++
//-*-===//
//
// Owns the bytes: their number, then strings with their lengths.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FRAME_H
#define LINEMATE_ANALYZER_FRAME_H

#include "Unit.h"

#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <string>

namespace linemate {

constexpr uint64_t MaxFrameBytes = 1ULL << 30;

/// With the eight bytes of its size in front.
std::string frame(const UnitResult &Result);

/// \p In is without the size.  False for bytes that no frame() made.
bool unframe(llvm::StringRef In, UnitResult &Out);

/// All bytes or false.
bool sendAll(int Socket, const char *Data, size_t Size);
bool receiveAll(int Socket, char *Data, size_t Size);

/// Why a child ended as waitpid's \p Status says.
std::string reasonOfEnd(int Status, uint64_t MemoryBytes);

/// Exit status of a process that ran out of memory.
constexpr int OutOfMemoryStatus = 77;

} // namespace linemate

#endif
