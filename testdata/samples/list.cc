// Nodes of a list, each the business of another thread, reached through
// pointers in a record.
#include <new>
#include <pthread.h>
struct Node {
  Node *next;
  volatile long visits;
};
struct List {
  Node *first;
};
static void *visit_first(void *p) {
  auto *list = static_cast<List *>(p);
  for (long i = 0; i < 240000000; i++)
    list->first->visits = list->first->visits + 1;
  return nullptr;
}
static void *visit_second(void *p) {
  auto *list = static_cast<List *>(p);
  for (long i = 0; i < 240000000; i++)
    list->first->next->visits = list->first->next->visits + 1;
  return nullptr;
}
int main() {
  auto *room = static_cast<char *>(::operator new(256, std::align_val_t(64)));
#ifdef PAD
  auto *second = new (room + 64) Node{nullptr, 0};
#else
  auto *second = new (room + 16) Node{nullptr, 0};
#endif
  auto *first = new (room) Node{second, 0};
  List list{first};
  pthread_t a, b;
  pthread_create(&a, nullptr, visit_first, &list),
      pthread_create(&b, nullptr, visit_second, &list);
  pthread_join(a, nullptr), pthread_join(b, nullptr);
}
