//===- Json.h - JSON that becomes a string -------------------------*- C++
//-*-===//
//
// Owns what llvm::json::OStream lacks: lists of numbers in one go, text that
// may not be UTF-8, and fields that are left out.
//
// Numbers do not go through OStream one by one: facts are megabytes of small
// integers, and OStream takes 118 ms for a million of them where std::to_chars
// takes 40.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_JSON_H
#define LINEMATE_ANALYZER_JSON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>
#include <vector>

namespace linemate {

using JsonStream = llvm::json::OStream;

/// One document.
class JsonText {
public:
  /// \p BufferBytes pays for documents of some size.
  explicit JsonText(size_t BufferBytes = 0) {
    if (BufferBytes)
      Bytes.SetBufferSize(BufferBytes);
  }
  JsonStream &operator*() { return Stream; }
  JsonStream *operator->() { return &Stream; }
  /// What was written, after which nothing more is.
  std::string take() {
    Bytes.flush();
    return std::move(Text);
  }

private:
  std::string Text;
  llvm::raw_string_ostream Bytes{Text};
  JsonStream Stream{Bytes};
};

inline void write(JsonStream &Out, int64_t Number) { Out.value(Number); }
inline void write(JsonStream &Out, bool Truth) { Out.value(Truth); }
/// Bytes that are not UTF-8 become U+FFFD.
void write(JsonStream &Out, llvm::StringRef Text);
inline void write(JsonStream &Out, const std::string &Text) {
  write(Out, llvm::StringRef(Text));
}
inline void write(JsonStream &Out, const char *Text) {
  write(Out, llvm::StringRef(Text)); // it would convert to bool
}
void write(JsonStream &Out, const std::vector<int64_t> &Numbers);
void write(JsonStream &Out, const std::vector<std::string> &Texts);

/// Values of an array that is open.
void writeEach(JsonStream &Out, llvm::ArrayRef<int64_t> Numbers);

template <typename T>
void field(JsonStream &Out, llvm::StringRef Name, const T &Value) {
  Out.attributeBegin(Name);
  write(Out, Value);
  Out.attributeEnd();
}

/// Nothing for what the reader assumes anyway.
template <typename T>
void optional(JsonStream &Out, llvm::StringRef Name, const T &Value) {
  if (!Value.empty())
    field(Out, Name, Value);
}

/// \p Json is already JSON.
inline void rawField(JsonStream &Out, llvm::StringRef Name,
                     llvm::StringRef Json) {
  Out.attributeBegin(Name);
  Out.rawValue(Json);
  Out.attributeEnd();
}

} // namespace linemate

#endif
