// ARGS: -std=c++17
// A lock and what it guards, used together and seldom.
// no-finding
#include <map>
#include <mutex>
#include <string>
#include <thread>
class Registry {
public:
  void add(const std::string &name, int value) {
    std::lock_guard<std::mutex> hold(lock);
    values[name] = value;
    size++;
  }

private:
  std::mutex lock;
  long size = 0;
  std::map<std::string, int> values;
};
static Registry registry;
static void start(int value) { registry.add("worker", value); }
int main() {
  std::thread a(start, 1), b(start, 2);
  a.join();
  b.join();
}
