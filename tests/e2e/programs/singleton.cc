// Two threads count in an object that a function makes at its first call and returns: one itself, the other one in a
// member function.
// expect: independent-writers medium Broker::instance::only.sent Broker::instance::only.got
// expect-of-source: independent-writers high Broker::instance::only.sent Broker::instance::only.got
#include <atomic>
#include <map>
#include <string>
#include <thread>
#define OUT_OF_LINE __attribute__((noinline))
class Broker {
  std::map<std::string, long> topics;
  std::atomic<long> got{0};

public:
  std::atomic<long> sent{0};
  OUT_OF_LINE static Broker &instance() {
    static Broker only;
    return only;
  }
  OUT_OF_LINE void take() { got.fetch_add(1); }
};
static std::atomic<bool> stop;
int main() {
  std::thread sender([] {
    while (!stop)
      Broker::instance().sent.fetch_add(1);
  });
  std::thread receiver([] {
    while (!stop)
      Broker::instance().take();
  });
  sender.join();
  receiver.join();
  return 0;
}
