// A lock and the data under it, used once by each thread: good company.
// no-finding
#include <pthread.h>
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static long registered;
static void *worker(void *arg) {
  pthread_mutex_lock(&registry_lock);
  registered++;
  pthread_mutex_unlock(&registry_lock);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return (int)registered;
}
