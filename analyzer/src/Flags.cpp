//===- Flags.cpp - What of a command line counts --------------------------===//
//
// Owns the reading of flags, and which decide how a compiler lays variables
// out.  Which are left out: FlagKinds.h.
//
//===----------------------------------------------------------------------===//

#include "Flags.h"

#include "FlagKinds.h"

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

/// The words behind -Wp, and -Xpreprocessor as the compiler itself reads them,
/// without those about dependency files.
std::vector<std::string> withoutIndirection(std::vector<std::string> Words) {
  std::vector<std::string> Out;
  Out.reserve(Words.size());
  for (size_t I = 0; I < Words.size(); ++I) {
    StringRef Word = Words[I];
    if (Word == "-Xpreprocessor" && I + 1 < Words.size()) {
      Out.push_back(std::move(Words[++I]));
      continue;
    }
    if (!Word.consume_front("-Wp,")) {
      Out.push_back(std::move(Words[I]));
      continue;
    }
    SmallVector<StringRef, 8> Parts;
    Word.split(Parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (size_t Part = 0; Part < Parts.size(); ++Part)
      if (Parts[Part] == "-MD" || Parts[Part] == "-MMD")
        ++Part; // and its file
      else
        Out.push_back(Parts[Part].str());
  }
  return Out;
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
  if (!Asked.empty() && Asked != "none")
    return parsedLanguage(Asked);
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

Flags normalisedFlags(const Command &From, ResponseFiles &Expander) {
  Expansion Expanded = Expander.expand(From);
  std::vector<std::string> Words =
      withoutIndirection(std::move(Expanded.Words));
  while (Words.size() > 1 && isLauncher(Words.front()))
    Words.erase(Words.begin());
  if (Words.empty())
    Words.emplace_back("cc"); // the rest was in a file that is not there

  Flags Out;
  Out.Dropped = std::move(Expanded.Missing);
  Out.Problem = std::move(Expanded.Problem);
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
  bool IsForProcessor = true;
  for (const opt::Arg *A : Parsed) {
    if (A->getOption().matches(options::OPT_x))
      Asked = A->getValue();
    if (A->getOption().matches(options::OPT_target))
      IsForProcessor = isProcessor(Triple(Triple::normalize(A->getValue())));
    switch (fateOf(*A)) {
    case Fate::Silent:
      break;
    case Fate::Named:
      // Clang drops what only gcc's layout depends on: -fno-toplevel-reorder.
      readOption(A->getSpelling(), Out.Options, Reorder);
      Out.Dropped.push_back(A->getSpelling().str());
      break;
    case Fate::Passed: {
      opt::ArgStringList Rendered;
      A->render(Parsed, Rendered);
      for (const char *Word : Rendered)
        Out.Arguments.emplace_back(Word);
      readOption(Rendered.empty() ? "" : Rendered.front(), Out.Options,
                 Reorder);
    }
    }
  }
  Out.Language = IsForProcessor ? languageOf(From.File, Asked, IsCxxDriver)
                                : std::string();
  bool IsClang = Out.Options.Compiler == "clang";
  Out.Options.ToplevelReorder =
      Reorder >= 0 ? Reorder == 1 : IsClang || Out.Options.Level != "0";
  return Out;
}

} // namespace linemate
