//===- RegularFile.h - Reading that neither waits nor ends never --*- C++
//-*-===//
//
// Owns what may be opened at all.  Names of files come from flags and from
// source that anybody wrote: a FIFO would make the reader wait for ever, and a
// device has no end.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_REGULARFILE_H
#define LINEMATE_ANALYZER_REGULARFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <memory>
#include <system_error>

namespace linemate {

constexpr uint64_t MaxSourceBytes = 128ULL << 20;

/// Why a file of this type cannot be read; no error for a regular one.
std::error_code refusalOf(llvm::sys::fs::file_type Type);

/// The content of a regular file as large as it was when it was opened;
/// /dev/null is an empty one.  \p Mapped: the file does not change meanwhile.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
readRegularFile(llvm::StringRef Path, uint64_t MaxBytes = MaxSourceBytes,
                bool Mapped = false);

} // namespace linemate

#endif
