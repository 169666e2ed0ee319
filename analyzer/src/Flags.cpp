//===- Flags.cpp - What of a command line counts --------------------------===//
//
// Owns the reading of flags: which are dropped, and which decide how a
// compiler lays variables out.
//
//===----------------------------------------------------------------------===//

#include "Flags.h"

#include "clang/Driver/Options.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace clang::driver;

namespace linemate {

namespace {

constexpr unsigned MaxResponseDepth = 8;
constexpr size_t MaxArguments = 100'000;

/// Replaces `@file` by the words in it, which may be such again.
void expand(StringRef Argument, const std::string &Directory,
            vfs::FileSystem &Files, unsigned Depth,
            std::vector<std::string> &Out) {
  if (Out.size() > MaxArguments)
    return;
  if (Argument.starts_with("@") && Argument.size() > 1 &&
      Depth < MaxResponseDepth) {
    auto Buffer =
        Files.getBufferForFile(absolutePath(Argument.drop_front(), Directory));
    if (Buffer) {
      for (const std::string &Word : splitCommand((*Buffer)->getBuffer()))
        expand(Word, Directory, Files, Depth + 1, Out);
      return;
    }
  }
  Out.push_back(Argument.str());
}

/// Options whose effect is a file, or code in the compiler: none of ours.
bool isDropped(const opt::Arg &A) {
  using namespace options;
  switch (A.getOption().getID()) {
  case OPT_INPUT:
  case OPT_c:
  case OPT_S:
  case OPT_E:
  case OPT_o:
  case OPT_M:
  case OPT_MM:
  case OPT_MD:
  case OPT_MMD:
  case OPT_MF:
  case OPT_MG:
  case OPT_MP:
  case OPT_MQ:
  case OPT_MT:
  case OPT_MJ:
  case OPT_save_temps:
  case OPT_save_temps_EQ:
  case OPT_pipe:
  case OPT_v:
  case OPT__HASH_HASH_HASH:
  case OPT_emit_llvm:
  case OPT_flto:
  case OPT_flto_EQ:
  case OPT__serialize_diags:
  case OPT_x: // the language of the file is asked for again at the end
  case OPT_ftime_trace:
  case OPT_ftime_trace_EQ:
    return true;
  default:
    return false;
  }
}

/// Plugins would be code of the project that runs here.
bool isPlugin(const opt::Arg &A) {
  StringRef Text = A.getSpelling();
  return Text.starts_with("-fplugin") || Text.starts_with("-fpass-plugin") ||
         Text.starts_with("-Xclang") || Text.starts_with("-mllvm");
}

/// Clang takes some flags of GCC and does nothing with them.
bool isUnknown(const opt::Arg &A) {
  const opt::Option &O = A.getOption();
  return O.getKind() == opt::Option::UnknownClass ||
         O.matches(options::OPT_clang_ignored_f_Group) ||
         O.matches(options::OPT_clang_ignored_gcc_optimization_f_Group) ||
         O.matches(options::OPT_clang_ignored_m_Group);
}

bool isClang(StringRef Compiler) {
  StringRef Name = sys::path::filename(Compiler);
  return Name.contains("clang") || Name.starts_with("icx") ||
         Name.starts_with("icpx");
}

bool isLauncher(StringRef Word) {
  StringRef Name = sys::path::filename(Word);
  return Name == "ccache" || Name == "sccache" || Name == "distcc" ||
         Name == "icecc";
}

/// Set by the last of the flags that speak of it, as compilers read them.
void readOption(StringRef Flag, UnitOptions &Out, int &Reorder) {
  auto Switch = [&](StringRef Name, bool &Value) {
    if (Flag == ("-f" + Name).str())
      Value = true;
    else if (Flag == ("-fno-" + Name).str())
      Value = false;
  };
  if (Flag.starts_with("-O"))
    Out.Level = Flag.size() == 2 ? "1" : Flag.drop_front(2).str();
  for (StringRef Name : {"pic", "PIC", "pie", "PIE"}) {
    bool On = Out.Pic;
    Switch(Name, On);
    if (Flag.ends_with(Name))
      Out.Pie = On && Name.lower() == "pie";
    Out.Pic = On;
  }
  Switch("common", Out.Common);
  Switch("data-sections", Out.DataSections);
  Switch("section-anchors", Out.SectionAnchors);
  if (Flag == "-ftoplevel-reorder")
    Reorder = 1;
  else if (Flag == "-fno-toplevel-reorder")
    Reorder = 0;
}

std::string languageOf(StringRef File, StringRef Asked, bool IsCxxDriver) {
  if (!Asked.empty() && Asked != "none") {
    Asked.consume_back("-header");
    Asked.consume_back("-cpp-output");
    return Asked.str();
  }
  StringRef Suffix = sys::path::extension(File);
  if (!StringSwitch<bool>(Suffix)
           .Cases(".c", ".i", ".cc", ".cpp", ".cxx", ".C", ".c++", ".cp", true)
           .Cases(".ii", ".CPP", ".h", ".hpp", ".hh", ".hxx", true)
           .Cases(".ipp", ".inl", ".tcc", ".inc", ".cppm", ".ixx", true)
           .Default(false))
    return {};
  // A C++ driver reads a .c file as C++.
  if (Suffix == ".c")
    return IsCxxDriver ? "c++" : "c";
  return Suffix == ".i" && !IsCxxDriver ? "c" : "c++";
}

} // namespace

Flags normalisedFlags(const Command &From, vfs::FileSystem &Files) {
  std::vector<std::string> Words;
  for (const std::string &Argument : From.Arguments)
    expand(Argument, From.Directory, Files, 0, Words);
  while (Words.size() > 1 && isLauncher(Words.front()))
    Words.erase(Words.begin());

  Flags Out;
  Out.Arguments.push_back(Words.front());
  StringRef Compiler = sys::path::filename(Out.Arguments.front());
  bool IsCxxDriver = Compiler.contains("++");
  Out.Options.Compiler = isClang(Compiler) ? "clang" : "gcc";

  SmallVector<const char *, 64> Raw;
  for (size_t I = 1; I < Words.size(); ++I)
    Raw.push_back(Words[I].c_str());
  unsigned MissingIndex = 0, MissingCount = 0;
  const opt::OptTable &Table = getDriverOptTable();
  opt::InputArgList Parsed = Table.ParseArgs(
      Raw, MissingIndex, MissingCount, opt::Visibility(options::ClangOption));
  // What distributions configure gcc and clang with.
  Out.Options.Pic = Out.Options.Pie = true;
  int Reorder = -1;
  std::string Asked;
  for (const opt::Arg *A : Parsed) {
    if (A->getOption().matches(options::OPT_x))
      Asked = A->getValue();
    if (isDropped(*A))
      continue;
    if (isUnknown(*A) || isPlugin(*A)) {
      // Clang drops what only gcc's layout depends on: -fno-toplevel-reorder.
      readOption(A->getSpelling(), Out.Options, Reorder);
      Out.Dropped.push_back(A->getSpelling().str());
      continue;
    }
    opt::ArgStringList Rendered;
    A->render(Parsed, Rendered);
    for (const char *Word : Rendered)
      Out.Arguments.emplace_back(Word);
    readOption(Rendered.empty() ? "" : Rendered.front(), Out.Options, Reorder);
  }
  Out.Language = languageOf(From.File, Asked, IsCxxDriver);
  bool IsClang = Out.Options.Compiler == "clang";
  Out.Options.ToplevelReorder =
      Reorder >= 0 ? Reorder == 1 : IsClang || Out.Options.Level != "0";
  return Out;
}

} // namespace linemate
