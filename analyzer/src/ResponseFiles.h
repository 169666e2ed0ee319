//===- ResponseFiles.h - Words of a command, with those of files --*- C++
//-*-===//
//
// Owns the bounds on what a command may expand to.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_RESPONSEFILES_H
#define LINEMATE_ANALYZER_RESPONSEFILES_H

#include "Database.h"

#include "llvm/Support/VirtualFileSystem.h"

#include <cstdint>
#include <string>
#include <vector>

namespace linemate {

/// Work that is left: response files may name each other, so that a few small
/// ones make more words than there is memory.
struct ExpansionBudget {
  uint64_t Files, Bytes, Words;

  static ExpansionBudget ofCommand() { return {256, 8 << 20, 100'000}; }
  static ExpansionBudget ofRun() { return {100'000, 1 << 30, 20'000'000}; }
};

struct Expansion {
  std::vector<std::string> Words;
  std::vector<std::string> Missing; ///< response files that are not there
  std::string Problem;              ///< why the words are not all; "" they are
};

/// Replaces `@file` by the words in it, which may be such again.
class ResponseFiles {
public:
  explicit ResponseFiles(llvm::vfs::FileSystem &Files) : Files(Files) {}

  Expansion expand(const Command &From);

private:
  bool expandWord(llvm::StringRef Word, const Command &From, unsigned Depth,
                  Expansion &Out);
  bool expandFile(llvm::StringRef Word, const Command &From, unsigned Depth,
                  Expansion &Out);
  bool take(uint64_t ExpansionBudget::*What, uint64_t Amount, const char *Unit,
            Expansion &Out);

  llvm::vfs::FileSystem &Files;
  ExpansionBudget Run = ExpansionBudget::ofRun();
  ExpansionBudget Left = ExpansionBudget::ofCommand();
};

} // namespace linemate

#endif
