//===- Locals.h - Where the variables of a function are ---------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns which parameters and local variables are in scope at an instruction,
// the register or the place in the frame that holds each, and how the function
// is left.  Ranges, location
// lists and unwind rows are read by LLVM; what a variable is called and its
// type are the Worker's.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_LOCALS_H
#define LINEMATE_DWARF_LOCALS_H

#include "Object.h"
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace llvm {
class DWARFContext;
class DWARFDie;
namespace dwarf {
class FDE;
} // namespace dwarf
} // namespace llvm

namespace linemate::dwarf {

/// A register, by DWARF's number, plus a constant.
struct RegisterPlus {
  uint64_t Register = 0;
  int64_t Offset = 0;
};

/// A variable at one instruction.  Entry is its offset in .debug_info, Function
/// that of the function around it.
struct LocalPlace {
  uint64_t Ip;
  uint64_t Entry;
  uint64_t Function;
  RegisterPlus Where;
  bool InMemory; ///< Where is its address, else its value
};

/// How the caller's registers are found from those at one instruction, as far
/// as each is in the frame: the frame's address, and where what is in it.
struct UnwindStep {
  uint64_t Ip;
  RegisterPlus Frame;
  uint64_t Return; ///< the register whose place holds the return address
  std::vector<RegisterPlus> Saved; ///< offsets from the frame's address
};

/// A function that an instruction is part of.
struct FunctionAt {
  uint64_t Entry;      ///< its offset in .debug_info
  uint32_t CallFile;   ///< of an inlined one: where in the one around it it was
  uint32_t CallLine;   ///< called, the file by its number in the line table;
  uint32_t CallColumn; ///< 0 unknown
  bool GivesMemory;    ///< passes on memory without knowing what it is for
  bool Begins;         ///< with the instruction
};

/// The functions that an instruction is part of, inlined ones first.
struct FunctionsAt {
  uint64_t Ip;
  std::vector<FunctionAt> Functions;
};

class LocalFinder {
public:
  /// \p Frames is the file whose unwind rows tell where frames are: a separate
  /// debug file has none.
  LocalFinder(const Object &File, const Object &Frames);
  ~LocalFinder();

  /// The functions around \p Ip.  Adds the variables in scope there to \p Out,
  /// those of the innermost function first.
  FunctionsAt at(uint64_t Ip, std::vector<LocalPlace> &Out);

  /// How to leave the function around \p Ip, nothing where its rows do not say
  /// it in registers and offsets.
  std::optional<UnwindStep> unwind(uint64_t Ip);

private:
  void collect(llvm::DWARFDie Parent, uint64_t Ip, uint64_t Function,
               std::optional<RegisterPlus> Frame, unsigned Depth,
               std::vector<LocalPlace> &Out);
  std::optional<RegisterPlus> frameBase(llvm::DWARFDie Function, uint64_t Ip);
  std::optional<RegisterPlus> canonicalFrame(uint64_t Ip);
  const llvm::dwarf::FDE *frameAround(uint64_t Ip);

  void readFrames();

  std::unique_ptr<llvm::DWARFContext> Context, FrameContext;
  std::map<uint64_t, const llvm::dwarf::FDE *> Frames; ///< by first address
  bool HasFrames = false;
  std::set<uint64_t> Broken; ///< units by their offsets
};

} // namespace linemate::dwarf

#endif
