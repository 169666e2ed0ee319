//===- Stream.cpp - All units to one stream -------------------------------===//
//
// Owns the choice of units and the lines around them.
//
//===----------------------------------------------------------------------===//

#include "Stream.h"

#include "Cache.h"
#include "Confine.h"
#include "Database.h"
#include "DroppedFlags.h"
#include "Flags.h"
#include "Json.h"
#include "Knowledge.h"
#include "Prefix.h"
#include "Unit.h"
#include "Workers.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;

namespace linemate {

namespace {

[[maybe_unused]] constexpr rlim_t MaxOwnBytes =
    6ULL << 30; // a database may be large
constexpr unsigned PlanSeconds = 60;

/// In one call: nothing may be allocated, and a signal may come anywhere.
[[noreturn]] void endWith(StringRef Line) {
  ssize_t Ignored = ::write(STDERR_FILENO, Line.data(), Line.size());
  (void)Ignored;
  _exit(2);
}

[[noreturn]] void onNoMemory() {
  endWith("linemate-facts: out of memory; the compile database is too large\n");
}

void onLate(int) {
  endWith("linemate-facts: made no progress in time and ended\n");
}

/// This process reads the database and response files, which are as hostile as
/// source; the workers have limits of their own.
void limitOwnProcess() {
  dieWithParent();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGALRM, onLate);
  std::set_new_handler(onNoMemory);
  install_bad_alloc_error_handler(
      [](void *, const char *, bool) { onNoMemory(); });
#ifndef LINEMATE_SANITIZED
  rlimit Now{};
  if (::getrlimit(RLIMIT_DATA, &Now) == 0) {
    Now.rlim_cur = std::min(Now.rlim_max, MaxOwnBytes);
    ::setrlimit(RLIMIT_DATA, &Now);
  }
#endif
}

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
  JsonText Json;
  JsonStream &Out = *Json;
  Out.objectBegin();
  field(Out, "kind", StringRef("header"));
  field(Out, "schema", StringRef("linemate-facts-1"));
  field(Out, "tool", StringRef(LINEMATE_VERSION));
  field(Out, "clang", StringRef(LINEMATE_CLANG_VERSION));
  Out.objectEnd();
  return Json.take();
}

std::string failure(StringRef Path, StringRef Reason) {
  JsonText Json;
  JsonStream &Out = *Json;
  Out.objectBegin();
  field(Out, "kind", StringRef("failure"));
  field(Out, "path", Path);
  field(Out, "reason", Reason);
  Out.objectEnd();
  return Json.take();
}

std::string note(StringRef Text) {
  JsonText Json;
  JsonStream &Out = *Json;
  Out.objectBegin();
  field(Out, "kind", StringRef("note"));
  field(Out, "text", Text);
  Out.objectEnd();
  return Json.take();
}

std::vector<std::string> joined(std::vector<std::string> First,
                                const std::vector<std::string> &Second) {
  First.insert(First.end(), Second.begin(), Second.end());
  return First;
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
  FileCache Files(Asked.Moved);
  ResponseFiles Expander(Files);
  std::vector<Command> Kept;
  StringSet<> Seen;
  for (Command &C : Out.Commands) {
    Flags F = normalisedFlags(C, Expander);
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

/// One run: which units are read, and all that is written.
class FactsRun {
public:
  FactsRun(const Options &Asked, const Knowledge &Rows, const Plan &Todo)
      : Asked(Asked), Rows(Rows), Todo(Todo) {
    if (!Asked.Cache.empty())
      Kept.emplace(Asked.Cache,
                   toolIdentity() + Rows.hash().str() + Asked.ResourceDirectory,
                   Asked.Moved);
  }

  void begin(const Confinement &Confined);
  void chooseUnits();
  void readUnits();
  Error end();

private:
  const Options &Asked;
  const Knowledge &Rows;
  const Plan &Todo;
  Output Out;
  std::optional<std::string> Problem; ///< why nothing more can be written
  std::vector<std::string> Notes;
  StringSet<> NoteSeen;
  DroppedFlags LeftOut;
  std::optional<FactsCache> Kept;
  // What is not read, until its turn in the stream comes.
  std::map<size_t, FactsCache::Hit> Hits;
  std::map<size_t, std::string> Refused; ///< lines about units without flags
  std::vector<size_t> Units;             ///< that are read
  size_t Failed = 0;
  size_t Cached = 0;

  void write(StringRef Line);
  void writeReadyBefore(size_t Index);
  void addNote(const std::string &Text);
  void finished(size_t Index, const UnitResult &Result);
};

void FactsRun::write(StringRef Line) {
  if (Problem)
    return;
  if (Error E = Out.line(Line))
    Problem = toString(std::move(E));
}

void FactsRun::addNote(const std::string &Text) {
  if (NoteSeen.insert(Text).second)
    Notes.push_back(Text);
}

void FactsRun::begin(const Confinement &Confined) {
  write(header());
  for (const std::string &Path : Todo.Unmatched) {
    ++Failed;
    write(failure(Path, "not in the compile database"));
  }
  if (Confined.isNone())
    addNote("source was read without confinement: " + Confined.text());
  if (Todo.OtherLanguages)
    addNote(std::to_string(Todo.OtherLanguages) +
            " commands compile neither C nor C++ for a processor");
}

void FactsRun::chooseUnits() {
  for (size_t I = 0; I < Todo.Commands.size(); ++I) {
    const Flags &F = Todo.Normal[I];
    if (!F.Problem.empty()) {
      Refused.emplace(I, failure(Todo.Commands[I].File, F.Problem));
      ++Failed;
      continue;
    }
    FactsCache::Hit Found =
        Kept ? Kept->find(Todo.Commands[I], F) : FactsCache::Hit();
    if (!Found.Entry) {
      Units.push_back(I);
      continue;
    }
    LeftOut.add(joined(F.Dropped, Found.Dropped));
    Hits.emplace(I, std::move(Found));
  }
  Cached = Hits.size();
}

void FactsRun::writeReadyBefore(size_t Index) {
  for (;;) {
    size_t Hit = Hits.empty() ? Index : Hits.begin()->first;
    size_t Other = Refused.empty() ? Index : Refused.begin()->first;
    if (std::min(Hit, Other) >= Index)
      return;
    if (Hit < Other) {
      write(Hits.begin()->second.Json);
      Hits.erase(Hits.begin());
    } else {
      write(Refused.begin()->second);
      Refused.erase(Refused.begin());
    }
  }
}

void FactsRun::finished(size_t Index, const UnitResult &Result) {
  writeReadyBefore(Index);
  LeftOut.add(joined(Todo.Normal[Index].Dropped, Result.Dropped));
  if (Kept)
    Kept->store(Todo.Commands[Index], Todo.Normal[Index], Result);
  bool IsFailure = !Result.Failure.empty();
  Failed += IsFailure;
  write(IsFailure ? failure(Todo.Commands[Index].File, Result.Failure)
                  : Result.Json);
}

void FactsRun::readUnits() {
  PrefixPlan Prefixes;
  Prefixes.OfUnit.resize(Todo.Commands.size());
  if (Asked.SharePrefixes)
    Prefixes = planPrefixes(Todo.Commands, Todo.Normal, Units, Asked.Moved);
  auto AddInputs = [&](UnitResult &Result, FileCache &Files) {
    if (Kept)
      Result.Inputs = FactsCache::inputsOf(Files);
  };
  std::optional<UnitReader> Reader; // made in the worker, once
  std::optional<PrefixServers> Servers;
  auto Read = [&](size_t Index) {
    if (!Reader) {
      Reader.emplace(Rows, Asked.ResourceDirectory, Asked.Moved, AddInputs);
      Servers.emplace(*Reader, Todo.Commands, Todo.Normal,
                      Asked.Limits.MemoryBytes);
    }
    if (const PrefixGroup *Group = Prefixes.OfUnit[Index])
      if (auto Result = Servers->read(*Group, Index))
        return std::move(*Result);
    return Reader->read(Todo.Commands[Index], Todo.Normal[Index]);
  };
  // A unit ends or is ended in its time; nothing at all happens only where
  // nobody takes the stream.
  auto StillAlive = [&] { ::alarm(2 * Asked.Limits.TimeoutSeconds + 60); };
  StillAlive();
  Progress Shown(Asked.Progress, Units.size());
  runWorkers(
      Units, Asked.Limits, Read,
      [&](size_t Index, const UnitResult &Result) { finished(Index, Result); },
      [&](size_t Done) {
        StillAlive();
        Shown.show(Done);
      });
  writeReadyBefore(Todo.Commands.size());
  if (!Problem && Kept && !Units.empty())
    Kept->shrink(Asked.CacheBytes);
}

Error FactsRun::end() {
  if (std::string Text = LeftOut.note(); !Text.empty())
    addNote(Text);
  for (const std::string &Text : Notes)
    write(note(Text));
  JsonText Json;
  JsonStream &End = *Json;
  End.objectBegin();
  field(End, "kind", StringRef("end"));
  field(End, "units", int64_t(Todo.Commands.size() + Todo.Unmatched.size()));
  field(End, "failed", int64_t(Failed));
  field(End, "cached", int64_t(Cached));
  End.objectEnd();
  write(Json.take());
  if (Problem)
    return createStringError(inconvertibleErrorCode(), *Problem);
  return Out.flush();
}

} // namespace

Error streamFacts(const Options &Asked) {
  limitOwnProcess();
  if (!Asked.Cache.empty())
    if (Error E = FactsCache::makeFolder(Asked.Cache))
      return E;
  Allowed Rights;
  Rights.Forks = Rights.Kills = true;
  Rights.WritableFolder = Asked.Cache;
  Confinement Confined = confine(Rights);
  ::alarm(PlanSeconds);
  Expected<Knowledge> Rows =
      Knowledge::load(Asked.Knowledge, Asked.ProjectRows);
  if (!Rows)
    return Rows.takeError();
  Expected<Plan> Todo = makePlan(Asked);
  if (!Todo)
    return Todo.takeError();
  FactsRun Run(Asked, *Rows, *Todo);
  Run.begin(Confined);
  Run.chooseUnits();
  Run.readUnits();
  return Run.end();
}

} // namespace linemate
