/* Scalars of every width, read, written and modified; static and global; statics of functions. */
#include <stdint.h>
#include <stddef.h>

int8_t g8;
uint16_t g16;
int g32;
unsigned long g64;
__int128 g128;
float gf;
double gd;
long double gld;
_Bool gflag;
static int s32;
static unsigned long s64 = 77;
static volatile int hot;
char *text = "constant";
const char *const *nowhere;

struct pair { int a; long b; char c[3]; };
struct pair gpair = {1, 2, {3, 4, 5}};
static struct pair spair;

int read_all(void) { return g8 + g16 + g32 + (int)g64 + (int)gf + (int)gd + s32 + (int)s64 + gflag; }

void write_all(int v) {
  g8 = (int8_t)v;
  g16 = (uint16_t)v;
  g32 = v;
  g64 = (unsigned long)v;
  gf = (float)v;
  gd = v;
  gld = v;
  gflag = v != 0;
  s32 = v;
  s64 = 5;
}

void change_all(int v) {
  g8++;
  g16 += 3;
  g32 += v;
  g64 <<= 1;
  gf += 1.0f;
  gd *= 2.0;
  s32 -= v;
  s64 |= 0x80;
  hot++;
  hot = hot + v;
  g128 += v;
}

long members(int which) {
  gpair.b = gpair.a;
  spair.c[which & 1] = 7;
  spair.a++;
  return spair.b + gpair.c[2] + gpair.c[which & 1];
}

int counted(void) {
  static int calls;
  static long total = 9;
  total += calls;
  return ++calls;
}

int *address_of_g32(void) { return &g32; }
int is_pair(struct pair *p) { return p == &gpair || p == &spair; }
void set_text(void) { text = "other"; }
char first_char(void) { return text[0]; }

struct node { struct node *next; int value; };
struct node head = {&head, 0};
static struct node *top;
void push_node(struct node *n) {
  n->next = head.next;
  head.next = n;
  top = n;
}
struct node *pop_node(void) {
  struct node *n = head.next;
  if (n == &head)
    return NULL;
  head.next = n->next;
  top = head.next;
  return n;
}

extern int choose(int);
int either(int c) { return choose(c) ? g32 : s32; }
int *which_one(int c) { return c ? &g32 : &s32; }
__attribute__((noinline)) int choose(int c) { return c > hot; }

int main(int argc, char **argv) {
  (void)argv;
  struct node n = {0, argc};
  write_all(argc);
  change_all(argc);
  push_node(&n);
  return read_all() + (int)members(argc) + counted() + *address_of_g32() + is_pair(&spair) + first_char() +
         (pop_node() == &n) + either(argc) + *which_one(argc) + (set_text(), 0);
}
