//===- Waiting.h - Does an access wait for a value? -------------*- C++ -*-===//
//
// Owns the search for loops that do nothing but look at what they loaded.
//
// A loop waits if it reads nothing else, tests the value before it comes
// round, and does not move on: neither the address of the load nor that of a
// store changes.  A store on the way keeps what was read.  A call on the way
// ends the search, but not where another way avoids it (a pause that yields at
// times).  An exchange waits as well, as of a lock that is tried again.  A
// compare-and-swap does not: that is an update tried again.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_WAITING_H
#define LINEMATE_ACCESS_WAITING_H

#include "Body.h"

#include <unordered_map>
#include <vector>

namespace linemate {

class Waiting {
public:
  explicit Waiting(const Body &B) : B(B) {}

  /// Whether an access waits, or is a store on the way of one that does.
  bool waits(uint32_t Row);
  /// Whether an update keeps the value that it found or made, or branches on
  /// it.
  bool usesResult(uint32_t Row) const;
  /// Forgets what was found of the body that was built before.
  void clear() { Loops.clear(); }

private:
  using Way = std::vector<uint32_t>;

  /// A way from the load: what is known where it has come to.
  struct Step {
    uint32_t Row;
    uint8_t Tested; ///< 0 no, 1 yes, 2 and branched
    uint32_t Value; ///< registers with the value
    uint32_t Fixed; ///< registers that must not change
    Way Passed;
  };

  const Body &B;
  std::unordered_map<uint32_t, Way> Loops;

  const Way &loop(uint32_t Row);
  Way find(uint32_t Row) const;
  bool advance(Step &S) const;
  void follow(uint32_t Row, const Step &From, std::vector<Step> &Todo) const;
};

} // namespace linemate

#endif // LINEMATE_ACCESS_WAITING_H
