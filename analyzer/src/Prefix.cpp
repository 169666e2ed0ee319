//===- Prefix.cpp - Which units begin alike -------------------------------===//
//
// Owns the recognition of a beginning that can be shared: blanks, comments,
// and an #include.
//
//===----------------------------------------------------------------------===//

#include "Prefix.h"

#include "RegularFile.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace llvm;

namespace linemate {

namespace {

constexpr size_t MaxSharedBytes = 16 << 20; // of a unit
constexpr size_t MinUnits = 4;              // for a process of their own

/// Skips blanks and comments, newlines only where \p Newlines says so; false
/// for what needs the preprocessor to be understood.
bool skipBlank(StringRef &Text, bool Newlines) {
  for (;;) {
    Text = Text.ltrim(Newlines ? " \t\f\v\r\n" : " \t\f\v\r");
    if (Text.starts_with("//")) {
      StringRef Line = Text.take_until([](char C) { return C == '\n'; });
      if (Line.rtrim("\r \t").ends_with("\\"))
        return false;
      Text = Text.drop_front(Line.size());
    } else if (Text.starts_with("/*")) {
      size_t End = Text.find("*/", 2);
      if (End == StringRef::npos)
        return false;
      if (!Newlines && Text.take_front(End).contains('\n'))
        return false;
      Text = Text.drop_front(End + 2);
    } else {
      return !Text.starts_with("\\");
    }
  }
}

} // namespace

std::optional<Beginning> beginningOf(StringRef Content) {
  // The name of the main file shows through these.
  if (Content.contains('\0') || Content.contains("__BASE_FILE__") ||
      Content.contains("?\?/"))
    return std::nullopt;
  StringRef Rest = Content;
  if (!skipBlank(Rest, /*Newlines=*/true) || !Rest.consume_front("#") ||
      !skipBlank(Rest, /*Newlines=*/false) || !Rest.consume_front("include"))
    return std::nullopt;
  Rest = Rest.ltrim(" \t");
  char Close = Rest.starts_with("\"")  ? '"'
               : Rest.starts_with("<") ? '>'
                                       : '\0';
  size_t End = Close ? Rest.find(Close, 1) : StringRef::npos;
  if (End == StringRef::npos || Rest.take_front(End).contains('\n'))
    return std::nullopt;
  Beginning Out;
  Out.Include = Rest.take_front(End + 1);
  Rest = Rest.drop_front(End + 1);
  if (!skipBlank(Rest, /*Newlines=*/false) || !Rest.consume_front("\n"))
    return std::nullopt;
  Out.End = Content.size() - Rest.size();
  return Out;
}

PrefixPlan planPrefixes(const std::vector<Command> &Commands,
                        const std::vector<Flags> &Normal,
                        const std::vector<size_t> &Units,
                        const Overlay &Moved) {
  PrefixPlan Out;
  Out.OfUnit.assign(Commands.size(), nullptr);
  StringMap<PrefixGroup *> Known;
  std::vector<std::pair<size_t, PrefixGroup *>> Members;
  for (size_t Unit : Units) {
    const Command &From = Commands[Unit];
    auto Buffer = readRegularFile(Moved.locate(From.File), MaxSharedBytes);
    if (!Buffer || !Normal[Unit].Problem.empty())
      continue;
    std::optional<Beginning> Begin = beginningOf((*Buffer)->getBuffer());
    if (!Begin)
      continue;
    std::string Key = sys::path::parent_path(From.File).str() + '\0' +
                      From.Directory + '\0' + Begin->Include.str() + '\0' +
                      Normal[Unit].Language;
    for (const std::string &Argument : Normal[Unit].Arguments)
      Key += '\0' + Argument;
    PrefixGroup *&Group = Known[Key];
    if (!Group) {
      Out.Groups.push_back({Begin->Include.str(), 0, 0});
      Group = &Out.Groups.back();
    }
    Group->MaxBytes = std::max(Group->MaxBytes, (*Buffer)->getBufferSize());
    ++Group->Units;
    Members.emplace_back(Unit, Group);
  }
  for (auto [Unit, Group] : Members)
    if (Group->Units >= MinUnits)
      Out.OfUnit[Unit] = Group;
  return Out;
}

} // namespace linemate
