//===- Split.cpp - Units that live in .dwo and .dwp files -----------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Split.h"
#include "Die.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

Expected<std::unique_ptr<Object>> openRegularFile(StringRef Path) {
  if (!sys::fs::is_regular_file(Path))
    return nullptr;
  return Object::open(Path);
}

SplitFiles::SplitFiles(StringRef MainPath, StringRef PackagePath,
                       FileOpener Open)
    : MainPath(MainPath), PackagePath(PackagePath), Open(std::move(Open)) {}

Error SplitFiles::openPackage() {
  bool Named = !PackagePath.empty();
  Expected<File *> Opened = openFile(Named ? PackagePath : MainPath + ".dwp");
  if (!Opened)
    return Opened.takeError();
  if (!*Opened && Named)
    return createStringError(std::errc::no_such_file_or_directory,
                             "not a file");
  Package = *Opened;
  return Error::success();
}

Expected<SplitFiles::File *> SplitFiles::openFile(StringRef Path) {
  auto [It, IsNew] = Files.try_emplace(Path);
  Attempt &Known = It->second;
  if (IsNew) {
    if (Expected<std::unique_ptr<File>> Read = readFile(Path))
      Known.Opened = std::move(*Read);
    else
      Known.Failure = toString(Read.takeError());
  }
  if (!Known.Failure.empty())
    return createStringError(inconvertibleErrorCode(), Known.Failure);
  return Known.Opened.get();
}

Expected<std::unique_ptr<SplitFiles::File>>
SplitFiles::readFile(StringRef Path) const {
  Expected<std::unique_ptr<Object>> Contents = Open(Path);
  if (!Contents)
    return Contents.takeError();
  if (!*Contents)
    return nullptr;
  auto New = std::make_unique<File>();
  New->Contents = std::move(*Contents);
  New->Units = std::make_unique<UnitList>(*New->Contents);
  New->Units->build([](uint64_t, const Twine &) {});
  for (Unit &U : New->Units->Units) {
    if (U.IsType)
      continue;
    std::optional<uint64_t> Id = U.DwoId;
    if (!Id) { // DWARF 4: an attribute of the unit entry
      UnitView View(U, std::make_shared<AbbreviationTable>(
                           New->Contents->Abbrev.Data, U.AbbrevOffset,
                           New->Contents->swap(), U.Sizes));
      if (View.valid() && View.Root.A.has(DwoId))
        Id = View.Root.A[DwoId].Number;
    }
    if (Id && *Id < UINT64_MAX - 1) // the two largest are the map's own marks
      New->ById.try_emplace(*Id, &U);
  }
  return New;
}

Expected<const Unit *> SplitFiles::join(File &From, const Unit &Skeleton,
                                        uint64_t Id, uint64_t AddrBase) {
  auto It = From.ById.find(Id);
  if (It == From.ById.end())
    return createStringError(inconvertibleErrorCode(),
                             "has no unit with the skeleton's id");
  Unit &U = *It->second;
  if (U.Skeleton)
    return createStringError(inconvertibleErrorCode(),
                             "two skeletons name one unit");
  U.Skeleton = &Skeleton;
  U.SkeletonAddrBase = AddrBase;
  U.Index = Skeleton.Index;
  return &U;
}

Expected<const Unit *> SplitFiles::find(const Unit &Skeleton, uint64_t Id,
                                        StringRef Name, StringRef Directory,
                                        uint64_t AddrBase) {
  std::lock_guard<std::mutex> Lock(Guard);
  if (Package && Package->ById.count(Id))
    return join(*Package, Skeleton, Id, AddrBase);
  SmallVector<std::string, 3> Places;
  if (sys::path::is_absolute(Name)) {
    Places.push_back(Name.str());
  } else if (!Directory.empty()) {
    SmallString<128> Path(Directory);
    sys::path::append(Path, Name);
    Places.push_back(Path.str().str());
  }
  SmallString<128> Beside(sys::path::parent_path(MainPath));
  SmallString<128> BesideBase(Beside);
  sys::path::append(Beside, Name);
  sys::path::append(BesideBase, sys::path::filename(Name));
  Places.push_back(Beside.str().str());
  Places.push_back(BesideBase.str().str());
  std::string Why = "not found";
  for (const std::string &Path : Places) {
    Expected<File *> Opened = openFile(Path);
    if (Opened && !*Opened)
      continue;
    Expected<const Unit *> Found =
        Opened ? join(**Opened, Skeleton, Id, AddrBase)
               : Expected<const Unit *>(Opened.takeError());
    if (Found)
      return Found;
    Why = toString(Found.takeError());
  }
  return createStringError(inconvertibleErrorCode(),
                           "split unit " + Name + ": " + Why);
}

} // namespace linemate::dwarf
