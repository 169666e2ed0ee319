//===- Arguments.cpp - What calls pass ------------------------------------===//
//
// Owns the rows of arguments: of each what it leads to, by variable, parameter
// or record, or its value.  The rows of the calls are Calls.cpp's.
//
//===----------------------------------------------------------------------===//

#include "Body.h"
#include "Columns.h"
#include "IndexSteps.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>

using namespace clang;

namespace linemate {

namespace {

enum ArgKind : uint8_t {
  OfVariable = 1,
  OwnParameter = 2,
  Constant = 3,
  OfFunction = 4,
  InRecord = 5,
  GivenNumber = 6,
  OwnRecord = 7,
  InMember = 8,
  NewObject = 9,
  LoadedFrom = 10,
  CalledParameter = 11,
  EachRecord = 12
};

std::optional<int64_t> constantArgument(const Expr *E,
                                        const ASTContext &Context) {
  const Expr *Plain = E->IgnoreParenImpCasts();
  Expr::EvalResult Result;
  // Reads of variables are not worth an evaluation.
  if (isa<CallExpr>(Plain) || isa<MemberExpr>(Plain) || E->isValueDependent() ||
      !E->getType()->isIntegralOrEnumerationType() ||
      !E->EvaluateAsInt(Result, Context, Expr::SE_NoSideEffects))
    return std::nullopt;
  llvm::APSInt Value = Result.Val.getInt();
  if (Value.getSignificantBits() > 63)
    return std::nullopt;
  return Value.getExtValue();
}

} // namespace

const CXXRecordDecl *lambdaOf(const Expr *E) {
  const CXXRecordDecl *R = E->IgnoreImplicit()
                               ->getType()
                               .getNonReferenceType()
                               ->getAsCXXRecordDecl();
  return R && R->isLambda() ? R : nullptr;
}

void Body::receiver(uint32_t Row, const Location &P) {
  int64_t Stride = P.Indexed ? P.Stride : 0;
  if (P.In == Location::Kind::Variable)
    append(Out.Args, {int64_t(Row), int64_t(0), int64_t(OfVariable),
                      Unit.symbol(*P.Var), P.Offset, Stride});
  else if (P.In == Location::Kind::Parameter)
    append(Out.Args, {int64_t(Row), int64_t(0), int64_t(OwnParameter),
                      int64_t(P.Param), P.Offset, Stride});
  else if (P.In == Location::Kind::Record && P.Record)
    append(Out.Args, {int64_t(Row), int64_t(0), int64_t(InRecord),
                      Unit.record(*P.Record), P.Offset, Stride});
}

/// The record of an element, at an index that is not constant, of an array in
/// the frame of the function, where \p E designates one or leads to it.
const RecordDecl *Body::onFrame(const Expr *E, unsigned Depth) {
  E = E->IgnoreParenCasts();
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_AddrOf)
    E = U->getSubExpr()->IgnoreParenCasts();
  const Expr *Array = nullptr, *Index = nullptr;
  if (const auto *A = dyn_cast<ArraySubscriptExpr>(E)) {
    Array = A->getBase();
    Index = A->getIdx();
  } else if (const auto *B = dyn_cast<BinaryOperator>(E);
             B && B->getOpcode() == BO_Add) {
    bool IsLeft = B->getLHS()->getType()->isAnyPointerType();
    Array = IsLeft ? B->getLHS() : B->getRHS();
    Index = IsLeft ? B->getRHS() : B->getLHS();
  }
  const auto *Ref =
      dyn_cast<DeclRefExpr>(Array ? Array->IgnoreParenCasts() : E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (!V || V->hasGlobalStorage())
    return nullptr;
  if (!Array) { // a pointer or reference that is always the same element
    auto Known = Seen.Locals.find(V);
    bool IsOne = Known != Seen.Locals.end() && !Depth &&
                 Known->second.Values.size() == 1 && !Known->second.Stepped &&
                 (V->getType()->isReferenceType() || !Known->second.escapes());
    return IsOne ? onFrame(Known->second.Values.front(), Depth + 1) : nullptr;
  }
  const clang::ArrayType *T = Context.getAsArrayType(V->getType());
  const RecordDecl *R = T ? T->getElementType()->getAsRecordDecl() : nullptr;
  R = R ? R->getDefinition() : nullptr;
  bool IsElement = R && !R->isInvalidDecl() && !constantOf(Index, Context);
  return IsElement ? R : nullptr;
}

/// The record that one of several pointers leads to, another one at each index.
const RecordDecl *Body::ofPointers(const Expr *E, unsigned Depth) {
  E = E->IgnoreParenCasts();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    auto Known = V ? Seen.Locals.find(V) : Seen.Locals.end();
    bool IsOne = Known != Seen.Locals.end() && !Depth &&
                 Known->second.Values.size() == 1 && !Known->second.Stepped &&
                 !Known->second.escapes();
    return IsOne ? ofPointers(Known->second.Values.front(), Depth + 1)
                 : nullptr;
  }
  const auto *A = dyn_cast<ArraySubscriptExpr>(E);
  QualType T = A ? A->getType() : QualType();
  if (T.isNull() || !T->isPointerType() || constantOf(A->getIdx(), Context))
    return nullptr;
  const RecordDecl *R = T->getPointeeType()->getAsRecordDecl();
  R = R ? R->getDefinition() : nullptr;
  return R && !R->isInvalidDecl() ? R : nullptr;
}

/// Says which parameter a call through a pointer takes its target from: one
/// that nothing else is assigned to.
void Body::calledParameter(uint32_t Row, const Expr *Callee) {
  const Expr *E = Callee->IgnoreParenCasts();
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_Deref)
    E = U->getSubExpr()->IgnoreParenCasts();
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *P = Ref ? dyn_cast<ParmVarDecl>(Ref->getDecl()) : nullptr;
  const auto *Owner = P ? dyn_cast<FunctionDecl>(P->getDeclContext()) : nullptr;
  if (!Owner || !Function ||
      Owner->getCanonicalDecl() != Function->getCanonicalDecl())
    return;
  auto Known = Seen.Locals.find(P);
  if (Known != Seen.Locals.end() &&
      (!Known->second.Values.empty() || Known->second.escapes()))
    return;
  const auto *Method = dyn_cast<CXXMethodDecl>(Function);
  unsigned First = Method && Method->isInstance() ? 1 : 0;
  int64_t Number = P->getFunctionScopeIndex() + First;
  if (Number < MostParameters)
    append(Out.Args, {int64_t(Row), Number, int64_t(CalledParameter), Number,
                      int64_t(0), int64_t(0)});
}

/// Says what element of an own array a function gets that is handed over with
/// it: what starts a thread is given them so.
void Body::handedElement(uint32_t Row, int64_t Number, const Expr *Value,
                         bool OnFrame) {
  bool WithFunction = false;
  for (size_t I = Out.Args.size(); I >= ArgColumns && !WithFunction;
       I -= ArgColumns) {
    if (Out.Args[I - ArgColumns] != int64_t(Row))
      break;
    WithFunction = Out.Args[I - ArgColumns + 2] == OfFunction;
  }
  if (!WithFunction)
    return;
  if (const RecordDecl *R = OnFrame ? onFrame(Value) : nullptr)
    append(Out.Args, {int64_t(Row), Number, int64_t(InRecord), Unit.record(*R),
                      int64_t(0), At.sizeOf(Context.getRecordType(R))});
  if (const RecordDecl *R = ofPointers(Value))
    append(Out.Args, {int64_t(Row), Number, int64_t(EachRecord),
                      Unit.record(*R), int64_t(0), int64_t(0)});
}

void Body::argument(uint32_t Row, int64_t Number, const Expr *Value) {
  if (Number >= MostParameters)
    return;
  const Expr *Plain = Value->IgnoreParenCasts();
  if (const auto *U = dyn_cast<UnaryOperator>(Plain);
      U && U->getOpcode() == UO_AddrOf)
    Plain = U->getSubExpr()->IgnoreParens();
  const FunctionDecl *F = nullptr;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Plain))
    F = dyn_cast<FunctionDecl>(Ref->getDecl());
  if (!F)
    if (const CXXRecordDecl *Lambda = lambdaOf(Value))
      F = callable(Value) ? callable(Value) : Lambda->getLambdaCallOperator();
  if (F) {
    append(Out.Args, {int64_t(Row), Number, int64_t(OfFunction),
                      Unit.symbol(*F), int64_t(0), int64_t(0)});
    return;
  }
  if (Value->getType()->isFunctionPointerType()) {
    auto Choice = chosen(Value);
    for (const FunctionDecl *Possible : Choice)
      append(Out.Args, {int64_t(Row), Number, int64_t(OfFunction),
                        Unit.symbol(*Possible), int64_t(0), int64_t(0)});
    if (!Choice.empty())
      return;
    if (const ValueDecl *Place = loadedFrom(Value)) {
      append(Out.Args, {int64_t(Row), Number, int64_t(LoadedFrom),
                        Unit.slot(*Place), int64_t(0), int64_t(0)});
      return;
    }
  }
  if (Value->getType()->isAnyPointerType() || Value->isGLValue()) {
    Location P = Value->getType()->isAnyPointerType() && !Value->isGLValue()
                     ? At.pointee(Value)
                     : At.object(Value);
    size_t Before = Out.Args.size();
    receiver(Row, P);
    if (Out.Args.size() != Before)
      Out.Args[Before + 1] = Number;
    handedElement(Row, Number, Value, P.In == Location::Kind::Local);
    escapes(Value);
    handedOn(Row, Number, P);
    partOf(Row, Number, Value, P);
    return;
  }
  if (auto Number64 = constantArgument(Value, Context))
    append(Out.Args, {int64_t(Row), Number, int64_t(Constant), *Number64,
                      int64_t(0), int64_t(0)});
}

/// Says that the callee works on an object of the running thread, or on one
/// that nobody else has yet.
void Body::handedOn(uint32_t Row, int64_t Number, const Location &P) {
  if (P.isReported() && isNew(P))
    append(Out.Args, {int64_t(Row), Number, int64_t(NewObject), int64_t(0),
                      int64_t(0), int64_t(0)});
  if (P.In == Location::Kind::Record && P.Own && !P.Indexed && !P.Offset)
    append(Out.Args, {int64_t(Row), Number, int64_t(OwnRecord),
                      Unit.record(*P.Record), int64_t(0), int64_t(0)});
}

/// Is it another type than \p Whole, neither its base nor derived from it?
static bool isPartOf(QualType T, const RecordDecl &Whole) {
  T = T.getNonReferenceType();
  const RecordDecl *R =
      (T->isAnyPointerType() ? T->getPointeeType() : T)->getAsRecordDecl();
  if (!R || R->getCanonicalDecl() == Whole.getCanonicalDecl())
    return false;
  const auto *Part = dyn_cast<CXXRecordDecl>(R);
  const auto *Of = dyn_cast<CXXRecordDecl>(&Whole);
  return !Part || !Of || !Part->hasDefinition() || !Of->hasDefinition() ||
         (!Part->isDerivedFrom(Of) && !Of->isDerivedFrom(Part));
}

/// Is it a lock, or a wrapper of one?  What is done to these locksets say.
static bool holdsLock(QualType T, Callees &Known) {
  T = T.getNonReferenceType();
  T = T->isAnyPointerType() ? T->getPointeeType() : T;
  const RecordDecl *R = T->getAsRecordDecl();
  return Known.lockRowOf(T) >= 0 ||
         (R && llvm::any_of(R->fields(), [&](const FieldDecl *F) {
            return Known.lockRowOf(F->getType()) >= 0;
          }));
}

/// Says that the callee works on a member of what a parameter leads to: what
/// becomes of the whole by calls from its own functions is else not seen.
void Body::partOf(uint32_t Row, int64_t Number, const Expr *Value,
                  const Location &P) {
  if (P.In != Location::Kind::Parameter || !P.Record || !Value ||
      holdsLock(Value->getType(), Known))
    return;
  const Expr *Plain = Value->IgnoreParenCasts();
  bool Follows = isPartOf(Plain->getType(), *P.Record); // a local pointer
  if (const auto *U = dyn_cast<UnaryOperator>(Plain);
      U && U->getOpcode() == UO_AddrOf)
    Plain = U->getSubExpr()->IgnoreParens();
  while (const auto *Element = dyn_cast<ArraySubscriptExpr>(Plain))
    Plain = Element->getBase()->IgnoreParenCasts();
  const auto *M = dyn_cast<MemberExpr>(Plain);
  if (Follows || (M && isa<FieldDecl>(M->getMemberDecl())))
    append(Out.Args,
           {int64_t(Row), Number, int64_t(InMember), Unit.record(*P.Record),
            P.Offset, P.Indexed ? P.Stride : int64_t(0)});
}

/// Says which arguments are numbers that the function itself was given, if all
/// numbers are: an index that is made of one could be made of any other.
void Body::givenNumbers(uint32_t Row, llvm::ArrayRef<const Expr *> Values) {
  size_t Before = Out.Args.size();
  for (size_t I = 0; I < Values.size(); ++I) {
    if (!Values[I] || !Values[I]->getType()->isIntegerType())
      continue;
    if (!At.isGivenNumber(*Values[I]))
      return Out.Args.resize(Before);
    append(Out.Args, {int64_t(Row), int64_t(I), int64_t(GivenNumber),
                      int64_t(0), int64_t(0), int64_t(0)});
  }
}

} // namespace linemate
