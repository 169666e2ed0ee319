// Parcels that one thread packs and another unpacks: each belongs to one
// thread at a time, and what both wait for is the lock of the belt.
#include <array>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
struct Parcel {
  std::array<int, 500> items;
  long weight = 0;
};
class Belt {
  std::mutex lock;
  std::condition_variable more;
  std::deque<std::unique_ptr<Parcel>> parcels;

public:
  void put(std::unique_ptr<Parcel> parcel) {
    {
      std::lock_guard<std::mutex> held(lock);
      parcels.push_back(std::move(parcel));
    }
    more.notify_one();
  }
  std::unique_ptr<Parcel> take() {
    std::unique_lock<std::mutex> held(lock);
    more.wait(held, [this] { return !parcels.empty(); });
    auto parcel = std::move(parcels.front());
    parcels.pop_front();
    return parcel;
  }
};
int main() {
  Belt belt;
  std::thread packer([&belt] {
    for (int n = 0; n < 300'000; ++n) {
      auto parcel = std::make_unique<Parcel>();
      std::iota(parcel->items.begin(), parcel->items.end(), n);
      parcel->weight = n;
      belt.put(std::move(parcel));
    }
    belt.put(nullptr);
  });
  long sum = 0;
  while (auto parcel = belt.take())
    sum += std::accumulate(parcel->items.begin(), parcel->items.end(), parcel->weight);
  packer.join();
  return sum != 0 ? 0 : 1;
}
