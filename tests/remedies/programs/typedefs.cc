// expect: independent-writers align-member head
#include <atomic>
#include <thread>
typedef unsigned long ticket;
struct ring {
  ticket size;
  std::atomic<ticket *> head{nullptr}; // decl: head
  volatile ticket tails[2]; // decl: tails
};
ring ring;
int main() {
  std::thread a([] {
    for (;;)
      ring.head.fetch_add(1);
  });
  std::thread b([] {
    for (;;)
      ring.tails[1] += ring.size;
  });
  a.join();
  b.join();
}
