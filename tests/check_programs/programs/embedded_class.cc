// ARGS: -std=c++17
// A member that others have by reference is part of the class whose only member of its type it is, though a smart
// pointer holds the class.
// expect: independent-writers high Desk.blocks_ Desk.transport.position
#include <atomic>
#include <memory>
#include <thread>
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
  Player player(desk->transport);
  std::thread mixing(&Desk::mix, desk.get());
  std::thread playing(&Player::play, &player);
  mixing.join();
  playing.join();
}
