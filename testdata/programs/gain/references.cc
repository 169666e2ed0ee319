// A reference count in front of the object that it counts for: taking a
// reference disturbs who reads the object.
#include "apart.h"

#include <atomic>

struct Record {
  std::atomic<long> references{1};
  APART uint64_t fields[5] = {3, 5, 7, 11, 13};
};

ONE_LINE static Record record;
static uint64_t results[2][8];

static void *read_record(void *number) {
  uint64_t value = 1;
  for (int i = 0; i < 1500000; i++) {
    record.references.fetch_add(1, std::memory_order_acquire);
    const volatile uint64_t *fields = record.fields;
    for (int round = 0; round < 8; round++)
      for (int field = 0; field < 5; field++)
        value = (value ^ fields[field]) * 0x9e3779b97f4a7c15u;
    record.references.fetch_sub(1, std::memory_order_release);
  }
  results[reinterpret_cast<intptr_t>(number)][0] = value;
  return nullptr;
}

int main() {
  run_threads(read_record, 2);
  printf("%ld %llx\n", record.references.load(),
         static_cast<unsigned long long>(results[0][0] ^ results[1][0]));
}
