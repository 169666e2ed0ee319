//===- Decoder.h - Bytes to Ops ---------------------------------*- C++ -*-===//
//
// Owns the interface of an architecture's decoder and the register roles of
// its calling convention.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_DECODER_H
#define LINEMATE_ACCESS_DECODER_H

#include "Op.h"
#include "Plan.h"

#include <memory>
#include <span>

namespace linemate {

/// The calling convention, as far as it decides what survives a call.
struct Convention {
  unsigned Registers = 0;
  int8_t StackPointer = NoReg;
  uint32_t CallerSaved = 0;
  uint32_t Result = 0;  ///< the first result register
  uint32_t Results = 0; ///< all of them
  std::span<const int8_t> Arguments;
  /// Our register numbers as perf's, in the order of perf's; empty: they are
  /// the same (arch/*/include/uapi/asm/perf_regs.h).
  std::span<const int8_t> PerfNumbers = {};
  /// A function is handed over as the address of a word that holds its own.
  bool FunctionsByWord = false;

  int8_t perfNumber(int8_t Reg) const {
    return Reg == NoReg || PerfNumbers.empty() ? Reg : PerfNumbers[Reg];
  }
};

class Decoder {
public:
  virtual ~Decoder() = default;
  /// Decodes the instruction at the front of \p Code.  False when there is
  /// none; then \p Out is untouched.
  virtual bool decode(std::span<const uint8_t> Code, uint64_t Ip, Op &Out) = 0;
  /// Bytes to skip where nothing decodes.
  virtual unsigned step() const = 0;
  virtual const Convention &convention() const = 0;
  /// What Architecture::GlobalPointer found, before anything is decoded.
  virtual void useGlobalPointer(uint64_t) {}
};

} // namespace linemate

#endif // LINEMATE_ACCESS_DECODER_H
