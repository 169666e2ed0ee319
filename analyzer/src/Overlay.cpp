//===- Overlay.cpp - One folder in the place of another -------------------===//
//
// Owns which paths lie below a folder, however they are spelled.
//
//===----------------------------------------------------------------------===//

#include "Overlay.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace linemate {

static bool isBelow(StringRef Path, StringRef Top) {
  return Path.consume_front(Top) && (Path.empty() || Path.front() == '/');
}

/// Whether ".." leads out of the folder that the relative path begins in.
static bool leaves(StringRef Relative) {
  SmallString<256> Clean(Relative);
  sys::path::remove_dots(Clean, /*remove_dot_dot=*/true);
  return StringRef(Clean).starts_with("..");
}

std::string Overlay::locate(StringRef Path) const {
  if (Tree.empty())
    return Path.str();
  SmallString<256> Clean(Path);
  sys::path::remove_dots(Clean, /*remove_dot_dot=*/true);
  for (StringRef Top : Tops) {
    if (!isBelow(Clean, Top))
      continue;
    StringRef Rest = StringRef(Clean).drop_front(Top.size());
    // As it is spelled where that stays below: behind a link, ".." leads
    // elsewhere.
    if (isBelow(Path, Top) && !leaves(Path.drop_front(Top.size()).ltrim('/')))
      Rest = Path.drop_front(Top.size());
    return (Tree + Rest).str();
  }
  return Path.str();
}

} // namespace linemate
