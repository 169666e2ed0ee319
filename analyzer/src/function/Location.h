//===- Location.h - What an expression designates -------------------*- C++
//-*-===//
//
// Owns the step from an expression to an abstract location: a variable with
// static storage, what a parameter points to, or a record behind some pointer,
// plus a byte offset.  Knows nothing of what is done there.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_LOCATION_H
#define LINEMATE_ANALYZER_FUNCTION_LOCATION_H

#include "Facts.h"
#include "Knowledge.h"
#include "Scan.h"

#include "clang/AST/ASTContext.h"

namespace linemate {

struct Location {
  enum class Kind : uint8_t {
    None,      ///< not known, or nothing that is reported
    Local,     ///< in the frame of the function
    Itself,    ///< while following a local: the same local again
    Variable,  ///< static storage
    Parameter, ///< behind a parameter
    Record     ///< in a record of unknown origin
  };
  Kind In = Kind::None;
  bool Indexed = false;
  bool BitField = false;
  bool Walks = false; ///< the index goes from element to element
  bool Own = false;   ///< the index is the number of the running thread, or is
                      ///< that of the pointer that leads here
  bool Given = false; ///< the index is a number that the function was given
  bool Counted = false; ///< the index is one that it takes from a counter
  unsigned Param = 0;   ///< `this` is 0, the others follow
  bool Round = false; ///< the index is that of a round of a loop of which each
                      ///< thread has one
  const clang::VarDecl *Var = nullptr;
  const clang::Expr *Made = nullptr; ///< what in this function allocated it
  const clang::RecordDecl *Record = nullptr; ///< what Offset is relative to
  int64_t Offset = 0;                        ///< bytes
  int64_t Stride = 0;                        ///< bytes, if Indexed
  /// Tells instances apart: of the pointer of a Record, of the index of an
  /// Indexed place.  Equal expressions have equal numbers.
  unsigned Root = 0;

  bool isReported() const { return In >= Kind::Variable; }
  Base base() const { return Base(int(In) - int(Kind::Variable) + 1); }
  /// The same bytes, as far as expressions tell.
  bool operator==(const Location &O) const {
    return In == O.In && Indexed == O.Indexed && Param == O.Param &&
           Var == O.Var && Record == O.Record && Offset == O.Offset &&
           Stride == O.Stride && Root == O.Root;
  }
};

/// \p Inner is relative to what \p Outer designates.
Location nested(Location Outer, const Location &Inner);

bool isLibraryAtomic(const Location &P);

/// Does \p E allocate an object, by a function's name or "new"?
bool isAllocation(const clang::Expr &E, const clang::ASTContext &Context);

struct Accessors;

/// What \p E names, which several functions can have: no local of this one.
const clang::ValueDecl *holderOf(const clang::Expr *E);

/// Alignment that the declaration of what \p C calls promises; 0 none.
int64_t promisedByDeclaration(const clang::CallExpr &C,
                              const clang::ASTContext &Context);

/// What is asked for while the program runs may be any alignment: a page's.
constexpr int64_t AnyAlignment = 4096;

/// Alignment in bytes of the memory that \p F returns anew on all ways, as of
/// pages from the system or of an allocator that is told one; 0 not known,
/// negative where a caller says it, to whom ofCall() tells it.
int64_t promisedBy(const clang::FunctionDecl &F, clang::ASTContext &Context,
                   Accessors &Known, unsigned Depth = 0);

/// \p Promised by what \p C calls, of an argument what that asks for; negative
/// where it is an argument of the function around the call.
int64_t ofCall(int64_t Promised, const clang::CallExpr &C,
               const clang::ASTContext &Context);

/// For how many records, or objects of type \p Of, \p C or \p N makes room; 0
/// where that is no constant.
int64_t roomOf(const clang::CallExpr &C, const clang::FunctionDecl &F,
               const clang::ASTContext &Context, clang::QualType Of = {});
int64_t roomOf(const clang::CXXNewExpr &N, const clang::ASTContext &Context);
/// The same of a call that makes a \p Made, as std::make_unique does.
int64_t roomOfMade(const clang::CallExpr &C, clang::QualType Made,
                   const clang::ASTContext &Context);

/// Could both be in one array or behind equal types, but in another instance?
bool isOtherInstance(const Location &A, const Location &B);

/// Where an index that is not constant comes from.
enum class IndexOrigin : uint8_t {
  Unknown,
  Walks,    ///< from the index before
  Counted,  ///< a number that the function takes from a counter, once
  Given,    ///< a number that the function was given
  Round,    ///< of a loop, of which each thread has one
  OwnThread ///< the number of the running thread
};

/// What a function returns where that is an element of an array at an index,
/// always the same place in static storage, as the one object of its class, or
/// what one of its parameters leads to.
struct GivenPlace {
  int64_t Stride = 0; ///< bytes between elements; 0 for other functions
  bool Own = false;   ///< that of the running thread
  const clang::VarDecl *Var = nullptr; ///< always in there, or null
  int64_t Offset = 0;                  ///< bytes in Var
  int Parameter = -1;                  ///< number of it, `this` not counted
};

/// What the functions of a unit return, each looked at once.
struct Accessors {
  explicit Accessors(const Knowledge &Known) : Known(Known) {}
  const Knowledge &Known;
  llvm::DenseMap<const clang::FunctionDecl *, GivenPlace> Returned;
  /// Whether what they return leads to what is the running thread's.
  llvm::DenseMap<const clang::FunctionDecl *, bool> ReturnsOwn;
  /// Alignment in bytes of the new memory that functions return, 0 not known.
  llvm::DenseMap<const clang::FunctionDecl *, int64_t> Promised;
  /// What runs on threads of its own, as far as it was read where that starts.
  llvm::DenseSet<const clang::FunctionDecl *> Started;
  /// Records that stand for the elements behind a variable or member.
  llvm::DenseMap<const clang::ValueDecl *, const clang::RecordDecl *> Plain;
  /// What functions, by identity, make for these.
  struct Room {
    std::string Function;
    const clang::ValueDecl *Holder;
    AllocationFact Made;
  };
  std::vector<Room> Rooms;
};

class Locations {
public:
  /// Without \p Locals, only what the expressions themselves say.
  Locations(clang::ASTContext &Context, const clang::FunctionDecl *Function,
            const Scan *Locals, Accessors *Known = nullptr)
      : Context(Context), Function(Function), Locals(Locals), Known(Known) {}

  /// What the lvalue \p E designates.
  Location object(const clang::Expr *E);
  /// What the pointer \p E points to.
  Location pointee(const clang::Expr *E);
  /// The object of a member call, through a pointer or not.
  Location receiver(const clang::Expr *E);
  /// In a constructor of \p Of: its base \p Base, or the object itself.
  Location base(const clang::CXXRecordDecl &Of,
                const clang::CXXRecordDecl &Base);
  /// A field of what \p In designates.
  Location member(Location In, const clang::FieldDecl &Field);

  int64_t sizeOf(clang::QualType T) const; ///< bytes; 0 unknown
  /// A number that the function was given, as it is.
  bool isGivenNumber(const clang::Expr &E) const;

private:
  clang::ASTContext &Context;
  const clang::FunctionDecl *Function;
  const Scan *Locals;
  Accessors *Known;
  llvm::DenseMap<const clang::VarDecl *, Location> Followed;
  unsigned Depth = 0;
  unsigned Within = 0; ///< accessors whose calls led to this function

  Location objectOf(const clang::Expr *E);
  Location pointeeOf(const clang::Expr *E);
  Location variable(const clang::DeclRefExpr &Ref);
  Location follow(const clang::VarDecl &V, const clang::Expr *At);
  Location stepped(const clang::Expr *Pointer, clang::QualType To);
  Location merge(const clang::VarDecl &V, const LocalValues &L);
  Location parameter(const clang::ParmVarDecl &P);
  Location somewhere(clang::QualType T, const clang::Expr *Pointer);
  const clang::Expr *ownedBehind(const clang::Expr *E) const;
  Location cast(const clang::CastExpr &C, Location In, clang::QualType To);
  Location called(const clang::CallExpr &Call, clang::QualType Result);
  Location element(Location In, const clang::Expr *Index,
                   clang::QualType Element, bool Subtract = false);
  Location plainElement(const clang::Expr *Base, const clang::Expr *Index,
                        clang::QualType Element);
  const clang::RecordDecl *recordOf(const clang::ValueDecl &Holder,
                                    clang::QualType Element) const;
  const clang::Expr *initial(const clang::MemberExpr &M,
                             const clang::FieldDecl &Field) const;
  unsigned hash(const clang::Expr *E) const;
  bool walks(const clang::Expr *Index) const;
  IndexOrigin originOf(const clang::Expr *Index) const;
  bool isCounted(const LocalNumber &Number) const;
  bool countsOn(const clang::Expr *E) const;
  bool isGiven(const clang::DeclRefExpr &Ref) const;
  bool tellsThread(const clang::FunctionDecl &F) const;
  bool isSharedCapture(const clang::DeclRefExpr &Ref) const;
  bool isOwnPointer(const clang::Expr *Pointer, unsigned Steps = 0) const;
  bool areOwnPointers(llvm::ArrayRef<const clang::Expr *> Pointers,
                      unsigned Steps) const;
  bool returnsOwnPointer(const clang::FunctionDecl &F) const;
  bool isNumberOfRunner(const clang::MemberExpr &M) const;
  GivenPlace returned(const clang::FunctionDecl &F) const;
  GivenPlace returnedBy(const clang::FunctionDecl &Defined,
                        const clang::CompoundStmt &Body) const;
};

} // namespace linemate

#endif
