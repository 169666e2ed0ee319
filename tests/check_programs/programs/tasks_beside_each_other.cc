// Two tasks whose results are asked for when both have begun.
// expect: independent-writers high sent received
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
  auto second = std::async(std::launch::async, receive);
  first.get();
  second.get();
}
