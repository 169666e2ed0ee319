//===- Query.h - Questions about given functions ----------------*- C++ -*-===//
//
// Owns the form of a query: what is asked of which code.  The code comes with
// it, so that no file is read.  Written by elfscan/code/query.py.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_QUERY_H
#define LINEMATE_ACCESS_QUERY_H

#include "Normal.h"
#include "Operands.h"
#include "Origins.h"
#include "Plan.h"
#include "Text.h"

#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace linemate {

enum class QueryKind : uint32_t {
  Operands = 1,     ///< of the instructions at given addresses
  Targets = 2,      ///< where functions call or jump to outside of themselves
  Instructions = 3, ///< of functions, for comparison
  Origins = 4,      ///< of the addresses that given instructions access
  Text = 5,         ///< of the instructions around given ones
  Handed = 6,       ///< as Origins, of arguments that given calls are handed
  Moves = 7,        ///< as Origins, of all pointers in the functions of given
                    ///< instructions
};

/// An instruction whose operands are asked for.
struct AskedAddress {
  uint64_t Ip;
  int32_t Function;  ///< that it is part of, -1 none that is known
  uint32_t Argument; ///< of a call: which one, for Handed
};

class Query {
public:
  QueryKind Kind = QueryKind::Operands;
  Arch Machine = Arch::X86_64;
  FutexCall Futex;
  Range Image; ///< numbers in it are addresses, for Instructions
  std::vector<Bytes> Functions; ///< in any order, and they may overlap
  /// By function, so that each is decoded once.
  std::vector<AskedAddress> Addresses;

  /// Reads the query in \p Raw, which has to stay.  Returns why it failed, or
  /// nothing.
  std::optional<std::string> parse(std::span<const uint8_t> Raw);
};

struct Answer {
  std::vector<PointRow> Points; ///< one for each address, in their order
  std::vector<OperandRow> Operands;
  std::vector<uint64_t> Targets; ///< ascending, distinct
  std::vector<InstructionRow> Instructions;
  std::vector<uint64_t> Ends; ///< of each function in Instructions
  std::vector<OriginRow> Origins;
  std::vector<TextRow> Lines;
  std::vector<char> Letters; ///< of Lines
};

/// Returns why it failed, or nothing.
std::optional<std::string> answer(const Query &Q, Answer &Out);

/// False when writing fails.
bool writeAnswer(std::FILE *Out, QueryKind Kind, const Answer &A);

} // namespace linemate

#endif // LINEMATE_ACCESS_QUERY_H
