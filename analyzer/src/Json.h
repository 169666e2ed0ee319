//===- Json.h - Appends JSON to a string --------------------------*- C++
//-*-===//
//
// Owns escaping and commas.  Facts are megabytes of small integers, for which
// building a document first would cost more than parsing the source.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_JSON_H
#define LINEMATE_ANALYZER_JSON_H

#include "llvm/ADT/StringRef.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

namespace linemate {

class JsonText {
public:
  void open(char Bracket) {
    comma();
    Out.push_back(Bracket);
  }
  void close(char Bracket) { Out.push_back(Bracket); }

  void key(llvm::StringRef Name) {
    comma();
    Out.push_back('"');
    Out.append(Name.data(), Name.size());
    Out.append("\":", 2);
  }

  void value(int64_t Number) {
    comma();
    char Digits[24];
    auto [End, Error] = std::to_chars(Digits, Digits + sizeof Digits, Number);
    Out.append(Digits, size_t(End - Digits));
  }

  void value(bool Truth) {
    comma();
    Out.append(Truth ? "true" : "false");
  }

  /// Bytes that are not UTF-8 become U+FFFD.
  void value(llvm::StringRef Text);
  void value(const std::string &Text) { value(llvm::StringRef(Text)); }
  void value(const char *) = delete; // it would convert to bool

  /// \p Json is already JSON.
  void raw(llvm::StringRef Json) {
    comma();
    Out.append(Json.data(), Json.size());
  }

  template <typename T> void list(const std::vector<T> &Items) {
    open('[');
    for (const T &Item : Items)
      value(Item);
    close(']');
  }

  template <typename T> void field(llvm::StringRef Name, const T &Value) {
    key(Name);
    value(Value);
  }

  template <typename T>
  void field(llvm::StringRef Name, const std::vector<T> &Items) {
    key(Name);
    list(Items);
  }

  /// Nothing for what the reader assumes anyway.
  void optional(llvm::StringRef Name, llvm::StringRef Text) {
    if (!Text.empty())
      field(Name, Text);
  }
  template <typename T>
  void optional(llvm::StringRef Name, const std::vector<T> &Items) {
    if (!Items.empty())
      field(Name, Items);
  }

  std::string &text() { return Out; }

private:
  void comma() {
    if (!Out.empty())
      switch (Out.back()) {
      case '[':
      case '{':
      case ':':
      case ',':
      case '\n':
        break;
      default:
        Out.push_back(',');
      }
  }

  std::string Out;
};

} // namespace linemate

#endif
