//===- CachedDecoder.h - Decoding short instructions once -------*- C++ -*-===//
//
// Owns a small cache in front of a decoder of variable-length code.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_CACHEDDECODER_H
#define LINEMATE_ACCESS_CACHEDDECODER_H

#include "Decoder.h"

#include <cstdlib>
#include <memory>
#include <type_traits>
#include <vector>

namespace linemate {

/// More than half of x86 code is a few thousand short encodings, and the
/// disassembler library costs more than all else that is done with them.  No
/// instruction's bytes are the front of another's, so bytes that were once a
/// whole instruction are that instruction wherever they stand.
class CachedDecoder final : public Decoder {
public:
  explicit CachedDecoder(std::unique_ptr<Decoder> Behind);
  bool decode(std::span<const uint8_t> Code, uint64_t Ip, Op &Out) override;
  unsigned step() const override { return Behind->step(); }
  const Convention &convention() const override { return Behind->convention(); }

private:
  std::unique_ptr<Decoder> Behind;
  std::vector<uint64_t> Keys; ///< direct-mapped; see keyOf
  struct Release {
    void operator()(Op *Ops) const { std::free(Ops); }
  };
  /// Branch targets are relative to Ip.  Only those with a key are made: to
  /// fill a megabyte takes longer than a small file.
  std::unique_ptr<Op[], Release> Ops;
};

} // namespace linemate

#endif // LINEMATE_ACCESS_CACHEDDECODER_H
