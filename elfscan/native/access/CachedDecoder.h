//===- CachedDecoder.h - Decoding equal instructions once -------*- C++ -*-===//
//
// Owns a small cache in front of the decoder of x86-64.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_CACHEDDECODER_H
#define LINEMATE_ACCESS_CACHEDDECODER_H

#include "Decoder.h"
#include "X86Length.h"

#include <cstdlib>
#include <memory>
#include <type_traits>

namespace linemate {

/// Most x86 code is a few thousand encodings, and the disassembler library
/// costs more than all else that is done with them.  Bytes that were once a
/// whole instruction are that instruction wherever they stand, and what is
/// counted from its end, a branch's target or the place of an operand, is put
/// in anew.
class CachedDecoder final : public Decoder {
public:
  /// As many as an instruction has, and one more.
  __extension__ typedef unsigned __int128 Bytes;

  explicit CachedDecoder(std::unique_ptr<Decoder> Behind);
  bool decode(std::span<const uint8_t> Code, uint64_t Ip, Op &Out) override;
  unsigned step() const override { return Behind->step(); }
  const Convention &convention() const override { return Behind->convention(); }

private:
  /// What stands at the front of some code, and where it would be kept.
  struct Front {
    Bytes Word = 0;
    X86Outline Outline;
    Bytes Key = 0;
    size_t Slot = 0;
  };
  static Front look(Bytes Word);

  std::unique_ptr<Decoder> Behind;
  Front Next; ///< of what was looked at last
  struct Release {
    void operator()(void *Kept) const { std::free(Kept); }
  };
  // Of both only what is used is made: to fill a megabyte takes longer than a
  // small file.
  std::unique_ptr<Bytes[], Release> Keys; ///< direct-mapped; see keyOf
  std::unique_ptr<Op[], Release> Ops;
};

} // namespace linemate

#endif // LINEMATE_ACCESS_CACHEDDECODER_H
