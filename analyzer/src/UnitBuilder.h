//===- UnitBuilder.h - The tables of one translation unit --------*- C++
//-*-===//
//
// Owns the numbering: files, symbols and records of a unit get an index when
// something first refers to them, and are emitted because of it.  Owns what
// identifies a variable or function (facts.py states the rules).
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_UNITBUILDER_H
#define LINEMATE_ANALYZER_UNITBUILDER_H

#include "Facts.h"
#include "Knowledge.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Mangle.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace linemate {

struct Position {
  int64_t File = -1; ///< index into the unit's files
  int64_t Line = 0;
  int64_t Column = 0;
};

class UnitBuilder {
public:
  UnitBuilder(clang::ASTContext &Context, const Knowledge &Rows,
              std::string UnitPath, std::string Directory, UnitOptions Options);

  clang::ASTContext &context() { return Context; }
  clang::SourceManager &sources() { return Sources; }
  const Knowledge &knowledge() const { return Rows; }
  const UnitOptions &options() const { return Options; }

  /// Index into the unit's symbols of a variable with static storage or of a
  /// function; -1 for what has no name that units or the linker could share.
  int64_t symbol(const clang::NamedDecl &D);

  /// Index of a function that is made from a part of \p Owner, by identity.
  int64_t symbol(std::string Identity, const clang::NamedDecl &Owner);

  /// Index of the file in which \p At is expanded; -1 for no file.
  int64_t file(clang::SourceLocation At);
  int64_t file(clang::FileID Id);

  /// Where \p At is expanded; line and column count from 1.
  Position position(clang::SourceLocation At);

  /// Index of a complete, non-dependent record, which gets emitted; else -1.
  /// -1 as well, with a note, where it is too large for any process.
  int64_t record(const clang::RecordDecl &R);

  /// Pointers to the first member of \p Whole are cast to it: C's way to derive
  /// one record from another.
  void derives(const clang::RecordDecl &Whole);

  /// Objects of \p T are made that are no member of another record of the
  /// program, or may be: elements of a container of a library among them.
  void makes(clang::QualType T);

  /// The same of the elements alone, where \p T is of a library.
  void makesWithin(clang::QualType T);

  /// Index of a place where pointers to functions are kept: by the member, or
  /// by the virtual function that others override in objects of a class and of
  /// those that derive from it.
  int64_t slot(const clang::FieldDecl &Field);
  int64_t slot(const clang::CXXMethodDecl &First,
               const clang::CXXRecordDecl &Of);
  /// Of a member, or of a static variable.
  int64_t slot(const clang::ValueDecl &Place);
  /// Of what objects of the library hold that are called like this type.
  int64_t functionSlot(clang::QualType Type);

  /// A function is kept there, or (\p Argument) what is handed to it as that
  /// argument; -1 for what is not known.
  void keeps(int64_t Slot, int64_t Function, int64_t Argument = -1);

  /// What joins the variable or function across units; "" for none.
  llvm::StringRef identity(const clang::NamedDecl &D);

  /// What the ELF symbol table calls it.  For a static local under gcc, which
  /// appends a number that nobody can foresee, the plain name.
  std::string linkageName(const clang::NamedDecl &D);

  /// Qualified, for people.
  std::string readableName(const clang::NamedDecl &D);

  bool inSystemHeader(clang::SourceLocation At) const {
    return Sources.isInSystemHeader(Sources.getExpansionLoc(At));
  }

  /// What the file says from the first to behind the last token of \p Range,
  /// as expanded; cut at \p Limit bytes.
  llvm::StringRef text(clang::SourceRange Range, size_t Limit = 200);

  /// Something the reader of the facts should know; each text is kept once.
  void note(llvm::StringRef Text);

  const std::vector<const clang::NamedDecl *> &symbols() const {
    return Symbols;
  }
  const std::vector<std::string> &identities() const { return Identities; }
  const std::vector<const clang::RecordDecl *> &records() const {
    return Records;
  }
  /// Indexes of those that derive from their first member, as they were found.
  const std::vector<int64_t> &derived() const { return Derived; }
  /// Indexes of those of which objects stand alone, in the order of records().
  std::vector<int64_t> made();
  const std::vector<std::string> &slots() const { return Slots; }
  /// Rows of slot, function and argument, each once.
  const std::vector<int64_t> &kept() const { return Kept; }
  const std::vector<std::string> &files() const { return Files; }
  const std::vector<std::string> &notes() const { return Notes; }
  const std::string &unitPath() const { return UnitPath; }

  /// \p Path absolute and without dots, but with its symbolic links.
  std::string normalised(llvm::StringRef Path) const;

private:
  std::string makeIdentity(const clang::NamedDecl &D);
  std::string staticLocalName(const clang::VarDecl &D);
  int64_t fileOfPath(llvm::StringRef Path);

  clang::ASTContext &Context;
  clang::SourceManager &Sources;
  const Knowledge &Rows;
  std::string UnitPath;
  std::string Directory;
  UnitOptions Options;
  std::unique_ptr<clang::MangleContext> Mangler;

  std::vector<const clang::NamedDecl *> Symbols;
  std::vector<std::string> Identities;
  llvm::DenseMap<const clang::Decl *, int64_t> SymbolOf;
  llvm::StringMap<int64_t> SymbolOfIdentity;
  llvm::DenseMap<const clang::Decl *, std::string> StaticLocals;
  llvm::StringMap<unsigned> StaticLocalCounts;

  std::vector<const clang::RecordDecl *> Records;
  llvm::DenseMap<const clang::Decl *, int64_t> RecordOf;
  std::vector<int64_t> Derived;
  llvm::DenseSet<const clang::Decl *> Made;

  std::vector<std::string> Slots;
  llvm::StringMap<int64_t> SlotOf;
  std::vector<int64_t> Kept;
  std::set<std::array<int64_t, 3>> KeptOnce;

  int64_t slotOf(std::string Name);

  std::vector<std::string> Files;
  llvm::StringMap<int64_t> FileOfPath;
  llvm::DenseMap<clang::FileID, int64_t> FileOf;

  std::vector<std::string> Notes;
};

} // namespace linemate

#endif
