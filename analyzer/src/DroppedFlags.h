//===- DroppedFlags.h - What of the flags is left out, for people -*- C++
//-*-===//
//
// Owns the one note about them: counted, and bounded however many there are.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_DROPPEDFLAGS_H
#define LINEMATE_ANALYZER_DROPPEDFLAGS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <string>
#include <vector>

namespace linemate {

class DroppedFlags {
public:
  /// Of one unit; a flag that it names twice counts once.
  void add(const std::vector<std::string> &Flags);

  /// "" where nothing was left out.
  std::string note() const;

private:
  llvm::StringMap<size_t> Units; ///< how many name a flag
  std::vector<llvm::StringRef> Order;
  size_t Unlisted = 0; ///< times that a flag came when there were too many
};

} // namespace linemate

#endif
