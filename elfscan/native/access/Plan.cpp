//===- Plan.cpp - What to scan --------------------------------------------===//
//
// Owns the checks that make a plan safe to follow: every range inside the
// file, no extent scanned twice.
//
//===----------------------------------------------------------------------===//

#include "Plan.h"
#include "Architectures.h"
#include "RawRows.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace linemate {

namespace {

constexpr char PlanMagic[8] = {'L', 'M', 'P', 'L', 'A', 'N', '2', '\0'};
constexpr uint32_t AbsoluteFlag = 1;
constexpr uint32_t ElsewhereFlag = 2;
constexpr uint32_t TrapsReturnFlag = 4;

struct PlanHeader {
  char Magic[8];
  uint32_t Arch;
  uint32_t Flags;
  uint64_t Code, Data, Constants, Functions, Slots, Labels;
};

struct RawBytes {
  uint64_t Address, FileOffset, Size;
};

struct RawRange {
  uint64_t Address, Size;
};

struct RawFunction {
  uint64_t Address, Size;
  uint32_t Flags;
  int32_t Row;
};

struct RawSlot {
  uint64_t Address, Value;
};

struct RawLabel {
  uint64_t Code, Target;
  uint32_t Way, Rarity;
};

bool wraps(uint64_t Address, uint64_t Size) { return Address + Size < Address; }

/// Turns file ranges into bytes, sorted by address.
std::optional<std::string> locate(const std::vector<RawBytes> &Raw,
                                  std::span<const uint8_t> File,
                                  const char *What, std::vector<Bytes> &Out) {
  for (const RawBytes &R : Raw) {
    if (R.FileOffset > File.size() || R.Size > File.size() - R.FileOffset)
      return std::string(What) + " range at file offset " +
             std::to_string(R.FileOffset) + " reaches beyond the file";
    if (wraps(R.Address, R.Size))
      return std::string(What) + " range wraps the address space";
    Out.push_back({R.Address, File.subspan(R.FileOffset, R.Size)});
  }
  std::sort(Out.begin(), Out.end(),
            [](const Bytes &A, const Bytes &B) { return A.Begin < B.Begin; });
  return std::nullopt;
}

std::span<const uint8_t> bytesAt(const std::vector<Bytes> &Ranges,
                                 uint64_t Address) {
  for (const Bytes &B : Ranges)
    if (Address - B.Begin < B.Data.size())
      return B.Data.subspan(Address - B.Begin);
  return {};
}

} // namespace

MappedFile::~MappedFile() {
  if (Base)
    munmap(const_cast<uint8_t *>(Base), Size);
}

std::optional<std::string> MappedFile::open(const char *Path) {
  int FD = ::open(Path, O_RDONLY | O_CLOEXEC);
  if (FD < 0)
    return std::string("cannot open: ") + std::strerror(errno);
  struct stat Info;
  if (fstat(FD, &Info) != 0 || !S_ISREG(Info.st_mode)) {
    close(FD);
    return "not a regular file";
  }
  if (Info.st_size == 0) {
    close(FD);
    return std::nullopt;
  }
  void *Map = mmap(nullptr, Info.st_size, PROT_READ, MAP_PRIVATE, FD, 0);
  int Error = errno;
  close(FD);
  if (Map == MAP_FAILED)
    return std::string("cannot map: ") + std::strerror(Error);
  Base = static_cast<const uint8_t *>(Map);
  Size = Info.st_size;
  return std::nullopt;
}

std::optional<std::string> Plan::parse(std::span<const uint8_t> Raw,
                                       std::span<const uint8_t> File) {
  std::vector<PlanHeader> Head;
  std::vector<RawBytes> RawCode, RawConstants;
  std::vector<RawRange> RawData;
  std::vector<RawFunction> RawFunctions;
  std::vector<RawSlot> RawSlots;
  std::vector<RawLabel> RawLabels;
  if (!take(Raw, 1, Head) ||
      std::memcmp(Head[0].Magic, PlanMagic, sizeof PlanMagic))
    return "the plan has no header";
  if (!findArchitecture(Head[0].Arch))
    return "the plan names an unknown architecture";
  if (!take(Raw, Head[0].Code, RawCode) || !take(Raw, Head[0].Data, RawData) ||
      !take(Raw, Head[0].Constants, RawConstants) ||
      !take(Raw, Head[0].Functions, RawFunctions) ||
      !take(Raw, Head[0].Slots, RawSlots) ||
      !take(Raw, Head[0].Labels, RawLabels) || !Raw.empty())
    return "the plan's tables do not match its header";
  Machine = Arch(Head[0].Arch);
  Absolute = Head[0].Flags & AbsoluteFlag;
  Elsewhere = Head[0].Flags & ElsewhereFlag;
  TrapsReturn = Head[0].Flags & TrapsReturnFlag;

  if (auto Why = locate(RawCode, File, "code", Code))
    return Why;
  if (auto Why = locate(RawConstants, File, "constant", Constants))
    return Why;
  for (const RawRange &R : RawData) {
    if (wraps(R.Address, R.Size))
      return "data range wraps the address space";
    Data.push_back({R.Address, R.Address + R.Size});
    DataLow = std::min(DataLow, R.Address);
    DataHigh = std::max(DataHigh, R.Address + R.Size);
  }
  for (const RawSlot &S : RawSlots) {
    Slots.emplace_back(S.Address, S.Value);
    SlotLow = std::min(SlotLow, S.Address);
    SlotHigh = std::max(SlotHigh, S.Address);
  }
  std::sort(Slots.begin(), Slots.end());
  for (const RawLabel &R : RawLabels) {
    if (R.Way > uint32_t(KeyedWay::Jumps))
      return "a branch of a static key goes an unknown way";
    Labels.push_back({R.Code, R.Target, KeyedWay(R.Way),
                      uint8_t(std::min<uint32_t>(R.Rarity, UINT8_MAX))});
  }
  std::ranges::stable_sort(Labels, {}, &JumpLabel::Code);

  std::vector<Function> All;
  for (const RawFunction &R : RawFunctions) {
    Starts.push_back(R.Address);
    if (R.Flags & OwnResult)
      OwnResults.push_back(R.Address);
    if (R.Flags & NewResult)
      NewResults.push_back(R.Address);
    if (R.Flags & WritesHandle)
      HandleWriters.push_back(R.Address);
    if (R.Flags & NeverReturns)
      Endings.push_back(R.Address);
    if (R.Flags & ForAll)
      WaitsForAll.push_back(R.Address);
    if (R.Flags & SleepsFor)
      Sleepers.push_back(R.Address);
    if (R.Flags & TellsFailure)
      TellFailures.emplace_back(R.Address, R.Flags & TellsFailure);
    if (uint32_t Clock = R.Flags >> ClockShift & ClockMask)
      Clocks.emplace_back(R.Address, Clock);
    if (R.Flags & OfWord)
      OfWords.emplace_back(R.Address, R.Flags & OfWord);
    if (R.Flags & StubFunction || R.Size == 0)
      continue;
    if (wraps(R.Address, R.Size)) {
      ++UnreadableFunctions;
      continue;
    }
    All.push_back({R.Address, R.Address + R.Size, R.Flags, R.Row});
  }
  std::sort(Starts.begin(), Starts.end());
  std::sort(OwnResults.begin(), OwnResults.end());
  std::sort(NewResults.begin(), NewResults.end());
  std::sort(HandleWriters.begin(), HandleWriters.end());
  std::sort(Endings.begin(), Endings.end());
  std::sort(WaitsForAll.begin(), WaitsForAll.end());
  std::sort(Sleepers.begin(), Sleepers.end());
  std::sort(TellFailures.begin(), TellFailures.end());
  std::sort(Clocks.begin(), Clocks.end());
  std::sort(OfWords.begin(), OfWords.end());
  sortFunctions(std::move(All));
  if (Machine == Arch::X86_64)
    findThreadStores();
  return std::nullopt;
}

void Plan::sortFunctions(std::vector<Function> All) {
  // Of several names for one address the longest extent counts, then the
  // first row.
  std::sort(All.begin(), All.end(), [](const Function &A, const Function &B) {
    if (A.Begin != B.Begin)
      return A.Begin < B.Begin;
    if (A.End != B.End)
      return A.End > B.End;
    return A.Row < B.Row;
  });
  for (const Function &F : All) {
    if (!Functions.empty() && Functions.back().Begin == F.Begin)
      continue;
    std::span<const uint8_t> Body = codeAt(F.Begin);
    if (Body.empty()) {
      ++UnreadableFunctions;
      continue;
    }
    if (!Functions.empty() && Functions.back().End > F.Begin) {
      Functions.back().End = F.Begin;
      ++OverlappingFunctions;
    }
    Functions.push_back(F);
    Functions.back().End =
        F.Begin + std::min<uint64_t>(F.End - F.Begin, Body.size());
  }
}

std::optional<uint64_t> Plan::slot(uint64_t Address) const {
  if (Address < SlotLow || Address > SlotHigh)
    return std::nullopt;
  auto It = std::lower_bound(Slots.begin(), Slots.end(),
                             std::pair<uint64_t, uint64_t>(Address, 0));
  if (It == Slots.end() || It->first != Address)
    return std::nullopt;
  return It->second;
}

std::span<const JumpLabel> Plan::labelsFrom(uint64_t Address) const {
  auto It = std::ranges::lower_bound(Labels, Address, {}, &JumpLabel::Code);
  return {It, Labels.end()};
}

namespace {

/// What is told of an address, or 0.
uint32_t toldOf(const std::vector<std::pair<uint64_t, uint32_t>> &Sorted,
                uint64_t Address) {
  auto It = std::ranges::lower_bound(Sorted, Address, {},
                                     &std::pair<uint64_t, uint32_t>::first);
  return It != Sorted.end() && It->first == Address ? It->second : 0;
}

} // namespace

uint32_t Plan::failuresOf(uint64_t Address) const {
  return toldOf(TellFailures, Address);
}

uint32_t Plan::clockAt(uint64_t Address) const {
  return toldOf(Clocks, Address);
}

uint32_t Plan::toWord(uint64_t Address) const {
  return toldOf(OfWords, Address);
}

bool Plan::startsFunction(uint64_t Address) const {
  return std::binary_search(Starts.begin(), Starts.end(), Address);
}

std::span<const uint8_t> Plan::codeAt(uint64_t Address) const {
  return bytesAt(Code, Address);
}

std::span<const uint8_t> Plan::constantsAt(uint64_t Address) const {
  return bytesAt(Constants, Address);
}

} // namespace linemate
