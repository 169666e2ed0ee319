// Counters that only start-up writes, beside what workers read.
// no-finding
#include <pthread.h>
static struct {
  long files_loaded;
  long bytes_loaded;
  int table[8];
} config;
static void load(int n) {
  for (int i = 0; i < n; i++) {
    config.files_loaded++;
    config.bytes_loaded += i;
    config.table[i % 8] = i;
  }
}
static void *worker(void *arg) {
  long sum = 0;
  for (int i = 0; i < 1000000; i++)
    sum += config.table[i % 8] < config.files_loaded;
  return (void *)sum;
}
int main(int argc, char **argv) {
  load(argc);
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], 0, worker, 0);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], 0);
  return 0;
}
