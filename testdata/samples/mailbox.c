// A ring between two processes in memory that they share: each looks at the
// other's index only where its own copy of it says that there is nothing.
// PAD parts the indexes.
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef PAD
#define OWN _Alignas(64)
#else
#define OWN
#endif
enum { SLOTS = 1 << 14, LETTERS = 80000000 };
struct mailbox {
  OWN atomic_uint written;
  unsigned read_seen;
  OWN atomic_uint read;
  unsigned written_seen;
  _Alignas(64) unsigned letters[SLOTS];
};
static void post(struct mailbox *box) {
  for (unsigned n = 0; n < LETTERS; n++) {
    while (n - box->read_seen == SLOTS)
      box->read_seen = atomic_load_explicit(&box->read, memory_order_acquire);
    box->letters[n % SLOTS] = n;
    atomic_store_explicit(&box->written, n + 1, memory_order_release);
  }
}
static unsigned fetch(struct mailbox *box) {
  unsigned sum = 0;
  for (unsigned n = 0; n < LETTERS; n++) {
    while (n == box->written_seen)
      box->written_seen =
          atomic_load_explicit(&box->written, memory_order_acquire);
    sum += box->letters[n % SLOTS];
    atomic_store_explicit(&box->read, n + 1, memory_order_release);
  }
  return sum;
}
int main(void) {
  struct mailbox *box = mmap(0, sizeof *box, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t child = fork();
  if (!child) {
    post(box);
    _exit(0);
  }
  unsigned sum = fetch(box);
  waitpid(child, 0, 0);
  return sum == 1;
}
