//===- Naps.h - How long a sleep is that the frame tells of -----*- C++ -*-===//
//
// Owns what was stored last on the stack where a call is handed a time:
// seconds, and nanoseconds behind them (struct timespec, POSIX.1-2017
// <time.h>).  Last in the order of blocks: a sleep that a signal ended is made
// again with what was left, around a loop in which nothing is known of the
// frame.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_NAPS_H
#define LINEMATE_ACCESS_NAPS_H

#include "Tables.h"
#include "Value.h"

#include <cstdint>
#include <vector>

namespace linemate {

class Naps {
public:
  /// In the place of nanoseconds that are worked out, less than a second.
  static constexpr int64_t LessThanSecond = -1;

  void clear() {
    Stores.clear();
    Calls.clear();
  }

  /// \p V is stored at the offset \p At in the frame, \p Size bytes, in block
  /// \p Order.
  void stored(int64_t At, uint32_t Size, const Value &V, uint16_t Order);

  /// A call in that block is handed what begins at the offset \p At in the
  /// frame; \p Row is its row of arguments, of which the value is not known.
  void slept(int64_t At, const ArgRow &Row, uint16_t Order) {
    Calls.push_back({At, Row, Order});
  }

  /// Adds the calls of which it is known how many nanoseconds they sleep.
  void finish(std::vector<ArgRow> &Args) const;

private:
  struct Store {
    int64_t At;
    uint32_t Size;
    uint16_t Order;
    bool IsNumber;
    int64_t Number;
  };
  struct Call {
    int64_t At;
    ArgRow Row;
    uint16_t Order;
  };
  enum class Known { Nothing, Number, Something };
  /// What is stored last at \p At before \p C, and which \p Number that is.
  Known last(int64_t At, const Call &C, int64_t &Number) const;

  std::vector<Store> Stores;
  std::vector<Call> Calls;
};

} // namespace linemate

#endif
