// oneTBB: detail namespaces with a version, a scoped lock in every mutex.
namespace tbb {
namespace detail {
namespace d1 {
class spin_mutex {
  unsigned char flag = 0;
public:
  void lock(); void unlock(); bool try_lock();
  class scoped_lock {
  public:
    scoped_lock(); explicit scoped_lock(spin_mutex &); ~scoped_lock(); void acquire(spin_mutex &);
  };
};
class queuing_mutex {
  void *tail = nullptr;
public:
  class scoped_lock {
  public:
    explicit scoped_lock(queuing_mutex &); ~scoped_lock();
  };
};
class spin_rw_mutex {
  long state = 0;
public:
  void lock(); void lock_shared(); void unlock_shared();
};
class concurrent_monitor {
  long state = 0;
public:
  void lock();
};
class task_group {
public:
  template <class F> void run(const F &f) { f(); } void wait();
};
template <class I, class F> void parallel_for(I first, I last, const F &f) { f(first); }
} // namespace d1
} // namespace detail
using detail::d1::parallel_for;
using detail::d1::queuing_mutex;
using detail::d1::spin_mutex;
using detail::d1::spin_rw_mutex;
using detail::d1::task_group;
} // namespace tbb

tbb::spin_mutex spin;
tbb::queuing_mutex queue;
tbb::spin_rw_mutex rw;
tbb::detail::d1::concurrent_monitor other;
void work();
void entry(int);

void takes() { spin.lock(); }                                  // lock tbb::spin_mutex
void tries() { (void)spin.try_lock(); }                        // try tbb::spin_mutex
void drops() { spin.unlock(); }                                // unlock tbb::spin_mutex
void scoped() { tbb::spin_mutex::scoped_lock l(spin); work(); } // guard tbb::spin_mutex
void queued() { tbb::queuing_mutex::scoped_lock l(queue); work(); } // guard tbb::queuing_mutex
void reads() { rw.lock_shared(); }                             // lock shared tbb::spin_rw_mutex
void empty() { tbb::spin_mutex::scoped_lock l; work(); }       // nothing
void others() { other.lock(); }                                // nothing
void many() { tbb::parallel_for(0, 10, entry); }               // start entry many, source only
void lambda() { tbb::parallel_for(0, 10, [](int) { work(); }); } // start {lambda} many, source only
void group(tbb::task_group &g) { g.run([] { work(); }); }      // start {lambda} many, source only
void joins(tbb::task_group &g) { g.wait(); }                   // join
