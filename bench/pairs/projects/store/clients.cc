#include "store.h"

namespace store {

uint64_t serve(Table &table, int client, uint64_t requests) {
  uint64_t sum = 0;
  std::string key = "client-" + std::to_string(client);
  for (uint64_t i = 0; i < requests; ++i) {
    key.back() = static_cast<char>('a' + i % 26);
    uint64_t code = codec(static_cast<int>(i)).encode(key), value = 0;
    bool found = table.find(code, value);
    record_hit(found);
    if (!found && i < static_cast<uint64_t>(limit_per_client))
      table.put(code, i);
    sum += value;
  }
  return sum;
}

} // namespace store
