//===- Collect.cpp - All functions of a unit to facts ---------------------===//
//
// Owns the order: what a function calls is read before it, so that locks that
// a helper takes are seen by its callers.
//
//===----------------------------------------------------------------------===//

#include "Collect.h"

#include "Bodies.h"
#include "Body.h"
#include "Names.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace linemate {

namespace {

/// A larger graph is given up with a note.
constexpr unsigned MaxBlocks = 200000;

CFG::BuildOptions graphOptions() {
  CFG::BuildOptions O;
  O.PruneTriviallyFalseEdges = true; // do { } while (0) is no loop
  O.AddInitializers = true;
  O.AddImplicitDtors = true;
  O.AddTemporaryDtors = true;
  O.AddStaticInitBranches = true; // who comes later passes them by
  O.AddCXXDefaultInitExprInCtors = true;
  O.setAllAlwaysAdd();
  return O;
}

int64_t bitsOf(const FunctionDecl &F, ASTContext &Context) {
  int64_t Bits = 0;
  if (!F.isExternallyVisible())
    Bits |= functionbits::Internal;
  switch (Context.GetGVALinkageForFunction(&F)) {
  case GVA_AvailableExternally:
  case GVA_DiscardableODR:
  case GVA_StrongODR:
    Bits |= functionbits::Inline;
    break;
  default:
    break;
  }
  if (F.hasAttr<ConstructorAttr>())
    Bits |= functionbits::Init;
  const auto *Section = F.getAttr<SectionAttr>();
  if (F.hasAttr<ColdAttr>() ||
      (Section && (Section->getName().starts_with(".init") ||
                   Section->getName().starts_with(".exit"))))
    Bits |= functionbits::Cold;
  if (F.isNoReturn())
    Bits |= functionbits::NoReturn;
  const auto *Method = dyn_cast<CXXMethodDecl>(&F);
  if (Method && Method->isVirtual())
    Bits |= functionbits::Virtual;
  else if (Method && (Method->getAccess() == AS_private ||
                      Method->getParent()->isLambda()))
    Bits |= functionbits::Private;
  if (F.hasAttr<HotAttr>())
    Bits |= functionbits::Hot;
  return Bits;
}

bool isEmpty(const FunctionFacts &F) {
  return F.Accesses.empty() && F.Calls.empty() && F.Taken.empty() &&
         F.Names.empty() && F.LockOps.empty() && F.Starts.empty();
}

class Collector {
public:
  Collector(UnitBuilder &Unit)
      : Unit(Unit), Known(Unit), Options(graphOptions()) {}

  std::vector<FunctionFacts> run(const TranslationUnitDecl &Root);

private:
  struct Entry {
    const FunctionDecl *Function;
    std::unique_ptr<Scan> Seen;
    bool Visited = false;
  };

  UnitBuilder &Unit;
  Callees Known;
  CFG::BuildOptions Options;
  std::vector<Entry> Entries;
  llvm::DenseMap<const FunctionDecl *, size_t> EntryOf;
  std::vector<FunctionFacts> Facts;
  /// As of Scan::Functions, in the order in which they were found.
  std::vector<std::pair<const ValueDecl *, const Expr *>> KeptFunctions;

  void scan(Bodies &Found);
  void keep(const Scan &Seen);
  void keepVirtual(const CXXMethodDecl &M, const CXXRecordDecl &Of,
                   int64_t Function);
  void keepAt(const ValueDecl &Place, const Expr *Value);
  void readBottomUp(size_t Root);
  void read(Entry &E);
  void readRegions(const Scan &Seen, const FunctionDecl &Parent,
                   FunctionFacts &ParentFacts);
  void readInitialiser(const VarDecl &V);
  void addRooms();
  bool readInto(FunctionFacts &Out, const Decl &Owner, Stmt *Body,
                const Scan &Seen, const FunctionDecl *Function);
  void place(FunctionFacts &Out, SourceLocation Where);
};

void Collector::place(FunctionFacts &Out, SourceLocation Where) {
  Position P = Unit.position(Where);
  Out.File = P.File;
  Out.Line = P.Line;
  Out.Column = P.Column;
}

/// Functions that members are given anywhere may be what others find there.  So
/// of variables, but that what has their address may set them.
void Collector::keep(const Scan &Seen) {
  for (const auto &[Place, Value] : Seen.Functions) {
    if (const auto *Field = dyn_cast<FieldDecl>(Place))
      Known.members()[Field].push_back(Value);
    KeptFunctions.emplace_back(Place, Value);
  }
  for (const auto &[Variable, Times] : Seen.HandedOut)
    if (Times)
      KeptFunctions.emplace_back(Variable, nullptr);
}

/// Whoever calls what it overrides, of objects of the class \p Of or of one of
/// its bases, may call it.
void Collector::keepVirtual(const CXXMethodDecl &M, const CXXRecordDecl &Of,
                            int64_t Function) {
  for (const CXXMethodDecl *Base : M.overridden_methods())
    keepVirtual(*Base, Of, Function);
  if (M.size_overridden_methods())
    return;
  const CXXMethodDecl &First = *M.getCanonicalDecl();
  const CXXRecordDecl &Whole = *First.getParent();
  Unit.keeps(Unit.slot(First, Whole), Function);
  if (Of.getCanonicalDecl() == Whole.getCanonicalDecl())
    return;
  Unit.keeps(Unit.slot(First, Of), Function);
  Of.forallBases([&](const CXXRecordDecl *Between) {
    if (Between->isDerivedFrom(&Whole))
      Unit.keeps(Unit.slot(First, *Between), Function);
    return true;
  });
}

/// What a member or variable is given: a function, what a function is handed as
/// an argument, or what is not seen, unless that is another object's same
/// member, or another element.
void Collector::keepAt(const ValueDecl &Place, const Expr *Value) {
  int64_t Slot = Unit.slot(Place);
  if (!Value)
    return Unit.keeps(Slot, -1);
  const Expr *E = Value->IgnoreParenCasts();
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && (U->getOpcode() == UO_AddrOf || U->getOpcode() == UO_Plus))
    E = U->getSubExpr()->IgnoreParenCasts();
  if (const auto *Full = dyn_cast<FullExpr>(E))
    E = Full->getSubExpr()->IgnoreParenCasts();
  if (isa<ImplicitValueInitExpr>(E) ||
      Value->isNullPointerConstant(Unit.context(),
                                   Expr::NPC_ValueDependentIsNotNull))
    return;
  if (const auto *Either = dyn_cast<AbstractConditionalOperator>(E)) {
    keepAt(Place, Either->getTrueExpr());
    return keepAt(Place, Either->getFalseExpr());
  }
  const auto *M = dyn_cast<MemberExpr>(E);
  if ((M && M->getMemberDecl() == &Place) || functionVariable(E) == &Place)
    return;
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *Convert = dyn_cast<CXXMemberCallExpr>(E);
  const CXXMethodDecl *To = Convert ? Convert->getMethodDecl() : nullptr;
  if (const auto *F = Ref ? dyn_cast<FunctionDecl>(Ref->getDecl()) : nullptr)
    return Unit.keeps(Slot, Unit.symbol(*F));
  if (To && isa<CXXConversionDecl>(To) && To->getParent()->isLambda())
    return Unit.keeps(Slot,
                      Unit.symbol(*To->getParent()->getLambdaCallOperator()));
  const auto *P = Ref ? dyn_cast<ParmVarDecl>(Ref->getDecl()) : nullptr;
  const auto *F = P ? dyn_cast<FunctionDecl>(P->getDeclContext()) : nullptr;
  if (!F)
    return Unit.keeps(Slot, -1);
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  Unit.keeps(Slot, Unit.symbol(*F),
             P->getFunctionScopeIndex() + (Method && Method->isInstance()));
}

/// Finds bodies in bodies (lambdas, local classes) until there are no more.
void Collector::scan(Bodies &Found) {
  for (size_t I = 0; I < Found.Functions.size(); ++I) {
    const FunctionDecl *F = Found.Functions[I];
    auto Seen = std::make_unique<Scan>();
    if (const auto *C = dyn_cast<CXXConstructorDecl>(F))
      Seen->add(*C);
    Seen->add(F->getBody());
    keep(*Seen);
    for (const CXXRecordDecl *Lambda : Seen->Lambdas)
      Found.add(Lambda);
    for (const RecordDecl *Local : Seen->LocalRecords)
      Found.add(Local);
    EntryOf[F->getCanonicalDecl()] = Entries.size();
    Entries.push_back({F, std::move(Seen)});
  }
}

void Collector::readBottomUp(size_t Root) {
  struct Frame {
    size_t Entry;
    size_t Next = 0;
  };
  if (Entries[Root].Visited)
    return;
  Entries[Root].Visited = true;
  std::vector<Frame> Stack{{Root}};
  while (!Stack.empty()) {
    Frame &Top = Stack.back();
    Entry &E = Entries[Top.Entry];
    if (Top.Next == E.Seen->Callees.size()) {
      read(E);
      E.Seen.reset();
      Stack.pop_back();
      continue;
    }
    const FunctionDecl *Callee = E.Seen->Callees[Top.Next++];
    auto It = EntryOf.find(Callee->getCanonicalDecl());
    if (It == EntryOf.end() || Entries[It->second].Visited)
      continue;
    Entries[It->second].Visited = true;
    Stack.push_back({It->second});
  }
}

bool Collector::readInto(FunctionFacts &Out, const Decl &Owner, Stmt *Body,
                         const Scan &Seen, const FunctionDecl *Function) {
  std::unique_ptr<CFG> Graph =
      CFG::buildCFG(&Owner, Body, &Unit.context(), Options);
  if (!Graph || Graph->getNumBlockIDs() > MaxBlocks) {
    Unit.note("no control flow graph of " + Out.Name);
    return false;
  }
  class Body Reader(Unit, Known, Seen, Function, *Graph, Out);
  Reader.run();
  llvm::erase_if(Out.Allocations,
                 [](const AllocationFact &A) { return A.Record < 0; });
  return true;
}

void Collector::read(Entry &E) {
  const FunctionDecl &F = *E.Function;
  FunctionFacts Out;
  Out.Identity = Unit.identity(F).str();
  if (Out.Identity.empty())
    return;
  Out.Symbol = Unit.linkageName(F);
  Out.Name = Unit.readableName(F);
  Out.Bits = bitsOf(F, Unit.context());
  place(Out, F.getLocation());
  const auto *Method = dyn_cast<CXXMethodDecl>(&F);
  if (Method && Method->isVirtual() && !isa<CXXDestructorDecl>(Method))
    keepVirtual(*Method, *Method->getParent(), Unit.symbol(F));
  readInto(Out, F, F.getBody(), *E.Seen, &F);
  // What a caller in another unit asks for may be any alignment.
  int64_t Promised = promisedBy(F, Unit.context(), Known.elements());
  Out.Promises = Promised < 0 ? AnyAlignment : Promised;
  readRegions(*E.Seen, F, Out);
  Out.Names = namedByFunction(Unit, F);
  if (F.isImplicit() && isEmpty(Out))
    return;
  Facts.push_back(std::move(Out));
}

void Collector::readRegions(const Scan &Seen, const FunctionDecl &Parent,
                            FunctionFacts &ParentFacts) {
  std::vector<int64_t> Symbols;
  for (const OMPExecutableDirective *D : Seen.Regions) {
    Stmt *Code = const_cast<Stmt *>(regionBody(*D));
    int64_t Line = Unit.position(D->getBeginLoc()).Line;
    std::string Suffix = "#omp@" + std::to_string(Line);
    FunctionFacts Out;
    Out.Identity = ParentFacts.Identity + Suffix;
    Out.Symbol = ParentFacts.Symbol + Suffix;
    Out.Name = ParentFacts.Name + Suffix;
    Out.Bits = functionbits::Region | functionbits::Internal |
               (ParentFacts.Bits & functionbits::Inline);
    place(Out, D->getBeginLoc());
    // Local pointers of the parent keep their meaning inside.
    Scan Inner;
    Inner.Locals = Seen.Locals;
    Inner.Around = &Parent;
    if (isa<OMPSectionDirective>(D))
      Inner.Shared = Seen.Shared;
    Inner.share(*D);
    Inner.add(Code);
    if (isOpenMPParallelDirective(D->getDirectiveKind())) {
      Inner.shareRounds(*D, *D, Seen);
      for (const OMPLoopDirective *Loop : Inner.Loops)
        Inner.shareRounds(*Loop, *D, Seen);
    }
    readInto(Out, Parent, Code, Inner, nullptr);
    readRegions(Inner, Parent, Out);
    Symbols.push_back(Unit.symbol(Out.Identity, Parent));
    Facts.push_back(std::move(Out));
  }
  for (StartFact &S : ParentFacts.Starts)
    if (S.Entry <= -2)
      S.Entry = size_t(-2 - S.Entry) < Symbols.size()
                    ? Symbols[size_t(-2 - S.Entry)]
                    : -1;
}

/// What a dynamic initialiser does, or which functions a constant one names.
void Collector::readInitialiser(const VarDecl &V) {
  Scan Seen;
  Seen.add(V);
  FunctionFacts Out;
  std::string Name = Unit.identity(V).str();
  if (Name.empty())
    return;
  Out.Identity = "initialiser of " + Name;
  Out.Symbol = Out.Identity;
  Out.Name = "initialiser of " + Unit.readableName(V);
  Out.Bits = functionbits::Init | functionbits::Internal;
  place(Out, V.getLocation());
  readInto(Out, V, const_cast<Expr *>(V.getInit()), Seen, nullptr);
  if (V.hasConstantInitialization()) {
    // No code runs; only what it names counts.
    std::erase_if(Out.Locksets, [](const Rows &R) { return !R.empty(); });
    FunctionFacts Names;
    std::swap(Names.Taken, Out.Taken);
    Names.Identity = Out.Identity;
    Names.Symbol = Out.Symbol;
    Names.Name = Out.Name;
    Names.Bits = Out.Bits;
    Names.File = Out.File;
    Names.Line = Out.Line;
    Names.Column = Out.Column;
    Out = std::move(Names);
  }
  if (isEmpty(Out))
    return;
  Facts.push_back(std::move(Out));
}

/// What was made for elements that a record stands for: which these are is
/// known now.
void Collector::addRooms() {
  llvm::StringMap<size_t> At;
  for (size_t I = 0; I < Facts.size(); ++I)
    At[Facts[I].Identity] = I;
  for (Accessors::Room &R : Known.elements().Rooms) {
    auto Of = Known.elements().Plain.find(R.Holder);
    auto In = At.find(R.Function);
    if (Of == Known.elements().Plain.end() || In == At.end())
      continue;
    R.Made.Record = Unit.record(*Of->second);
    Facts[In->second].Allocations.push_back(std::move(R.Made));
  }
}

std::vector<FunctionFacts> Collector::run(const TranslationUnitDecl &Root) {
  Bodies Found(Unit);
  Found.add(&Root);
  for (const VarDecl *V : Found.Initialised) {
    Scan Seen;
    Seen.add(*V);
    keep(Seen);
    for (const CXXRecordDecl *Lambda : Seen.Lambdas)
      Found.add(Lambda);
  }
  scan(Found);
  for (const auto &[Place, Value] : KeptFunctions)
    keepAt(*Place, Value);
  for (size_t I = 0; I < Entries.size(); ++I)
    readBottomUp(I);
  for (const VarDecl *V : Found.Initialised)
    readInitialiser(*V);
  addRooms();
  return std::move(Facts);
}

} // namespace

std::vector<FunctionFacts> collectFunctions(UnitBuilder &Unit,
                                            const TranslationUnitDecl &Root) {
  return Collector(Unit).run(Root);
}

} // namespace linemate
