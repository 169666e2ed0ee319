// Elements with a lock each of which all work is done by functions of their class, or of a member's class.
// expect: thread-elements-meet medium accounts
// expect: thread-elements-meet medium Bank::all
// ARGS: -std=c++17 -O2
#include <mutex>
#include <thread>
#include <vector>

unsigned hashed(long key);

class Account {
public:
  void book(long amount) {
    std::lock_guard<std::mutex> held(lock);
    balance += amount;
    ++bookings;
  }

private:
  std::mutex lock;
  long limit = 0;
  long state[3] = {};
  long balance = 0;
  long bookings = 0;
};

// The lock is in a member, whose class locks it.
class Guarded {
public:
  void put(long value) {
    std::lock_guard<std::mutex> held(lock);
    last = value;
    ++count;
  }

private:
  std::mutex lock;
  long last = 0;
  long count = 0;
};

class Section {
public:
  void put(long value) { inside.put(value); }

private:
  Guarded inside;
  long limit = 8;
  long reserved[3] = {};
};

// Near miss: whole lines, which begin on one.
class alignas(64) Whole {
public:
  void put(long value) { inside.put(value); }

private:
  Guarded inside;
  long limit = 8;
};

// Near miss: nothing runs on these but what sets them up, before a thread is started.
class Setting {
public:
  void choose(long value) { inside.put(value); }

private:
  Guarded inside;
  long reserved[4] = {};
};

struct Bank {
  static Section *sections() { return all; }
  static Section all[32];
};
Section Bank::all[32];
Account accounts[32];
Whole wholes[32];
Setting settings[4];

void work(long from) {
  for (long key = from;; ++key) {
    accounts[hashed(key) % 32].book(key);
    Bank::sections()[hashed(key) % 32].put(key);
    wholes[hashed(key) % 32].put(key);
  }
}

int main(int argc, char **) {
  for (int i = 0; i < 4; ++i)
    settings[i].choose(argc);
  std::vector<std::thread> threads;
  for (long i = 0; i < 8; ++i)
    threads.emplace_back(work, i);
  for (auto &one : threads)
    one.join();
}
