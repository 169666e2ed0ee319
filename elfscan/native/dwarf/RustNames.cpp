//===- RustNames.cpp - Readable names of Rust symbols ---------------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "RustNames.h"
#include "llvm/Demangle/Demangle.h"
#include <cstdlib>
#include <memory>

using namespace llvm;

void linemate::dwarf::readableRustNames(StringRef Names, size_t Longest,
                                        raw_ostream &Out) {
  while (!Names.empty()) {
    auto [Name, Rest] = Names.split('\n');
    Names = Rest;
    std::unique_ptr<char, decltype(&std::free)> Readable(
        rustDemangle(std::string_view(Name.data(), Name.size())), std::free);
    if (Readable) {
      StringRef Text(Readable.get());
      if (Text.size() <= Longest && !Text.contains('\n'))
        Out << Text;
    }
    Out << '\n';
  }
}
