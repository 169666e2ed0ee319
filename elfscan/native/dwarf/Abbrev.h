//===- Abbrev.h - How to read and to skip a debugging entry -----*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns the abbreviation table of one unit, compiled for speed: each entry
// knows which of its attributes matter here and how to step over the rest in
// few moves.  LLVM's own table is not used: it serves entries one attribute at
// a time, and nearly all of the 18 million entries of a kernel are only passed.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_ABBREV_H
#define LINEMATE_DWARF_ABBREV_H

#include "Bytes.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include <unordered_map>
#include <vector>

namespace linemate::dwarf {

/// The attributes that are looked at.  Values index Attributes::Values.
enum Slot : uint8_t {
  Name,
  LinkageName,
  Type,
  Specification,
  Origin,
  ByteSize,
  BitSize,
  Location,
  MemberLocation,
  DataBitOffset,
  BitOffset,
  DeclFile,
  DeclLine,
  Count,
  UpperBound,
  LowerBound,
  ByteStride,
  BitStride,
  Signature,
  Alignment,
  External,
  Declaration,
  Prototyped,
  ConstValue,
  LowPc,
  Ranges,
  // of unit entries only
  Language,
  Producer,
  CompDir,
  StmtList,
  StrOffsetsBase,
  AddrBase,
  DwoName,
  DwoId,
  SlotCount,
  Ignored = SlotCount
};

/// How often a form may say that another one follows.
constexpr unsigned MaxIndirections = 4;

struct AttributeSpec {
  uint16_t Form;
  Slot Where;
  int64_t ImplicitConst;
};

/// What a unit walk does with an entry.
enum class EntryKind : uint8_t {
  Plain,     // pass over
  Skippable, // types whose children hold no variable: jump to the sibling
  Variable,  // has a location expression
  Declared,  // a variable or static member without location
  Scope,     // namespace
  Record,    // struct, class, union: a scope for C++ names
  Function,  // subprogram or inlined copy
  NamedType, // other types that can be nested in a scope
};

/// One step over attributes: a variable-sized one, then fixed bytes.
struct SkipStep {
  enum Move : uint8_t { None, Leb, Block1, Block2, Block4, BlockLeb, CString };
  Move First;
  uint32_t FixedBytes;
};

struct Abbreviation {
  uint16_t Tag = 0;
  bool HasChildren = false;
  EntryKind Kind = EntryKind::Plain;
  bool HasIndirect = false;   // some form is in the entry itself
  int32_t SiblingOffset = -1; // bytes from the code to a 4-byte sibling ref
  uint32_t FirstSpec = 0, SpecCount = 0;
  uint32_t FirstStep = 0, StepCount = 0;
  uint32_t FixedBytes = 0; // all attributes, when StepCount is 0
};

/// Sizes that depend on the unit and not on the abbreviation.
struct FormSizes {
  uint16_t Version;
  uint8_t AddressSize;
  bool Is64;
  bool operator==(const FormSizes &) const = default;
};

class AbbreviationTable {
public:
  /// Reads the table at \p Offset.  A damaged table ends at the damage; codes
  /// beyond it are then unknown to the walk, which reports them.
  AbbreviationTable(llvm::StringRef Section, uint64_t Offset, bool Swap,
                    FormSizes Sizes);

  const Abbreviation *find(uint64_t Code) const {
    if (Code - 1 < Dense.size() && Dense[Code - 1].Tag)
      return &Dense[Code - 1];
    auto It = Sparse.find(Code);
    return It == Sparse.end() ? nullptr : &It->second;
  }
  llvm::ArrayRef<AttributeSpec> specs(const Abbreviation &A) const {
    return llvm::ArrayRef(Specs).slice(A.FirstSpec, A.SpecCount);
  }
  /// Moves \p C from behind the code to the next entry.
  void skip(const Abbreviation &A, Cursor &C) const {
    C.skip(A.FixedBytes);
    if (A.StepCount || A.HasIndirect)
      skipSteps(A, C);
  }
  FormSizes sizes() const { return Sizes; }

private:
  void add(uint64_t Code, Abbreviation A);
  void plan(Abbreviation &A);
  void skipSteps(const Abbreviation &A, Cursor &C) const;

  std::vector<Abbreviation> Dense;
  std::unordered_map<uint64_t, Abbreviation> Sparse; // any code is a key
  std::vector<AttributeSpec> Specs;
  std::vector<SkipStep> Steps;
  FormSizes Sizes;
};

/// Bytes of a form of fixed size, -1: variable.
int fixedFormSize(uint16_t Form, FormSizes Sizes);
/// Moves over one value.  Returns false for a form that is unknown.
bool skipForm(uint16_t Form, FormSizes Sizes, Cursor &C);

} // namespace linemate::dwarf

#endif
