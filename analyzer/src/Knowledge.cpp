//===- Knowledge.cpp - The vocabulary rows, indexed -----------------------===//
//
// Owns the checks on rows that a project wrote.
//
//===----------------------------------------------------------------------===//

#include "Knowledge.h"

#include "RegularFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <optional>

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

Expected<std::unique_ptr<MemoryBuffer>> readTable(StringRef Path) {
  auto Buffer = readRegularFile(Path, MaxTableBytes);
  if (!Buffer)
    return malformed(Path, Buffer.getError().message());
  return std::move(*Buffer);
}

/// A lock that is only sometimes held afterwards.
bool isAttempt(StringRef Name) {
  for (StringRef Word : {"try", "Try", "timed", "clocklock", "clockrd",
                         "clockwr", "Conditional", "interruptible", "killable"})
    if (Name.contains(Word) && !Name.contains("cond") && !Name.contains("cnd"))
      return true;
  return false;
}

bool isShared(StringRef Name) {
  for (StringRef Word : {"rdlock", "shared", "Reader", "read_lock", "down_read",
                         "up_read", "read_unlock", "read_trylock"})
    if (Name.contains(Word))
      return !Name.contains("shared_mutex4lock") &&
             !Name.contains("shared_mutex6unlock") &&
             !Name.contains("shared_mutex8try_lock") &&
             !Name.contains("unique_lock") && !Name.contains("lock_guard") &&
             !Name.contains("scoped_lock");
  return false;
}

std::optional<std::vector<std::string>> names(const json::Object &Row,
                                              StringRef Key) {
  std::vector<std::string> Out;
  const json::Array *List = Row.getArray(Key);
  if (!List)
    return Out;
  for (const json::Value &Item : *List) {
    auto Name = Item.getAsString();
    if (!Name)
      return std::nullopt;
    Out.push_back(Name->str());
  }
  return Out;
}

struct Pair {
  StringRef Name;
  int Arg;
};

/// A list of [name, argument].
std::optional<std::vector<Pair>> pairs(const json::Object &Row, StringRef Key) {
  std::vector<Pair> Out;
  const json::Array *List = Row.getArray(Key);
  if (!List)
    return Out;
  for (const json::Value &Item : *List) {
    const json::Array *Two = Item.getAsArray();
    if (!Two || Two->size() != 2)
      return std::nullopt;
    auto Name = (*Two)[0].getAsString();
    auto Arg = (*Two)[1].getAsInteger();
    if (!Name || !Arg || *Arg < 0 || *Arg > 64)
      return std::nullopt;
    Out.push_back({*Name, int(*Arg)});
  }
  return Out;
}

} // namespace

void NameTable::add(StringRef Name, int Row) {
  if (isGlob(Name))
    Globs.emplace_back(Name.str(), Row);
  else
    Exact.try_emplace(Name, Row);
}

int NameTable::find(StringRef Name) const {
  for (StringRef Tag : {"struct ", "class ", "union "})
    Name.consume_front(Tag);
  auto Known = Exact.find(Name);
  if (Known != Exact.end())
    return Known->second;
  auto [Slot, IsNew] = Seen.try_emplace(Name, -1);
  if (IsNew)
    for (const auto &[Glob, Row] : Globs)
      if (matches(Glob, Name)) {
        Slot->second = Row;
        break;
      }
  return Slot->second;
}

Error Knowledge::readLocks(const json::Value &Document, StringRef Path) {
  const json::Array *List = Document.getAsArray();
  if (!List)
    return malformed(Path, "expected a list of lock rows");
  for (const auto &[Index, Item] : enumerate(*List)) {
    const json::Object *Row = Item.getAsObject();
    auto Bad = [Path, At = size_t(Index)](StringRef What) {
      return malformed(Path, "lock row " + Twine(At) + ": " + What);
    };
    if (!Row)
      return Bad("expected an object");
    auto Name = Row->getString("name");
    if (!Name)
      return Bad("expected a name");
    auto Types = names(*Row, "types");
    if (!Types)
      return Bad("expected a list of type names");
    int Number = int(Locks.size());
    for (const std::string &Type : *Types)
      LockTypes.add(Type, Number);
    Locks.push_back({Name->str(),
                     Row->getString("kind").value_or("mutex").str(),
                     std::move(*Types)});
    for (auto [Key, Effect] : {std::pair{"lock", LockEffect::Lock},
                               std::pair{"unlock", LockEffect::Unlock},
                               std::pair{"init", LockEffect::Init}}) {
      auto Functions = pairs(*Row, Key);
      if (!Functions)
        return Bad(std::string("expected [function, argument] pairs in ") +
                   Key);
      for (const Pair &F : *Functions) {
        LockEffect Exact = Effect == LockEffect::Lock && isAttempt(F.Name)
                               ? LockEffect::TryLock
                               : Effect;
        LockCall Call{Number, F.Arg, Exact, isShared(F.Name)};
        if (isGlob(F.Name))
          LockGlobs.emplace_back(F.Name.str(), Call);
        else
          LockCalls[F.Name].push_back(Call);
      }
    }
  }
  return Error::success();
}

Error Knowledge::readThreads(const json::Object &Document, StringRef Path) {
  for (auto [Key, Table] : {std::pair{"threads", &Threads},
                            std::pair{"signal_handlers", &Signals}}) {
    const json::Array *List = Document.getArray(Key);
    if (!List)
      continue;
    for (const auto &[Index, Item] : enumerate(*List)) {
      const json::Object *Row = Item.getAsObject();
      auto Function = Row ? Row->getString("function") : std::nullopt;
      auto Entry = Row ? Row->getInteger("entry") : std::nullopt;
      if (!Function || !Entry || *Entry < 0 || *Entry > 64)
        return malformed(Path, "row " + Twine(Index) + " of " + Key +
                                   ": expected function and entry");
      Table->try_emplace(
          *Function,
          ThreadRow{int(*Entry), Row->getBoolean("many").value_or(false)});
    }
  }
  auto Joined = names(Document, "joins");
  if (!Joined)
    return malformed(Path, "expected a list of names in joins");
  for (const std::string &Name : *Joined)
    Joins.insert(Name);
  return Error::success();
}

Error Knowledge::readAccess(const json::Object &Document, StringRef Path) {
  for (auto [Key, Kind] : {std::pair{"rmw", CalledAccess::Rmw},
                           std::pair{"load", CalledAccess::Load},
                           std::pair{"store", CalledAccess::Store},
                           std::pair{"memory_store", CalledAccess::Store},
                           std::pair{"memory_load", CalledAccess::Load}}) {
    auto Functions = pairs(Document, Key);
    if (!Functions)
      return malformed(Path,
                       Twine("expected [prefix, argument] pairs in ") + Key);
    for (const Pair &F : *Functions)
      AccessPrefixes.emplace_back(F.Name.str(), AccessCall{F.Arg, Kind});
  }
  auto Types = names(Document, "atomic_types");
  if (!Types)
    return malformed(Path, "expected a list of names in atomic_types");
  for (const std::string &Type : *Types)
    AtomicTypes.add(Type, 0);
  return Error::success();
}

Expected<Knowledge> Knowledge::load(StringRef Directory,
                                    StringRef ProjectRows) {
  Knowledge K;
  SHA256 Hasher;
  auto Parse = [&](StringRef Path) -> Expected<json::Value> {
    auto Buffer = readTable(Path);
    if (!Buffer)
      return Buffer.takeError();
    Hasher.update((*Buffer)->getBuffer());
    Expected<json::Value> Document = json::parse((*Buffer)->getBuffer());
    if (!Document)
      return malformed(Path, toString(Document.takeError()));
    return Document;
  };
  auto ParseObject = [&](StringRef Path) -> Expected<json::Object> {
    Expected<json::Value> Document = Parse(Path);
    if (!Document)
      return Document.takeError();
    json::Object *O = Document->getAsObject();
    if (!O)
      return malformed(Path, "expected an object");
    return std::move(*O);
  };

  if (!ProjectRows.empty()) {
    Expected<json::Object> Own = ParseObject(ProjectRows);
    if (!Own)
      return Own.takeError();
    if (const json::Value *Rows = Own->get("locks"))
      if (Error E = K.readLocks(*Rows, ProjectRows))
        return std::move(E);
    if (Error E = K.readThreads(*Own, ProjectRows))
      return std::move(E);
    if (Error E = K.readAccess(*Own, ProjectRows))
      return std::move(E);
  }

  auto In = [&](StringRef Name) {
    SmallString<256> Path(Directory);
    sys::path::append(Path, Name);
    return std::string(Path);
  };
  Expected<json::Value> LockRows = Parse(In("locks.json"));
  if (!LockRows)
    return LockRows.takeError();
  if (Error E = K.readLocks(*LockRows, In("locks.json")))
    return std::move(E);
  Expected<json::Object> ThreadRows = ParseObject(In("threads.json"));
  if (!ThreadRows)
    return ThreadRows.takeError();
  if (Error E = K.readThreads(*ThreadRows, In("threads.json")))
    return std::move(E);
  Expected<json::Object> AccessRows = ParseObject(In("access.json"));
  if (!AccessRows)
    return AccessRows.takeError();
  if (Error E = K.readAccess(*AccessRows, In("access.json")))
    return std::move(E);

  K.Hash = toHex(Hasher.final(), /*LowerCase=*/true);
  return K;
}

ArrayRef<LockCall> Knowledge::lockCalls(StringRef Function) const {
  auto Known = LockCalls.find(Function);
  if (Known != LockCalls.end())
    return Known->second;
  if (!Function.starts_with("_ZN"))
    return {};
  auto [Slot, IsNew] = GlobSeen.try_emplace(Function);
  if (IsNew)
    for (const auto &[Glob, Call] : LockGlobs)
      if (matches(Glob, Function))
        Slot->second.push_back(Call);
  return Slot->second;
}

int Knowledge::lockType(StringRef Name) const { return LockTypes.find(Name); }

const ThreadRow *Knowledge::thread(StringRef Function) const {
  auto Known = Threads.find(Function);
  return Known == Threads.end() ? nullptr : &Known->second;
}

const ThreadRow *Knowledge::signalHandler(StringRef Function) const {
  auto Known = Signals.find(Function);
  return Known == Signals.end() ? nullptr : &Known->second;
}

bool Knowledge::joins(StringRef Function) const {
  return Joins.contains(Function);
}

ArrayRef<AccessCall> Knowledge::accesses(StringRef Function) const {
  auto [Slot, IsNew] = AccessSeen.try_emplace(Function);
  if (IsNew)
    for (const auto &[Prefix, Call] : AccessPrefixes) {
      // A prefix ends where a size or a suffix may follow.
      if (Prefix.back() == '_' ? Function.starts_with(Prefix)
                               : Function == Prefix)
        Slot->second.push_back(Call);
    }
  return Slot->second;
}

bool Knowledge::isAtomicType(StringRef Name) const {
  return AtomicTypes.find(Name) >= 0;
}

} // namespace linemate
