//===- Options.cpp - The command line of linemate-facts -------------------===//
//
// Owns parsing it.  Not llvm::cl, which would bring the options of every
// library that is linked in.
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <unistd.h>

using namespace llvm;

namespace linemate {

namespace {

constexpr const char *Usage =
    "usage: linemate-facts [options] [SOURCE...] [-- FLAGS...]\n"
    "\n"
    "Facts about variables, records and accesses of C and C++ source, as JSON\n"
    "Lines on standard output.\n"
    "\n"
    "  -p PATH              compile_commands.json or its folder; SOURCEs then\n"
    "                       choose from it\n"
    "  -j N                 processes (default 1)\n"
    "  --knowledge DIR      folder of lockable.json and libraries/*.json\n"
    "  --project-rows FILE  further rows, which win\n"
    "  --cache DIR          keeps the facts of unchanged units\n"
    "  --cache-size MB      bound of that folder (default 1024)\n"
    "  --timeout S          for one unit (default 300)\n"
    "  --memory MB          for one process (default 2048)\n"
    "  --resource-dir DIR   clang's own headers\n"
    "  --top DIR            with --tree: what is below DIR (repeatable) is\n"
    "  --tree DIR           read from that folder instead\n"
    "  --progress           lines \"DONE/ALL\" on standard error\n"
    "  --no-shared-prefix   parse each unit from its first line\n"
    "  --version            version of the tool and of clang\n"
    "  -- FLAGS             compile SOURCEs with these instead of -p\n";

Error wrong(const Twine &Text) {
  return createStringError(inconvertibleErrorCode(), Text);
}

/// The folder that is \p Levels above this tool.
SmallString<256> folderAbove(int Levels) {
  SmallString<256> Path(
      sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&wrong)));
  for (int I = 0; I <= Levels; ++I)
    sys::path::remove_filename(Path); // an assignment would read what it writes
  return Path;
}

/// The tables' place relative to the tool, in a build tree and in a package.
std::string defaultKnowledge() {
  SmallString<256> Path = folderAbove(3);
  sys::path::append(Path, "sharing", "knowledge");
  return std::string(Path);
}

/// A package brings clang's own headers; "" in a build tree, where those of
/// the installed clang are meant.
std::string defaultResources() {
  SmallString<256> Path = folderAbove(1);
  sys::path::append(Path, "lib", "clang", Twine(LLVM_VERSION_MAJOR));
  return sys::fs::is_directory(Path) ? std::string(Path) : std::string();
}

} // namespace

Expected<Options> readOptions(int Argc, char **Argv) {
  Options Out;
  for (int I = 1; I < Argc; ++I) {
    StringRef Word = Argv[I];
    if (Word == "--") {
      Out.HasFlags = true;
      Out.Flags.assign(Argv + I + 1, Argv + Argc);
      break;
    }
    if (Word == "--help" || Word == "-h") {
      outs() << Usage;
      std::exit(0);
    }
    if (Word == "--version") {
      outs() << "linemate-facts " LINEMATE_VERSION " clang "
             << LINEMATE_CLANG_VERSION << '\n';
      std::exit(0);
    }
    if (Word == "--no-shared-prefix") {
      Out.SharePrefixes = false;
      continue;
    }
    if (Word == "--progress") {
      Out.Progress = true;
      continue;
    }
    if (!Word.starts_with("-")) {
      Out.Sources.push_back(Word.str());
      continue;
    }
    StringRef Name = Word, Value;
    bool HasValue = false;
    if (Word.starts_with("-j") && Word.size() > 2) {
      Name = "-j";
      Value = Word.drop_front(2);
      HasValue = true;
    } else if (size_t Equal = Word.find('=');
               Word.starts_with("--") && Equal != StringRef::npos) {
      Name = Word.take_front(Equal);
      Value = Word.drop_front(Equal + 1);
      HasValue = true;
    }
    auto Text = [&](std::string &To) { To = Value.str(); };
    auto Number = [&](auto &To, uint64_t Max, uint64_t Unit) -> Error {
      uint64_t Parsed = 0;
      if (Value.getAsInteger(10, Parsed) || Parsed == 0 || Parsed > Max)
        return wrong(Name + ": expected a number from 1 to " + Twine(Max));
      To = static_cast<std::remove_reference_t<decltype(To)>>(Parsed * Unit);
      return Error::success();
    };
    bool IsKnown = is_contained(
        {StringRef("-p"), StringRef("-j"), StringRef("--knowledge"),
         StringRef("--project-rows"), StringRef("--cache"),
         StringRef("--cache-size"), StringRef("--timeout"),
         StringRef("--memory"), StringRef("--resource-dir"), StringRef("--top"),
         StringRef("--tree")},
        Name);
    if (!IsKnown)
      return wrong("unknown option " + Name + "; see --help");
    if (!HasValue) {
      if (++I >= Argc)
        return wrong(Name + ": expected a value");
      Value = Argv[I];
    }
    Error Problem = Error::success();
    if (Name == "-p")
      Text(Out.Database);
    else if (Name == "--knowledge")
      Text(Out.Knowledge);
    else if (Name == "--project-rows")
      Text(Out.ProjectRows);
    else if (Name == "--cache")
      Text(Out.Cache);
    else if (Name == "--resource-dir")
      Text(Out.ResourceDirectory);
    else if (Name == "--top")
      Out.Moved.Tops.push_back(Value.str());
    else if (Name == "--tree")
      Text(Out.Moved.Tree);
    else if (Name == "-j")
      Problem = Number(Out.Limits.Jobs, 1024, 1);
    else if (Name == "--cache-size")
      Problem = Number(Out.CacheBytes, 1 << 20, 1 << 20);
    else if (Name == "--timeout")
      Problem = Number(Out.Limits.TimeoutSeconds, 86'400, 1);
    else
      Problem = Number(Out.Limits.MemoryBytes, 1 << 20, 1 << 20);
    if (Problem)
      return Problem;
  }
  if (Out.Database.empty() == !Out.HasFlags)
    return wrong("expected either -p or -- FLAGS; see --help");
  if (Out.Moved.Tops.empty() != Out.Moved.Tree.empty())
    return wrong("--top and --tree belong together; see --help");
  if (Out.HasFlags && Out.Sources.empty())
    return wrong("expected source files in front of --");
  if (Out.Knowledge.empty())
    Out.Knowledge = defaultKnowledge();
  if (Out.ResourceDirectory.empty())
    Out.ResourceDirectory = defaultResources();
  return Out;
}

} // namespace linemate
