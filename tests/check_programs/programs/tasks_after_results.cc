// A task that std::async began has ended when its result is there: what is begun afterwards runs alone.
// no-finding
#include <atomic>
#include <future>

static std::atomic<long> sent;
static std::atomic<long> received;

static void send() {
  for (int i = 0; i < 1000000; i++)
    sent++;
}

static void receive() {
  for (int i = 0; i < 1000000; i++)
    received++;
}

int main() {
  auto first = std::async(std::launch::async, send);
  first.get();
  auto second = std::async(std::launch::async, receive);
  second.get();
}
