//===- Types.cpp - Types where they are used ------------------------------===//
//
// Owns the walk from a type to the records, typedefs and qualifiers in it.
//
//===----------------------------------------------------------------------===//

#include "Types.h"

#include "Json.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/TargetInfo.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace linemate {

namespace {

/// A node at this depth has one more level below it, and readers count theirs
/// from one.
constexpr unsigned MaxTypeDepth = MostTree - 2;
constexpr size_t MaxName = 300;

struct SizeAndAlign {
  int64_t Size = -1;
  int64_t Align = 0;
};

/// Size and alignment in bytes; -1 and 0 where there is none.
SizeAndAlign shapeOf(ASTContext &Context, QualType Type) {
  if (Type->isDependentType() || Type->isFunctionType() || Type->isVoidType() ||
      Type->isIncompleteType() || Type->isSizelessType() ||
      Type->isVariablyModifiedType() || Type->isUndeducedType())
    return {};
  if (const RecordDecl *R = Type->getAsRecordDecl())
    if (R->isInvalidDecl() || R->isDependentContext())
      return {};
  if (const auto *Array = Context.getAsArrayType(Type))
    if (const RecordDecl *R = Array->getElementType()
                                  ->getBaseElementTypeUnsafe()
                                  ->getAsRecordDecl())
      if (R->isInvalidDecl() || !R->isCompleteDefinition())
        return {};
  if (Type->isReferenceType()) {
    const TargetInfo &Target = Context.getTargetInfo();
    return {int64_t(Target.getPointerWidth(LangAS::Default) / 8),
            int64_t(Target.getPointerAlign(LangAS::Default) / 8)};
  }
  TypeInfo Info = Context.getTypeInfo(Type);
  SizeAndAlign S{int64_t(Info.Width / 8), int64_t(Info.Align / 8)};
  return S.Size < MostBytes ? S : SizeAndAlign{};
}

std::string node(TypeKind Kind, llvm::StringRef Name, SizeAndAlign S,
                 llvm::StringRef Inner = {}, int64_t Count = -1) {
  JsonText Text;
  JsonStream &Out = *Text;
  Out.arrayBegin();
  writeEach(Out, {int64_t(Kind)});
  write(Out, Name.take_front(MaxName));
  writeEach(Out, {S.Size, S.Align});
  if (!Inner.empty() || Count >= 0) {
    Out.rawValue(Inner.empty() ? llvm::StringRef("null") : Inner);
    Out.value(Count);
  }
  Out.arrayEnd();
  return Text.take();
}

} // namespace

TypeTrees::TypeTrees(UnitBuilder &Unit)
    : Unit(Unit), Policy(Unit.context().getPrintingPolicy()) {
  Policy.SuppressTagKeyword = true;
  Policy.SuppressInlineNamespace = true;
  Policy.SuppressUnwrittenScope = true;
  Policy.AnonymousTagLocations = false;
}

TypeJson TypeTrees::tree(QualType Type) {
  if (Type.isNull())
    return "[0,\"\",-1,0]";
  void *Key = Type.getAsOpaquePtr();
  auto Found = Known.find(Key);
  if (Found != Known.end())
    return Found->second;
  llvm::StringRef Text = Saved.save(make(Type, 0));
  Known[Key] = Text;
  return Text;
}

std::string TypeTrees::shown(QualType Type) {
  return Type.getAsString(Policy).substr(0, MaxName);
}

std::string TypeTrees::declName(const NamedDecl &D) {
  if (!Unit.context().getLangOpts().CPlusPlus)
    return D.getNameAsString();
  std::string Out;
  llvm::raw_string_ostream Stream(Out);
  D.getNameForDiagnostic(Stream, Policy, /*Qualified=*/true);
  Stream.flush();
  return Out.substr(0, MaxName);
}

std::string TypeTrees::recordName(const RecordDecl &R) {
  if (const TypedefNameDecl *Typedef = R.getTypedefNameForAnonDecl())
    return declName(*Typedef);
  if (R.getIdentifier())
    return declName(R);
  const auto *Class = dyn_cast<CXXRecordDecl>(&R);
  llvm::StringRef Own = Class && Class->isLambda() ? "(lambda)" : "(anonymous)";
  const auto *Owner = dyn_cast<NamedDecl>(R.getDeclContext());
  if (const auto *OwnerRecord = dyn_cast_or_null<RecordDecl>(Owner))
    return recordName(*OwnerRecord) + "::" + Own.str();
  if (Owner && Owner->getDeclName())
    return declName(*Owner) + "::" + Own.str();
  return Own.str();
}

std::string TypeTrees::make(QualType Type, unsigned Depth) {
  Qualifiers Quals = Type.getLocalQualifiers();
  unsigned CoreDepth =
      Depth + Quals.hasRestrict() + Quals.hasVolatile() + Quals.hasConst();
  if (CoreDepth > MaxTypeDepth)
    return node(TypeKind::Unknown, "", {});
  QualType Core = Type.getLocalUnqualifiedType();
  std::string Text = unqualified(Core, CoreDepth);
  SizeAndAlign S =
      Quals.getCVRQualifiers() ? shapeOf(Unit.context(), Core) : SizeAndAlign{};
  if (Quals.hasRestrict())
    Text = node(TypeKind::Restrict, "", S, Text);
  if (Quals.hasVolatile())
    Text = node(TypeKind::Volatile, "", S, Text);
  if (Quals.hasConst())
    Text = node(TypeKind::Const, "", S, Text);
  return Text;
}

std::string TypeTrees::unqualified(QualType Type, unsigned Depth) {
  ASTContext &Context = Unit.context();
  SizeAndAlign S = shapeOf(Context, Type);
  const clang::Type *T = Type.getTypePtr();
  if (const auto *Typedef = dyn_cast<TypedefType>(T))
    return node(TypeKind::Typedef, declName(*Typedef->getDecl()), S,
                make(Typedef->desugar(), Depth + 1));
  if (const auto *Alias = dyn_cast<TemplateSpecializationType>(T);
      Alias && Alias->isTypeAlias() && Alias->isSugared())
    return node(TypeKind::Typedef, shown(Type), S,
                make(Alias->desugar(), Depth + 1));
  if (const auto *Record = dyn_cast<RecordType>(T)) {
    const RecordDecl &R = *Record->getDecl();
    TypeKind Kind = R.isUnion()   ? TypeKind::Union
                    : R.isClass() ? TypeKind::Class
                                  : TypeKind::Struct;
    return node(Kind, recordName(R), S, {}, Unit.record(R));
  }
  if (const auto *Enum = dyn_cast<EnumType>(T)) {
    const EnumDecl &E = *Enum->getDecl();
    const TypedefNameDecl *Typedef = E.getTypedefNameForAnonDecl();
    return node(TypeKind::Enum,
                Typedef             ? declName(*Typedef)
                : E.getIdentifier() ? declName(E)
                                    : std::string(),
                S);
  }
  if (const auto *Array = dyn_cast<ArrayType>(T)) {
    int64_t Count = -1;
    if (const auto *Constant = dyn_cast<ConstantArrayType>(Array))
      if (uint64_t Elements = Constant->getSize().getLimitedValue();
          Elements < uint64_t(MostBytes))
        Count = int64_t(Elements);
    std::string Element = make(Array->getElementType(), Depth + 1);
    return node(TypeKind::Array, "", S, Element, Count);
  }
  if (const auto *Atomic = dyn_cast<AtomicType>(T))
    return node(TypeKind::Atomic, "", S,
                make(Atomic->getValueType(), Depth + 1));
  if (T->isDependentType())
    return node(TypeKind::Unknown, shown(Type), {});
  if (const auto *Builtin = dyn_cast<BuiltinType>(T))
    return node(Builtin->isPlaceholderType() ? TypeKind::Unknown
                                             : TypeKind::Base,
                Builtin->getName(Policy), S);
  if (isa<PointerType, BlockPointerType, ObjCObjectPointerType>(T))
    return node(TypeKind::Pointer, shown(Type), S);
  if (isa<ReferenceType>(T))
    return node(TypeKind::Reference, shown(Type), S);
  if (isa<MemberPointerType>(T))
    return node(TypeKind::MemberPointer, shown(Type), S);
  if (isa<FunctionType>(T))
    return node(TypeKind::Function, shown(Type), {});
  if (isa<VectorType, ComplexType, BitIntType>(T))
    return node(TypeKind::Base, shown(Type), S);
  // Sugar that says nothing here: elaborated, attributed, typeof, auto, ....
  QualType Plain = Type.getSingleStepDesugaredType(Context);
  if (Plain != Type)
    return make(Plain, Depth + 1);
  return node(TypeKind::Unknown, shown(Type), S);
}

} // namespace linemate
