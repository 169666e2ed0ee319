//===- CalleeRegisters.h - What small functions leave alone -----*- C++ -*-===//
//
// Owns which registers small functions, and what they call, neither write nor
// read.  A compiler that knows a callee keeps values in such registers across
// its calls, whatever the convention says (gcc's -fipa-ra).
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_CALLEEREGISTERS_H
#define LINEMATE_ACCESS_CALLEEREGISTERS_H

#include "Decoder.h"
#include "Plan.h"

#include <unordered_map>
#include <vector>

namespace linemate {

/// Of the registers that a call may change by the convention.
struct CalleeRegisters {
  uint64_t Function = 0;
  uint32_t Written = 0;
  uint32_t Used = 0; ///< written, or read
};

class CalleeRegisterSearch {
public:
  CalleeRegisterSearch(const Plan &P, Decoder &D)
      : P(P), D(D), C(D.convention()) {}

  /// The functions that leave one of these registers alone, by address.
  std::vector<CalleeRegisters> search();

private:
  const Plan &P;
  Decoder &D;
  const Convention &C;
  std::unordered_map<uint64_t, CalleeRegisters> Seen;

  CalleeRegisters all(uint64_t Function) const {
    return {Function, C.CallerSaved, C.CallerSaved};
  }
  CalleeRegisters of(uint64_t Function, unsigned Depth);
  CalleeRegisters read(const Function &F, unsigned Depth);
};

} // namespace linemate

#endif // LINEMATE_ACCESS_CALLEEREGISTERS_H
