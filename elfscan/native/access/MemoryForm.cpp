//===- MemoryForm.cpp - aarch64 loads and stores by mnemonic --------------===//
//
// Owns the tables of stems; see the Arm Architecture Reference Manual, C3.2
// (loads and stores) and C3.2.12 (atomics).
//
//===----------------------------------------------------------------------===//

#include "MemoryForm.h"

#include <optional>

namespace linemate {

namespace {

using std::string_view;

bool take(string_view &Name, string_view Prefix) {
  if (!Name.starts_with(Prefix))
    return false;
  Name.remove_prefix(Prefix.size());
  return true;
}

/// A width suffix: b, h, w or nothing, signed when after an s.
bool width(string_view Name, MemoryForm &F) {
  if (take(Name, "s"))
    F.IsSigned = true;
  if (Name == "b")
    F.UnitBytes = 1;
  else if (Name == "h")
    F.UnitBytes = 2;
  else if (Name == "w" && F.IsSigned)
    F.UnitBytes = 4;
  else
    return Name.empty() && !F.IsSigned;
  return true;
}

struct Plain {
  string_view Stem;
  Access Kind;
  uint8_t Elements;
  bool IsAtomic;
};

// Longer stems first: each is tried as a prefix with only a width left.
constexpr Plain PlainStems[] = {
    {"ldapur", Access::Load, 1, true}, {"ldapr", Access::Load, 1, true},
    {"ldlar", Access::Load, 1, true},  {"ldar", Access::Load, 1, true},
    {"stllr", Access::Store, 1, true}, {"stlur", Access::Store, 1, true},
    {"stlr", Access::Store, 1, true},  {"ldnp", Access::Load, 2, false},
    {"stnp", Access::Store, 2, false}, {"ldp", Access::Load, 2, false},
    {"stp", Access::Store, 2, false},  {"ldur", Access::Load, 1, false},
    {"ldtr", Access::Load, 1, false},  {"ldraa", Access::Load, 1, false},
    {"ldrab", Access::Load, 1, false}, {"ldr", Access::Load, 1, false},
    {"stur", Access::Store, 1, false}, {"sttr", Access::Store, 1, false},
    {"str", Access::Store, 1, false},
};

constexpr string_view AtomicOperations[] = {
    "add", "clr", "eor", "set", "smax", "smin", "umax", "umin",
};

/// The rest of an atomic: a and l in this order, then b or h.
bool orderingAndWidth(string_view Rest, MemoryForm &F) {
  take(Rest, "a");
  take(Rest, "l");
  return width(Rest, F) && !F.IsSigned;
}

std::optional<MemoryForm> atomic(string_view Name) {
  MemoryForm F;
  F.Kind = Access::Rmw;
  F.IsAtomic = true;
  string_view Rest = Name;
  if (take(Rest, "casp")) {
    F.IsCompare = F.KeepsOld = true;
    F.Elements = 2;
    return orderingAndWidth(Rest, F) ? std::optional(F) : std::nullopt;
  }
  if (take(Rest, "cas")) {
    F.IsCompare = F.KeepsOld = true;
    return orderingAndWidth(Rest, F) ? std::optional(F) : std::nullopt;
  }
  if (take(Rest, "swp")) {
    F.IsExchange = F.KeepsOld = true;
    return orderingAndWidth(Rest, F) ? std::optional(F) : std::nullopt;
  }
  F.KeepsOld = take(Rest, "ld");
  if (!F.KeepsOld && !take(Rest, "st"))
    return std::nullopt;
  for (string_view Operation : AtomicOperations) {
    string_view After = Rest;
    if (take(After, Operation) && orderingAndWidth(After, F)) {
      F.IsBits = Operation == "clr" || Operation == "eor" || Operation == "set";
      return F;
    }
  }
  return std::nullopt;
}

std::optional<MemoryForm> exclusive(string_view Name) {
  MemoryForm F;
  F.IsAtomic = F.IsExclusive = true;
  string_view Rest = Name;
  bool IsLoad = take(Rest, "ldax") || take(Rest, "ldx");
  if (!IsLoad && !take(Rest, "stlx") && !take(Rest, "stx"))
    return std::nullopt;
  F.Kind = IsLoad ? Access::Load : Access::Rmw;
  F.FirstMoved = IsLoad ? 0 : 1;
  if (take(Rest, "p"))
    F.Elements = 2;
  else if (!take(Rest, "r"))
    return std::nullopt;
  return width(Rest, F) ? std::optional(F) : std::nullopt;
}

std::optional<MemoryForm> vector(string_view Name) {
  if (Name.size() < 3 || Name.size() > 4 || Name[2] < '1' || Name[2] > '4')
    return std::nullopt;
  MemoryForm F;
  F.IsVector = true;
  F.Elements = uint8_t(Name[2] - '0');
  if (Name.starts_with("ld"))
    F.Kind = Access::Load;
  else if (Name.starts_with("st"))
    F.Kind = Access::Store;
  else
    return std::nullopt;
  F.Replicates = Name.size() == 4 && Name[3] == 'r';
  if (Name.size() == 4 && !F.Replicates)
    return std::nullopt;
  return F;
}

} // namespace

MemoryForm memoryForm(string_view Mnemonic) {
  for (const Plain &P : PlainStems) {
    string_view Rest = Mnemonic;
    MemoryForm F;
    F.Kind = P.Kind;
    F.Elements = P.Elements;
    F.IsAtomic = P.IsAtomic;
    if (take(Rest, P.Stem) && width(Rest, F))
      return F;
  }
  if (auto F = exclusive(Mnemonic))
    return *F;
  if (auto F = atomic(Mnemonic))
    return *F;
  if (auto F = vector(Mnemonic))
    return *F;
  return MemoryForm();
}

} // namespace linemate
