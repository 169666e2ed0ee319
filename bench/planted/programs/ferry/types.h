#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ferry {

inline constexpr uint32_t kPartitions = 4;
inline constexpr uint32_t kProducers = 3;
inline constexpr uint32_t kAppenders = 2;
inline constexpr uint32_t kConsumers = 2;

struct Envelope {
  uint32_t producer = 0;
  uint32_t key = 0;
  uint32_t value = 0;
};

struct Record {
  uint32_t key;
  uint32_t value;
  uint32_t stamp;
};

struct Options {
  uint32_t messages = 3000;
  uint32_t retention = 192;
  bool verify = true;
};

// Figures of the whole process, by stage.
namespace metrics {
inline std::atomic<uint32_t> published{0};
inline std::atomic<uint32_t> appended{0};
inline std::atomic<uint32_t> delivered{0};
inline std::atomic<uint32_t> corrupted{0};
}  // namespace metrics

}  // namespace ferry
