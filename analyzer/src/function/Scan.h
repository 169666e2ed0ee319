//===- Scan.h - First look at a function body --------------------*- C++
//-*-===//
//
// Owns what must be known of a body before its statements are read in the
// order of execution: what is assigned to local pointers, which expressions
// are never evaluated, which constructor call makes which object, nested
// bodies, and the functions it calls.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_SCAN_H
#define LINEMATE_ANALYZER_FUNCTION_SCAN_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtOpenMP.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"

namespace linemate {

/// All values that a local pointer, or a local reference, ever gets.
struct LocalValues {
  llvm::SmallVector<const clang::Expr *, 2> Values;
  bool Stepped = false; ///< incremented: it walks along an array
  bool Leaps = false;   ///< by as many elements as a variable says
  unsigned Uses = 0;    ///< mentions, and those that cannot change it
  unsigned Harmless = 0;
  bool escapes() const { return Uses != Harmless; }
};

/// All values that a local number ever gets.
struct LocalNumber {
  llvm::SmallVector<const clang::Expr *, 1> Values;
  bool Counts = false; ///< a new value is made from the old one
  bool InLoop = false; ///< it gets one in each round of a loop
};

/// Statements below an OpenMP directive that changes what they do.
struct Mark {
  const clang::OMPCriticalDirective *Critical = nullptr;
  bool Atomic = false;
};

struct Scan {
  llvm::DenseMap<const clang::VarDecl *, LocalValues> Locals;
  llvm::DenseMap<const clang::Expr *, const clang::ValueDecl *> Made;
  /// In a constructor: what members that are pointers or references start as.
  llvm::DenseMap<const clang::FieldDecl *, const clang::Expr *> Fields;
  /// All values of local numbers that ever hold the result of a call.
  llvm::DenseMap<const clang::VarDecl *,
                 llvm::SmallVector<const clang::Expr *, 1>>
      Results;
  llvm::DenseMap<const clang::VarDecl *, LocalNumber> Numbers;
  /// What members and static variables that are pointers to functions are
  /// given, or elements of such a variable.
  llvm::SmallVector<std::pair<const clang::ValueDecl *, const clang::Expr *>, 1>
      Functions;
  /// By such a variable how often it is named, but to be called, read or set.
  llvm::MapVector<const clang::VarDecl *, int> HandedOut;
  /// In a parallel region: locals of the function around it that all its
  /// threads use, and no copies of them.
  llvm::DenseSet<const clang::VarDecl *> Shared;
  /// In a parallel region: counters of loops whose rounds its threads share
  /// out, one each.
  llvm::SmallPtrSet<const clang::VarDecl *, 1> Rounds;
  /// What omp_set_num_threads is told.
  llvm::SmallVector<const clang::Expr *, 1> ThreadsSet;
  /// Loops of a parallel region that have a directive of their own.
  llvm::SmallVector<const clang::OMPLoopDirective *, 1> Loops;
  /// Local objects that are moved from or returned, or whose threads a call
  /// waits for or lets go: at their end there is nothing left to do.
  llvm::SmallPtrSet<const clang::VarDecl *, 4> GivenUp;
  /// Local objects of the library that own what they are given as they are
  /// declared, with what makes that, and those that ever own something else.
  llvm::DenseMap<const clang::VarDecl *, const clang::Expr *> Owners;
  llvm::SmallPtrSet<const clang::VarDecl *, 4> Rebound;
  llvm::DenseSet<const clang::Stmt *> Unevaluated;
  llvm::DenseMap<const clang::Stmt *, Mark> Marks;
  llvm::SmallVector<const clang::CXXRecordDecl *, 2> Lambdas;
  llvm::SmallVector<const clang::RecordDecl *, 2> LocalRecords;
  llvm::SmallVector<const clang::OMPExecutableDirective *, 2> Regions;
  const clang::FunctionDecl *Around = nullptr; ///< in which this is a region
  llvm::SmallVector<const clang::FunctionDecl *, 8> Callees;

  /// Looks at one more statement that belongs to the body.
  void add(const clang::Stmt *Body);
  void add(const clang::CXXConstructorDecl &Constructor);
  /// The initialiser of a global.
  void add(const clang::VarDecl &Global);
  /// The body is that of a parallel region.
  void share(const clang::OMPExecutableDirective &Region);
  /// The rounds of a loop of \p Region, by what the code \p Outside of it says
  /// of threads.
  void shareRounds(const clang::OMPExecutableDirective &Loop,
                   const clang::OMPExecutableDirective &Region,
                   const Scan &Outside);

private:
  enum class As : uint8_t { Usual, Unevaluated, Atomic };
  struct Item {
    const clang::Stmt *S;
    const clang::OMPCriticalDirective *Critical;
    As How;
    bool Loops = false;
  };
  llvm::SmallVector<Item, 32> Work;
  bool Looping = false; ///< what is looked at is in a loop

  void see(const Item &I);
  void declare(const clang::VarDecl &V);
  void assign(const clang::BinaryOperator &B);
  void value(const clang::Expr *Target, const clang::Expr *Value);
  void harmless(const clang::Expr *Target, bool Steps);
  void keeps(const clang::FieldDecl *Field, const clang::Expr *Value);
  void keeps(const clang::VarDecl &V, const clang::Expr &Initial);
  void keeps(const clang::InitListExpr &List);
  void rebound(const clang::CallExpr &Call);
  void givenUp(const clang::CallExpr &Call);
  void givenUp(const clang::Expr *Object);
};

/// The static variable that an expression names, or an element of which, if it
/// is a pointer to a function or an array of such; else null.
const clang::VarDecl *functionVariable(const clang::Expr *E);

/// Does a function of the library make an object that what it returns owns?
bool makesOwned(const clang::FunctionDecl &F);

/// The body of a directive that several threads run, or null.
const clang::CapturedStmt *parallelBody(const clang::OMPExecutableDirective &D);

/// The code of a directive that is a function of its own: of a parallel region,
/// of a task, or of a section, which one of a region's threads runs.
const clang::Stmt *regionBody(const clang::OMPExecutableDirective &D);

} // namespace linemate

#endif
