// ARGS: -std=c++20
// Two locks of two groups of threads in one object.
// expect: two-locks-one-line high broker.in broker.out
#include <pthread.h>
#include <thread>
struct alignas(64) Pair {
  pthread_spinlock_t in;
  pthread_spinlock_t out;
};
static Pair broker;
static void receive() {
  for (int i = 0; i < 1000000; i++) {
    pthread_spin_lock(&broker.in);
    pthread_spin_unlock(&broker.in);
  }
}
static void send() {
  for (int i = 0; i < 1000000; i++) {
    pthread_spin_lock(&broker.out);
    pthread_spin_unlock(&broker.out);
  }
}
int main() {
  std::jthread a(receive), b(receive), c(send), d(send);
}
