//===- Database.cpp - Which commands compile which files ------------------===//
//
// Owns the checks on a file that any build system may have written.
//
//===----------------------------------------------------------------------===//

#include "Database.h"

#include "RegularFile.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace linemate {

namespace {

constexpr uint64_t MaxDatabaseBytes = 1ULL << 30;

Error malformed(StringRef Path, const Twine &Why) {
  return createStringError(inconvertibleErrorCode(), Path + ": " + Why);
}

bool isBlank(char C) { return C == ' ' || C == '\t' || C == '\n' || C == '\r'; }

} // namespace

std::vector<std::string> splitCommand(StringRef Line) {
  std::vector<std::string> Words;
  std::string Word;
  bool InWord = false;
  char Quote = 0;
  for (size_t I = 0; I < Line.size(); ++I) {
    char C = Line[I];
    if (Quote == '\'') {
      if (C == '\'')
        Quote = 0;
      else
        Word.push_back(C);
    } else if (C == '\\' && I + 1 < Line.size()) {
      // Between double quotes a backslash only protects what is special there.
      char Next = Line[++I];
      if (Quote && !StringRef("\"\\$`\n").contains(Next))
        Word.push_back('\\');
      Word.push_back(Next);
      InWord = true;
    } else if (Quote) {
      if (C == Quote)
        Quote = 0;
      else
        Word.push_back(C);
    } else if (C == '"' || C == '\'') {
      Quote = C;
      InWord = true;
    } else if (isBlank(C)) {
      if (InWord)
        Words.push_back(std::move(Word));
      Word.clear();
      InWord = false;
    } else {
      Word.push_back(C);
      InWord = true;
    }
  }
  if (InWord)
    Words.push_back(std::move(Word));
  return Words;
}

std::string absolutePath(StringRef Path, StringRef Directory) {
  SmallString<256> Full(Path);
  if (!sys::path::is_absolute(Full)) {
    Full = Directory;
    sys::path::append(Full, Path);
  }
  sys::path::remove_dots(Full, /*remove_dot_dot=*/true);
  return std::string(Full);
}

static Expected<Command> readEntry(const json::Value &Item,
                                   StringRef DatabaseFolder) {
  auto Bad = [](const char *Why) {
    return createStringError(inconvertibleErrorCode(), Why);
  };
  const json::Object *Entry = Item.getAsObject();
  if (!Entry)
    return Bad("expected an object");
  auto File = Entry->getString("file");
  if (!File || File->empty())
    return Bad("expected a file");
  Command Out;
  Out.Directory =
      absolutePath(Entry->getString("directory").value_or("."), DatabaseFolder);
  Out.File = absolutePath(*File, Out.Directory);
  if (const json::Array *Arguments = Entry->getArray("arguments")) {
    for (const json::Value &Argument : *Arguments) {
      auto Text = Argument.getAsString();
      if (!Text)
        return Bad("arguments are not all strings");
      Out.Arguments.push_back(Text->str());
    }
  } else if (auto Line = Entry->getString("command")) {
    Out.Arguments = splitCommand(*Line);
  }
  if (Out.Arguments.empty())
    return Bad("expected a command or arguments");
  return Out;
}

Expected<std::vector<Command>> readDatabase(StringRef Path) {
  SmallString<256> File(Path);
  if (sys::fs::is_directory(File))
    sys::path::append(File, "compile_commands.json");
  if (std::error_code E = sys::fs::make_absolute(File))
    return malformed(Path, E.message());
  auto Buffer = readRegularFile(File, MaxDatabaseBytes, /*Mapped=*/true);
  if (!Buffer)
    return malformed(File, Buffer.getError().message());
  Expected<json::Value> Document = json::parse((*Buffer)->getBuffer());
  if (!Document)
    return malformed(File, toString(Document.takeError()));
  const json::Array *Entries = Document->getAsArray();
  if (!Entries)
    return malformed(File, "expected a list of entries");
  std::vector<Command> Out;
  StringSet<> Seen;
  for (const auto &[Index, Item] : enumerate(*Entries)) {
    Expected<Command> Entry = readEntry(Item, sys::path::parent_path(File));
    if (!Entry)
      return malformed(File, "entry " + Twine(Index) + ": " +
                                 toString(Entry.takeError()));
    std::string Key = Entry->Directory + '\0' + Entry->File;
    for (const std::string &Argument : Entry->Arguments)
      Key += '\0' + Argument;
    if (Seen.insert(Key).second)
      Out.push_back(std::move(*Entry));
  }
  return Out;
}

} // namespace linemate
