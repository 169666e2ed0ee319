/* What decides the order of variables: first mention, deferred functions, tables, nested blocks, shapes of values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int late;
extern int tentative_later;
struct event { const char *name; int (*run)(int); };

static int helper_late(int);
static int zebra = 3;
static int apple = 4;
static int run_a(int x) { static int calls; calls++; return x + apple++; }
static int run_b(int x) { static int more_calls; static long total; total += ++more_calls; return x + (int)total; }
static struct event table[] = {{"a", run_a}, {"b", run_b}, {"late", helper_late}};
static struct event other[12] = {{"b", run_b}};

static char buffer[40];
static char *map[64];
static int alone_in_block = 1;
int counter;
static union { char text[24]; long number; } mixed = {"x"};
static int sparse[32] = {1, 2};
static double weights[4] = {1, 2, 3, 4};

char *fill(void) {
  char *at = buffer;
  char **slot = &map[late & 63];
  for (int i = 0; i < counter; zebra++) {
    static int rounds = 1;
    i += rounds++;
    *slot = at;
  }
  return at;
}

int first_use(void) {
  static int declared_first;
  static int used_first;
  static char text[33];
  if (!used_first) {
    static int inner = 7;
    used_first = inner++;
  }
  declared_first++;
  snprintf(text, sizeof text, "%d", used_first);
  return (int)strlen(text) + tentative_later + alone_in_block++;
}

int late = 9;
int tentative_later;

int main(int argc, char **argv) {
  static int runs = 1;
  int sum = 0;
  for (unsigned i = 0; i < 3; i++)
    sum += table[(unsigned)argc % 3].run(runs++) + other[i].name[0];
  table[argc % 3].name = argv[0];
  other[argc % 12].run = table[1].run;
  mixed.number += sparse[argc & 31]++;
  weights[argc & 3] += (double)mixed.text[0];
  printf("%s %d %d %f\n", fill(), first_use(), sum + sparse[1], weights[0]);
  puts(map[sum & 63]);
  puts(mixed.text);
  return 0;
}

static int helper_late(int x) { static short seen; return x + seen++ + (int)sizeof(buffer); }

/* Nothing names these but a function that runs before main. */
static int plugged_level;
static int plugged_calls[9] = {1};
static int plug_in(int x) { plugged_calls[x & 7]++; return x + plugged_level++; }
__attribute__((constructor)) static void plug(void) { if (getenv("PLUG")) table[1].run = plug_in; }
