//===- Choices.h - Values that are one of two -------------------*- C++ -*-===//
//
// Owns the pairs of values of which code takes one, as a conditional move does:
// an access through it is one to either.  More than two are unknown.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_CHOICES_H
#define LINEMATE_ACCESS_CHOICES_H

#include "Value.h"

#include <array>
#include <vector>

namespace linemate {

using TwoValues = std::array<Value, 2>;

class Choices {
public:
  /// What threads share begins at words of so many bytes at least.
  static constexpr int64_t WordBytes = 4;

  void clear() { All.clear(); }
  bool isEmpty() const { return All.empty(); }
  /// What a value of this Choice may be.
  const TwoValues &of(uint8_t Choice) const { return All[Choice - 1]; }
  /// The Choice of what is \p Old on some ways and \p New on others; 0: not
  /// known, or of no use.  \p IsLoop: see join.
  uint8_t either(const Value &Old, const Value &New, bool IsLoop);

  /// May it be one of two?
  static bool isCandidate(const Value &V) {
    switch (V.Kind) {
    case ValueKind::Unknown:
      return V.Choice;
    case ValueKind::Number: // an address, or none
      return V.IsAddress ? !V.IsPage : V.isExact() && !V.Base && !V.IsPage;
    default: // what was loaded or given, and counted by one, is a number
      return V.Base % WordBytes == 0;
    }
  }
  static bool isNull(const Value &V) { return V.isNumber() && !V.IsAddress; }

private:
  std::vector<TwoValues> All;
};

} // namespace linemate

#endif // LINEMATE_ACCESS_CHOICES_H
