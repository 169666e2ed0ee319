//===- Spelling.cpp - What a declaration looks like in its file -----------===//
//
// Owns the search for tokens that the AST does not keep: attributes behind a
// declarator and macros around an attribute.
//
//===----------------------------------------------------------------------===//

#include "Spelling.h"

#include "clang/AST/Attr.h"
#include "clang/AST/Expr.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace clang;
using llvm::StringRef;

namespace linemate {

namespace {

constexpr unsigned MaxTokens = 400; // looked at behind a declarator
constexpr size_t MaxMacros = 8;
constexpr size_t MaxText = 200;

/// Locations of all parts of a constant expression, for the macros in it.
void addExpressionMacros(UnitBuilder &Unit, const Stmt *S,
                         std::vector<std::string> &Out, unsigned Depth) {
  if (!S || Depth > 16 || Out.size() >= MaxMacros)
    return;
  addMacros(Unit, S->getBeginLoc(), Out);
  for (const Stmt *Child : S->children())
    addExpressionMacros(Unit, Child, Out, Depth + 1);
}

/// Offset behind the attributes that follow offset \p From in the buffer: up
/// to the comma, semicolon, brace or initialiser that ends the declarator.
unsigned skipAttributes(UnitBuilder &Unit, FileID Id, unsigned From) {
  SourceManager &SM = Unit.sources();
  bool Invalid = false;
  StringRef Buffer = SM.getBufferData(Id, &Invalid);
  if (Invalid || From >= Buffer.size())
    return From;
  Lexer Raw(SM.getLocForStartOfFile(Id), Unit.context().getLangOpts(),
            Buffer.begin(), Buffer.begin() + From, Buffer.end());
  unsigned End = From;
  int Depth = 0;
  for (unsigned I = 0; I < MaxTokens; ++I) {
    Token T;
    bool AtEnd = Raw.LexFromRawLexer(T);
    if (T.is(tok::eof) || T.is(tok::hash) || AtEnd)
      return From;
    if (T.isOneOf(tok::l_paren, tok::l_square))
      ++Depth;
    else if (T.isOneOf(tok::r_paren, tok::r_square)) {
      if (--Depth < 0)
        return End;
    } else if (Depth == 0) {
      if (T.isOneOf(tok::semi, tok::comma, tok::equal, tok::l_brace,
                    tok::r_brace, tok::colon))
        return End;
      if (T.isNot(tok::raw_identifier))
        return From; // no attribute looks like that
    }
    End = SM.getFileOffset(T.getLocation()) + T.getLength();
  }
  return From;
}

/// Moves \p Begin before the `[[`, `alignas` or `__attribute__` that opens
/// the attribute which starts there.
unsigned attributeStart(StringRef Buffer, unsigned Begin) {
  StringRef Before = Buffer.take_front(Begin).rtrim();
  while (Before.consume_back("("))
    Before = Before.rtrim();
  for (StringRef Opening : {"[[", "__attribute__", "__attribute"})
    if (Before.ends_with(Opening))
      return unsigned(Before.size() - Opening.size());
  if (size_t Bracket = Before.rfind("[["); // [[gnu::aligned
      Bracket != StringRef::npos && Before.size() - Bracket < 32 &&
      Before.substr(Bracket).find_first_of(";]{}") == StringRef::npos)
    return unsigned(Bracket);
  return Begin;
}

} // namespace

void addMacros(UnitBuilder &Unit, SourceLocation At,
               std::vector<std::string> &Out) {
  SourceManager &SM = Unit.sources();
  for (unsigned Depth = 0; At.isMacroID() && Depth < 32; ++Depth) {
    if (Out.size() >= MaxMacros)
      return;
    if (!SM.isMacroArgExpansion(At)) {
      StringRef Name =
          Lexer::getImmediateMacroName(At, SM, Unit.context().getLangOpts());
      if (!Name.empty() && !llvm::is_contained(Out, Name))
        Out.push_back(Name.str());
    }
    At = SM.getImmediateMacroCallerLoc(At);
  }
}

Extent declarationExtent(UnitBuilder &Unit, const DeclaratorDecl &D) {
  SourceManager &SM = Unit.sources();
  CharSourceRange Range = SM.getExpansionRange(D.getSourceRange());
  SourceLocation End = Range.getEnd();
  if (Range.isTokenRange())
    End = Lexer::getLocForEndOfToken(End, 0, SM, Unit.context().getLangOpts());
  auto [Id, Begin] = SM.getDecomposedLoc(Range.getBegin());
  if (End.isInvalid() || SM.getFileID(End) != Id)
    return {Begin, Begin};
  unsigned Last = SM.getFileOffset(End);
  bool Invalid = false;
  StringRef Buffer = SM.getBufferData(Id, &Invalid);
  if (Invalid)
    return {Begin, Last};
  for (const Attr *A : D.attrs()) {
    if (A->isImplicit() || A->isInherited() || A->getLocation().isInvalid())
      continue;
    auto [AttrId, At] =
        SM.getDecomposedLoc(SM.getExpansionLoc(A->getRange().getBegin()));
    if (AttrId == Id && At < Begin)
      Begin = attributeStart(Buffer, At);
  }
  return {Begin, skipAttributes(Unit, Id, Last)};
}

Extent recordExtent(UnitBuilder &Unit, const RecordDecl &R) {
  SourceManager &SM = Unit.sources();
  auto [Id, Begin] = SM.getDecomposedLoc(SM.getExpansionLoc(R.getBeginLoc()));
  auto [EndId, End] = SM.getDecomposedLoc(
      SM.getExpansionRange(R.getBraceRange().getEnd()).getEnd());
  if (Id != EndId || R.getBraceRange().isInvalid())
    return {Begin, Begin};
  bool InMacro = R.getBraceRange().getEnd().isMacroID();
  SourceLocation Last = SM.getComposedLoc(EndId, End);
  unsigned Length =
      InMacro
          ? Lexer::MeasureTokenLength(Last, SM, Unit.context().getLangOpts())
          : 1;
  return {Begin, End + Length};
}

StringRef fileText(UnitBuilder &Unit, SourceLocation At, Extent Range,
                   size_t Limit) {
  SourceManager &SM = Unit.sources();
  bool Invalid = false;
  StringRef Buffer =
      SM.getBufferData(SM.getFileID(SM.getExpansionLoc(At)), &Invalid);
  if (Invalid || Range.Begin < 0 || size_t(Range.End) > Buffer.size() ||
      Range.End <= Range.Begin)
    return {};
  return Buffer.slice(size_t(Range.Begin), size_t(Range.End)).take_front(Limit);
}

Alignment declaredAlignment(UnitBuilder &Unit, const Decl &D) {
  Alignment Out;
  for (const auto *A : D.specific_attrs<AlignedAttr>()) {
    if (A->isAlignmentDependent() || A->isInherited())
      continue;
    Out.Bytes =
        std::max<int64_t>(Out.Bytes, A->getAlignment(Unit.context()) / 8);
    StringRef Text = Unit.text(A->getRange(), MaxText);
    if (!Out.Text.empty())
      Out.Text += ' ';
    Out.Text += Text;
    addMacros(Unit, A->getLocation(), Out.Macros);
    if (A->isAlignmentExpr())
      addExpressionMacros(Unit, A->getAlignmentExpr(), Out.Macros, 0);
  }
  return Out;
}

std::string guardedBy(UnitBuilder &Unit, const Decl &D) {
  const Expr *Lock = nullptr;
  if (const auto *A = D.getAttr<GuardedByAttr>())
    Lock = A->getArg();
  else if (const auto *P = D.getAttr<PtGuardedByAttr>())
    Lock = P->getArg();
  if (!Lock)
    return {};
  // In a macro the expression is the macro's argument: spelled, not expanded.
  SourceManager &SM = Unit.sources();
  SourceRange Range(SM.getSpellingLoc(Lock->getBeginLoc()),
                    SM.getSpellingLoc(Lock->getEndLoc()));
  return Lexer::getSourceText(CharSourceRange::getTokenRange(Range), SM,
                              Unit.context().getLangOpts())
      .take_front(MaxText)
      .str();
}

} // namespace linemate
