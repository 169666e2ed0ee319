//===- Landlock.cpp - No file is changed, nothing executed or connected ---===//
//
// Owns the Landlock layer: the kernel's own interface, since Debian 12 has no
// library for it, and its kernel header is older than many kernels.
//
//===----------------------------------------------------------------------===//

#include "Confine.h"

#include <algorithm>
#include <cstdint>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace linemate {

namespace {

// The numbers are the same on all architectures, and the structures grow only
// at their ends (the kernel's Documentation/userspace-api/landlock.rst).
constexpr long CreateRuleset = 444, AddRule = 445, RestrictSelf = 446;
constexpr uint32_t AskVersion = 1, PathBeneath = 1;

struct RulesetAttributes {
  uint64_t HandledFiles = 0;
  uint64_t HandledNetwork = 0; // since version 4
  uint64_t Scoped = 0;         // since version 6
};
struct __attribute__((packed)) PathAttributes {
  uint64_t Access;
  int32_t Folder;
};

namespace access {
constexpr uint64_t Execute = 1 << 0, WriteFile = 1 << 1, RemoveDir = 1 << 4,
                   RemoveFile = 1 << 5, MakeChar = 1 << 6, MakeDir = 1 << 7,
                   MakeRegular = 1 << 8, MakeSocket = 1 << 9,
                   MakeFifo = 1 << 10, MakeBlock = 1 << 11, MakeLink = 1 << 12,
                   Refer = 1 << 13, Truncate = 1 << 14, DeviceIoctl = 1 << 15;
constexpr uint64_t BindTcp = 1 << 0, ConnectTcp = 1 << 1;
constexpr uint64_t AbstractSocket = 1 << 0, Signal = 1 << 1;
} // namespace access

/// All but reading, which headers and debug files anywhere need.
RulesetAttributes handledBy(int Version) {
  using namespace access;
  RulesetAttributes Out;
  Out.HandledFiles = Execute | WriteFile | RemoveDir | RemoveFile | MakeChar |
                     MakeDir | MakeRegular | MakeSocket | MakeFifo | MakeBlock |
                     MakeLink;
  if (Version >= 2)
    Out.HandledFiles |= Refer;
  if (Version >= 3)
    Out.HandledFiles |= Truncate;
  if (Version >= 4)
    Out.HandledNetwork = BindTcp | ConnectTcp;
  if (Version >= 5)
    Out.HandledFiles |= DeviceIoctl;
  if (Version >= 6)
    Out.Scoped = AbstractSocket | Signal;
  return Out;
}

size_t sizeIn(int Version) {
  return Version >= 6   ? sizeof(RulesetAttributes)
         : Version >= 4 ? 2 * sizeof(uint64_t)
                        : sizeof(uint64_t);
}

void allowBelow(int Ruleset, const std::string &Folder, uint64_t Handled) {
  int At = ::open(Folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (At < 0)
    return;
  using namespace access;
  PathAttributes Rule{
      Handled & (WriteFile | RemoveFile | MakeRegular | MakeDir | Truncate),
      At};
  ::syscall(AddRule, Ruleset, PathBeneath, &Rule, 0);
  ::close(At);
}

} // namespace

int restrictFiles(const std::string &WritableFolder) {
  long Version = ::syscall(CreateRuleset, nullptr, 0, AskVersion);
  if (Version < 1 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    return 0;
  RulesetAttributes Attributes = handledBy(int(Version));
  int Ruleset = int(
      ::syscall(CreateRuleset, &Attributes, sizeIn(int(Version)), uint32_t(0)));
  if (Ruleset < 0)
    return 0;
  if (!WritableFolder.empty())
    allowBelow(Ruleset, WritableFolder, Attributes.HandledFiles);
  bool IsOn = ::syscall(RestrictSelf, Ruleset, uint32_t(0)) == 0;
  ::close(Ruleset);
  return IsOn ? int(Version) : 0;
}

} // namespace linemate
