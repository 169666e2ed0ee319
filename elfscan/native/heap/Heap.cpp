// Notes where memory was allocated: loaded by LD_PRELOAD into the program that
// `linemate record --heap` runs, in front of its allocator.
//
// Owns which allocations are noted, and the file that they are noted in.  What
// they mean is pmu/heaplog.py's and linemate's business.  Whatever goes wrong
// here, the program gets its memory as it would without.
//
// A program allocates more often than could be noted.  Of each place that
// allocates (caller and size) each thread's first ones are noted, which are
// those that live long, then one in so many; large ones all.  The end of an
// allocation is noted where its beginning was.

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

namespace {

constexpr uint64_t Capacity = 1 << 18; // records of a process
constexpr int MaxFrames = 16; // C++'s library alone has nine between a shared
                              // object and the function that makes it
constexpr int Looked = 20;    // ours among them
constexpr size_t Large = 32 << 10;
constexpr uint16_t First = 64;   // of each place: noted
constexpr uint16_t Every = 1024; // of the others: one in so many
constexpr size_t Places = 1024;
constexpr size_t Buckets = 1 << 13; // lines of eight live allocations
constexpr size_t EarlyBytes = 32 << 10;

enum Kind : uint8_t { Begins = 1, Ends = 2 };

// The file is a header and records; pmu/heaplog.py reads both.
struct Header {
  char Magic[8];
  uint32_t RecordBytes;
  uint32_t Pid;
  uint64_t Capacity;
  std::atomic<uint64_t> Used;
  std::atomic<uint64_t> LeftOut;
  uint64_t Reserved[3];
};
struct Record {
  uint64_t Time, Address, Size;
  uint32_t Pid;
  std::atomic<uint8_t> What; // written last: 0 where it is not whole
  uint8_t Frames;
  uint16_t Reserved;
  uint64_t Stack[MaxFrames];
};
static_assert(sizeof(Header) == 64 && sizeof(Record) == 160);

struct alignas(64) Bucket {
  std::atomic<uintptr_t> Live[8];
};

Header *Log;
uint32_t Pid;
Bucket Table[Buckets];
alignas(16) char Early[EarlyBytes]; // what dlsym allocates
std::atomic<size_t> EarlyUsed;

thread_local bool Inside;           // what we allocate ourselves is not noted
thread_local uintptr_t Outer;       // who called operator new
thread_local uint16_t Seen[Places]; // allocations of each place

struct {
  void *(*Malloc)(size_t);
  void *(*Calloc)(size_t, size_t);
  void *(*Realloc)(void *, size_t);
  void (*Free)(void *);
  int (*PosixMemalign)(void **, size_t, size_t);
  void *(*AlignedAlloc)(size_t, size_t);
  void *(*Memalign)(size_t, size_t);
  void *(*Mmap)(void *, size_t, int, int, int, off_t);
  int (*Munmap)(void *, size_t);
} Real;

template <typename Function> void find(Function &Into, const char *Name) {
  Into = reinterpret_cast<Function>(dlsym(RTLD_NEXT, Name));
}

// Before the constructor, and inside of dlsym, there is nothing to call.
bool known() {
  if (Real.Free)
    return true;
  if (Inside)
    return false;
  Inside = true;
  find(Real.Malloc, "malloc");
  find(Real.Calloc, "calloc");
  find(Real.Realloc, "realloc");
  find(Real.PosixMemalign, "posix_memalign");
  find(Real.AlignedAlloc, "aligned_alloc");
  find(Real.Memalign, "memalign");
  find(Real.Mmap, "mmap");
  find(Real.Munmap, "munmap");
  find(Real.Free, "free");
  Inside = false;
  return Real.Free;
}

void *early(size_t Size) {
  Size = (Size + 15) & ~size_t{15};
  const size_t At = EarlyUsed.fetch_add(Size);
  return Size <= EarlyBytes && At <= EarlyBytes - Size ? Early + At : nullptr;
}

bool isEarly(const void *Pointer) {
  const char *P = static_cast<const char *>(Pointer);
  return P >= Early && P < Early + EarlyBytes;
}

uint64_t now() {
  timespec At;
  clock_gettime(CLOCK_MONOTONIC, &At);
  return static_cast<uint64_t>(At.tv_sec) * 1000000000 + At.tv_nsec;
}

uintptr_t mixed(uintptr_t Value) {
  Value ^= Value >> 29;
  Value *= 0x9e3779b97f4a7c15;
  return Value ^ Value >> 32;
}

Record *record() {
  const uint64_t At = Log->Used.fetch_add(1, std::memory_order_relaxed);
  if (At >= Capacity) {
    Log->Used.fetch_sub(1, std::memory_order_relaxed);
    Log->LeftOut.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  return reinterpret_cast<Record *>(Log + 1) + At;
}

Bucket &bucketOf(uintptr_t Address) { return Table[mixed(Address) % Buckets]; }

bool wanted(uintptr_t Caller, size_t Size) {
  uint16_t &Count = Seen[mixed(Caller ^ Size << 48 ^ Size) % Places];
  const uint16_t Number = Count;
  Count = Number == UINT16_MAX ? First : Number + 1;
  return Number < First || Number % Every == 0 || Size >= Large;
}

void begins(void *Pointer, size_t Size, void *Return) {
  const uintptr_t Caller = Outer ? Outer : reinterpret_cast<uintptr_t>(Return);
  Outer = 0;
  if (!Log || Inside || !Pointer || !wanted(Caller, Size))
    return;
  const uintptr_t Address = reinterpret_cast<uintptr_t>(Pointer);
  // Without a place to remember it by, nobody would know when it ends.
  bool Kept = false;
  for (auto &Slot : bucketOf(Address).Live) {
    uintptr_t Free = 0;
    if (Slot.compare_exchange_strong(Free, Address)) {
      Kept = true;
      break;
    }
  }
  Record *Into = Kept ? record() : nullptr;
  if (!Into) {
    if (!Kept)
      Log->LeftOut.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const int Error = errno;
  Inside = true;
  void *Frames[Looked];
  const int Found = backtrace(Frames, Looked);
  Inside = false;
  int From = 0;
  while (From < Found && Frames[From] != Return)
    ++From;
  Into->Stack[0] = reinterpret_cast<uintptr_t>(Return);
  int Number = 1;
  for (int I = From + 1; I < Found && Number < MaxFrames; ++I)
    Into->Stack[Number++] = reinterpret_cast<uintptr_t>(Frames[I]);
  Into->Time = now();
  Into->Address = Address;
  Into->Size = Size;
  Into->Pid = Pid;
  Into->Frames = static_cast<uint8_t>(Number);
  Into->What.store(Begins, std::memory_order_release);
  errno = Error;
}

void ends(void *Pointer) {
  if (!Log || !Pointer)
    return;
  uintptr_t Address = reinterpret_cast<uintptr_t>(Pointer);
  for (auto &Slot : bucketOf(Address).Live) {
    uintptr_t Mine = Address;
    if (Slot.load(std::memory_order_relaxed) != Address ||
        !Slot.compare_exchange_strong(Mine, 0))
      continue;
    if (Record *Into = record()) {
      Into->Time = now();
      Into->Address = Address;
      Into->Pid = Pid;
      Into->What.store(Ends, std::memory_order_release);
    }
    return;
  }
}

__attribute__((constructor)) void start() {
  const char *Folder = getenv("LINEMATE_HEAP");
  if (!Folder || !known())
    return;
  // The first call loads the unwinder, which allocates.
  void *Frames[2];
  Inside = true;
  backtrace(Frames, 2);
  Inside = false;
  char Path[4096];
  const int Length = snprintf(Path, sizeof(Path), "%s/%ld-%llu", Folder,
                              static_cast<long>(getpid()),
                              static_cast<unsigned long long>(now()));
  if (Length <= 0 || Length >= static_cast<int>(sizeof(Path)))
    return;
  const int File = open(Path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (File < 0)
    return;
  const size_t Bytes = sizeof(Header) + Capacity * sizeof(Record);
  void *At = ftruncate(File, static_cast<off_t>(Bytes)) == 0
                 ? Real.Mmap(nullptr, Bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                             File, 0)
                 : MAP_FAILED;
  close(File);
  if (At == MAP_FAILED)
    return;
  Pid = static_cast<uint32_t>(getpid());
  pthread_atfork(nullptr, nullptr,
                 [] { Pid = static_cast<uint32_t>(getpid()); });
  Header *Into = static_cast<Header *>(At);
  memcpy(Into->Magic, "LMHEAP1\n", sizeof(Into->Magic));
  Into->RecordBytes = sizeof(Record);
  Into->Pid = Pid;
  Into->Capacity = Capacity;
  Log = Into;
}

} // namespace

extern "C" {

EXPORTED void *malloc(size_t Size) {
  if (!known())
    return early(Size);
  void *Pointer = Real.Malloc(Size);
  begins(Pointer, Size, __builtin_return_address(0));
  return Pointer;
}

EXPORTED void *calloc(size_t Count, size_t Size) {
  if (!known()) // what is early is zero and never comes back
    return Size && Count > EarlyBytes / Size ? nullptr : early(Count * Size);
  void *Pointer = Real.Calloc(Count, Size);
  begins(Pointer, Count * Size, __builtin_return_address(0));
  return Pointer;
}

EXPORTED void free(void *Pointer) {
  if (isEarly(Pointer) || !known())
    return;
  ends(Pointer);
  Real.Free(Pointer);
}

EXPORTED void *realloc(void *Pointer, size_t Size) {
  if (!known() || isEarly(Pointer)) {
    void *Moved = malloc(Size);
    if (Moved && Pointer) {
      const size_t Rest = static_cast<size_t>(Early + EarlyBytes -
                                              static_cast<char *>(Pointer));
      memcpy(Moved, Pointer, Size < Rest ? Size : Rest);
    }
    return Moved;
  }
  // Noted before: afterwards the address may be another thread's.
  ends(Pointer);
  void *Moved = Real.Realloc(Pointer, Size);
  begins(Moved, Size, __builtin_return_address(0));
  return Moved;
}

EXPORTED int posix_memalign(void **Into, size_t Alignment, size_t Size) {
  if (!known())
    return ENOMEM;
  const int Error = Real.PosixMemalign(Into, Alignment, Size);
  if (Error == 0)
    begins(*Into, Size, __builtin_return_address(0));
  return Error;
}

EXPORTED void *aligned_alloc(size_t Alignment, size_t Size) {
  if (!known())
    return nullptr;
  void *Pointer = Real.AlignedAlloc(Alignment, Size);
  begins(Pointer, Size, __builtin_return_address(0));
  return Pointer;
}

EXPORTED void *memalign(size_t Alignment, size_t Size) {
  if (!known())
    return nullptr;
  void *Pointer = Real.Memalign(Alignment, Size);
  begins(Pointer, Size, __builtin_return_address(0));
  return Pointer;
}

EXPORTED void *mmap(void *At, size_t Size, int Protection, int Flags, int File,
                    off_t Offset) {
  if (!known()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void *Pointer = Real.Mmap(At, Size, Protection, Flags, File, Offset);
  if (Pointer != MAP_FAILED && Flags & MAP_ANONYMOUS)
    begins(Pointer, Size, __builtin_return_address(0));
  return Pointer;
}

EXPORTED void *mmap64(void *At, size_t Size, int Protection, int Flags,
                      int File, off_t Offset) __attribute__((alias("mmap")));

EXPORTED int munmap(void *At, size_t Size) {
  if (!known()) {
    errno = EINVAL;
    return -1;
  }
  ends(At);
  return Real.Munmap(At, Size);
}

// C++: all of a program's objects would be one place, that of operator new.
#define OPERATOR_NEW(Name, Parameters, Arguments)                              \
  EXPORTED void *Name Parameters {                                             \
    static void *(*Next)Parameters;                                            \
    if (!Next)                                                                 \
      find(Next, #Name);                                                       \
    Outer = reinterpret_cast<uintptr_t>(__builtin_return_address(0));          \
    void *Pointer = Next Arguments;                                            \
    Outer = 0;                                                                 \
    return Pointer;                                                            \
  }
OPERATOR_NEW(_Znwm, (size_t Size), (Size))
OPERATOR_NEW(_Znam, (size_t Size), (Size))
OPERATOR_NEW(_ZnwmSt11align_val_t, (size_t Size, size_t Align), (Size, Align))
OPERATOR_NEW(_ZnamSt11align_val_t, (size_t Size, size_t Align), (Size, Align))
}
