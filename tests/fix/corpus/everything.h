// Declarations that two units see.  A comment on a line says why its variable gets no edit.
#pragma once
#include <atomic>

namespace app {

class Owner {
public:
  explicit Owner(int value) : value_(value) {}
  ~Owner();
  long get() const { return value_ + made; }
  static long made;
  static inline long copies = 3;

private:
  int value_;
};

struct Node {
  Node *next;
  int weight = 1;
};

extern std::atomic<long> total, peak;
extern Owner owner;
extern Node *heads[4];
extern const char *volatile names[];
inline long shared_inline = 0;

template <class T> struct Per {
  static long hits;
};
template <class T> long Per<T>::hits = 0; // refused: it is a template's

inline long &calls() {
  static long local;
  return local;
}

} // namespace app

extern "C" {
extern int c_flag;
}
