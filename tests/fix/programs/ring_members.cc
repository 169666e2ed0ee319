// Two indexes with brace initialisers in one declaration: an attribute stands between name and initialiser.
#include <atomic>
#include <thread>

struct Ring {
  std::atomic<unsigned long> head{0}, tail{0};
};

Ring ring;

static void put() {
  for (int i = 0; i < 1000; i++)
    ring.head.fetch_add(1);
}

static void get() {
  for (int i = 0; i < 1000; i++)
    ring.tail.fetch_add(1);
}

int main() {
  std::thread a(put), b(get);
  a.join();
  b.join();
}
