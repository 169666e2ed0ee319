//===- Columns.h - How wide the flat rows of facts are -----------*- C++
//-*-===//
//
// Owns the number of columns of each table that is a flat list of integers;
// the *_COLUMNS tuples of sharing/model/facts.py name them.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_COLUMNS_H
#define LINEMATE_ANALYZER_COLUMNS_H

#include <cstddef>

namespace linemate {

constexpr size_t AccessColumns = 16;
constexpr size_t CallColumns = 8;
constexpr size_t CallRarity = 5; ///< of the columns of a call
constexpr size_t ArgColumns = 6;
constexpr size_t LockOpColumns = 9;
constexpr size_t ZeroTestColumns = 7;
constexpr size_t BlockColumns = 5;
constexpr size_t LoopColumns = 3;

} // namespace linemate

#endif
