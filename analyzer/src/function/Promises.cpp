//===- Promises.cpp - How is memory aligned that a function returns? ------===//
//
// Owns the look into small functions that hand on what they got from the
// system or from an allocator that was told an alignment, or that round up the
// start of memory that they got, and what declarations promise.  Who allocates
// what with them is Allocations.cpp's.
//
//===----------------------------------------------------------------------===//

#include "IndexSteps.h"
#include "Location.h"

#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/Builtins.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxSteps = 8;    ///< from a result back to where it is from
constexpr unsigned MostBits = 12;   ///< of an alignment: a page
constexpr unsigned MaxHandedOn = 3; ///< functions that return another's result
constexpr unsigned MaxStatements = 1024; ///< statements of such a function
/// Values of locals that are made of each other have many ways to one another.
constexpr unsigned MaxLooks = 4096;
constexpr int64_t PageBytes = 4096; ///< the smallest that systems have

/// What a function of the system or of the C library promises by itself.
bool returnsPages(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("mmap", "mmap64", "VirtualAlloc", "VirtualAlloc2", true)
      .Cases("valloc", "pvalloc", "shmat", true)
      .Default(false);
}

/// Which argument says the alignment of what a function returns, -1 none.
int toldAlignment(StringRef Name) {
  return llvm::StringSwitch<int>(Name)
      .Cases("aligned_alloc", "memalign", 0)
      .Case("_mm_malloc", 1)
      .Default(-1);
}

/// A word that outlives the call: a variable in static storage, or a member.
const ValueDecl *lastingWordOf(const Expr *E) {
  E = E->IgnoreParenCasts();
  if (const auto *M = dyn_cast<MemberExpr>(E))
    return M->getMemberDecl();
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->hasGlobalStorage() ? V : nullptr;
}

/// A number of bytes, 0 of one that is no alignment; nothing where it is not
/// constant.
std::optional<int64_t> constantBytes(const Expr *E, const ASTContext &Context) {
  auto Bytes = constantOf(E, Context);
  return Bytes && (*Bytes <= 0 || *Bytes > PageBytes) ? 0 : Bytes;
}

/// An alignment that a function is handed: its promise is that of each caller.
constexpr int64_t ofArgument(unsigned Index) { return -1 - int64_t(Index); }

/// The alignment that \p E asks for: a number, what a variable begins as, that
/// of a parameter (ofArgument), or any.  0 where it asks for none.
int64_t asked(const Expr *E, const ASTContext &Context) {
  if (E->isValueDependent())
    return AnyAlignment;
  if (std::optional<int64_t> Bytes = constantBytes(E, Context))
    return *Bytes;
  const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParenCasts());
  const ValueDecl *Named = Ref ? Ref->getDecl() : nullptr;
  if (const auto *P = dyn_cast_or_null<ParmVarDecl>(Named))
    return ofArgument(P->getFunctionScopeIndex());
  const auto *V = dyn_cast_or_null<VarDecl>(Named);
  const Expr *Begins =
      V && V->hasGlobalStorage() ? V->getAnyInitializer() : nullptr;
  // One that begins as another one may begin as itself, by way of that.
  auto Bytes = Begins ? constantBytes(Begins, Context) : std::nullopt;
  return Bytes ? std::max<int64_t>(*Bytes, 1) : AnyAlignment;
}

/// What a mask of an address's last bits is made of: `~(alignment - 1)`.
const Expr *maskOf(const Expr *E) {
  for (unsigned Steps = 0; Steps < MaxSteps; ++Steps) {
    E = E->IgnoreParenCasts();
    if (const auto *U = dyn_cast<UnaryOperator>(E);
        U && (U->getOpcode() == UO_Not || U->getOpcode() == UO_Minus))
      E = U->getSubExpr();
    else if (const auto *B = dyn_cast<BinaryOperator>(E);
             B && B->getOpcode() == BO_Sub)
      E = B->getLHS();
    else
      break;
  }
  return E;
}

/// Is it a member of a record that is a local variable itself?
bool isOfLocalRecord(const Expr *E) {
  const auto *M = dyn_cast<MemberExpr>(E->IgnoreParenCasts());
  const auto *Ref =
      M && !M->isArrow()
          ? dyn_cast<DeclRefExpr>(M->getBase()->IgnoreParenCasts())
          : nullptr;
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->hasLocalStorage() && !isa<ParmVarDecl>(V);
}

class Returns {
public:
  Returns(ASTContext &Context, Accessors &Known, unsigned Depth)
      : Context(Context), Known(Known), Depth(Depth) {}

  int64_t of(const FunctionDecl &Defined);

private:
  ASTContext &Context;
  Accessors &Known;
  unsigned Depth;
  unsigned Looks = 0;                   ///< at values that may be new memory
  const FunctionDecl *Itself = nullptr; ///< its definition
  Scan Seen;
  llvm::SmallVector<const Expr *, 4> Values;
  /// What is put where a local's address is handed to posix_memalign.
  llvm::DenseMap<const VarDecl *, int64_t> Put;
  llvm::SmallVector<const ValueDecl *, 4> Following;
  llvm::SmallVector<const BinaryOperator *, 2> Added;
  /// What words that outlive the call, and members of local records, are set
  /// to, or are themselves added to.
  llvm::SmallVector<std::pair<const ValueDecl *, const Expr *>, 4> Set;

  bool look(const Stmt &Body);
  void putBy(const CallExpr &C);
  int64_t constant(const Expr *E);
  std::optional<int64_t> value(const Expr *E);
  std::optional<int64_t> called(const CallExpr &C);
  std::optional<int64_t> computed(const BinaryOperator &B);
  bool isRoundedUp(const Expr *E, int64_t Bytes);
  bool isFresh(const Expr *E, unsigned Steps = 0);
  bool isMadeOf(const Expr *E, const ValueDecl &Word, unsigned Steps = 0);
  bool anyValue(const VarDecl &V, llvm::function_ref<bool(const Expr *)> Is);
  std::optional<int64_t> local(const VarDecl &V);
  std::optional<int64_t> number(const VarDecl &V, const LocalNumber &N);
  std::optional<int64_t> filledUp(const VarDecl &V, const BinaryOperator &B);
  std::optional<int64_t> least(llvm::ArrayRef<const Expr *> All);
};

int64_t Returns::constant(const Expr *E) {
  return constantBytes(E, Context).value_or(0);
}

void Returns::putBy(const CallExpr &C) {
  const FunctionDecl *F = C.getDirectCallee();
  if (!F || !F->getIdentifier() || F->getName() != "posix_memalign" ||
      C.getNumArgs() != 3)
    return;
  const auto *Of = dyn_cast<UnaryOperator>(C.getArg(0)->IgnoreParenCasts());
  const auto *Ref =
      Of ? dyn_cast<DeclRefExpr>(Of->getSubExpr()->IgnoreParenCasts())
         : nullptr;
  if (const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr)
    Put[V] = asked(C.getArg(1), Context);
}

/// All that is returned; false where that is too much to look at.
bool Returns::look(const Stmt &Body) {
  llvm::SmallVector<const Stmt *, 16> Work{&Body};
  for (unsigned Looked = 0; !Work.empty(); ++Looked) {
    const Stmt *S = Work.pop_back_val();
    if (Looked > MaxStatements)
      return false;
    if (isa<LambdaExpr>(S))
      continue;
    if (const auto *R = dyn_cast<ReturnStmt>(S); R && R->getRetValue())
      Values.push_back(R->getRetValue());
    if (const auto *C = dyn_cast<CallExpr>(S))
      putBy(*C);
    if (const auto *B = dyn_cast<CompoundAssignOperator>(S))
      Added.push_back(B);
    if (const auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp())
      if (const ValueDecl *Word = lastingWordOf(B->getLHS()))
        Set.emplace_back(Word, B->isCompoundAssignmentOp() ? B->getLHS()
                                                           : B->getRHS());
    for (const Stmt *Child : S->children())
      if (Child)
        Work.push_back(Child);
  }
  return true;
}

/// Nothing where it is null, which needs no alignment, or kept in memory, as in
/// a list of what was given back: that was new before.
std::optional<int64_t> Returns::value(const Expr *E) {
  E = E->IgnoreParenCasts();
  if (E->isNullPointerConstant(Context, Expr::NPC_ValueDependentIsNotNull))
    return std::nullopt;
  if (const auto *C = dyn_cast<ConditionalOperator>(E))
    return least({C->getTrueExpr(), C->getFalseExpr()});
  if (const auto *B = dyn_cast<BinaryOperator>(E))
    return B->getOpcode() == BO_Assign ? value(B->getRHS()) : computed(*B);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    return V && V->hasLocalStorage() && !isa<ParmVarDecl>(V) ? local(*V) : 0;
  }
  const auto *U = dyn_cast<UnaryOperator>(E);
  if (isa<ArraySubscriptExpr>(E) || (U && U->getOpcode() == UO_Deref))
    return std::nullopt;
  if (const auto *M = dyn_cast<MemberExpr>(E)) {
    if (!isOfLocalRecord(M))
      return std::nullopt;
    if (llvm::is_contained(Following, M->getMemberDecl()))
      return 0;
    Following.push_back(M->getMemberDecl());
    llvm::SmallVector<const Expr *, 2> Given;
    for (const auto &[Word, Value] : Set)
      if (Word == M->getMemberDecl())
        Given.push_back(Value);
    std::optional<int64_t> Least = least(Given);
    Following.pop_back();
    return Least.value_or(0);
  }
  const auto *C = dyn_cast<CallExpr>(E);
  return C ? called(*C) : 0;
}

std::optional<int64_t> Returns::called(const CallExpr &C) {
  const FunctionDecl *F = C.getDirectCallee();
  if (!F || !F->getIdentifier())
    return 0;
  // What it gets from itself is one of the other results in the end.
  const FunctionDecl *Defined = nullptr;
  if (F->hasBody(Defined) && Defined == Itself)
    return std::nullopt;
  int Told = toldAlignment(F->getName());
  if (Told >= 0)
    return unsigned(Told) < C.getNumArgs()
               ? asked(C.getArg(unsigned(Told)), Context)
               : 0;
  if (int64_t Declared = promisedByDeclaration(C, Context))
    return Declared;
  return ofCall(promisedBy(*F, Context, Known, Depth + 1), C, Context);
}

/// Is one of the values that a local is given such a one?
bool Returns::anyValue(const VarDecl &V,
                       llvm::function_ref<bool(const Expr *)> Is) {
  if (auto Found = Seen.Locals.find(&V); Found != Seen.Locals.end())
    return llvm::any_of(Found->second.Values, Is);
  auto Found = Seen.Numbers.find(&V);
  return Found != Seen.Numbers.end() && llvm::any_of(Found->second.Values, Is);
}

/// Is a value computed from what a word has?
bool Returns::isMadeOf(const Expr *E, const ValueDecl &Word, unsigned Steps) {
  E = E->IgnoreParenCasts();
  if (Steps > MaxSteps || ++Looks > MaxLooks)
    return false;
  if (const auto *B = dyn_cast<BinaryOperator>(E))
    return isMadeOf(B->getLHS(), Word, Steps + 1) ||
           isMadeOf(B->getRHS(), Word, Steps + 1);
  if (const ValueDecl *One = lastingWordOf(E))
    return One == &Word;
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && anyValue(*V, [&](const Expr *Value) {
           return isMadeOf(Value, Word, Steps + 1);
         });
}

/// Does it lead to memory that nobody else has yet?  Of a cursor that the
/// function itself moves on each call gets another part.
bool Returns::isFresh(const Expr *E, unsigned Steps) {
  E = E->IgnoreParenCasts();
  if (Steps > MaxSteps || ++Looks > MaxLooks)
    return false;
  if (const auto *B = dyn_cast<BinaryOperator>(E))
    return isFresh(B->getLHS(), Steps + 1) || isFresh(B->getRHS(), Steps + 1);
  if (const auto *C = dyn_cast<CallExpr>(E))
    return isAllocation(*C, Context) || called(*C).value_or(0) != 0;
  if (const ValueDecl *Word = lastingWordOf(E))
    return llvm::any_of(Set, [&](const auto &One) {
      return One.first == Word &&
             (isMadeOf(One.second, *Word) ||
              (isOfLocalRecord(E) && isFresh(One.second, Steps + 1)));
    });
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (!V || !V->hasLocalStorage() || isa<ParmVarDecl>(V))
    return false;
  return anyValue(*V,
                  [&](const Expr *Value) { return isFresh(Value, Steps + 1); });
}

/// The start of new memory that is rounded to a multiple: by a mask of its last
/// bits, by what was divided and multiplied again, or by what is left over.
std::optional<int64_t> Returns::computed(const BinaryOperator &B) {
  auto Lowest = [&](const Expr *E) -> int64_t {
    Expr::EvalResult Result;
    if (E->isValueDependent() || !E->EvaluateAsInt(Result, Context) ||
        Result.Val.getInt() == 0)
      return 0;
    unsigned Bits = Result.Val.getInt().countr_zero();
    return int64_t(1) << std::min(Bits, MostBits);
  };
  BinaryOperatorKind Op = B.getOpcode();
  if (Op != BO_And && Op != BO_Mul)
    return 0;
  int64_t Right = Lowest(B.getRHS()), Left = Lowest(B.getLHS());
  const Expr *Address = Right || !Left ? B.getLHS() : B.getRHS();
  if (int64_t Whole = std::max(Left, Right))
    return isFresh(Address) || isRoundedUp(Address, Whole) ? Whole : 0;
  return Op == BO_And && isFresh(Address) ? asked(maskOf(B.getRHS()), Context)
                                          : 0;
}

/// Is it what a call returned, with as much added as rounding it down to a
/// multiple of \p Bytes may take?  That is done to new memory alone.
bool Returns::isRoundedUp(const Expr *E, int64_t Bytes) {
  int64_t Added = 0;
  E = E->IgnoreParenCasts();
  for (unsigned Steps = 0; Steps < MaxSteps; ++Steps) {
    const auto *B = dyn_cast<BinaryOperator>(E);
    if (!B || B->getOpcode() != BO_Add)
      break;
    int64_t Right = constant(B->getRHS());
    Added += Right ? Right : constant(B->getLHS());
    E = (Right ? B->getLHS() : B->getRHS())->IgnoreParenCasts();
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  auto Found = V ? Seen.Locals.find(V) : Seen.Locals.end();
  if (Found != Seen.Locals.end() && Found->second.Values.size() == 1)
    E = Found->second.Values.front()->IgnoreParenCasts();
  return Added >= Bytes - 1 && isa<CallExpr>(E) &&
         E->getType()->isPointerType();
}

std::optional<int64_t> Returns::local(const VarDecl &V) {
  if (auto Number = Seen.Numbers.find(&V);
      V.getType()->isIntegerType() && Number != Seen.Numbers.end())
    return number(V, Number->second);
  auto Found = Seen.Locals.find(&V);
  auto There = Put.find(&V);
  if (llvm::is_contained(Following, &V) || Found == Seen.Locals.end() ||
      Found->second.Stepped || (Found->second.escapes() && There == Put.end()))
    return 0;
  Following.push_back(&V);
  std::optional<int64_t> Least = least(Found->second.Values);
  Following.pop_back();
  if (There != Put.end())
    Least = Least ? std::min(*Least, There->second) : There->second;
  return Least;
}

/// `address += 64 - address % 64`, what is missing to the next multiple.
std::optional<int64_t> Returns::filledUp(const VarDecl &V,
                                         const BinaryOperator &B) {
  auto Names = [&](const Expr *E) {
    const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParenCasts());
    return Ref && Ref->getDecl() == &V;
  };
  const auto *Missing =
      dyn_cast<BinaryOperator>(B.getRHS()->IgnoreParenCasts());
  if (B.getOpcode() != BO_AddAssign || !Names(B.getLHS()) || !Missing ||
      Missing->getOpcode() != BO_Sub)
    return std::nullopt;
  const auto *Over =
      dyn_cast<BinaryOperator>(Missing->getRHS()->IgnoreParenCasts());
  if (!Over || Over->getOpcode() != BO_Rem || !Names(Over->getLHS()))
    return std::nullopt;
  int64_t Whole = constant(Missing->getLHS());
  return Whole && Whole == constant(Over->getRHS()) ? std::optional(Whole)
                                                    : std::nullopt;
}

std::optional<int64_t> Returns::number(const VarDecl &V, const LocalNumber &N) {
  if (llvm::is_contained(Following, &V))
    return 0;
  if (N.Counts) {
    std::optional<int64_t> Whole;
    for (const BinaryOperator *B : Added)
      if (std::optional<int64_t> One = filledUp(V, *B))
        Whole = One;
    return Whole && llvm::any_of(N.Values,
                                 [&](const Expr *E) { return isFresh(E); })
               ? Whole
               : 0;
  }
  Following.push_back(&V);
  std::optional<int64_t> Least = least(N.Values);
  Following.pop_back();
  return Least;
}

std::optional<int64_t> Returns::least(llvm::ArrayRef<const Expr *> All) {
  std::optional<int64_t> Least;
  for (const Expr *E : All)
    if (std::optional<int64_t> One = value(E))
      // Of what callers ask for nothing is known here.
      Least = !Least || (*Least < 0 && *One) ? One
              : *One < 0                     ? Least
                                             : std::min(*Least, *One);
  return Least;
}

int64_t Returns::of(const FunctionDecl &Defined) {
  const Stmt *Body = Defined.getBody();
  Itself = &Defined;
  if (!look(*Body) || Values.empty())
    return 0;
  Seen.add(Body);
  return least(Values).value_or(0);
}

} // namespace

/// What its name says, an attribute of the function, or an assumption about
/// what another returned: of malloc it is known to be wrong.
int64_t promisedByDeclaration(const CallExpr &C, const ASTContext &Context) {
  const FunctionDecl *F = C.getDirectCallee();
  auto Constant = [&](const Expr *E) -> int64_t {
    Expr::EvalResult Result;
    return !E->isValueDependent() && E->EvaluateAsInt(Result, Context)
               ? std::clamp<int64_t>(Result.Val.getInt().getExtValue(), 0,
                                     PageBytes)
               : 0;
  };
  if (!F)
    return 0;
  if (F->getIdentifier() && returnsPages(F->getName()) && !F->hasBody())
    return PageBytes;
  if (const auto *A = F->getAttr<AssumeAlignedAttr>();
      A && (!A->getOffset() || !Constant(A->getOffset())))
    return Constant(A->getAlignment());
  if (const auto *A = F->getAttr<AllocAlignAttr>())
    if (unsigned At = A->getParamIndex().getASTIndex(); At < C.getNumArgs())
      return Constant(C.getArg(At));
  if (F->getBuiltinID() != Builtin::BI__builtin_assume_aligned ||
      C.getNumArgs() != 2)
    return 0;
  const auto *Of = dyn_cast<CallExpr>(C.getArg(0)->IgnoreParenCasts());
  const FunctionDecl *From = Of ? Of->getDirectCallee() : nullptr;
  return From && From->getBuiltinID() ? 0 : Constant(C.getArg(1));
}

int64_t ofCall(int64_t Promised, const CallExpr &C, const ASTContext &Context) {
  if (Promised >= 0)
    return Promised;
  auto Index = unsigned(-1 - Promised);
  return Index < C.getNumArgs() ? asked(C.getArg(Index), Context)
                                : AnyAlignment;
}

int64_t promisedBy(const FunctionDecl &F, ASTContext &Context, Accessors &Known,
                   unsigned Depth) {
  const FunctionDecl *Defined = nullptr;
  if (Depth > MaxHandedOn || !F.getReturnType()->isPointerType() ||
      !F.hasBody(Defined) || !Defined->getBody() ||
      Defined->isDependentContext())
    return 0;
  auto [Slot, IsNew] = Known.Promised.try_emplace(Defined, 0);
  if (!IsNew)
    return Slot->second; // nothing while others lead back to it
  int64_t Found = Returns(Context, Known, Depth).of(*Defined);
  return Known.Promised[Defined] = Found;
}

} // namespace linemate
