//===- Stages.h - Stages of a round that all threads take ------*- C++ -*-===//
//
// Owns at which stage each block of a function is between places where all
// threads of a group wait for each other, as elfscan/native/access/Places.cpp
// says it of machine code: if every way around every loop passes a multiple of
// N of them, and ways that meet differ by one, a block is at the same stage of
// N whenever it is come to.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_STAGES_H
#define LINEMATE_ANALYZER_FUNCTION_STAGES_H

#include "clang/Analysis/CFG.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace linemate {

/// Calls at which a thread arrives for itself and waits for all others; the
/// names of sharing/model/meetings.py, as source spells them.
bool waitsForAll(llvm::StringRef QualifiedName);

class Stages {
public:
  /// A call in a block that waits for all.
  void waits(unsigned Block) { Waits.push_back(Block); }
  void count(const clang::CFG &Graph);

  /// How many stages a round has; 1 where ways around loops pass any number, 0
  /// where nothing is known of the block.
  unsigned number(unsigned Block) const;
  /// That which the block begins in.
  unsigned at(unsigned Block) const { return First[Block] % Number; }

private:
  std::vector<unsigned> Waits;
  std::vector<uint32_t> First; ///< by block, waits that are passed before it
  unsigned Number = 0;
};

} // namespace linemate

#endif
