//===- Records.cpp - Layout of records ------------------------------------===//
//
// Owns the key of a record: its name, where it is defined, and a hash of its
// layout, so that units that disagree about a record do not share it.
//
//===----------------------------------------------------------------------===//

#include "Records.h"

#include "Spelling.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecordLayout.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace clang;

namespace linemate {

namespace {

constexpr size_t MaxMembers = 20'000;

bool isPacked(const RecordDecl &R) {
  return R.hasAttr<PackedAttr>() || R.hasAttr<MaxFieldAlignmentAttr>();
}

int64_t bitsOf(UnitBuilder &Unit, const RecordDecl &R) {
  int64_t Bits = 0;
  if (R.isUnion())
    Bits |= recordbits::Union;
  if (R.isClass())
    Bits |= recordbits::Class;
  if (isPacked(R))
    Bits |= recordbits::Packed;
  if (!R.getIdentifier() && !R.getTypedefNameForAnonDecl())
    Bits |= recordbits::Anonymous;
  if (Unit.inSystemHeader(R.getLocation()))
    Bits |= recordbits::System;
  if (R.isImplicit() && R.getLocation().isValid())
    Bits |= recordbits::Elements; // made by Locations::recordOf
  if (const auto *Class = dyn_cast<CXXRecordDecl>(&R)) {
    if (isa<ClassTemplateSpecializationDecl>(Class) ||
        Class->getTemplateInstantiationPattern())
      Bits |= recordbits::Template;
    if (Class->isDynamicClass())
      Bits |= recordbits::Polymorphic;
  }
  return Bits;
}

void place(UnitBuilder &Unit, MemberFact &M, SourceLocation At) {
  Position P = Unit.position(At);
  M.File = P.File;
  M.Line = P.Line;
  M.Column = P.Column;
}

void addBase(UnitBuilder &Unit, TypeTrees &Types, RecordFacts &Out,
             const CXXBaseSpecifier &B, CharUnits Offset) {
  MemberFact M;
  M.OffsetBits = Offset.getQuantity() * 8;
  M.Type = Types.tree(B.getType());
  M.IsBase = true;
  if (const CXXRecordDecl *Base = B.getType()->getAsCXXRecordDecl())
    M.Name = Types.recordName(*Base);
  place(Unit, M, B.getBeginLoc());
  M.Text = Unit.text(B.getSourceRange());
  Out.Members.push_back(std::move(M));
}

void addBases(UnitBuilder &Unit, TypeTrees &Types, RecordFacts &Out,
              const CXXRecordDecl &Class, const ASTRecordLayout &Layout) {
  for (const CXXBaseSpecifier &B : Class.bases())
    if (!B.isVirtual())
      if (const CXXRecordDecl *Base = B.getType()->getAsCXXRecordDecl())
        addBase(Unit, Types, Out, B, Layout.getBaseClassOffset(Base));
  for (const CXXBaseSpecifier &B : Class.vbases())
    if (const CXXRecordDecl *Base = B.getType()->getAsCXXRecordDecl())
      addBase(Unit, Types, Out, B, Layout.getVBaseClassOffset(Base));
}

/// The pointer to the virtual functions, which the source does not show.
void addTablePointer(UnitBuilder &Unit, RecordFacts &Out, TypeTrees &Types,
                     const CXXRecordDecl &Class,
                     const ASTRecordLayout &Layout) {
  if (!Layout.hasOwnVFPtr())
    return;
  MemberFact M;
  M.Name = "(vtable)";
  M.Type = Types.tree(
      Unit.context().getPointerType(Unit.context().VoidTy.withConst()));
  place(Unit, M, Class.getLocation());
  Out.Members.push_back(std::move(M));
}

void addField(UnitBuilder &Unit, TypeTrees &Types, RecordFacts &Out,
              const FieldDecl &F, uint64_t OffsetBits) {
  MemberFact M;
  M.Name = F.getNameAsString();
  M.OffsetBits = int64_t(OffsetBits);
  M.Type = Types.tree(F.getType());
  if (F.isBitField())
    M.BitSize = int64_t(F.getBitWidthValue(Unit.context()));
  Alignment A = declaredAlignment(Unit, F);
  M.DeclaredAlign = A.Bytes;
  M.Macros = std::move(A.Macros);
  place(Unit, M, F.getLocation());
  Extent Range = declarationExtent(Unit, F);
  M.Begin = Range.Begin;
  M.End = Range.End;
  M.GuardedBy = guardedBy(Unit, F);
  M.Text = fileText(Unit, F.getLocation(), Range);
  // Padding that a macro declares (____cacheline_aligned pads, CACHE_PAD(x)).
  addMacros(Unit, F.getLocation(), M.Macros);
  Out.Members.push_back(std::move(M));
}

/// A type as it is in every unit: without the indexes of records, which are
/// the unit's own and follow the `null` of a type without inner type.
void addLayout(std::string &Layout, StringRef Type) {
  constexpr StringRef Leaf = "null,";
  for (size_t At = Type.find(Leaf); At != StringRef::npos;
       At = Type.find(Leaf)) {
    Layout += Type.take_front(At);
    Type = Type.drop_front(At + Leaf.size()).drop_while([](char C) {
      return C == '-' || llvm::isDigit(C);
    });
  }
  Layout += Type;
}

std::string keyOf(UnitBuilder &Unit, const RecordFacts &R) {
  std::string Layout = std::to_string(R.Size) + ":" + std::to_string(R.Align) +
                       ":" + std::to_string(R.Bits) + ":" +
                       std::to_string(R.Begin);
  for (const MemberFact &M : R.Members) {
    Layout += ';';
    Layout += M.Name;
    Layout += ':';
    Layout += std::to_string(M.OffsetBits);
    Layout += ':';
    Layout += std::to_string(M.BitSize);
    Layout += ':';
    addLayout(Layout, M.Type);
  }
  std::string Path = R.File < 0 ? std::string() : Unit.files()[size_t(R.File)];
  return R.Name + "@" + Path + ":" + std::to_string(R.Line) + ":" +
         std::to_string(R.Column) + "#" +
         llvm::utohexstr(llvm::xxh3_64bits(Layout), /*LowerCase=*/true);
}

} // namespace

RecordFacts recordFacts(UnitBuilder &Unit, TypeTrees &Types,
                        const RecordDecl &R) {
  ASTContext &Context = Unit.context();
  const ASTRecordLayout &Layout = Context.getASTRecordLayout(&R);
  RecordFacts Out;
  Out.Name = Types.recordName(R);
  Out.Bits = bitsOf(Unit, R);
  Out.Size = Layout.getSize().getQuantity();
  Out.Align = Layout.getAlignment().getQuantity();
  Alignment A = declaredAlignment(Unit, R);
  Out.DeclaredAlign = A.Bytes;
  Out.AlignText = std::move(A.Text);
  Out.Macros = std::move(A.Macros);
  Position P = Unit.position(R.getLocation());
  Out.File = P.File;
  Out.Line = P.Line;
  Out.Column = P.Column;
  Extent Range = recordExtent(Unit, R);
  Out.Begin = Range.Begin;
  Out.End = Range.End;

  if (const auto *Class = dyn_cast<CXXRecordDecl>(&R)) {
    addTablePointer(Unit, Out, Types, *Class, Layout);
    addBases(Unit, Types, Out, *Class, Layout);
  }
  for (const FieldDecl *F : R.fields()) {
    if (Out.Members.size() >= MaxMembers) {
      Unit.note(Out.Name + ": only the first " + std::to_string(MaxMembers) +
                " members are listed");
      break;
    }
    if (F->isUnnamedBitField())
      continue;
    addField(Unit, Types, Out, *F, Layout.getFieldOffset(F->getFieldIndex()));
  }
  Out.Key = keyOf(Unit, Out);
  return Out;
}

} // namespace linemate
