// The library's aligned storage has a member __align behind the brace of its record, and so has one written after it.
// no-finding
#include <type_traits>

std::aligned_storage<24, 64>::type slots[4];

template <int Size> union storage {
  unsigned char bytes[Size];
  struct __attribute__((aligned(64))) {
  } __align;
};

storage<24> others[4];

void *slot(int self) { return self ? &slots[self] : static_cast<void *>(&others[self]); }
