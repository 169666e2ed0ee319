//===- ResponseFiles.cpp - Words of a command, with those of files --------===//
//
// Owns the expansion; see ResponseFiles.h.
//
//===----------------------------------------------------------------------===//

#include "ResponseFiles.h"

#include "RegularFile.h"

using namespace llvm;

namespace linemate {

static constexpr unsigned MaxFilesDeep = 8;

bool ResponseFiles::take(uint64_t ExpansionBudget::*What, uint64_t Amount,
                         const char *Unit, Expansion &Out) {
  for (ExpansionBudget *Of : {&Left, &Run}) {
    if (Amount > Of->*What) {
      uint64_t All = (Of == &Left ? ExpansionBudget::ofCommand()
                                  : ExpansionBudget::ofRun()).*
                     What;
      Out.Problem =
          std::string(Of == &Left ? "its response files have"
                                  : "all response files together have") +
          " more than " + std::to_string(All) + " " + Unit;
      return false;
    }
    Of->*What -= Amount;
  }
  return true;
}

bool ResponseFiles::expandFile(StringRef Word, const Command &From,
                               unsigned Depth, Expansion &Out) {
  std::string Path = absolutePath(Word.drop_front(), From.Directory);
  auto Fail = [&](const std::string &Why) {
    Out.Problem = "response file " + Path + ": " + Why;
    return false;
  };
  if (Depth >= MaxFilesDeep)
    return Fail("more than " + std::to_string(MaxFilesDeep) + " in each other");
  ErrorOr<vfs::Status> Status = Files.status(Path);
  if (!Status) {
    // Build systems remove theirs after the build.
    Out.Missing.push_back(Word.str());
    return true;
  }
  if (std::error_code Why = refusalOf(Status->getType()))
    return Fail(Why.message());
  if (!take(&ExpansionBudget::Files, 1, "files", Out) ||
      !take(&ExpansionBudget::Bytes, Status->getSize(), "bytes", Out))
    return false;
  auto Buffer = Files.getBufferForFile(Path);
  if (!Buffer)
    return Fail(Buffer.getError().message());
  for (const std::string &Inner : splitCommand((*Buffer)->getBuffer()))
    if (!expandWord(Inner, From, Depth + 1, Out))
      return false;
  return true;
}

bool ResponseFiles::expandWord(StringRef Word, const Command &From,
                               unsigned Depth, Expansion &Out) {
  if (Word.starts_with("@") && Word.size() > 1)
    return expandFile(Word, From, Depth, Out);
  // What the database itself holds is bounded by its size.
  if (Depth && !take(&ExpansionBudget::Words, 1, "words", Out))
    return false;
  Out.Words.push_back(Word.str());
  return true;
}

Expansion ResponseFiles::expand(const Command &From) {
  Expansion Out;
  Left = ExpansionBudget::ofCommand();
  for (const std::string &Argument : From.Arguments)
    if (!expandWord(Argument, From, 0, Out))
      break;
  return Out;
}

} // namespace linemate
