//===- RawRows.h - Rows as they stand in a file -----------------*- C++ -*-===//
//
// Owns taking rows of plain bytes off an input and writing them.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_RAWROWS_H
#define LINEMATE_ACCESS_RAWROWS_H

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

namespace linemate {

/// Takes \p Count records off the front of \p Raw; false when they are not
/// there.
template <typename T>
bool take(std::span<const uint8_t> &Raw, uint64_t Count, std::vector<T> &Out) {
  if (Count > Raw.size() / sizeof(T))
    return false;
  Out.resize(Count);
  if (Count)
    std::memcpy(Out.data(), Raw.data(), Count * sizeof(T));
  Raw = Raw.subspan(Count * sizeof(T));
  return true;
}

template <typename Row>
bool writeRows(std::FILE *Out, const std::vector<Row> &Rows) {
  return Rows.empty() ||
         std::fwrite(Rows.data(), sizeof(Row), Rows.size(), Out) == Rows.size();
}

} // namespace linemate

#endif
