//===- Confine.h - What a native tool may still do ----------------*- C++
//-*-===//
//
// Owns the confinement that all native tools share: they parse what anybody may
// have written, so that a mistake in a parser must not become a program that
// runs, a file that is written, a connection, or a process that stays.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_CONFINE_H
#define LINEMATE_CONFINE_H

#include <string>
#include <sys/types.h>

namespace linemate {

/// What stays possible besides computing, threads, reading files, and writing
/// to what is open already.
struct Allowed {
  bool Forks = false;         ///< make processes and wait for them
  bool Kills = false;         ///< end them
  std::string WritableFolder; ///< files below may be made, changed and removed
};

/// What is in force.
struct Confinement {
  int Landlock = 0;    ///< the kernel's version of it; 0: none
  bool Filter = false; ///< of system calls

  bool isNone() const { return !Landlock && !Filter; }
  /// One line for people.
  std::string text() const;
};

/// Ends this process when its parent ends, and at once where that has ended
/// already.  The starter of a tool names itself in LINEMATE_PARENT_PID; without
/// that an end before this call goes unnoticed.
void dieWithParent();
/// The same for a forked process, whose parent is known.  It has to be confined
/// at least as its parent is: a signal to the outside is refused.
void dieWithParent(pid_t Parent);

/// Ends this process after LINEMATE_LIMIT_S or \p DefaultSeconds, by the clock
/// or by that time on every processor, whatever its parent does.
void limitLifetime(unsigned DefaultSeconds);

/// Each layer alone; 0 and false where the kernel has it not.  To be called
/// before there are threads.
int restrictFiles(const std::string &WritableFolder);
bool filterCalls(const Allowed &Rights);

/// Both layers.  A layer that the kernel lacks is missing in the answer.
Confinement confine(const Allowed &Rights);

/// For a tool without processes of its own: dies with its parent, has a limit
/// on its lifetime, and is confined.  Says so on standard error where the
/// kernel offers no confinement.
Confinement confineTool(const char *Name);

} // namespace linemate

#endif
