// expect: independent-writers align-member x align-member in
#include <atomic>
#include <thread>
namespace space {
struct point {
  volatile long x; // decl: x
  volatile long y; // decl: y
};
struct queue {
  std::atomic<unsigned> in{0}; // decl: in
  std::atomic<unsigned> out{0}; // decl: out
  long *items[4];
};
alignas(64) char anchor[64];
static point p;
static queue q;
} // namespace space
int main() {
  std::thread a([] {
    for (;;) {
      space::p.x++;
      space::q.in++;
    }
  });
  std::thread b([] {
    for (;;) {
      space::p.y++;
      space::q.out++;
    }
  });
  a.join();
  b.join();
}
