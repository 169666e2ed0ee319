//===- Stream.cpp - All units to one stream -------------------------------===//
//
// Owns the choice of units and the lines around them.
//
//===----------------------------------------------------------------------===//

#include "Stream.h"

#include "Cache.h"
#include "Database.h"
#include "Flags.h"
#include "Json.h"
#include "Knowledge.h"
#include "Prefix.h"
#include "Unit.h"
#include "Workers.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <unistd.h>

using namespace llvm;

namespace linemate {

namespace {

/// Standard output, buffered.
class Output {
public:
  Error line(StringRef Text) {
    if (Error E = all(Text))
      return E;
    return all("\n");
  }
  ~Output() { consumeError(flush()); }

  Error flush() {
    StringRef Left = Pending;
    while (!Left.empty()) {
      ssize_t Written = ::write(STDOUT_FILENO, Left.data(), Left.size());
      if (Written < 0 && errno == EINTR)
        continue;
      if (Written <= 0) {
        Pending.clear();
        return createStringError(
            std::error_code(errno, std::generic_category()), "cannot write: %s",
            strerror(errno));
      }
      Left = Left.drop_front(size_t(Written));
    }
    Pending.clear();
    return Error::success();
  }

private:
  // The analyzer takes the payload that Error owns for leaked.
  Error all(StringRef Text) {
    Pending.append(Text.data(), Text.size());
    return Pending.size() < BufferBytes ? Error::success() : flush();
  } // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks)

  static constexpr size_t BufferBytes = 1 << 18;
  std::string Pending;
};

class Progress {
public:
  Progress(bool Lines, size_t All)
      : Lines(Lines), IsTerminal(!Lines && isatty(STDERR_FILENO)), All(All) {}
  ~Progress() {
    if (IsTerminal && Shown)
      errs() << "\r\033[K";
  }

  void show(size_t Done) {
    if (!Lines && !IsTerminal)
      return;
    auto Now = std::chrono::steady_clock::now();
    if (Done != All && Now - Last < std::chrono::milliseconds(100))
      return;
    Last = Now;
    Shown = true;
    if (Lines)
      errs() << Done << '/' << All << '\n';
    else
      errs() << "\r\033[Kreading source: " << Done << '/' << All;
  }

private:
  bool Lines;
  bool IsTerminal;
  size_t All;
  bool Shown = false;
  std::chrono::steady_clock::time_point Last;
};

std::string header() {
  JsonText Out;
  Out.open('{');
  Out.field("kind", StringRef("header"));
  Out.field("schema", StringRef("linemate-facts-1"));
  Out.field("tool", StringRef(LINEMATE_VERSION));
  Out.field("clang", StringRef(LINEMATE_CLANG_VERSION));
  Out.close('}');
  return Out.text();
}

std::string failure(StringRef Path, StringRef Reason) {
  JsonText Out;
  Out.open('{');
  Out.field("kind", StringRef("failure"));
  Out.field("path", Path);
  Out.field("reason", Reason);
  Out.close('}');
  return Out.text();
}

std::string note(StringRef Text) {
  JsonText Out;
  Out.open('{');
  Out.field("kind", StringRef("note"));
  Out.field("text", Text);
  Out.close('}');
  return Out.text();
}

/// The units that \p Asked names, and what it names in vain.
struct Plan {
  std::vector<Command> Commands;
  std::vector<Flags> Normal; ///< of each command
  std::vector<std::string> Unmatched;
  size_t OtherLanguages = 0;
};

void chooseSources(Plan &Out, const std::vector<std::string> &Sources,
                   StringRef Here) {
  if (Sources.empty())
    return;
  StringMap<bool> Wanted;
  for (const std::string &Source : Sources)
    Wanted[absolutePath(Source, Here)] = false;
  erase_if(Out.Commands, [&](const Command &C) {
    auto Found = Wanted.find(C.File);
    if (Found == Wanted.end())
      return true;
    Found->second = true;
    return false;
  });
  for (const std::string &Source : Sources)
    if (std::string Path = absolutePath(Source, Here); !Wanted[Path])
      Out.Unmatched.push_back(Path);
}

Command commandFor(StringRef Source, const std::vector<std::string> &Flags,
                   StringRef Here) {
  Command Out;
  Out.Directory = Here.str();
  Out.File = absolutePath(Source, Here);
  size_t First = 0;
  if (!Flags.empty() && !StringRef(Flags.front()).starts_with("-"))
    First = 1;
  StringRef Suffix = sys::path::extension(Source);
  Out.Arguments.push_back(First                              ? Flags.front()
                          : Suffix == ".c" || Suffix == ".i" ? "cc"
                                                             : "c++");
  Out.Arguments.insert(Out.Arguments.end(), Flags.begin() + ptrdiff_t(First),
                       Flags.end());
  return Out;
}

Expected<Plan> makePlan(const Options &Asked) {
  SmallString<256> Here;
  if (std::error_code E = sys::fs::current_path(Here))
    return createStringError(E, "the current folder is gone");
  Plan Out;
  if (Asked.HasFlags) {
    for (const std::string &Source : Asked.Sources)
      Out.Commands.push_back(commandFor(Source, Asked.Flags, Here));
  } else {
    Expected<std::vector<Command>> Commands = readDatabase(Asked.Database);
    if (!Commands)
      return Commands.takeError();
    Out.Commands = std::move(*Commands);
    chooseSources(Out, Asked.Sources, Here);
  }
  auto Files = vfs::getRealFileSystem();
  std::vector<Command> Kept;
  StringSet<> Seen;
  for (Command &C : Out.Commands) {
    Flags F = normalisedFlags(C, *Files);
    if (F.Language.empty()) {
      ++Out.OtherLanguages;
      continue;
    }
    // Commands that differ in their output only say the same.
    std::string Key = C.Directory + '\0' + C.File + '\0' + F.Language;
    for (const std::string &Argument : F.Arguments)
      Key += '\0' + Argument;
    if (!Seen.insert(Key).second)
      continue;
    Kept.push_back(std::move(C));
    Out.Normal.push_back(std::move(F));
  }
  Out.Commands = std::move(Kept);
  return Out;
}

} // namespace

Error streamFacts(const Options &Asked) {
  signal(SIGPIPE, SIG_IGN);
  Expected<Knowledge> Rows =
      Knowledge::load(Asked.Knowledge, Asked.ProjectRows);
  if (!Rows)
    return Rows.takeError();
  Expected<Plan> Todo = makePlan(Asked);
  if (!Todo)
    return Todo.takeError();

  Output Out;
  if (Error E = Out.line(header()))
    return E;
  size_t Failed = 0;
  for (const std::string &Path : Todo->Unmatched) {
    ++Failed;
    if (Error E = Out.line(failure(Path, "not in the compile database")))
      return E;
  }

  std::vector<std::string> Notes;
  StringSet<> NoteSeen;
  auto Note = [&](const std::string &Text) {
    if (NoteSeen.insert(Text).second)
      Notes.push_back(Text);
  };
  for (const Flags &F : Todo->Normal)
    for (const std::string &Flag : F.Dropped)
      Note("flag ignored: " + Flag);
  if (Todo->OtherLanguages)
    Note(std::to_string(Todo->OtherLanguages) +
         " commands compile neither C nor C++");

  std::optional<FactsCache> Kept;
  std::map<size_t, FactsCache::Hit> Hits;
  if (!Asked.Cache.empty()) {
    Kept.emplace(Asked.Cache,
                 toolIdentity() + Rows->hash().str() + Asked.ResourceDirectory);
    if (Error E = Kept->open())
      return E;
  }
  std::vector<size_t> Units;
  for (size_t I = 0; I < Todo->Commands.size(); ++I) {
    if (Kept)
      if (FactsCache::Hit Found =
              Kept->find(Todo->Commands[I], Todo->Normal[I]);
          Found.Entry) {
        for (const std::string &Flag : Found.Dropped)
          Note("flag ignored: " + Flag);
        Hits.emplace(I, std::move(Found));
        continue;
      }
    Units.push_back(I);
  }
  size_t Cached = Hits.size();

  std::optional<std::string> Problem;
  auto Write = [&](StringRef Line) {
    if (Problem)
      return;
    if (Error E = Out.line(Line))
      Problem = toString(std::move(E));
  };
  auto WriteHitsBefore = [&](size_t Index) {
    while (!Hits.empty() && Hits.begin()->first < Index) {
      Write(Hits.begin()->second.Json);
      Hits.erase(Hits.begin());
    }
  };
  Progress Shown(Asked.Progress, Units.size());
  PrefixPlan Prefixes;
  Prefixes.OfUnit.resize(Todo->Commands.size());
  if (Asked.SharePrefixes)
    Prefixes = planPrefixes(Todo->Commands, Todo->Normal, Units);
  auto Store = [&](const Command &From, const Flags &F,
                   const UnitResult &Result, FileCache &Files) {
    if (Kept)
      Kept->store(From, F, Result, Files);
  };
  std::optional<UnitReader> Reader; // made in the worker, once
  std::optional<PrefixServers> Servers;
  runWorkers(
      Units, Asked.Limits,
      [&](size_t Index) {
        if (!Reader) {
          Reader.emplace(*Rows, Asked.ResourceDirectory, Store);
          Servers.emplace(*Reader, Todo->Commands, Todo->Normal,
                          Asked.Limits.MemoryBytes);
        }
        if (const PrefixGroup *Group = Prefixes.OfUnit[Index])
          if (auto Result = Servers->read(*Group, Index))
            return std::move(*Result);
        return Reader->read(Todo->Commands[Index], Todo->Normal[Index]);
      },
      [&](size_t Index, const UnitResult &Result) {
        WriteHitsBefore(Index);
        for (const std::string &Flag : Result.Dropped)
          Note("flag ignored: " + Flag);
        bool IsFailure = !Result.Failure.empty();
        Failed += IsFailure;
        Write(IsFailure ? failure(Todo->Commands[Index].File, Result.Failure)
                        : Result.Json);
      },
      [&](size_t Done) { Shown.show(Done); });
  WriteHitsBefore(Todo->Commands.size());
  if (Problem)
    return createStringError(inconvertibleErrorCode(), *Problem);
  if (Kept && !Units.empty())
    Kept->shrink(Asked.CacheBytes);

  for (const std::string &Text : Notes)
    if (Error E = Out.line(note(Text)))
      return E;
  JsonText End;
  End.open('{');
  End.field("kind", StringRef("end"));
  End.field("units", int64_t(Todo->Commands.size() + Todo->Unmatched.size()));
  End.field("failed", int64_t(Failed));
  End.field("cached", int64_t(Cached));
  End.close('}');
  if (Error E = Out.line(End.text()))
    return E;
  return Out.flush();
}

} // namespace linemate
