//===- TypeStore.cpp - Types, each distinct one once ----------------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "TypeStore.h"
#include "llvm/ADT/Hashing.h"

using namespace llvm;

namespace linemate::dwarf {

static size_t hashOf(const TypeNode &N) {
  hash_code H =
      hash_combine(static_cast<uint8_t>(N.Kind), N.IsDeclaration, N.Name,
                   N.Size, N.Align, N.Target, N.Count, N.File, N.Line);
  for (const MemberNode &M : N.Members)
    H = hash_combine(H, M.Name, M.OffsetBits, M.Type, M.BitSize, M.IsBase);
  return hash_combine(
      H, hash_combine_range(N.Dimensions.begin(), N.Dimensions.end()));
}

TypeRow TypeStore::intern(const TypeNode &Node) {
  // The candidate goes to the end of the table, so that the set need only
  // hold rows; it is taken back when an equal row exists.
  auto Row = static_cast<TypeRow>(Nodes.size());
  Nodes.push_back(Node);
  Hashes.push_back(hashOf(Node));
  auto [It, Inserted] = Rows.insert(Row);
  if (!Inserted) {
    Nodes.pop_back();
    Hashes.pop_back();
    return *It;
  }
  if (!Node.Members.empty())
    Nodes.back().Members = ArrayRef(Node.Members).copy(Members);
  if (!Node.Dimensions.empty())
    Nodes.back().Dimensions = ArrayRef<int64_t>(Node.Dimensions).copy(Members);
  return Row;
}

int32_t TypeStore::fileRow(StringRef Path) {
  if (Path.empty())
    return -1;
  auto [It, Inserted] =
      FileRows.try_emplace(Path, static_cast<int32_t>(Files.size()));
  if (Inserted)
    Files.push_back(It->first());
  return It->second;
}

} // namespace linemate::dwarf
