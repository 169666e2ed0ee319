// Slots of threads inside a class.
#include <thread>
class Pool {
  struct Slot {
    volatile long served = 0;
#ifdef PAD
    char pad[56];
#endif
  };
  int size = 2;
  alignas(64) Slot slots[8];

public:
  void serve(int me) {
    for (long i = 0; i < 240000000; i++)
      slots[me].served = slots[me].served + size;
  }
};
int main() {
  auto *pool = new Pool;
  std::thread a(&Pool::serve, pool, 0), b(&Pool::serve, pool, 1);
  a.join(), b.join();
  delete pool;
}
