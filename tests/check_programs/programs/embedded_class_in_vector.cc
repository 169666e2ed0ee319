// ARGS: -std=c++17
// A member of one class alone, of which a vector has others: a reference leads to either.
// no-finding
#include <atomic>
#include <memory>
#include <thread>
#include <vector>
struct Transport {
  long tempo = 120;
  std::atomic<long> position{0};
};
struct Desk {
  std::atomic<long> blocks_{0};
  Transport transport;
  void mix() {
    for (int i = 0; i < 10000000; i++)
      blocks_.fetch_add(1, std::memory_order_relaxed);
  }
};
class Player {
  Transport &transport_;

public:
  explicit Player(Transport &given) : transport_(given) {}
  void play() {
    for (int i = 0; i < 10000000; i++)
      transport_.position.fetch_add(1, std::memory_order_relaxed);
  }
};
int main() {
  auto desk = std::make_unique<Desk>();
  std::vector<Transport> apart(8);
  Player player(apart[7]);
  std::thread mixing(&Desk::mix, desk.get());
  std::thread playing(&Player::play, &player);
  mixing.join();
  playing.join();
}
