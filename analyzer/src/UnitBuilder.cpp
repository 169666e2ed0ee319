//===- UnitBuilder.cpp - The tables of one translation unit ---------------===//
//
// Owns numbering and identity; see UnitBuilder.h.
//
//===----------------------------------------------------------------------===//

#include "UnitBuilder.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;
using llvm::StringRef;

namespace linemate {

namespace {

constexpr size_t MaxNotes = 100;
constexpr size_t MaxNameBytes = 2048; // of mangled names, which nest

/// The function that a static local belongs to; null for other variables.
const FunctionDecl *enclosingFunction(const VarDecl &D) {
  return D.isStaticLocal()
             ? dyn_cast_or_null<FunctionDecl>(D.getParentFunctionOrMethod())
             : nullptr;
}

bool isNameable(const NamedDecl &D) {
  if (D.getDeclContext()->isDependentContext())
    return false;
  if (const auto *V = dyn_cast<VarDecl>(&D))
    return V->hasGlobalStorage() && !V->getType()->isDependentType() &&
           !isa<VarTemplatePartialSpecializationDecl>(V) &&
           !V->getDescribedVarTemplate();
  const auto *F = dyn_cast<FunctionDecl>(&D);
  return F && !F->isDependentContext() && !F->getDescribedFunctionTemplate() &&
         !isa<CXXDeductionGuideDecl>(F);
}

/// Could an object of \p R be in memory?  Sizes of those that could not wrap
/// around, so their members are asked as well.
bool fits(const ASTContext &Context, const RecordDecl &R) {
  const ASTRecordLayout &Layout = Context.getASTRecordLayout(&R);
  if (Layout.getSize().getQuantity() >= MostBytes)
    return false;
  for (unsigned I = 0; I < Layout.getFieldCount(); ++I)
    if (Layout.getFieldOffset(I) / 8 >= uint64_t(MostBytes))
      return false;
  const auto *Class = dyn_cast<CXXRecordDecl>(&R);
  return !Class || llvm::all_of(Class->bases(), [&](auto &Step) {
    const CXXRecordDecl *Base = Step.getType()->getAsCXXRecordDecl();
    return !Base || Step.isVirtual() ||
           Layout.getBaseClassOffset(Base).getQuantity() < MostBytes;
  });
}

} // namespace

UnitBuilder::UnitBuilder(ASTContext &Context, const Knowledge &Rows,
                         std::string UnitPath, std::string Directory,
                         UnitOptions Options)
    : Context(Context), Sources(Context.getSourceManager()), Rows(Rows),
      UnitPath(std::move(UnitPath)), Directory(std::move(Directory)),
      Options(std::move(Options)), Mangler(Context.createMangleContext()) {
  // The unit itself is first, whatever the parser calls it.
  FileOf[Sources.getMainFileID()] = fileOfPath(this->UnitPath);
}

std::string UnitBuilder::normalised(StringRef Path) const {
  llvm::SmallString<256> Full(Path);
  if (!llvm::sys::path::is_absolute(Full)) {
    Full = Directory;
    llvm::sys::path::append(Full, Path);
  }
  llvm::sys::path::remove_dots(Full, /*remove_dot_dot=*/true);
  return std::string(Full);
}

int64_t UnitBuilder::fileOfPath(StringRef Path) {
  std::string Full = normalised(Path);
  auto [Slot, IsNew] = FileOfPath.try_emplace(Full, int64_t(Files.size()));
  if (IsNew)
    Files.push_back(std::move(Full));
  return Slot->second;
}

int64_t UnitBuilder::file(FileID Id) {
  auto [Slot, IsNew] = FileOf.try_emplace(Id, -1);
  if (IsNew)
    if (OptionalFileEntryRef Entry = Sources.getFileEntryRefForID(Id)) {
      int64_t Index = fileOfPath(Entry->getName());
      FileOf[Id] = Index;
      return Index;
    }
  return FileOf[Id];
}

int64_t UnitBuilder::file(SourceLocation At) {
  return At.isValid() ? file(Sources.getFileID(Sources.getExpansionLoc(At)))
                      : -1;
}

Position UnitBuilder::position(SourceLocation At) {
  if (At.isInvalid())
    return {};
  auto [Id, Offset] = Sources.getDecomposedLoc(Sources.getExpansionLoc(At));
  bool Invalid = false;
  Position Out;
  Out.File = file(Id);
  Out.Line = Sources.getLineNumber(Id, Offset, &Invalid);
  Out.Column = Sources.getColumnNumber(Id, Offset, &Invalid);
  return Invalid || Out.File < 0 ? Position{} : Out;
}

int64_t UnitBuilder::symbol(const NamedDecl &D) {
  const Decl *Key = D.getCanonicalDecl();
  auto Known = SymbolOf.find(Key);
  if (Known != SymbolOf.end())
    return Known->second;
  int64_t Index = -1;
  if (isNameable(D)) {
    std::string Identity = makeIdentity(D);
    if (!Identity.empty()) {
      auto [Slot, IsNew] =
          SymbolOfIdentity.try_emplace(Identity, int64_t(Symbols.size()));
      if (IsNew) {
        Symbols.push_back(&D);
        Identities.push_back(std::move(Identity));
      }
      Index = Slot->second;
    }
  }
  SymbolOf[Key] = Index;
  return Index;
}

int64_t UnitBuilder::symbol(std::string Identity, const NamedDecl &Owner) {
  auto [Slot, IsNew] =
      SymbolOfIdentity.try_emplace(Identity, int64_t(Symbols.size()));
  if (IsNew) {
    Symbols.push_back(&Owner);
    Identities.push_back(std::move(Identity));
  }
  return Slot->second;
}

StringRef UnitBuilder::identity(const NamedDecl &D) {
  int64_t Index = symbol(D);
  return Index < 0 ? StringRef() : StringRef(Identities[size_t(Index)]);
}

int64_t UnitBuilder::record(const RecordDecl &R) {
  const RecordDecl *Definition = R.getDefinition();
  if (!Definition || Definition->isInvalidDecl() ||
      !Definition->isCompleteDefinition() || Definition->isDependentContext())
    return -1;
  auto [Slot, IsNew] =
      RecordOf.try_emplace(Definition, int64_t(Records.size()));
  if (IsNew && fits(Context, *Definition)) {
    Records.push_back(Definition);
  } else if (IsNew) {
    Slot->second = -1;
    note(readableName(*Definition) + ": left out: it fits into no process");
  }
  return Slot->second;
}

void UnitBuilder::derives(const RecordDecl &Whole) {
  int64_t Index = record(Whole);
  if (Index >= 0 && !llvm::is_contained(Derived, Index))
    Derived.push_back(Index);
}

void UnitBuilder::makes(QualType T) {
  const auto *R = T->getBaseElementTypeUnsafe()->getAsRecordDecl();
  R = R ? R->getDefinition() : nullptr;
  if (!R || !Made.insert(R).second || !inSystemHeader(R->getLocation()))
    return;
  // What a container or a smart pointer of a library is told, it makes.
  const auto *Instance = dyn_cast<ClassTemplateSpecializationDecl>(R);
  if (!Instance)
    return;
  for (const TemplateArgument &Given : Instance->getTemplateArgs().asArray()) {
    auto All = Given.getKind() == TemplateArgument::Pack ? Given.pack_elements()
                                                         : ArrayRef(Given);
    for (const TemplateArgument &One : All)
      if (One.getKind() == TemplateArgument::Type)
        makes(One.getAsType());
  }
}

void UnitBuilder::makesWithin(QualType T) {
  const auto *R = T->getBaseElementTypeUnsafe()->getAsRecordDecl();
  if (R && inSystemHeader(R->getLocation()))
    makes(T);
}

std::vector<int64_t> UnitBuilder::made() {
  for (const RecordDecl *R : Records)
    for (const FieldDecl *Field : R->fields())
      makesWithin(Field->getType());
  std::vector<int64_t> Found;
  for (size_t Index = 0; Index < Records.size(); ++Index)
    if (Made.contains(Records[Index]))
      Found.push_back(int64_t(Index));
  return Found;
}

int64_t UnitBuilder::slotOf(std::string Name) {
  auto [Slot, IsNew] = SlotOf.try_emplace(Name, int64_t(Slots.size()));
  if (IsNew)
    Slots.push_back(std::move(Name));
  return Slot->second;
}

int64_t UnitBuilder::slot(const FieldDecl &Field) {
  return slotOf("member " + Field.getParent()->getQualifiedNameAsString() +
                "." + Field.getNameAsString());
}

int64_t UnitBuilder::slot(const CXXMethodDecl &First, const CXXRecordDecl &Of) {
  std::string Name = "virtual " + linkageName(First);
  if (First.getParent()->getCanonicalDecl() != Of.getCanonicalDecl())
    Name += " of " + readableName(Of);
  return slotOf(std::move(Name));
}

int64_t UnitBuilder::slot(const ValueDecl &Place) {
  if (const auto *Field = dyn_cast<FieldDecl>(&Place))
    return slot(*Field);
  return slotOf("variable " + identity(Place).str());
}

int64_t UnitBuilder::functionSlot(QualType Type) {
  return slotOf("function " + Type.getCanonicalType().getAsString(
                                  Context.getPrintingPolicy()));
}

void UnitBuilder::keeps(int64_t Slot, int64_t Function, int64_t Argument) {
  if (KeptOnce.insert({Slot, Function, Argument}).second)
    Kept.insert(Kept.end(), {Slot, Function, Argument});
}

/// `function.name`, and a number for the second of a name, as clang does it.
std::string UnitBuilder::staticLocalName(const VarDecl &D) {
  auto [Slot, IsNew] = StaticLocals.try_emplace(D.getCanonicalDecl());
  if (IsNew) {
    const FunctionDecl *F = enclosingFunction(D);
    std::string Name =
        (F ? linkageName(*F) : std::string()) + "." + D.getNameAsString();
    unsigned Earlier = StaticLocalCounts[Name]++;
    if (Earlier)
      Name += "." + std::to_string(Earlier);
    StaticLocals[D.getCanonicalDecl()] = std::move(Name);
  }
  return StaticLocals[D.getCanonicalDecl()];
}

std::string UnitBuilder::linkageName(const NamedDecl &D) {
  const auto *V = dyn_cast<VarDecl>(&D);
  bool IsC = !Context.getLangOpts().CPlusPlus;
  if (const auto *Label = D.getAttr<AsmLabelAttr>())
    return Label->getLabel().ltrim('\1').str();
  if (IsC && V && V->isStaticLocal())
    return Options.Compiler == "clang" ? staticLocalName(*V)
                                       : D.getNameAsString();
  if (!Mangler->shouldMangleDeclName(&D)) {
    const IdentifierInfo *Name = D.getIdentifier();
    return Name ? Name->getName().str() : std::string();
  }
  std::string Out;
  llvm::raw_string_ostream Stream(Out);
  GlobalDecl Global;
  if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(&D))
    Global = GlobalDecl(Constructor, Ctor_Complete);
  else if (const auto *Destructor = dyn_cast<CXXDestructorDecl>(&D))
    Global = GlobalDecl(Destructor, Dtor_Complete);
  else
    Global = GlobalDecl(&D);
  Mangler->mangleName(Global, Stream);
  Stream.flush();
  if (Out.size() > MaxNameBytes)
    Out.resize(MaxNameBytes);
  return Out;
}

std::string UnitBuilder::makeIdentity(const NamedDecl &D) {
  const auto *V = dyn_cast<VarDecl>(&D);
  bool IsC = !Context.getLangOpts().CPlusPlus;
  if (V && V->isStaticLocal()) {
    const FunctionDecl *F = enclosingFunction(*V);
    if (IsC)
      return staticLocalName(*V) + "@" + UnitPath;
    std::string Name = linkageName(D);
    return F && F->isExternallyVisible() ? Name : Name + "@" + UnitPath;
  }
  std::string Name = linkageName(D);
  if (Name.empty() || D.isExternallyVisible())
    return Name;
  if (V)
    return Name + "@" + UnitPath;
  const FunctionDecl *F = cast<FunctionDecl>(&D);
  const FunctionDecl *Definition = nullptr;
  if (!F->isDefined(Definition))
    Definition = F->getCanonicalDecl();
  int64_t File = file(Definition->getLocation());
  return Name + "@" + (File < 0 ? UnitPath : Files[size_t(File)]);
}

std::string UnitBuilder::readableName(const NamedDecl &D) {
  if (!Context.getLangOpts().CPlusPlus)
    return D.getNameAsString();
  std::string Out;
  llvm::raw_string_ostream Stream(Out);
  PrintingPolicy Policy = Context.getPrintingPolicy();
  Policy.SuppressUnwrittenScope = true;
  Policy.SuppressInlineNamespace = true;
  D.getNameForDiagnostic(Stream, Policy, /*Qualified=*/true);
  Stream.flush();
  if (Out.size() > MaxNameBytes)
    Out.resize(MaxNameBytes);
  return Out;
}

StringRef UnitBuilder::text(SourceRange Range, size_t Limit) {
  CharSourceRange Expanded =
      Sources.getExpansionRange(CharSourceRange::getTokenRange(Range));
  return Lexer::getSourceText(Expanded, Sources, Context.getLangOpts())
      .take_front(Limit);
}

void UnitBuilder::note(StringRef Text) {
  if (Notes.size() < MaxNotes && !llvm::is_contained(Notes, Text))
    Notes.push_back(Text.str());
}

} // namespace linemate
