#include "store.h"

namespace store {

std::mutex table_mutex;
char table_name[64];
uint64_t epoch;
uint64_t inserts;

Table::Table(size_t count) : buckets(count) {}

static uint64_t hashed(uint64_t key) {
  key ^= key >> 33;
  key *= 0xff51afd7ed558ccdULL;
  key ^= key >> 29;
  return key;
}

void Table::put(uint64_t key, uint64_t value) {
  std::lock_guard<std::mutex> held(table_mutex);
  auto &bucket = buckets[hashed(key) % buckets.size()];
  for (auto &entry : bucket)
    if (entry.key == key) {
      entry.value = value;
      return;
    }
  bucket.push_back({key, value});
  ++inserts;
  ++epoch;
}

bool Table::find(uint64_t key, uint64_t &value) const {
  std::lock_guard<std::mutex> held(table_mutex);
  for (const auto &entry : buckets[hashed(key) % buckets.size()])
    if (entry.key == key) {
      value = entry.value;
      return true;
    }
  return false;
}

} // namespace store
