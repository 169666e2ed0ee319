//===- Bounds.h - Which way of a branch is out of an array ------*- C++ -*-===//
//
// Owns checks of a number that then chooses an element of an array, or the case
// of a switch: what is out of bounds is an error, or at least not the usual.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_BOUNDS_H
#define LINEMATE_ACCESS_BOUNDS_H

#include "Graph.h"
#include "Op.h"

#include <cstdint>
#include <span>
#include <vector>

namespace linemate {

/// By block: does a check of bounds lead there, and nothing but the branches of
/// checks?  What else leads there is an error as well.  What also goes on there
/// is what follows, be the number in bounds or not.
void findOutOfBounds(const Graph &G, std::span<const Op> Ops,
                     std::vector<uint8_t> &Out);

} // namespace linemate

#endif // LINEMATE_ACCESS_BOUNDS_H
