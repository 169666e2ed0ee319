// Boost.Thread: guards are templates over the lock.
namespace boost {
struct defer_lock_t {};
struct adopt_lock_t {};
class mutex {
  long m[5] = {};
public:
  void lock(); void unlock(); bool try_lock(); long native_handle();
};
class timed_mutex {
  long m[11] = {};
public:
  void lock(); void unlock(); bool timed_lock(int);
};
class recursive_mutex {
  long m[5] = {};
public:
  void lock(); void unlock();
};
class shared_mutex {
  long m[20] = {};
public:
  void lock(); void unlock(); void lock_shared(); void unlock_shared(); bool try_lock_shared(); void lock_upgrade();
};
template <class M> class lock_guard {
public:
  explicit lock_guard(M &); lock_guard(M &, adopt_lock_t); ~lock_guard();
};
template <class M> class unique_lock {
public:
  explicit unique_lock(M &); unique_lock(M &, defer_lock_t); ~unique_lock(); void lock();
};
template <class M> class shared_lock {
public:
  explicit shared_lock(M &); ~shared_lock();
};
class condition_variable {
  long c[11] = {};
public:
  void wait(unique_lock<mutex> &); void notify_one(); void notify_all();
};
class barrier {
  long b[24] = {};
public:
  bool wait();
};
class thread {
  void *info = nullptr;
public:
  template <class F> explicit thread(F f); void join(); bool joinable() const; ~thread();
};
} // namespace boost

boost::mutex m;
boost::timed_mutex timed;
boost::recursive_mutex again;
boost::shared_mutex shared;
boost::condition_variable cv;
boost::barrier barrier;
void work();
void entry() {}

void takes() { m.lock(); }                                          // lock boost::mutex
void drops() { m.unlock(); }                                        // unlock boost::mutex
void tries() { (void)m.try_lock(); }                                // try boost::mutex
void timed_tries() { (void)timed.timed_lock(1); }                   // try boost::timed_mutex
void recurses() { again.lock(); }                                   // lock boost::recursive_mutex
void reads() { shared.lock_shared(); }                              // lock shared boost::shared_mutex
void reads_no_more() { shared.unlock_shared(); }                    // unlock shared boost::shared_mutex
void writes() { shared.lock(); }                                    // lock boost::shared_mutex
void guards() { boost::lock_guard<boost::mutex> l(m); work(); }     // guard boost::mutex
void guards_again() { boost::lock_guard<boost::recursive_mutex> l(again); work(); } // guard boost::recursive_mutex
void guards_readers() { boost::shared_lock<boost::shared_mutex> l(shared); work(); } // guard shared boost::shared_mutex
void deferred() { boost::unique_lock<boost::mutex> l(m, boost::defer_lock_t()); work(); } // deferred boost::mutex
void signals() { cv.notify_all(); }                                 // lock boost::condition_variable
void meets() { barrier.wait(); }                                    // lock boost::barrier
void starts() { boost::thread t(entry); }                           // start entry
void joins(boost::thread &t) { t.join(); }                          // join
void asks(boost::thread &t) { (void)t.joinable(); }                 // nothing
void handle() { (void)m.native_handle(); }                          // nothing
