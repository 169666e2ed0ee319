//===- Json.cpp - Appends JSON to a string --------------------------------===//
//
// Owns escaping; see Json.h.
//
//===----------------------------------------------------------------------===//

#include "Json.h"

#include "llvm/Support/JSON.h"

namespace linemate {

void JsonText::value(llvm::StringRef Text) {
  comma();
  std::string Fixed;
  if (!llvm::json::isUTF8(Text)) {
    Fixed = llvm::json::fixUTF8(Text);
    Text = Fixed;
  }
  Out.push_back('"');
  size_t Start = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    auto C = static_cast<unsigned char>(Text[I]);
    if (C >= 0x20 && C != '"' && C != '\\')
      continue;
    Out.append(Text.data() + Start, I - Start);
    Start = I + 1;
    switch (C) {
    case '"':
      Out.append("\\\"");
      break;
    case '\\':
      Out.append("\\\\");
      break;
    case '\n':
      Out.append("\\n");
      break;
    case '\t':
      Out.append("\\t");
      break;
    default: {
      constexpr char Hex[] = "0123456789abcdef";
      Out.append("\\u00");
      Out.push_back(Hex[C >> 4]);
      Out.push_back(Hex[C & 15]);
    }
    }
  }
  Out.append(Text.data() + Start, Text.size() - Start);
  Out.push_back('"');
}

} // namespace linemate
