//===- Main.cpp - linemate-dwarf ------------------------------------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Command line of the native DWARF reader.  Any failure is one line on standard
// error and status 1.
//
//===----------------------------------------------------------------------===//

#include "../serve/Serve.h"
#include "Confine.h"
#include "Readable.h"
#include "Reader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <new>
#include <string>

using namespace llvm;

static const char Usage[] =
    "usage: linemate-dwarf [--alt FILE] [--dwp FILE] [--all-types] "
    "[--record NAME]... [--threads N] [--statistics] FILE\n"
    "       linemate-dwarf --locals [--frames FILE] [--alt FILE] FILE "
    "<ADDRESSES\n"
    "       linemate-dwarf --unwind FILE <ADDRESSES\n"
    "       linemate-dwarf --names <NAMES\n"
    "       linemate-dwarf --serve <SOCKET\n";

static int fail(StringRef Path, StringRef Reason) {
  std::string Line = Reason.str();
  for (char &C : Line)
    if (C == '\n' || C == '\r')
      C = ' ';
  errs() << "linemate-dwarf: " << Path << ": " << Line << '\n';
  return 1;
}

/// LLVM's object reader gives up inside accessors that cannot return an error.
static void onFatalError(void *Path, const char *Reason, bool) {
  fail(*static_cast<std::string *>(Path), Reason);
  std::_Exit(1);
}

/// Instructions as 64-bit numbers of the machine, one behind the other.
static bool readAddresses(std::vector<uint64_t> &Out) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Read = MemoryBuffer::getSTDIN();
  if (!Read || (*Read)->getBufferSize() % sizeof(uint64_t))
    return false;
  Out.resize((*Read)->getBufferSize() / sizeof(uint64_t));
  std::copy_n((*Read)->getBufferStart(), (*Read)->getBufferSize(),
              reinterpret_cast<char *>(Out.data()));
  return true;
}

static int one(int Argc, char **Argv) {
  linemate::dwarf::Options Opts;
  for (int I = 1; I < Argc; ++I) {
    StringRef Arg = Argv[I];
    bool HasValue = I + 1 < Argc;
    if (Arg == "--alt" && HasValue) {
      Opts.AlternatePath = Argv[++I];
    } else if (Arg == "--dwp" && HasValue) {
      Opts.PackagePath = Argv[++I];
    } else if (Arg == "--locals") {
      Opts.Locals.emplace();
    } else if (Arg == "--unwind") {
      Opts.Unwind.emplace();
    } else if (Arg == "--frames" && HasValue) {
      Opts.FramesPath = Argv[++I];
    } else if (Arg == "--all-types") {
      Opts.AllRecords = true;
    } else if (Arg == "--record" && HasValue) {
      Opts.Wanted.emplace_back(Argv[++I]);
    } else if (Arg == "--statistics") {
      Opts.Statistics = true;
    } else if (Arg == "--threads" && HasValue &&
               to_integer(StringRef(Argv[I + 1]), Opts.Threads)) {
      ++I;
    } else if (!Arg.starts_with("--") && Opts.Path.empty()) {
      Opts.Path = Arg;
    } else {
      errs() << Usage;
      return 2;
    }
  }
  if (Opts.Path.empty()) {
    errs() << Usage;
    return 2;
  }
  linemate::confineTool("linemate-dwarf");
  install_fatal_error_handler(onFatalError, &Opts.Path);
  if ((Opts.Locals && !readAddresses(*Opts.Locals)) ||
      (Opts.Unwind && !readAddresses(*Opts.Unwind)))
    return fail("standard input", "no list of addresses");
  try {
    if (Error E = linemate::dwarf::run(Opts, outs()))
      return fail(Opts.Path, toString(std::move(E)));
  } catch (const std::bad_alloc &) {
    return fail(Opts.Path, "needs more memory than allowed");
  }
  outs().flush();
  return outs().has_error() ? fail(Opts.Path, "cannot write the result") : 0;
}

static int names() {
  linemate::dwarf::limitTimeOfNames();
  linemate::confineTool("linemate-dwarf");
  ErrorOr<std::unique_ptr<MemoryBuffer>> Names = MemoryBuffer::getSTDIN();
  if (!Names)
    return fail("standard input", Names.getError().message());
  linemate::dwarf::writeReadable((*Names)->getBuffer());
  return 0;
}

int main(int Argc, char **Argv) {
  if (Argc == 2 && StringRef(Argv[1]) == "--serve")
    return linemate::serve(Argv[0], one);
  if (Argc == 2 && StringRef(Argv[1]) == "--names")
    return names();
  return one(Argc, Argv);
}
