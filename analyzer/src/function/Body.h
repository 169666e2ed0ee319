//===- Body.h - One function body to its facts -------------------*- C++
//-*-===//
//
// Owns the pass over the control flow graph that turns what each statement
// does into rows of FunctionFacts.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_BODY_H
#define LINEMATE_ANALYZER_FUNCTION_BODY_H

#include "Atomics.h"
#include "Callee.h"
#include "Facts.h"
#include "Location.h"
#include "Lockset.h"
#include "Scan.h"
#include "Shape.h"
#include "Stages.h"
#include "UnitBuilder.h"

#include "clang/Analysis/CFG.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallSet.h"

#include <initializer_list>

namespace linemate {

/// One more row.
inline void append(Rows &To, std::initializer_list<int64_t> Row) {
  To.insert(To.end(), Row.begin(), Row.end());
}

/// Where statements of the block that is being read stand.
struct Spot {
  unsigned Block = 0;
  BlockShape Shape;
};

/// One of several objects, or what one of several pointers leads to.
struct Handed {
  const clang::RecordDecl *Record = nullptr;
  bool Behind = false;
};

/// The class of a lambda that an expression is, or null.
const clang::CXXRecordDecl *lambdaOf(const clang::Expr *E);

class Body {
public:
  /// \p Function is what `this` and parameters refer to; null for an
  /// initialiser of a variable.
  Body(UnitBuilder &Unit, Callees &Known, const Scan &Seen,
       const clang::FunctionDecl *Function, const clang::CFG &Graph,
       FunctionFacts &Out);

  void run();

private:
  enum class Row : uint8_t { Access, Call, LockOp, Step };
  struct Event {
    unsigned Block;
    Row Kind;
    uint32_t At; ///< index of the row, or of the step
    LockMask Extra;
  };

  UnitBuilder &Unit;
  clang::ASTContext &Context;
  Callees &Known;
  const Scan &Seen;
  const clang::FunctionDecl *Function;
  const clang::CFG &Graph;
  Shape Blocks;
  Locations At;
  FunctionFacts &Out;
  Locksets Locks;
  std::vector<Event> Events;
  std::vector<LockStep> Steps;
  std::vector<Location> AccessLocations;
  /// Members whose objects the function frees, and how seldom it comes there;
  /// those that it sets to others.
  llvm::SmallVector<std::pair<const clang::FieldDecl *, uint8_t>, 2> Freed;
  llvm::SmallPtrSet<const clang::ValueDecl *, 4> Refilled;
  std::vector<std::pair<const clang::Expr *, const clang::FunctionDecl *>>
      Taken; ///< names of functions that no call has claimed
  llvm::DenseMap<const clang::Expr *, size_t> Allocated;
  llvm::DenseMap<const clang::Expr *, uint8_t> MadeAt; ///< loops around it
  struct Attempt {
    int Lock;
    int Guard;
    bool ZeroIsSuccess;
  };
  llvm::DenseMap<const clang::Expr *, Attempt> Attempts;
  struct NullTest {
    const clang::Expr *Pointer;
    unsigned Block;
    unsigned Way; ///< the successor where it is null
  };
  std::vector<NullTest> Tested;
  llvm::SmallVector<const clang::FunctionDecl *, 2> Started;
  Spot Here;
  Stages Turns; ///< of all threads, between places where they wait
  /// Blocks with the loop over the objects that a container destroys.
  llvm::SmallSet<unsigned, 2> EndLoops;
  bool Atomic = false;   ///< below an OpenMP atomic directive
  LockMask Critical = 0; ///< below OpenMP critical directives

  // Body.cpp: statements.
  void read(const clang::CFGBlock &B);
  void statement(const clang::Stmt &S);
  void declared(const clang::VarDecl &V);
  void initialised(const clang::CXXCtorInitializer &Init);
  void unary(const clang::UnaryOperator &U);
  void binary(const clang::BinaryOperator &B);
  void assembly(const clang::GCCAsmStmt &A);
  void castTo(const clang::CastExpr &C);
  void finish();
  void placeBlocks();

  // Access.cpp: rows.
  void access(const clang::Expr &E, AccessKind Kind,
              const clang::Expr *Stored = nullptr);
  void access(const Location &P, clang::QualType T, AccessKind Kind,
              MemoryOrder Order, clang::SourceLocation Where,
              const clang::Expr *Stored = nullptr);
  bool isNew(const Location &P) const;
  void escapes(const clang::Expr *Value);
  void atomic(const AtomicUse &Use, const clang::Expr &At);
  void position(Rows &To, clang::SourceLocation Where);
  void setLocksets();
  int64_t lockset(LockMask Held);
  std::vector<Rows> &sets() { return Out.Locksets; }
  llvm::DenseMap<LockMask, int64_t> SetOf;

  // Calls.cpp.
  void call(const clang::CallExpr &C);
  void construct(const clang::CXXConstructExpr &C);
  void destroyed(const clang::CXXDestructorDecl *D, const void *Object,
                 clang::SourceLocation Where);
  void cleanup(const clang::FunctionDecl &F, const clang::VarDecl &V);
  const clang::ValueDecl *loadedFrom(const clang::Expr *Function) const;
  uint32_t callRow(const clang::FunctionDecl *F, bool Virtual,
                   clang::SourceLocation Where);
  uint32_t callRow(int64_t Callee, clang::SourceLocation Where);
  int64_t virtualCallee(const clang::CXXMethodDecl &M,
                        const clang::Expr *Object);
  int64_t functionPlace(const clang::CXXRecordDecl *R) const;
  void heldFunction(const clang::CXXRecordDecl *R, const clang::Expr &Arg);
  bool library(const clang::CXXMethodDecl &M, const clang::CallExpr &C,
               const clang::Expr &Object);
  void copied(const clang::Expr &From);

  // Arguments.cpp.
  void argument(uint32_t Row, int64_t Number, const clang::Expr *Value);
  void calledParameter(uint32_t Row, const clang::Expr *Callee);
  void givenNumbers(uint32_t Row, llvm::ArrayRef<const clang::Expr *> Values);
  void receiver(uint32_t Row, const Location &P);
  const clang::RecordDecl *onFrame(const clang::Expr *E, unsigned Depth = 0);
  const clang::RecordDecl *ofPointers(const clang::Expr *E, unsigned Depth = 0);
  void handedElement(uint32_t Row, int64_t Number, const clang::Expr *Value,
                     bool OnFrame);
  void handedOn(uint32_t Row, int64_t Number, const Location &P);
  void partOf(uint32_t Row, int64_t Number, const clang::Expr *Value,
              const Location &P);

  // Starts.cpp.
  std::string threadClass(const clang::CXXRecordDecl *R);
  std::string heldThreads(const clang::CXXRecordDecl *R);
  bool starts(const clang::CallExpr &C);
  bool starts(const clang::CXXConstructExpr &C);
  void start(const clang::FunctionDecl *Entry, llvm::StringRef Api, bool Many,
             clang::SourceLocation Where);
  void addStart(int64_t Entry, llvm::StringRef Api, bool Many,
                clang::SourceLocation Where);
  const clang::FunctionDecl *callable(const clang::Expr *E, unsigned Depth = 0);
  llvm::SmallVector<const clang::FunctionDecl *, 4>
  chosen(const clang::Expr *E);
  void startAny(const clang::Expr *Run, llvm::StringRef Api, bool Many,
                clang::SourceLocation Where);
  void regions(const clang::OMPExecutableDirective &D);
  Handed oneOf(const clang::Expr *E, unsigned Depth = 0);
  Handed oneOfCall(const clang::CallExpr &C, unsigned Depth);
  Handed byLocal(const clang::Expr *E) const;
  const clang::CXXRecordDecl *hasOneThread(const clang::Expr *E);
  void handed(size_t First, llvm::ArrayRef<const clang::Expr *> Given);
  bool keepsThreads(clang::QualType T, unsigned Depth = 0);
  struct Ending { ///< of an object, what waits for the threads that it has
    const clang::CXXDestructorDecl *By = nullptr;
    bool Each = false; ///< of several objects in it
  };
  Ending ending(clang::QualType T, unsigned Depth = 0);
  void joined(clang::QualType Destroyed, const clang::CXXDestructorDecl *Said,
              clang::SourceLocation Where);

  void makesRoom(const clang::ValueDecl *Holder,
                 const clang::Expr &Value); // Room.cpp
  // Allocations.cpp.
  void allocates(const clang::CallExpr &C, const clang::FunctionDecl &F);
  void allocates(const clang::CXXNewExpr &N);
  void reserved(const clang::CastExpr &C);
  bool byNumber(const clang::CallExpr &C, clang::QualType Record) const;
  void toWhole(const clang::CastExpr &C);
  void madeByCast(const clang::CastExpr &C);
  void freed(const clang::CallExpr &C, const clang::FunctionDecl &F);
  void endings();
  void rounded(const clang::BinaryOperator &B);
  void assumed(const clang::CallExpr &C);
  void allocated(llvm::StringRef Api, clang::QualType T, int64_t Guarantee,
                 clang::SourceLocation Where);

  // Locks.cpp.
  struct Actual { ///< what the callee's parameters are in this call
    llvm::SmallVector<const clang::Expr *, 6> Args; ///< `this` first
    bool HasThis = false;
    Location This;
  };
  Actual actual(const clang::CallExpr &C);
  void plainCall(int64_t Callee, const Actual &A, clang::SourceLocation Where);
  Location translate(const Effect &Formal, const Actual &A, std::string &Text);
  llvm::StringRef spelled(const clang::Expr &E);
  void effects(const Callee &C, const Actual &A, const clang::Expr *Call,
               clang::SourceLocation Where,
               llvm::function_ref<bool(LockEffect)> Wanted);
  bool guardMade(const clang::CXXConstructExpr &C);
  bool guardCall(const clang::CXXMemberCallExpr &C);
  bool standardLock(const clang::CallExpr &C);
  int lockOf(const clang::Expr *E, bool Shared);
  bool isLockItself(const Location &P);
  void lockRow(int Lock, LockEffect What, clang::SourceLocation Where);
  void step(LockStep S);
  const void *guardKey(const clang::Expr *E);
  const clang::VarDecl *guardVariable(const clang::Expr *E);
  void branch(const clang::CFGBlock &B);
  void absent();
  void summarise();
  void requirements();

  // OwnLocks.cpp.
  bool isExpectedZero(const clang::Expr *E) const;
  std::optional<bool> takenBy(const clang::Expr &E) const;
  int ownLock(const Location &P);
  void ownLocks(const clang::Expr &E, const Location &P, clang::QualType T,
                AccessKind Kind, bool StoresZero);

  LockMask criticalMask(const clang::OMPCriticalDirective *D);
};

} // namespace linemate

#endif
