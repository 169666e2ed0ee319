//===- DroppedFlags.cpp - What of the flags is left out, for people -------===//
//
// Owns its wording.
//
//===----------------------------------------------------------------------===//

#include "DroppedFlags.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace linemate {

namespace {

constexpr size_t MaxKept = 1000; // names come from anybody
constexpr size_t MaxShown = 24;
constexpr size_t MaxChars = 60;

std::string shown(StringRef Flag) {
  std::string Out;
  for (char C : Flag.take_front(MaxChars))
    if (isPrint(C))
      Out += C;
    else
      Out += "\\x" + utohexstr(uint8_t(C), /*LowerCase=*/true, 2);
  return Flag.size() > MaxChars ? Out + "..." : Out;
}

std::string units(size_t Count) {
  return std::to_string(Count) + (Count == 1 ? " unit" : " units");
}

} // namespace

void DroppedFlags::add(const std::vector<std::string> &Flags) {
  StringSet<> OfUnit;
  for (const std::string &Flag : Flags) {
    if (!OfUnit.insert(Flag).second)
      continue;
    auto Found = Units.find(Flag);
    if (Found != Units.end()) {
      ++Found->second;
    } else if (Units.size() < MaxKept) {
      Order.push_back(Units.try_emplace(Flag, 1).first->first());
    } else {
      ++Unlisted;
    }
  }
}

std::string DroppedFlags::note() const {
  if (Order.empty())
    return {};
  std::string Out = "flags left out: ";
  for (size_t I = 0; I < Order.size() && I < MaxShown; ++I)
    Out += (I ? ", " : "") + shown(Order[I]) + " (" +
           units(Units.lookup(Order[I])) + ")";
  size_t More = Order.size() - std::min(Order.size(), MaxShown);
  if (Unlisted)
    Out += ", and more than " + std::to_string(More) + " others";
  else if (More)
    Out += ", and " + std::to_string(More) + " others";
  return Out;
}

} // namespace linemate
