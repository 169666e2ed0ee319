//===- OwnIndex.cpp - Is an index the number of the running thread? -------===//
//
// Owns what makes an element of an array one thread's own: where its index
// comes from.  How the index is used is Place.cpp's.
//
//===----------------------------------------------------------------------===//

#include "Place.h"
#include "QualifiedName.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxLooked = 64;   ///< statements behind one index
constexpr unsigned MaxAccessor = 6;  ///< statements of an accessor
constexpr unsigned MaxAccessors = 3; ///< that call each other

/// "threadId" and "thread_id" are thread and id.
llvm::SmallVector<std::string, 4> wordsOf(StringRef Name) {
  llvm::SmallVector<std::string, 4> Words;
  char Before = '_';
  for (char C : Name) {
    bool Letter = llvm::isAlpha(C);
    if (Letter &&
        (!llvm::isAlpha(Before) || (llvm::isUpper(C) && llvm::isLower(Before))))
      Words.emplace_back();
    if (Letter)
      Words.back().push_back(llvm::toLower(C));
    Before = C;
  }
  return Words;
}

enum class Word : uint8_t { Other, Runner, Number, Own, Another };

Word meaningOf(StringRef Text) {
  return llvm::StringSwitch<Word>(Text)
      .Cases("thread", "tid", "worker", "cpu", "core", "lcore", Word::Runner)
      .Case("processor", Word::Runner)
      .Cases("id", "idx", "index", "number", "no", Word::Number)
      .Cases("my", "this", "current", "cur", "self", Word::Own)
      .Cases("next", "new", "num", "nr", "max", "main", "master", Word::Another)
      .Cases("first", "last", "any", "free", "random", "parent", Word::Another)
      .Default(Word::Other);
}

/// Does the name of a number say nothing but which thread or processor it is
/// of: "tid", "worker_id", "my_cpu"?
bool numbersThread(StringRef Name) {
  bool Runner = false;
  for (const std::string &Text : wordsOf(Name)) {
    Word W = meaningOf(Text);
    if (W == Word::Other || W == Word::Another)
      return false;
    Runner |= W == Word::Runner;
  }
  return Runner;
}

/// Does the name of a function end in whose number it tells:
/// "raw_smp_processor_id", "get_current_core", but not "next_thread_id"?
bool asksForThread(StringRef Name) {
  auto Words = wordsOf(Name);
  if (Words.size() < 2)
    return false;
  for (const std::string &Text : Words)
    if (meaningOf(Text) == Word::Another)
      return false;
  Word Last = meaningOf(Words.back()), Before = meaningOf(Words.end()[-2]);
  return (Before == Word::Runner && Last == Word::Number) ||
         (Before == Word::Own && Last == Word::Runner);
}

} // namespace

/// Is the index made of what only the running thread has: a number in
/// thread-local storage, one that a function returns for that purpose, or one
/// that is named after it?
bool Places::ownThread(const Expr *Index) const {
  llvm::SmallVector<const Stmt *, 16> Work{Index};
  llvm::SmallPtrSet<const VarDecl *, 4> Seen;
  for (unsigned Looked = 0; !Work.empty() && Looked < MaxLooked; ++Looked) {
    const Stmt *S = Work.pop_back_val();
    if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      if (V && V->getTLSKind() != VarDecl::TLS_None)
        return true;
      if (V && V->getType()->isIntegerType() && V->getIdentifier() &&
          numbersThread(V->getName()))
        return true;
      if (!V || !Locals || !Seen.insert(V).second)
        continue;
      if (auto Known = Locals->Numbers.find(V); Known != Locals->Numbers.end())
        Work.append(Known->second.Values.begin(), Known->second.Values.end());
    } else if (const auto *Call = dyn_cast<CallExpr>(S)) {
      const FunctionDecl *F = Call->getDirectCallee();
      if (F && tellsThread(*F))
        return true;
      continue; // what is made of arguments is no number of a thread
    } else if (isa<ArraySubscriptExpr>(S)) {
      continue;
    } else if (const auto *M = dyn_cast<MemberExpr>(S)) {
      if (const ValueDecl *D = M->getMemberDecl();
          D->getIdentifier() && numbersThread(D->getName()))
        return true;
    }
    for (const Stmt *Child : S->children())
      if (Child)
        Work.push_back(Child);
  }
  return false;
}

/// A function known for it, one without arguments whose name says so, or one
/// that does nothing but return a number in thread-local storage.
bool Places::tellsThread(const FunctionDecl &F) const {
  if (Known && F.getIdentifier() &&
      Known->tellsThread(F.isExternC() || !Context.getLangOpts().CPlusPlus
                             ? F.getName().str()
                             : qualifiedName(F)))
    return true;
  if (!F.getReturnType()->isIntegerType())
    return false;
  if (F.getIdentifier() && !F.getNumParams() && asksForThread(F.getName()))
    return true;
  const auto *Body = dyn_cast_or_null<CompoundStmt>(F.getBody());
  if (!Body || Body->size() != 1)
    return false;
  const auto *Return = dyn_cast<ReturnStmt>(Body->body_front());
  const Expr *Value = Return ? Return->getRetValue() : nullptr;
  if (!Value)
    return false;
  const auto *Ref = dyn_cast<DeclRefExpr>(Value->IgnoreParenCasts());
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->getTLSKind() != VarDecl::TLS_None;
}

/// Bytes between the elements of which a small function returns that of the
/// running thread, by address or reference; 0 for other functions.
int64_t Places::ownElement(const FunctionDecl &F) const {
  const FunctionDecl *Defined = nullptr;
  if (Accessors >= MaxAccessors || F.isInStdNamespace() || !F.hasBody(Defined))
    return 0;
  const auto *Body = dyn_cast<CompoundStmt>(Defined->getBody());
  if (!Body || Body->body_empty() || Body->size() > MaxAccessor)
    return 0;
  const auto *Return = dyn_cast<ReturnStmt>(Body->body_back());
  const Expr *Value = Return ? Return->getRetValue() : nullptr;
  if (!Value)
    return 0;
  Scan Seen;
  Seen.add(Body);
  Places Inside(Context, Defined, &Seen, Known);
  Inside.Accessors = Accessors + 1;
  Place P = Value->getType()->isAnyPointerType() ? Inside.pointee(Value)
                                                 : Inside.object(Value);
  return P.Indexed && P.Own && !P.Offset ? P.Stride : 0;
}

} // namespace linemate
