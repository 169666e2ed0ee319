//===- Rows.cpp - What libraries' locks and threads are called ------------===//
//
// Owns the checks on rows that a project wrote.  Keys that matter to binaries
// alone are passed over.
//
//===----------------------------------------------------------------------===//

#include "Rows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace linemate {

namespace {

constexpr int MaxArgument = 64;

/// A list of names, or one.
bool namesFrom(const json::Value &Value, NameList &Out, json::Path At) {
  if (auto One = Value.getAsString()) {
    Out.assign(1, One->str());
    return true;
  }
  return json::fromJSON(Value, Out, At);
}

bool argumentFrom(const json::Value &Value, int &Out, json::Path At) {
  if (!json::fromJSON(Value, Out, At))
    return false;
  if (Out >= 0 && Out <= MaxArgument)
    return true;
  At.report("arguments count from 0");
  return false;
}

/// One key of an object that may lack it, read by \p Read.
template <typename T, typename Reader>
bool key(const json::Object &Row, StringRef Name, T &Out, json::Path At,
         Reader Read) {
  const json::Value *Value = Row.get(Name);
  return !Value || Read(*Value, Out, At.field(Name));
}

bool optionalArgument(const json::Value &Value, std::optional<int> &Out,
                      json::Path At) {
  if (Value.kind() == json::Value::Null)
    return true;
  int Number = 0;
  if (!argumentFrom(Value, Number, At))
    return false;
  Out = Number;
  return true;
}

} // namespace

bool fromJSON(const json::Value &Value, CalledRow &Out, json::Path At) {
  if (auto Name = Value.getAsString()) {
    Out.Function = Name->str();
    return true;
  }
  json::ObjectMapper Map(Value, At);
  if (!Map || !Map.map("function", Out.Function) ||
      !Map.mapOptional("of", Out.Of))
    return false;
  const json::Object &Row = *Value.getAsObject();
  return key(Row, "argument", Out.Argument, At, argumentFrom) &&
         key(Row, "success", Out.Success, At, optionalArgument) &&
         key(Row, "releases", Out.Releases, At, optionalArgument);
}

bool fromJSON(const json::Value &Value, LockRow &Out, json::Path At) {
  json::ObjectMapper Map(Value, At);
  if (!Map || !key(*Value.getAsObject(), "type", Out.Types, At, namesFrom))
    return false;
  if (Out.Types.empty()) {
    At.report("name the type");
    return false;
  }
  if (!Map.mapOptional("name", Out.Name) ||
      !Map.mapOptional("kind", Out.Kind) ||
      !Map.mapOptional("lock", Out.Lock) ||
      !Map.mapOptional("lock_shared", Out.LockShared) ||
      !Map.mapOptional("try_lock", Out.TryLock) ||
      !Map.mapOptional("try_lock_shared", Out.TryLockShared) ||
      !Map.mapOptional("unlock", Out.Unlock) ||
      !Map.mapOptional("unlock_shared", Out.UnlockShared) ||
      !Map.mapOptional("use", Out.Use) || !Map.mapOptional("wait", Out.Wait) ||
      !Map.mapOptional("init", Out.Init) ||
      !Map.mapOptional("success", Out.Success))
    return false;
  if (Out.Name.empty())
    Out.Name = Out.Types.front();
  return true;
}

bool fromJSON(const json::Value &Value, GuardRow &Out, json::Path At) {
  json::ObjectMapper Map(Value, At);
  return Map && key(*Value.getAsObject(), "type", Out.Types, At, namesFrom) &&
         Map.mapOptional("shared", Out.Shared) &&
         Map.mapOptional("defer", Out.Defer) &&
         Map.mapOptional("adopt", Out.Adopt) &&
         Map.mapOptional("attempt", Out.Attempt) &&
         Map.mapOptional("lock", Out.Lock) &&
         Map.mapOptional("unlock", Out.Unlock) &&
         Map.mapOptional("try_lock", Out.TryLock) &&
         Map.mapOptional("release", Out.Release) &&
         Map.mapOptional("owns", Out.Owns);
}

bool fromJSON(const json::Value &Value, ThreadRow &Out, json::Path At) {
  json::ObjectMapper Map(Value, At);
  if (!Map)
    return false;
  const json::Object &Row = *Value.getAsObject();
  return key(Row, "function", Out.Functions, At, namesFrom) &&
         key(Row, "type", Out.Types, At, namesFrom) &&
         key(Row, "entry_argument", Out.Entry, At, optionalArgument) &&
         Map.mapOptional("many", Out.Many) && Map.mapOptional("runs", Out.Runs);
}

/// The function of a pair of its name and the number of an argument.
bool firstName(const json::Value &Value, NameList &Out, json::Path At) {
  const json::Array *Pair = Value.getAsArray();
  auto Name = Pair && !Pair->empty() ? Pair->front().getAsString()
                                     : std::optional<llvm::StringRef>();
  if (!Name) {
    At.report("a function's name and the number of an argument");
    return false;
  }
  Out.push_back(Name->str());
  return true;
}

/// Only which functions they are; what they mean is for others.
bool fromJSON(const json::Value &Value, BarrierRow &Out, json::Path At) {
  json::ObjectMapper Map(Value, At);
  if (!Map)
    return false;
  const json::Object &Row = *Value.getAsObject();
  return key(Row, "function", Out.Functions, At, namesFrom) &&
         key(Row, "made_by", Out.Makers, At, namesFrom) &&
         key(Row, "begins_with", Out.Makers, At, firstName);
}

bool fromJSON(const json::Value &Value, VocabularyRows &Out, json::Path At) {
  json::ObjectMapper Map(Value, At);
  return Map && Map.mapOptional("inline_namespaces", Out.InlineNamespaces) &&
         Map.mapOptional("lock", Out.Locks) &&
         Map.mapOptional("guard", Out.Guards) &&
         Map.mapOptional("thread", Out.Threads) &&
         Map.mapOptional("join", Out.Joins) &&
         Map.mapOptional("result_wait", Out.ResultWaits) &&
         Map.mapOptional("barrier", Out.Barriers) &&
         Map.mapOptional("thread_number", Out.ThreadNumbers);
}

bool LockRow::namesMethods() const {
  for (const Called *Group : {&Lock, &LockShared, &TryLock, &TryLockShared,
                              &Unlock, &UnlockShared, &Use, &Wait, &Init})
    for (const CalledRow &Call : *Group)
      if (StringRef(Call.Function).starts_with("."))
        return true;
  return false;
}

bool GuardRow::namesMethods() const {
  return !Lock.empty() || !Unlock.empty() || !TryLock.empty() ||
         !Release.empty() || !Owns.empty();
}

Expected<VocabularyRows> readRows(StringRef Text, StringRef Path) {
  auto Fail = [&](Error E) {
    return createStringError(inconvertibleErrorCode(),
                             Path + ": " + toString(std::move(E)));
  };
  Expected<json::Value> Document = json::parse(Text);
  if (!Document)
    return Fail(Document.takeError());
  VocabularyRows Out;
  json::Path::Root Root;
  if (!fromJSON(*Document, Out, Root))
    return Fail(Root.getError());
  return Out;
}

} // namespace linemate
