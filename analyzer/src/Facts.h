//===- Facts.h - What is said of one translation unit ------------*- C++
//-*-===//
//
// Owns the facts as structs, field for field those of sharing/model/facts.py,
// where each is explained.  Collects and writes nothing.
//
// Rows that occur in thousands are flat integer lists with the columns that
// the *_COLUMNS tuples of facts.py name;.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FACTS_H
#define LINEMATE_ANALYZER_FACTS_H

#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace linemate {

using Rows = std::vector<int64_t>;

/// What is as large is no object of a process: sizes, offsets and strides stay
/// below.  Compilers accept more in declarations.
constexpr int64_t MostBytes = int64_t(1) << 47;
/// Of a function or call; further ones are not looked at.
constexpr unsigned MostParameters = 1 << 15;
/// Of blocks of a function; of types within each other.
constexpr unsigned MostOrder = (1 << 16) - 1;
constexpr unsigned MostTree = 1 << 6;

/// What an access, a lock or an argument is relative to.
enum class Base : int64_t { Variable = 1, Parameter = 2, Record = 3 };

enum class MemoryOrder : int64_t {
  Plain = 0,
  Relaxed = 1,
  Consume = 2,
  Acquire = 3,
  Release = 4,
  AcqRel = 5,
  SeqCst = 6
};

namespace accessflag {
enum : int64_t {
  Indexed = 1,
  Volatile = 2,
  BitField = 4,
  Walks = 8,
  Own = 16,
  Clears = 32,
  New = 64,
  Given = 128,
  Takes = 256,
  Counted = 512
};
} // namespace accessflag

namespace functionbits {
enum : int64_t {
  Internal = 1,
  Inline = 2,
  Init = 4,
  Cold = 8,
  NoReturn = 16,
  Virtual = 32,
  Hot = 64,
  Region = 128,
  Private = 256
};
} // namespace functionbits

namespace variablebits {
enum : int64_t {
  Internal = 1,
  Constant = 2,
  Thread = 4,
  Inline = 8,
  Tentative = 16,
  DeclaredOnly = 32,
  Weak = 64,
  Used = 128,
  Volatile = 256,
  Embedded = 512,
  Referenced = 1024,
  Reshaped = 2048
};
} // namespace variablebits

enum class InitKind : int64_t {
  Zero = 0,
  Data = 1,
  Addresses = 2,
  Dynamic = 3
};

namespace recordbits {
enum : int64_t {
  Union = 1,
  Class = 2,
  Packed = 4,
  Anonymous = 8,
  System = 16,
  Template = 32,
  Polymorphic = 64,
  Elements = 128
};
} // namespace recordbits

/// sharing.model.types.TypeKind.
enum class TypeKind : int64_t {
  Unknown = 0,
  Base = 1,
  Pointer = 2,
  Enum = 3,
  Struct = 4,
  Class = 5,
  Union = 6,
  Array = 7,
  Typedef = 8,
  Const = 9,
  Volatile = 10,
  Atomic = 11,
  Reference = 12,
  Function = 13,
  MemberPointer = 14,
  Restrict = 15
};

struct LockFact {
  Base In = Base::Record;
  int64_t Id = -1;
  int64_t Record = -1;
  int64_t Offset = 0;
  int64_t Stride = 0;
  bool Shared = false;
  std::string Row;
  std::string Text;
};

struct StartFact {
  int64_t Entry = -1;
  std::string Api;
  bool Many = false;
  int64_t File = -1, Line = 0, Column = 0;
  int64_t LoopDepth = 0;
  int64_t Rarity = 0;
  int64_t Order = 0;
  int64_t Element = -1; ///< record of which it is handed one of several
  bool Behind = false;  ///< by a pointer that is one of several
  int64_t Local = -1;   ///< record of which it is handed what a local has
};

struct AllocationFact {
  std::string Api;
  int64_t Record = -1;
  int64_t Guarantee = 0;
  int64_t File = -1, Line = 0, Column = 0;
  bool ByNumber = false; ///< asks for a number of bytes, not for a sizeof
  int64_t LoopDepth = 0;
  int64_t Order = 0;
  int64_t Count = 0; ///< of objects that there is room for; 0 not known
};

struct FunctionFacts {
  std::string Identity;
  std::string Symbol;
  std::string Name;
  int64_t File = -1, Line = 0, Column = 0;
  int64_t Bits = 0;
  Rows Accesses;
  Rows Calls;
  Rows Args;
  std::vector<LockFact> Locks;
  std::vector<Rows> Locksets = {{}}; ///< the first is always empty
  Rows LockOps;
  std::vector<StartFact> Starts;
  std::vector<AllocationFact> Allocations;
  Rows Requires;
  Rows Acquires;
  Rows Releases;
  Rows Taken;
  Rows Names;
  Rows ZeroTests;
  Rows Blocks;
  Rows Loops;
  int64_t Promises = 0; ///< alignment in bytes of the new memory it returns
};

/// A TypeTree, already written as JSON; owned by the UnitBuilder.
using TypeJson = llvm::StringRef;

struct MemberFact {
  std::string Name;
  int64_t OffsetBits = 0;
  TypeJson Type;
  int64_t BitSize = 0;
  bool IsBase = false;
  int64_t DeclaredAlign = 0;
  int64_t File = -1, Line = 0, Column = 0;
  int64_t Begin = 0, End = 0;
  std::vector<std::string> Macros;
  std::string GuardedBy;
  llvm::StringRef Text;
};

struct RecordFacts {
  std::string Key;
  std::string Name;
  int64_t Bits = 0;
  int64_t Size = 0;
  int64_t Align = 0;
  int64_t DeclaredAlign = 0;
  int64_t File = -1, Line = 0, Column = 0;
  int64_t Begin = 0, End = 0;
  std::vector<MemberFact> Members;
  std::vector<std::string> Macros;
  std::string AlignText;
};

struct VariableFacts {
  std::string Identity;
  std::string Symbol;
  std::string Name;
  std::string Scope;
  TypeJson Type;
  int64_t Size = 0;
  int64_t Align = 0;
  int64_t DeclaredAlign = 0;
  std::string Section;
  int64_t Bits = 0;
  InitKind Init = InitKind::Zero;
  int64_t Order = 0;
  int64_t File = -1, Line = 0, Column = 0;
  int64_t Begin = 0, End = 0, NameBegin = 0;
  llvm::StringRef TypeText;
  std::string AlignText;
  llvm::StringRef Text;
  std::vector<std::string> Macros;
  std::string GuardedBy;
  std::vector<std::array<int64_t, 4>> Declarations;
  Rows Refers;
};

struct UnitOptions {
  std::string Compiler = "gcc";
  std::string Level = "0";
  bool Pic = false;
  bool Common = false;
  bool DataSections = false;
  bool ToplevelReorder = true;
  bool SectionAnchors = false;
  bool Pie = false;
};

} // namespace linemate

#endif
