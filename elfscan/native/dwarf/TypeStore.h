//===- TypeStore.h - Types, each distinct one once --------------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns type nodes by content: two equal types get one row, so the copies that
// each unit carries fall together.  Rows only refer to lower rows; there are no
// cycles, because pointers are leaves.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_TYPESTORE_H
#define LINEMATE_DWARF_TYPESTORE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/StringSaver.h"
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace linemate::dwarf {

/// Values are those of sharing.model.TypeKind.
enum class TypeKind : uint8_t {
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
  Restrict = 15,
};

using TypeRow = int32_t;

struct MemberNode {
  llvm::StringRef Name;
  int64_t OffsetBits = 0;
  TypeRow Type = -1;
  uint32_t BitSize = 0;
  bool IsBase = false;
  bool operator==(const MemberNode &) const = default;
};

struct TypeNode {
  TypeKind Kind = TypeKind::Unknown;
  bool IsDeclaration = false; // the definition is in another unit
  llvm::StringRef Name;
  int64_t Size = -1; // bytes
  uint32_t Align = 0;
  TypeRow Target = -1;
  int64_t Count = -1;
  llvm::ArrayRef<MemberNode> Members;
  llvm::ArrayRef<int64_t> Dimensions; // of an array with several
  int32_t File = -1;
  uint32_t Line = 0;
  uint64_t Pointee = 0; // its entry, where pointers are followed: many have
                        // no name that tells them apart
  bool operator==(const TypeNode &) const = default;
};

class TypeStore {
public:
  TypeStore() : Rows(16, Hash{this}, Equal{this}), Saver(Strings) {}
  TypeStore(const TypeStore &) = delete;

  /// The row of \p Node.  Its strings must outlive the store; its members are
  /// copied.
  TypeRow intern(const TypeNode &Node);
  const TypeNode &operator[](TypeRow Row) const { return Nodes[Row]; }
  size_t size() const { return Nodes.size(); }

  llvm::StringRef save(llvm::StringRef Text) { return Saver.save(Text); }
  int32_t fileRow(llvm::StringRef Path);
  llvm::ArrayRef<llvm::StringRef> files() const { return Files; }

private:
  struct Hash {
    const TypeStore *Store;
    size_t operator()(TypeRow Row) const { return Store->Hashes[Row]; }
  };
  struct Equal {
    const TypeStore *Store;
    bool operator()(TypeRow A, TypeRow B) const {
      return Store->Hashes[A] == Store->Hashes[B] &&
             Store->Nodes[A] == Store->Nodes[B];
    }
  };

  std::vector<TypeNode> Nodes;
  std::vector<size_t> Hashes;
  std::unordered_set<TypeRow, Hash, Equal> Rows;
  llvm::BumpPtrAllocator Members;
  llvm::BumpPtrAllocator Strings;
  llvm::StringSaver Saver;
  llvm::StringMap<int32_t> FileRows;
  std::vector<llvm::StringRef> Files;
};

} // namespace linemate::dwarf

#endif
