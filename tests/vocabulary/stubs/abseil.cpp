// Abseil as released: an inline namespace in every name.
namespace absl {
inline namespace lts_20220623 {
class Condition;
class Duration {};
class Mutex {
  long mu_ = 0;
public:
  void Lock(); void Unlock(); bool TryLock(); void lock(); void unlock(); bool try_lock();
  void ReaderLock(); void ReaderUnlock(); bool ReaderTryLock(); void WriterLock(); void WriterUnlock();
  bool LockWhenWithTimeout(const Condition &, Duration);
  void Await(const Condition &);
  void AssertHeld() const;
};
class MutexLock {
public:
  explicit MutexLock(Mutex *); ~MutexLock();
};
class ReaderMutexLock {
public:
  explicit ReaderMutexLock(Mutex *); ~ReaderMutexLock();
};
class ReleasableMutexLock {
public:
  explicit ReleasableMutexLock(Mutex *); ~ReleasableMutexLock(); void Release();
};
class CondVar {
  long cv_ = 0;
public:
  void Wait(Mutex *); void Signal(); void SignalAll(); void EnableDebugLog(const char *);
};
class Notification {
  Mutex mutex_; bool notified_ = false;
public:
  void Notify(); void WaitForNotification() const; bool HasBeenNotified() const;
};
class Barrier {
  Mutex lock_; int num_ = 0;
public:
  bool Block();
};
namespace base_internal {
class SpinLock {
  int word_ = 0;
public:
  void Lock(); void Unlock(); bool TryLock(); bool IsHeld() const;
};
class SpinLockHolder {
public:
  explicit SpinLockHolder(SpinLock *); ~SpinLockHolder();
};
} // namespace base_internal
} // namespace lts_20220623
} // namespace absl
namespace mine {
class Mutex {
  long mu_ = 0;
public:
  void Lock(); void Unlock();
};
class MutexLock {
public:
  explicit MutexLock(Mutex *); ~MutexLock();
};
} // namespace mine

absl::Mutex m;
absl::CondVar cv;
absl::Notification done;
absl::Barrier barrier;
absl::base_internal::SpinLock spin;
mine::Mutex other;
void work();

void lock() { m.Lock(); }                                     // lock absl::Mutex
void lower() { m.lock(); }                                    // lock absl::Mutex
void unlock() { m.Unlock(); }                                 // unlock absl::Mutex
void attempt() { (void)m.TryLock(); }                         // try absl::Mutex
void reader() { m.ReaderLock(); }                             // lock shared absl::Mutex
void reader_done() { m.ReaderUnlock(); }                      // unlock shared absl::Mutex
void writer() { m.WriterLock(); }                             // lock absl::Mutex
void when(const absl::Condition &c) { m.LockWhenWithTimeout(c, {}); } // lock absl::Mutex
void await(const absl::Condition &c) { m.Await(c); }          // wait absl::Mutex
void guard() { absl::MutexLock l(&m); work(); }               // guard absl::Mutex
void reads() { absl::ReaderMutexLock l(&m); work(); }         // guard shared absl::Mutex
void early() { absl::ReleasableMutexLock l(&m); work(); l.Release(); } // guard absl::Mutex
void waits() { cv.Wait(&m); }                                 // wait absl::CondVar, wait absl::Mutex
void signals() { cv.SignalAll(); }                            // lock absl::CondVar
void notifies() { done.Notify(); }                            // lock absl::Notification
void listens() { done.WaitForNotification(); }                // wait absl::Notification
void blocks() { barrier.Block(); }                            // lock absl::Barrier
void spins() { spin.Lock(); }                                 // lock absl::base_internal::SpinLock
void holds() { absl::base_internal::SpinLockHolder h(&spin); work(); } // guard absl::base_internal::SpinLock
void asserts() { m.AssertHeld(); }                            // nothing
void logs() { cv.EnableDebugLog(""); }                        // nothing
void looks() { (void)spin.IsHeld(); }                         // nothing
void asks() { (void)done.HasBeenNotified(); }                 // nothing
void others() { other.Lock(); }                               // nothing
void others_guard() { mine::MutexLock l(&other); work(); }    // nothing
