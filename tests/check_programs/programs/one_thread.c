// A lock, counters and slots, and no second thread.
// no-finding
#include <pthread.h>
static struct {
  pthread_mutex_t lock;
  long head;
  long counters[8];
} state = {PTHREAD_MUTEX_INITIALIZER};
int main(int argc, char **argv) {
  for (int i = 0; i < argc * 1000; i++) {
    pthread_mutex_lock(&state.lock);
    state.head++;
    state.counters[i & 7]++;
    pthread_mutex_unlock(&state.lock);
  }
  return (int)state.head;
}
