//===- Text.cpp - Instructions for people to read -------------------------===//
//
// Owns the use of the disassembler library for text.
//
//===----------------------------------------------------------------------===//

#include "Text.h"

#include <string_view>

namespace linemate {

std::unique_ptr<Printer> Printer::open(const Architecture &A) {
  csh Handle;
  if (cs_open(A.Library, A.LibraryMode, &Handle) != CS_ERR_OK)
    return nullptr;
  if (A.Library == CS_ARCH_X86)
    cs_option(Handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
  return std::unique_ptr<Printer>(new Printer(Handle));
}

Printer::~Printer() {
  cs_free(Insn, 1);
  cs_close(&Handle);
}

void Printer::print(std::span<const uint8_t> Code, uint64_t Ip,
                    std::vector<char> &Letters) {
  const uint8_t *Bytes = Code.data();
  size_t Left = Code.size();
  if (!cs_disasm_iter(Handle, &Bytes, &Left, &Ip, Insn))
    return;
  std::string_view Name = Insn->mnemonic, Operands = Insn->op_str;
  Letters.insert(Letters.end(), Name.begin(), Name.end());
  if (Operands.empty())
    return;
  Letters.push_back(' ');
  Letters.insert(Letters.end(), Operands.begin(), Operands.end());
}

} // namespace linemate
