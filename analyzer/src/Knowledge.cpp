//===- Knowledge.cpp - The vocabulary rows, indexed -----------------------===//
//
// Owns the step from rows to what single names mean;
// sharing/knowledge/locks.py takes the same for binaries.
//
//===----------------------------------------------------------------------===//

#include "Knowledge.h"

#include "RegularFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;

namespace linemate {

namespace {

constexpr uint64_t MaxTableBytes = 8 << 20;

bool isGlob(StringRef Name) {
  return Name.find_first_of("*?[") != StringRef::npos;
}

bool matches(StringRef Glob, StringRef Name) {
  Expected<GlobPattern> Pattern = GlobPattern::create(Glob);
  if (!Pattern) {
    consumeError(Pattern.takeError());
    return false;
  }
  return Pattern->match(Name);
}

Error malformed(StringRef Path, const Twine &Why) {
  return createStringError(inconvertibleErrorCode(), Path + ": " + Why);
}

/// Kinds of lock rows that exclude others while they are held.
bool excludes(StringRef Kind) {
  return Kind == "mutex" || Kind == "spinlock" || Kind == "rwlock" ||
         Kind == "rwsem";
}

/// The lists of a lock row by what calling their functions does.
struct Group {
  Called LockRow::*Calls;
  LockEffect Effect;
  bool Shared;
  bool Holds;
};

constexpr Group Groups[] = {
    {&LockRow::Lock, LockEffect::Lock, false, true},
    {&LockRow::LockShared, LockEffect::Lock, true, true},
    {&LockRow::TryLock, LockEffect::TryLock, false, true},
    {&LockRow::TryLockShared, LockEffect::TryLock, true, true},
    {&LockRow::Unlock, LockEffect::Unlock, false, true},
    {&LockRow::UnlockShared, LockEffect::Unlock, true, true},
    {&LockRow::Use, LockEffect::Lock, false, false},
    {&LockRow::Init, LockEffect::Init, false, false},
};

StringRef method(StringRef Name) {
  Name.consume_front(".");
  return Name;
}

/// As sharing/knowledge/locks.py tells waits that end after a time.
LockEffect waitOf(StringRef Name) {
  bool Timed = Name.contains("timed") || Name.contains("clockwait") ||
               Name.contains("Timeout") || Name.contains("Deadline") ||
               Name.ends_with("_for") || Name.ends_with("_until");
  return Timed ? LockEffect::TimedWait : LockEffect::Wait;
}

} // namespace

template <typename T> void NameTable<T>::add(StringRef Name, T Value) {
  if (isGlob(Name))
    Globs.emplace_back(Name.str(), std::move(Value));
  else
    Exact[Name].push_back(std::move(Value));
}

template <typename T>
ArrayRef<T> NameTable<T>::find(llvm::StringRef Name) const {
  auto Known = Exact.find(Name);
  if (Known != Exact.end())
    return Known->second;
  if (Globs.empty())
    return {};
  auto [Slot, IsNew] = Seen.try_emplace(Name);
  if (IsNew)
    for (const auto &[Glob, Value] : Globs)
      if (matches(Glob, Name))
        Slot->second.push_back(Value);
  return Slot->second;
}

template class NameTable<LockCall>; // the header's functions use it

/// Without the namespaces that rows leave out.
std::string Knowledge::plain(StringRef Name) const {
  auto [Root, Rest] = Name.split("::");
  std::string Out = Root.str();
  while (!Rest.empty()) {
    auto [Scope, After] = Rest.split("::");
    bool Skips =
        !After.empty() && any_of(Inline, [&, Scope = Scope](const auto &Known) {
          return Known.first == Root &&
                 any_of(Known.second, [&](const std::string &Glob) {
                   return matches(Glob, Scope);
                 });
        });
    if (!Skips)
      Out.append("::").append(Scope);
    Rest = After;
  }
  return Out;
}

/// A method is one of each type.  `::name` is a C++ function in no namespace.
void Knowledge::addCall(const LockRow &Row, const CalledRow &Call,
                        LockCall What) {
  StringRef Name = Call.Function;
  if (Name.starts_with(".")) {
    for (StringRef Type : Row.Types)
      Qualified.add((Type + "::" + Name.drop_front()).str(), What);
  } else if (Name.contains("::")) {
    Name.consume_front("::");
    Qualified.add(Name, What);
  } else {
    Plain.add(Name, What);
  }
}

void Knowledge::addLock(const LockRow &Row, int Number) {
  for (const Group &G : Groups)
    for (const CalledRow &Call : Row.*G.Calls)
      addCall(Row, Call,
              {Number, Call.Argument, G.Effect, G.Shared,
               G.Holds && excludes(Row.Kind),
               Call.Success.value_or(Row.Success) == 0});
  for (const CalledRow &Wait : Row.Wait) {
    LockEffect Waits = waitOf(Wait.Function);
    int Other = Wait.Releases ? lockType(Wait.Of) : -1;
    if (Other >= 0)
      addCall(Row, Wait, {Other, *Wait.Releases, Waits, false, false, false});
    addCall(Row, Wait, {Number, Wait.Argument, Waits, false, false, false});
  }
}

/// What the methods of a guard do to its lock; of two rows the first counts.
static void addMethods(const GuardRow &Row, StringMap<GuardCall> &Methods) {
  for (auto [List, What] : {std::pair{&Row.Lock, GuardCall::Lock},
                            std::pair{&Row.Unlock, GuardCall::Unlock},
                            std::pair{&Row.TryLock, GuardCall::TryLock},
                            std::pair{&Row.Release, GuardCall::Release},
                            std::pair{&Row.Owns, GuardCall::Owns}})
    for (const std::string &Name : *List)
      Methods.try_emplace(method(Name), What);
}

void Knowledge::addUsual(const VocabularyRows &Rows) {
  for (const LockRow &Row : Rows.Locks)
    for (const Group &G : Groups)
      for (const CalledRow &Call : Row.*G.Calls)
        UsualMethods.try_emplace(
            method(Call.Function),
            LockCall{-1, 0, G.Effect, G.Shared, G.Holds, false});
  for (const GuardRow &Row : Rows.Guards)
    addMethods(Row, UsualGuard.Methods);
}

void Knowledge::add(VocabularyRows Rows) {
  for (auto &[Root, Globs] : Rows.InlineNamespaces)
    Inline.emplace_back(Root, std::move(Globs));
  for (LockRow &Row : Rows.Locks) {
    for (const std::string &Type : Row.Types)
      LockTypes.add(Type, int(Locks.size()));
    Locks.push_back(std::move(Row));
  }
  for (const GuardRow &Row : Rows.Guards) {
    Guard &G = Guards.emplace_back();
    G.Shared = Row.Shared;
    for (auto [List, Mode] : {std::pair{&Row.Defer, GuardMode::Defers},
                              std::pair{&Row.Adopt, GuardMode::Adopts},
                              std::pair{&Row.Attempt, GuardMode::Tries}})
      for (const std::string &Name : *List)
        G.Modes.try_emplace(Name, Mode);
    addMethods(Row, G.Methods);
    if (!Row.namesMethods())
      G.Methods = UsualGuard.Methods;
    for (const std::string &Type : Row.Types)
      GuardTypes.add(Type, &G);
  }
  for (ThreadRow &Row : Rows.Threads) {
    const ThreadRow *Kept = &Threads.emplace_back(std::move(Row));
    for (StringRef Name : Kept->Functions) {
      Name.consume_front("::");
      ThreadFunctions.add(Name, Kept);
    }
    for (const std::string &Name : Kept->Types)
      ThreadTypes.add(Name, Kept);
  }
  // Calls of both are reported; what a result says of a thread is for others.
  for (const NameList *Names : {&Rows.Joins, &Rows.ResultWaits})
    for (const std::string &Name : *Names)
      Joins.add(Name, true);
  for (const BarrierRow &Row : Rows.Barriers) {
    for (const std::string &Name : Row.Functions)
      Barriers.add(Name, true);
    for (const std::string &Name : Row.Makers)
      BarrierMakers.add(Name, true);
  }
  for (const std::string &Name : Rows.ThreadNumbers)
    ThreadNumbers.add(Name, true);
}

Expected<Knowledge> Knowledge::load(StringRef Directory,
                                    StringRef ProjectRows) {
  Knowledge K;
  SHA256 Hasher;
  auto Read = [&](StringRef Path) -> Expected<VocabularyRows> {
    auto Buffer = readRegularFile(Path, MaxTableBytes);
    if (!Buffer)
      return malformed(Path, Buffer.getError().message());
    Hasher.update((*Buffer)->getBuffer());
    return readRows((*Buffer)->getBuffer(), Path);
  };

  SmallString<256> Usual(Directory), Libraries(Directory);
  sys::path::append(Usual, "lockable.json");
  sys::path::append(Libraries, "libraries");
  Expected<VocabularyRows> UsualRows = Read(Usual);
  if (!UsualRows)
    return UsualRows.takeError();
  K.addUsual(*UsualRows);

  std::vector<std::string> Paths;
  std::error_code Problem;
  for (sys::fs::directory_iterator At(Libraries, Problem), End;
       !Problem && At != End; At.increment(Problem))
    if (sys::path::extension(At->path()) == ".json")
      Paths.push_back(At->path());
  if (Problem)
    return malformed(Libraries, Problem.message());
  sort(Paths);
  if (!ProjectRows.empty())
    Paths.insert(Paths.begin(), ProjectRows.str());
  for (const std::string &Path : Paths) {
    Expected<VocabularyRows> Rows = Read(Path);
    if (!Rows)
      return Rows.takeError();
    K.add(std::move(*Rows));
  }
  // A wait names the row of another lock.
  for (const auto &[Number, Row] : enumerate(K.Locks))
    K.addLock(Row, int(Number));

  K.Hash = toHex(Hasher.final(), /*LowerCase=*/true);
  return K;
}

std::optional<LockCall> Knowledge::usualMethod(int Row,
                                               StringRef Method) const {
  const LockRow &Of = Locks[size_t(Row)];
  auto Known = UsualMethods.find(Method);
  if (Known == UsualMethods.end() || Of.namesMethods())
    return std::nullopt;
  LockCall Out = Known->second;
  Out.Row = Row;
  Out.Holds = Out.Holds && excludes(Of.Kind);
  return Out;
}

int Knowledge::lockType(StringRef Name) const {
  for (StringRef Tag : {"struct ", "class ", "union "})
    Name.consume_front(Tag);
  ArrayRef<int> Found = LockTypes.find(Name);
  if (Found.empty() && Name.contains("::"))
    Found = LockTypes.find(plain(Name));
  return Found.empty() ? -1 : Found.front();
}

const Guard *Knowledge::guard(StringRef Class) const {
  ArrayRef<const Guard *> Found = GuardTypes.find(plain(Class));
  return Found.empty() ? nullptr : Found.front();
}

GuardMode Knowledge::guardMode(const Guard &G, StringRef Class) const {
  auto Known = G.Modes.find(plain(Class));
  return Known == G.Modes.end() ? GuardMode::Locks : Known->second;
}

const ThreadRow *Knowledge::thread(StringRef Function) const {
  ArrayRef<const ThreadRow *> Found = ThreadFunctions.find(Function);
  if (Found.empty() && Function.contains("::"))
    Found = ThreadFunctions.find(plain(Function));
  return Found.empty() ? nullptr : Found.front();
}

const ThreadRow *Knowledge::threadClass(StringRef Class) const {
  ArrayRef<const ThreadRow *> Found = ThreadTypes.find(plain(Class));
  return Found.empty() ? nullptr : Found.front();
}

bool Knowledge::tellsThread(StringRef Function) const {
  return !ThreadNumbers.find(plain(Function)).empty();
}

bool Knowledge::isBarrier(StringRef Function) const {
  return !Barriers.find(plain(Function)).empty();
}

bool Knowledge::makesBarrier(StringRef Function) const {
  return !BarrierMakers.find(plain(Function)).empty();
}

bool Knowledge::joins(StringRef Function) const {
  return !Joins.find(plain(Function)).empty();
}

} // namespace linemate
