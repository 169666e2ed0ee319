//===- Prefix.h - Parsing what units begin with only once ---------*- C++
//-*-===//
//
// Owns a process that has parsed the first #include of a group of units, and
// forks itself for each of them.
//
//   worker ──index──▶ server: parsed `#include "server.h"`, waits in the
//                     │       preprocessor where the main file goes on
//                     └─fork─▶ child: puts the unit's own text into the
//                              buffer, parses on, sends the facts
//
// Most of a C unit is its headers; a fork costs a millisecond.  The parser sees
// the same tokens as in a parse of its own, and the same end of the file.
//
// 59 of the 140 units of Redis begin alike: these take 4.5 s of processor time
// instead of 7.6, all units 6.9 instead of 10.4, with the same facts (one
// process, medians of 4 and 3 interleaved runs on a loaded machine).  Clang's
// own way, a precompiled header, saves two fifths as well where most of a
// header is never looked at (`clang -fsyntax-only`: 6.4 s instead of 11.3), but
// a fifth where all declarations are read, as they are here (`-ast-list`: 6.7
// instead of 8.4).  It rejects headers that end within a struct or a condition,
// and is a file, which confined processes do not write.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_PREFIX_H
#define LINEMATE_ANALYZER_PREFIX_H

#include "Overlay.h"
#include "Unit.h"

#include "llvm/ADT/StringRef.h"

#include <list>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace linemate {

/// The beginning of a source file up to its first directive, if that is an
/// #include and only blanks and comments are in front of it.
struct Beginning {
  llvm::StringRef Include; ///< the directive's operand: "server.h" or <stdio.h>
  size_t End = 0;          ///< behind the line of the directive
};
std::optional<Beginning> beginningOf(llvm::StringRef Content);

/// Units that begin alike, in one folder, under one set of flags.
struct PrefixGroup {
  std::string Include;
  size_t MaxBytes = 0; ///< of the largest unit
  size_t Units = 0;
};

/// For each unit its group, or null.  Small groups are none.
struct PrefixPlan {
  std::list<PrefixGroup> Groups;
  std::vector<const PrefixGroup *> OfUnit;
};
PrefixPlan planPrefixes(const std::vector<Command> &Commands,
                        const std::vector<Flags> &Normal,
                        const std::vector<size_t> &Units, const Overlay &Moved);

/// The servers of one worker.
class PrefixServers {
public:
  PrefixServers(UnitReader &Reader, const std::vector<Command> &Commands,
                const std::vector<Flags> &Normal, uint64_t MemoryBytes)
      : Reader(Reader), Commands(Commands), Normal(Normal),
        MemoryBytes(MemoryBytes) {}

  /// The unit's facts by way of its group; nothing where that does not work
  /// and the unit has to be read on its own.
  std::optional<UnitResult> read(const PrefixGroup &Group, size_t Unit);

private:
  struct Server {
    const PrefixGroup *Group = nullptr;
    pid_t Pid = -1;
    int Socket = -1; ///< -1: it does not work for this group
  };
  Server &serverFor(const PrefixGroup &Group, size_t Unit);
  void stop(Server &S);
  [[noreturn]] void serve(const PrefixGroup &Group, size_t Unit, int Socket);

  UnitReader &Reader;
  const std::vector<Command> &Commands;
  const std::vector<Flags> &Normal;
  uint64_t MemoryBytes;
  std::list<Server> Servers; ///< the last used is first
};

} // namespace linemate

#endif
