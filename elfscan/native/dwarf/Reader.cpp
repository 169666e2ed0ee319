//===- Reader.cpp - A file's static variables, from end to end ------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// The passes, in order: find the units; read variables and their types, unit
// by unit, on several threads; join; look for definitions that a unit only
// declared; write.
//
//===----------------------------------------------------------------------===//

#include "Reader.h"
#include "Emit.h"
#include "Merge.h"
#include <atomic>
#include <thread>

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

constexpr unsigned MaxThreads = 8;
constexpr unsigned MaxRounds = 8; // a definition may need further ones
/// Of what is behind pointers: as far as addresses are followed back through
/// words, so that the names of a large program are not read one by one.
constexpr unsigned MaxRoundsBehind = 3;

static void inParallel(std::vector<std::unique_ptr<Worker>> &Workers,
                       ArrayRef<const Unit *> Units,
                       function_ref<void(Worker &, const Unit &)> Read) {
  std::atomic<size_t> Next = 0;
  auto Loop = [&](Worker &W) {
    for (size_t I; (I = Next++) < Units.size();)
      Read(W, *Units[I]);
  };
  std::vector<std::thread> Threads;
  for (size_t I = 1; I < Workers.size(); ++I)
    Threads.emplace_back([&, I] { Loop(*Workers[I]); });
  Loop(*Workers.front());
  for (std::thread &T : Threads)
    T.join();
}

/// Replaces declarations by definitions from other units, which may in turn
/// contain declarations.
static void findDefinitions(Merged &M,
                            std::vector<std::unique_ptr<Worker>> &Workers,
                            ArrayRef<const Unit *> Units, unsigned Rounds) {
  StringSet<> Base;
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    StringSet<> Wanted = M.undefinedNames();
    if (Wanted.empty())
      return;
    for (const auto &W : Workers)
      for (const auto &Name : W->DeclaredNames)
        Base.insert(Name.getKey());
    size_t Before = M.Definitions.size();
    inParallel(Workers, Units, [&](Worker &W, const Unit &U) {
      W.readRecords(U, Wanted, Base);
    });
    for (const auto &W : Workers)
      M.add(*W);
    M.define();
    if (M.Definitions.size() == Before)
      return;
  }
}

/// Whether a unit may use members of a class that it only declares: clang
/// describes one where its constructor or its virtual functions are.
static bool mayDeclareUsed(const Merged &M) {
  return llvm::any_of(M.Units, [](const auto &One) {
    return !One.second.Producer.starts_with("GNU ");
  });
}

/// Reads the records that were asked for, type units among the rest.
static void findWanted(Merged &M, std::vector<std::unique_ptr<Worker>> &Workers,
                       ArrayRef<const Unit *> Read, const UnitList &Units,
                       ArrayRef<std::string> Names) {
  const WantedNames Wanted(Names);
  std::vector<const Unit *> All(Read);
  for (const Unit &U : Units.Units)
    if (U.IsType)
      All.push_back(&U);
  inParallel(Workers, All,
             [&](Worker &W, const Unit &U) { W.readWanted(U, Wanted); });
  for (const auto &W : Workers)
    M.add(*W);
  M.define();
}

/// Opens a file that was named, so that it has to be there.
static Expected<std::unique_ptr<Object>> openNamed(const FileOpener &Open,
                                                   StringRef Path) {
  Expected<std::unique_ptr<Object>> File = Open(Path);
  if (File && !*File)
    return createStringError(std::errc::no_such_file_or_directory,
                             "not a file");
  return File;
}

/// Reads the local variables at some instructions, unit by unit.
static Error readLocals(Worker &W, const Options &Opts, const Object &Main,
                        const UnitList &Units, const FileOpener &Open) {
  std::unique_ptr<Object> Frames;
  if (!Opts.FramesPath.empty()) {
    Expected<std::unique_ptr<Object>> File = openNamed(Open, Opts.FramesPath);
    if (!File)
      return File.takeError();
    Frames = std::move(*File);
  }
  LocalFinder Finder(Main, Frames ? *Frames : Main);
  struct InUnit {
    std::vector<FunctionsAt> Functions;
    std::vector<LocalPlace> Places;
  };
  std::map<const Unit *, InUnit> ByUnit;
  for (uint64_t Ip : *Opts.Locals) {
    std::vector<LocalPlace> Places;
    FunctionsAt Around = Finder.at(Ip, Places);
    if (Around.Functions.empty())
      continue;
    if (const Unit *U = Units.find(Around.Functions.front().Entry)) {
      InUnit &Here = ByUnit[U];
      Here.Functions.push_back(std::move(Around));
      Here.Places.insert(Here.Places.end(), Places.begin(), Places.end());
    }
  }
  for (const Unit &U : Units.Units) // in the order of the file
    if (auto It = ByUnit.find(&U); It != ByUnit.end())
      W.readLocals(U, It->second.Places, It->second.Functions);
  return Error::success();
}

/// Writes how the functions around some instructions are left.
static void writeUnwind(const std::vector<uint64_t> &Ips, const Object &Main,
                        raw_ostream &OS) {
  LocalFinder Finder(Main, Main);
  std::vector<UnwindStep> Steps;
  for (uint64_t Ip : Ips)
    if (std::optional<UnwindStep> Step = Finder.unwind(Ip))
      Steps.push_back(std::move(*Step));
  emitUnwind(Steps, OS);
}

/// Says how much is missing; the reasons follow one by one.
static void noteLost(Merged &M, uint64_t Lost, uint64_t All) {
  const ProblemNode &First = *llvm::min_element(
      M.Problems, [](const ProblemNode &A, const ProblemNode &B) {
        return std::tie(A.Offset, A.Reason) < std::tie(B.Offset, B.Reason);
      });
  // Sorted before all others.
  M.Problems.push_back({0, 0,
                        (Twine(Lost) + " of " + Twine(All) +
                         " units are lost, the first because: " + First.Reason)
                            .str()});
}

Error run(const Options &Opts, raw_ostream &OS, FileOpener Open) {
  Expected<std::unique_ptr<Object>> Main = openNamed(Open, Opts.Path);
  if (!Main)
    return Main.takeError();
  if (Opts.Unwind) {
    writeUnwind(*Opts.Unwind, **Main, OS);
    return Error::success();
  }
  Merged M;
  UnitList Units(**Main);
  Units.build([&](uint64_t Offset, const Twine &Reason) {
    M.Problems.push_back({0, Offset, Reason.str()});
  });

  std::unique_ptr<Object> AlternateFile;
  std::unique_ptr<UnitList> Alternate;
  if (!Opts.AlternatePath.empty()) {
    Expected<std::unique_ptr<Object>> File =
        openNamed(Open, Opts.AlternatePath);
    if (!File)
      return createStringError(inconvertibleErrorCode(),
                               Twine(Opts.AlternatePath) + ": " +
                                   toString(File.takeError()));
    AlternateFile = std::move(*File);
    Alternate = std::make_unique<UnitList>(*AlternateFile);
    Alternate->build([&](uint64_t Offset, const Twine &Reason) {
      M.Problems.push_back(
          {0, Offset, (Twine(Opts.AlternatePath) + ": " + Reason).str()});
    });
    Units.Alternate = Alternate.get();
  }
  SplitFiles Split(Opts.Path, Opts.PackagePath, Open);
  if (Error E = Split.openPackage())
    return E;

  std::vector<const Unit *> Jobs;
  for (Unit &U : Units.Units) {
    U.Index = static_cast<uint32_t>(&U - Units.Units.data());
    if (!U.IsType) // read when something refers to it
      Jobs.push_back(&U);
  }
  unsigned Threads =
      Opts.Threads ? Opts.Threads : std::thread::hardware_concurrency();
  Threads = std::clamp<unsigned>(Threads, 1, MaxThreads);
  std::vector<std::unique_ptr<Worker>> Workers;
  for (unsigned I = 0; I < Threads; ++I)
    Workers.push_back(std::make_unique<Worker>(Split, Opts.Locals.has_value()));
  if (!Opts.Locals)
    inParallel(Workers, Jobs, [&](Worker &W, const Unit &U) {
      W.readVariables(U, Opts.AllRecords);
    });
  else if (Error E = readLocals(*Workers.front(), Opts, **Main, Units, Open))
    return E;

  std::vector<const Unit *> Read;
  uint64_t Entries = 0, Lost = Units.Lost;
  for (const auto &W : Workers) {
    M.add(*W);
    Read.insert(Read.end(), W->Read.begin(), W->Read.end());
    Entries += W->EntryCount;
    Lost += W->Lost;
  }
  if (Lost)
    noteLost(M, Lost, Jobs.size() + Units.Lost);
  M.selectVariables(**Main);
  if (Opts.AllRecords)
    M.define();
  if (Alternate)
    llvm::append_range(Read, llvm::make_pointer_range(Alternate->Units));
  if (!Opts.Wanted.empty())
    findWanted(M, Workers, Read, Units, Opts.Wanted);
  if (!Opts.Locals)
    findDefinitions(M, Workers, Read, MaxRounds);
  else if (mayDeclareUsed(M))
    findDefinitions(M, Workers, Jobs, MaxRoundsBehind);
  emit(M, Opts.AllRecords || !Opts.Wanted.empty(), OS);
  if (Opts.Statistics)
    errs() << Entries << " entries, " << Units.Units.size() << " units, "
           << M.Variables.size() << " variables, " << M.Types.size()
           << " types\n";
  return Error::success();
}

} // namespace linemate::dwarf
