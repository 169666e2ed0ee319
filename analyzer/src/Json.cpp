//===- Json.cpp - JSON that becomes a string ------------------------------===//
//
// Owns lists; see Json.h.
//
//===----------------------------------------------------------------------===//

#include "Json.h"

#include <charconv>

namespace linemate {

namespace {

/// Numbers with commas between them.
void appendNumbers(std::string &Out, llvm::ArrayRef<int64_t> Numbers) {
  char Digits[24];
  for (int64_t Number : Numbers) {
    auto [End, Error] = std::to_chars(Digits, Digits + sizeof Digits, Number);
    Out.append(Digits, size_t(End - Digits));
    Out.push_back(',');
  }
  if (!Numbers.empty())
    Out.pop_back();
}

} // namespace

void write(JsonStream &Out, llvm::StringRef Text) {
  if (llvm::json::isUTF8(Text))
    Out.value(Text);
  else
    Out.value(llvm::json::fixUTF8(Text));
}

void write(JsonStream &Out, const std::vector<int64_t> &Numbers) {
  std::string Text = "[";
  appendNumbers(Text, Numbers);
  Text.push_back(']');
  Out.rawValue(Text);
}

void write(JsonStream &Out, const std::vector<std::string> &Texts) {
  Out.arrayBegin();
  for (const std::string &Text : Texts)
    write(Out, Text);
  Out.arrayEnd();
}

void writeEach(JsonStream &Out, llvm::ArrayRef<int64_t> Numbers) {
  if (Numbers.empty())
    return;
  std::string Text;
  appendNumbers(Text, Numbers);
  Out.rawValue(Text); // several values, whose commas are there
}

} // namespace linemate
