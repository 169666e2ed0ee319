#ifndef STORE_H
#define STORE_H

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace store {

class Codec {
public:
  virtual ~Codec() = default;
  virtual uint64_t encode(const std::string &text) const = 0;
  virtual const char *name() const = 0;
};

class Table {
public:
  explicit Table(size_t buckets);
  void put(uint64_t key, uint64_t value);
  bool find(uint64_t key, uint64_t &value) const;

private:
  struct Entry {
    uint64_t key, value;
  };
  std::vector<std::vector<Entry>> buckets;
};

extern std::mutex table_mutex;
extern std::atomic<uint64_t> hits;
extern std::atomic<uint64_t> misses;
extern uint64_t epoch;
extern uint64_t inserts;
extern int limit_per_client;

const Codec &codec(int kind);
void record_hit(bool found);
uint64_t serve(Table &table, int client, uint64_t requests);
void report(std::string &out);
int setting(const std::string &name, int otherwise);

} // namespace store

#endif
