//===- Cache.cpp - Facts of units that did not change ---------------------===//
//
// Owns the format of an entry: a magic line, a hash of the rest, and strings
// with their lengths.  A file that is damaged in any way is no entry.
//
//===----------------------------------------------------------------------===//

#include "Cache.h"

#include "RegularFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace linemate {

namespace {

constexpr StringRef Magic = "linemate facts cache 1\n";
constexpr StringRef Suffix = ".facts";
constexpr size_t HashChars = 32;
/// Of one unit as it was in other states: those of a change, and of its base.
constexpr unsigned MostEntries = 3;
constexpr uint64_t MaxEntryBytes = 2ULL << 30;

void putNumber(std::string &Out, uint64_t Number) {
  Out.append(reinterpret_cast<const char *>(&Number), sizeof Number);
}

void putString(std::string &Out, StringRef Text) {
  putNumber(Out, Text.size());
  Out.append(Text.data(), Text.size());
}

/// Takes values off the front; any mistake makes it false for good.
class EntryReader {
public:
  explicit EntryReader(StringRef In) : In(In) {}

  uint64_t number() {
    uint64_t Out = 0;
    if (In.size() < sizeof Out) {
      IsGood = false;
      return 0;
    }
    std::memcpy(&Out, In.data(), sizeof Out);
    In = In.drop_front(sizeof Out);
    return Out;
  }

  StringRef string() {
    uint64_t Size = number();
    if (Size > In.size())
      IsGood = false;
    StringRef Out = IsGood ? In.take_front(Size) : StringRef();
    In = In.drop_front(Out.size());
    return Out;
  }

  /// How many follow; never more than could.
  uint64_t count() {
    uint64_t Count = number();
    if (Count > In.size())
      IsGood = false;
    return IsGood ? Count : 0;
  }

  bool isGood() const { return IsGood; }

private:
  StringRef In;
  bool IsGood = true;
};

int addBuildId(dl_phdr_info *Info, size_t, void *Out) {
  for (int I = 0; I < Info->dlpi_phnum; ++I) {
    const ElfW(Phdr) &Header = Info->dlpi_phdr[I];
    if (Header.p_type == PT_NOTE)
      // Notes of the program are constant and loaded.
      static_cast<std::string *>(Out)->append(
          reinterpret_cast<const char *>(Info->dlpi_addr + Header.p_vaddr),
          Header.p_memsz);
  }
  return 1; // the first is the program itself
}

/// Names of folders two levels down: targets and versions of installed gcc.
void addCompilers(StringRef Root, std::string &Out) {
  std::vector<std::string> Names;
  std::error_code Ignored;
  for (sys::fs::directory_iterator Target(Root, Ignored), End;
       !Ignored && Target != End; Target.increment(Ignored)) {
    std::error_code Inner;
    for (sys::fs::directory_iterator Version(Target->path(), Inner);
         !Inner && Version != End; Version.increment(Inner))
      Names.push_back(Version->path());
  }
  std::sort(Names.begin(), Names.end());
  for (const std::string &Name : Names)
    Out += Name + '\0';
}

} // namespace

std::string toolIdentity() {
  std::string Out = LINEMATE_VERSION;
  dl_iterate_phdr(addBuildId, &Out);
  for (StringRef Root : {"/usr/lib/gcc", "/usr/lib/gcc-cross"})
    addCompilers(Root, Out);
  return contentHash(Out);
}

FactsCache::FactsCache(std::string Folder, std::string Basis, Overlay Moved)
    : Folder(std::move(Folder)), Basis(std::move(Basis)),
      Moved(std::move(Moved)) {}

Error FactsCache::makeFolder(StringRef Folder) {
  if (std::error_code E = sys::fs::create_directories(
          Folder, /*IgnoreExisting=*/true, sys::fs::owner_all))
    return createStringError(E, "cache " + Folder + ": " + E.message());
  return Error::success();
}

std::string FactsCache::entryName(const Command &From, const Flags &F) const {
  // Not where its files are: a revision that is read in the place of the
  // working tree has the facts that the working tree had.
  std::string Key;
  for (const std::string *Part :
       {&Basis, &From.Directory, &From.File, &F.Language, &F.Options.Compiler})
    putString(Key, *Part);
  for (const std::string &Argument : F.Arguments)
    putString(Key, Argument);
  // Flags that clang does not know may still decide a layout option.
  for (const std::string &Flag : F.Dropped)
    putString(Key, Flag);
  SmallString<256> Path(Folder);
  sys::path::append(Path, contentHash(Key));
  return std::string(Path);
}

/// The entry that was used so many others ago.
static std::string entryPath(StringRef Name, unsigned Age) {
  return Name.str() + "-" + std::to_string(Age) + Suffix.str();
}

/// A name that no other process uses.
static std::string temporary(StringRef Name) {
  return Name.str() + Suffix.str() + "." + std::to_string(::getpid());
}

/// Makes room for the newest: every entry up to \p Age is one older, and the
/// one of that age is gone.
static void age(StringRef Name, unsigned Age) {
  for (; Age; --Age)
    ::rename(entryPath(Name, Age - 1).c_str(), entryPath(Name, Age).c_str());
}

bool FactsCache::isUnchanged(StringRef Path, StringRef Hash) {
  auto [Slot, IsNew] = Hashes.try_emplace(Path);
  if (IsNew)
    if (auto Buffer = readRegularFile(Moved.locate(Path)))
      Slot->second = contentHash((*Buffer)->getBuffer());
  return !Hash.empty() && Slot->second == Hash;
}

bool FactsCache::isMissing(StringRef Path) {
  auto [Slot, IsNew] = Missing.try_emplace(Path, false);
  if (IsNew)
    Slot->second = !sys::fs::exists(Moved.locate(Path));
  return Slot->second;
}

FactsCache::Hit FactsCache::find(const Command &From, const Flags &F) {
  std::string Name = entryName(From, F);
  for (unsigned Age = 0; Age < MostEntries; ++Age) {
    std::string Path = entryPath(Name, Age);
    Hit Out = holds(Path);
    if (!Out.Entry)
      continue;
    // Entries that were used last go last.
    ::utimensat(AT_FDCWD, Path.c_str(), nullptr, 0);
    if (Age) {
      std::string Aside = temporary(Name);
      if (!::rename(Path.c_str(), Aside.c_str())) {
        age(Name, Age);
        ::rename(Aside.c_str(), entryPath(Name, 0).c_str());
      }
    }
    return Out;
  }
  return {};
}

FactsCache::Hit FactsCache::holds(StringRef Path) {
  auto Buffer = readRegularFile(Path, MaxEntryBytes, /*Mapped=*/true);
  if (!Buffer)
    return {};
  StringRef Content = (*Buffer)->getBuffer();
  if (!Content.consume_front(Magic) || Content.size() < HashChars)
    return {};
  StringRef Expected = Content.take_front(HashChars);
  Content = Content.drop_front(HashChars);
  Hit Out;
  EntryReader In(Content);
  for (uint64_t I = 0, N = In.count(); I < N && In.isGood(); ++I) {
    StringRef File = In.string();
    StringRef Hash = In.string();
    if (!In.isGood() || !isUnchanged(File, Hash))
      return {};
  }
  for (uint64_t I = 0, N = In.count(); I < N && In.isGood(); ++I)
    if (!isMissing(In.string()))
      return {};
  for (uint64_t I = 0, N = In.count(); I < N && In.isGood(); ++I)
    Out.Dropped.push_back(In.string().str());
  Out.Json = In.string();
  // Last, since it takes longest and most that is not of now has changed.
  if (!In.isGood() || Out.Json.empty() || contentHash(Content) != Expected)
    return {};
  Out.Entry = std::move(*Buffer);
  return Out;
}

std::string FactsCache::inputsOf(FileCache &Files) {
  std::string Content;
  std::vector<std::string> Read = Files.filesRead();
  putNumber(Content, Read.size());
  for (const std::string &Path : Read) {
    putString(Content, Path);
    putString(Content, Files.contentHash(Path));
  }
  std::vector<std::string> Absent = Files.pathsMissing();
  putNumber(Content, Absent.size());
  for (const std::string &Path : Absent)
    putString(Content, Path);
  return Content;
}

void FactsCache::store(const Command &From, const Flags &F,
                       const UnitResult &Result) const {
  if (Result.Json.empty() || Result.Inputs.empty())
    return;
  std::string Content = Result.Inputs;
  putNumber(Content, Result.Dropped.size());
  for (const std::string &Flag : Result.Dropped)
    putString(Content, Flag);
  putString(Content, Result.Json);
  std::string Whole = Magic.str() + contentHash(Content) + Content;

  std::string Name = entryName(From, F);
  std::string Temporary = temporary(Name);
  int Descriptor =
      ::open(Temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (Descriptor < 0)
    return;
  StringRef Left = Whole;
  while (!Left.empty()) {
    ssize_t Written = ::write(Descriptor, Left.data(), Left.size());
    if (Written <= 0)
      break;
    Left = Left.drop_front(size_t(Written));
  }
  bool IsWhole = ::close(Descriptor) == 0 && Left.empty();
  if (IsWhole)
    age(Name, MostEntries - 1);
  if (!IsWhole || ::rename(Temporary.c_str(), entryPath(Name, 0).c_str()))
    ::unlink(Temporary.c_str());
}

void FactsCache::shrink(uint64_t MaxBytes) const {
  struct File {
    sys::TimePoint<> Used;
    uint64_t Size;
    std::string Path;
  };
  std::vector<File> Entries;
  uint64_t Total = 0;
  std::error_code Error;
  for (sys::fs::directory_iterator Item(Folder, Error), End;
       !Error && Item != End; Item.increment(Error)) {
    // Also what a run that was killed left half written.
    if (StringRef(Item->path()).find(Suffix) == StringRef::npos)
      continue;
    auto Status = Item->status();
    if (!Status || Status->type() != sys::fs::file_type::regular_file)
      continue;
    Entries.push_back(
        {Status->getLastModificationTime(), Status->getSize(), Item->path()});
    Total += Status->getSize();
  }
  if (Total <= MaxBytes)
    return;
  std::sort(Entries.begin(), Entries.end(), [](const File &A, const File &B) {
    return std::tie(A.Used, A.Path) < std::tie(B.Used, B.Path);
  });
  // Some room, so that the next run need not remove again.
  for (const File &F : Entries) {
    if (Total <= MaxBytes / 10 * 9)
      break;
    if (!sys::fs::remove(F.Path))
      Total -= F.Size;
  }
}

} // namespace linemate
