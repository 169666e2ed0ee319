// Keeps a process alive that reads a mapped file while somebody else cuts it.
//
// A page of a mapping behind the end of its file cannot be read: the kernel
// sends SIGBUS to the reading thread, which ends the process.  This library
// knows the mappings of input files.  A fault in one of them notes the offset
// and puts zeros there, so that the reader goes on and says afterwards what
// happened.  Any other fault is left to whoever was there before.  Owns no file
// and no mapping; loaded by the Python side (sharing/model/guard.py), which
// calls with its interpreter lock held.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace {

// Read by the handler while other threads add and remove: a slot is empty while
// End is 0.
struct Slot {
  std::atomic<uintptr_t> Begin{0};
  std::atomic<uintptr_t> End{0};
  std::atomic<int64_t> Fault{-1}; // lowest offset that could not be read
};
static_assert(std::atomic<uintptr_t>::is_always_lock_free &&
                  std::atomic<int64_t>::is_always_lock_free,
              "a signal handler must not take locks");

constexpr int NumSlots = 4096;
Slot Slots[NumSlots];
std::atomic<int> Used{0}; // slots behind this one were never in use
uintptr_t PageSize = 4096;
struct sigaction Before;

// Whether the address is in a guarded mapping, and zeros are there now.
bool replaceByZeros(uintptr_t Address) {
  for (int I = 0, E = Used.load(std::memory_order_acquire); I != E; ++I) {
    Slot &S = Slots[I];
    const uintptr_t End = S.End.load(std::memory_order_acquire);
    const uintptr_t Begin = S.Begin.load(std::memory_order_acquire);
    if (Address < Begin || Address >= End)
      continue;
    const uintptr_t Page = Address / PageSize * PageSize;
    // Up to the end at once: what is behind the cut is gone as well, and a
    // mapping for each page would soon reach the kernel's limit.
    if (mmap(reinterpret_cast<void *>(Page), End - Page, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
      return false;
    const auto Offset = static_cast<int64_t>(Page - Begin);
    int64_t Known = S.Fault.load();
    while ((Known < 0 || Offset < Known) &&
           !S.Fault.compare_exchange_weak(Known, Offset)) {
    }
    return true;
  }
  return false;
}

void onBusError(int, siginfo_t *Info, void *) {
  const int Saved = errno;
  // si_code is positive where the kernel reports a fault of this thread, else
  // somebody sent the signal.
  const bool Ours = Info->si_code > 0 &&
                    replaceByZeros(reinterpret_cast<uintptr_t>(Info->si_addr));
  if (!Ours) {
    sigaction(SIGBUS, &Before, nullptr);
    // A fault happens again on return; a signal that was sent has to be sent
    // again.
    if (Info->si_code <= 0)
      raise(SIGBUS);
  }
  errno = Saved;
}

} // namespace

extern "C" {

// Installs the handler; 0 on success.
__attribute__((visibility("default"))) int linemateGuardInstall() {
  PageSize = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction Action = {};
  Action.sa_sigaction = onBusError;
  Action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&Action.sa_mask);
  return sigaction(SIGBUS, &Action, &Before);
}

// Guards a mapping; its slot, or -1 where all are taken.
__attribute__((visibility("default"))) int linemateGuardAdd(uintptr_t Begin,
                                                            uintptr_t Size) {
  for (int I = 0; I != NumSlots; ++I) {
    Slot &S = Slots[I];
    if (S.End.load() != 0)
      continue;
    S.Fault.store(-1);
    S.Begin.store(Begin);
    S.End.store(Begin + Size, std::memory_order_release);
    if (Used.load() <= I)
      Used.store(I + 1, std::memory_order_release);
    return I;
  }
  return -1;
}

// The lowest offset of the mapping that could not be read, -1 for none.
__attribute__((visibility("default"))) int64_t linemateGuardFault(int Number) {
  return Slots[Number].Fault.load();
}

// Must be called before the mapping goes.
__attribute__((visibility("default"))) void linemateGuardRemove(int Number) {
  Slots[Number].End.store(0, std::memory_order_release);
}
}
