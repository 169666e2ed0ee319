//===- Readable.cpp - Readable names of C++ and Rust symbols --------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Readable.h"
#include "llvm/Demangle/Demangle.h"
#include <csignal>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string>
#include <sys/time.h>
#include <unistd.h>

using namespace llvm;

namespace {

/// Longer names help nobody; the linkage name stays then.
constexpr size_t LongestName = 2048;
/// Seconds of processor time for all names together.
constexpr time_t MostTime = 2;

std::string Answers;
/// Whether the signal arrives in a demangler, where Answers is whole.
volatile std::sig_atomic_t InDemangler = 0;
volatile std::sig_atomic_t TimeIsUp = 0;

void writeAnswers() {
  for (size_t Done = 0; Done < Answers.size();) {
    ssize_t Bytes =
        write(STDOUT_FILENO, Answers.data() + Done, Answers.size() - Done);
    if (Bytes <= 0)
      _exit(1);
    Done += size_t(Bytes);
  }
}

/// A demangler prints on when there is no memory left: a name of 300 bytes can
/// mean 2^30 parts.  Nothing but the end of the process stops it.
void onTimeUp(int) {
  TimeIsUp = 1;
  if (InDemangler) {
    writeAnswers();
    _exit(0);
  }
}

/// Readable, or null; allocated by malloc.
char *readable(const std::string &Name) {
  InDemangler = 1;
  char *Text =
      StringRef(Name).starts_with("_R")
          ? rustDemangle(Name)
          : abi::__cxa_demangle(Name.c_str(), nullptr, nullptr, nullptr);
  InDemangler = 0;
  return Text;
}

} // namespace

void linemate::dwarf::limitTimeOfNames() {
  std::signal(SIGPROF, onTimeUp);
  itimerval Once{{0, 0}, {MostTime, 0}};
  setitimer(ITIMER_PROF, &Once, nullptr);
}

void linemate::dwarf::writeReadable(StringRef Names) {
  while (!Names.empty() && !TimeIsUp) {
    auto [Name, Rest] = Names.split('\0');
    Names = Rest;
    std::unique_ptr<char, decltype(&std::free)> Text(readable(Name.str()),
                                                     std::free);
    if (Text && StringRef(Text.get()).size() <= LongestName)
      Answers += Text.get();
    Answers += '\0';
  }
  writeAnswers();
}
