// A class library as projects annotate it for Clang's -Wthread-safety, with code that obeys and code that does not.
// Every access to a guarded member below is judged by Clang (a warning on its line) and by our locksets.
#define CAPABILITY(x) __attribute__((capability(x)))
#define SCOPED_CAPABILITY __attribute__((scoped_lockable))
#define GUARDED_BY(x) __attribute__((guarded_by(x)))
#define ACQUIRE(...) __attribute__((acquire_capability(__VA_ARGS__)))
#define ACQUIRE_SHARED(...) __attribute__((acquire_shared_capability(__VA_ARGS__)))
#define RELEASE(...) __attribute__((release_capability(__VA_ARGS__)))
#define RELEASE_SHARED(...) __attribute__((release_shared_capability(__VA_ARGS__)))
#define TRY_ACQUIRE(...) __attribute__((try_acquire_capability(__VA_ARGS__)))
#define REQUIRES(...) __attribute__((requires_capability(__VA_ARGS__)))
#define REQUIRES_SHARED(...) __attribute__((requires_shared_capability(__VA_ARGS__)))
#define ASSERT_CAPABILITY(x) __attribute__((assert_capability(x)))

class CAPABILITY("mutex") Mutex {
public:
  void take() ACQUIRE();
  void drop() RELEASE();
  void take_shared() ACQUIRE_SHARED();
  void drop_shared() RELEASE_SHARED();
  bool attempt() TRY_ACQUIRE(true);
  void assert_held() ASSERT_CAPABILITY(this);
};

class SCOPED_CAPABILITY Lock {
public:
  explicit Lock(Mutex &m) ACQUIRE(m);
  ~Lock() RELEASE();
  void take() ACQUIRE();
  void drop() RELEASE();
};

// As most class libraries have it, who is locked is handed by its address.
class SCOPED_CAPABILITY PointerLock {
public:
  explicit PointerLock(Mutex *m) ACQUIRE(m);
  ~PointerLock() RELEASE();
};

void take_one(Mutex *a) ACQUIRE(a);
void drop_one(Mutex *a) RELEASE(a);
void take_pair(Mutex &a, Mutex &b) ACQUIRE(a, b);
void drop_pair(Mutex &a, Mutex &b) RELEASE(a, b);

Mutex global_mutex;
int global GUARDED_BY(global_mutex);

struct Node {
  Mutex mutex;
  int value GUARDED_BY(mutex);
};

class Account {
public:
  void obeys();
  void early(bool a);
  void forgets();
  void scoped();
  void reopened();
  void attempts();
  void attempts_not();
  void needs() REQUIRES(mutex_);
  void reads() REQUIRES_SHARED(mutex_);
  void calls();
  void loops(int n);
  void joined(bool a);
  void asserted();
  void pairs();
  void nodes(Node &x, Node &y);
  void pointed();
  void handed();
  void nodes_pointed(Node *x, Node *y);
  void acquires() ACQUIRE(mutex_);
  void releases() RELEASE(mutex_);
  void through();

private:
  Mutex mutex_, second_;
  int money_ GUARDED_BY(mutex_);
  int other_ GUARDED_BY(second_);
};

void Account::obeys() {
  mutex_.take();
  money_ = 1;
  mutex_.drop();
  global_mutex.take();
  global = 1;
  global_mutex.drop();
}

void Account::early(bool a) {
  mutex_.take();
  if (a) {
    mutex_.drop();
    money_ = 1;
    return;
  }
  money_ = 2;
  mutex_.drop();
}

void Account::forgets() {
  money_ = 1;
  global = 2;
  second_.take();
  money_ = 2;
  other_ = 3;
  second_.drop();
}

void Account::scoped() {
  {
    Lock l(mutex_);
    money_ = 1;
    other_ = 2;
  }
  money_ = 3;
}

void Account::reopened() {
  Lock l(mutex_);
  money_ = 1;
  l.drop();
  money_ = 2;
  l.take();
  money_ = 3;
}

void Account::attempts() {
  if (mutex_.attempt()) {
    money_ = 1;
    mutex_.drop();
  } else {
    money_ = 2;
  }
}

void Account::attempts_not() {
  if (!mutex_.attempt())
    return;
  money_ = 1;
  mutex_.drop();
  money_ = 2;
}

void Account::needs() {
  money_ = 1;
  other_ = 2;
}

void Account::reads() { global = money_; }

void Account::calls() {
  mutex_.take();
  needs();
  money_ = 1;
  mutex_.drop();
}

void Account::loops(int n) {
  mutex_.take();
  while (n--) {
    money_ += n;
    mutex_.drop();
    money_ = n;
    mutex_.take();
  }
  money_ = 2;
  mutex_.drop();
}

void Account::joined(bool a) {
  if (a)
    mutex_.take();
  else
    mutex_.take();
  money_ = 1;
  mutex_.drop();
}

void Account::asserted() {
  mutex_.assert_held();
  money_ = 1;
}

void Account::pairs() {
  take_pair(mutex_, second_);
  money_ = 1;
  other_ = 2;
  drop_pair(mutex_, second_);
  other_ = 3;
}

void Account::nodes(Node &x, Node &y) {
  x.mutex.take();
  x.value = 1;
  y.value = 2;
  x.mutex.drop();
  x.value = 3;
  Lock l(y.mutex);
  y.value = 4;
  x.value = 5;
}

void Account::pointed() {
  {
    PointerLock l(&mutex_);
    money_ = 1;
    other_ = 2;
  }
  money_ = 3;
}

void Account::handed() {
  take_one(&mutex_);
  money_ = 1;
  other_ = 2;
  drop_one(&mutex_);
  money_ = 3;
}

void Account::nodes_pointed(Node *x, Node *y) {
  PointerLock l(&x->mutex);
  x->value = 1;
  y->value = 2;
}

void Account::acquires() {
  mutex_.take();
  money_ = 1;
}

void Account::releases() {
  money_ = 1;
  mutex_.drop();
}

void Account::through() {
  acquires();
  money_ = 1;
  releases();
  money_ = 2;
}
