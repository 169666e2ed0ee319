//===- Text.h - Instructions for people to read -----------------*- C++ -*-===//
//
// Owns how an instruction is written: as the disassembler library does, x86 in
// the syntax of objdump and perf.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_TEXT_H
#define LINEMATE_ACCESS_TEXT_H

#include "Architectures.h"

#include <capstone/capstone.h>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace linemate {

/// TEXT_DTYPE of elfscan/code/query.py.
struct TextRow {
  uint64_t Ip;
  uint32_t Asked; ///< which of the addresses it is around
  uint32_t End;   ///< of its letters, which begin where those of the row before
                  ///< end
};
static_assert(sizeof(TextRow) == 16);

class Printer {
public:
  /// Null when the disassembler library cannot be opened.
  static std::unique_ptr<Printer> open(const Architecture &A);
  Printer(const Printer &) = delete;
  Printer &operator=(const Printer &) = delete;
  ~Printer();

  /// Appends the instruction that \p Code is; nothing where the library does
  /// not know it.
  void print(std::span<const uint8_t> Code, uint64_t Ip,
             std::vector<char> &Letters);

private:
  explicit Printer(csh H) : Handle(H), Insn(cs_malloc(H)) {}

  csh Handle;
  cs_insn *Insn;
};

} // namespace linemate

#endif // LINEMATE_ACCESS_TEXT_H
