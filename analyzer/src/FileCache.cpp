//===- FileCache.cpp - The file system, read once -------------------------===//
//
// Owns how much is kept: between units only as much as a worker can hold.
//
//===----------------------------------------------------------------------===//

#include "FileCache.h"

#include "RegularFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace linemate {

namespace {

constexpr uint64_t MaxHeldBytes = 96 << 20;

/// A view of contents that the cache keeps.
class CachedFile : public vfs::File {
public:
  CachedFile(vfs::Status Status, MemoryBufferRef Content)
      : Status(std::move(Status)), Content(Content) {}

  ErrorOr<vfs::Status> status() override { return Status; }
  ErrorOr<std::unique_ptr<MemoryBuffer>> getBuffer(const Twine &, int64_t, bool,
                                                   bool) override {
    return MemoryBuffer::getMemBuffer(Content);
  }
  std::error_code close() override { return {}; }

private:
  vfs::Status Status;
  MemoryBufferRef Content;
};

} // namespace

FileCache::FileCache(Overlay Moved)
    : ProxyFileSystem(vfs::createPhysicalFileSystem()), Moved(std::move(Moved)),
      ReadFile([this](StringRef Path) {
        return readRegularFile(this->Moved.locate(Path));
      }) {}

FileCache::FileCache(IntrusiveRefCntPtr<vfs::FileSystem> Below)
    : ProxyFileSystem(std::move(Below)), ReadFile([this](StringRef Path) {
        return getUnderlyingFS().getBufferForFile(Path);
      }) {}

FileCache::Entry &FileCache::entry(StringRef Path) {
  auto [Slot, IsNew] = Entries.try_emplace(Path);
  if (IsNew) {
    Slot->second = std::make_unique<Entry>();
    if (Hidden.contains(Path))
      Slot->second->Status = make_error_code(errc::no_such_file_or_directory);
    else if (auto Found = getUnderlyingFS().status(Moved.locate(Path)))
      Slot->second->Status = vfs::Status::copyWithNewName(*Found, Path);
    else
      Slot->second->Status = Found.getError();
  }
  Entry &E = *Slot->second;
  if (E.AskedBy != Unit) {
    E.AskedBy = Unit;
    Asked.push_back(Slot->first());
  }
  return E;
}

ErrorOr<vfs::Status> FileCache::status(const Twine &Path) {
  SmallString<256> Text;
  return entry(Path.toStringRef(Text)).Status;
}

bool FileCache::exists(const Twine &Path) {
  SmallString<256> Text;
  StringRef Name = Path.toStringRef(Text);
  return !Hidden.contains(Name) && getUnderlyingFS().exists(Moved.locate(Name));
}

ErrorOr<std::unique_ptr<vfs::File>>
FileCache::openFileForRead(const Twine &Path) {
  SmallString<256> Text;
  StringRef Name = Path.toStringRef(Text);
  Entry &E = entry(Name);
  if (!E.Status)
    return E.Status.getError();
  if (!E.Content) {
    // Read rather than mapped: an editor may cut the file short meanwhile.
    auto Buffer = ReadFile(Name);
    if (!Buffer)
      return E.Status->isDirectory() ? refusalOf(E.Status->getType())
                                     : Buffer.getError();
    E.Content = std::move(*Buffer);
    HeldBytes += E.Content->getBufferSize();
    // What was read is what counts, whatever the size was before.
    E.Status =
        vfs::Status(E.Status->getName(), E.Status->getUniqueID(),
                    E.Status->getLastModificationTime(), E.Status->getUser(),
                    E.Status->getGroup(), E.Content->getBufferSize(),
                    E.Status->getType(), E.Status->getPermissions());
  }
  if (E.ReadBy != Unit) {
    E.ReadBy = Unit;
    Read.push_back(Entries.find(Name)->first());
  }
  return std::make_unique<CachedFile>(*E.Status, E.Content->getMemBufferRef());
}

void FileCache::hideTwins(StringRef Folder, StringRef Other) {
  if (!WithoutTwins.insert(Folder).second)
    return;
  std::error_code Ignored;
  for (vfs::directory_iterator It = getUnderlyingFS().dir_begin(Other, Ignored),
                               End;
       !Ignored && It != End; It.increment(Ignored))
    Hidden.insert((Folder + "/" + sys::path::filename(It->path())).str());
}

void FileCache::beginUnit() {
  if (HeldBytes > MaxHeldBytes) {
    Entries.clear();
    HeldBytes = 0;
  }
  Asked.clear();
  Read.clear();
  ++Unit;
}

std::vector<std::string> FileCache::filesRead() const {
  std::vector<std::string> Out;
  Out.reserve(Read.size());
  for (StringRef Path : Read)
    Out.push_back(Path.str());
  return Out;
}

std::vector<std::string> FileCache::pathsMissing() const {
  std::vector<std::string> Out;
  for (StringRef Path : Asked)
    if (!Entries.find(Path)->second->Status && !Hidden.contains(Path))
      Out.push_back(Path.str());
  return Out;
}

std::string contentHash(StringRef Content) {
  XXH128_hash_t Hash = xxh3_128bits(arrayRefFromStringRef(Content));
  return utohexstr(Hash.high64, /*LowerCase=*/true, 16) +
         utohexstr(Hash.low64, /*LowerCase=*/true, 16);
}

std::string FileCache::sha256(StringRef Path) {
  auto Found = Entries.find(Path);
  if (Found == Entries.end() || !Found->second->Content)
    return {};
  Entry &E = *Found->second;
  if (E.Sha256.empty())
    E.Sha256 =
        toHex(SHA256::hash(arrayRefFromStringRef(E.Content->getBuffer())),
              /*LowerCase=*/true);
  return E.Sha256;
}

std::string FileCache::contentHash(StringRef Path) {
  auto Found = Entries.find(Path);
  if (Found == Entries.end() || !Found->second->Content)
    return {};
  Entry &E = *Found->second;
  if (E.ContentHash.empty())
    E.ContentHash = linemate::contentHash(E.Content->getBuffer());
  return E.ContentHash;
}

} // namespace linemate
