// Makes and frees small objects; the slow build is linked with a library that
// brings another malloc (allocator.c).
#include "planted.h"

struct object {
  struct object *next;
  char text[40];
};

__attribute__((noinline)) static void make(int count) {
  struct object *first = NULL;
  for (int i = 0; i < count; i++) {
    struct object *made = malloc(sizeof *made);
    made->next = first;
    made->text[0] = (char)i;
    first = made;
  }
  while (first) {
    struct object *next = first->next;
    free(first);
    first = next;
  }
}

static void round_of(int worker) { make(20 + worker); }

int main(int argc, char **argv) { run(argc, argv); }
