//===- Overlay.h - One folder in the place of another -------------*- C++
//-*-===//
//
// Owns where a file is that is read in the place of another.  A revision is
// read as if it were the working tree: paths, and what is made of them, are
// those of today.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_OVERLAY_H
#define LINEMATE_ANALYZER_OVERLAY_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace linemate {

struct Overlay {
  std::vector<std::string> Tops; ///< absolute, without dots
  std::string Tree;              ///< in the place of each; "" none is replaced

  /// Where the file of that path is.  What the tree lacks is not there.
  std::string locate(llvm::StringRef Path) const;
};

} // namespace linemate

#endif
