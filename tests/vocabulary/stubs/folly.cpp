// Folly: locks by policy templates, and the holders of a shared mutex.
namespace folly {
class MicroSpinLock {
  unsigned char lock_ = 0;
public:
  void lock(); void unlock(); bool try_lock(); void init();
};
class SpinLock {
  MicroSpinLock lock_;
public:
  void lock(); void unlock(); bool try_lock();
};
template <unsigned Spins, unsigned Yields> class MicroLockBase {
  unsigned char lock_ = 0;
public:
  void lock(); void unlock(); bool try_lock(); unsigned char load() const;
};
using MicroLock = MicroLockBase<1000, 0>;
template <bool ReaderPriority, class Tag = void> class SharedMutexImpl {
  unsigned state_ = 0;
public:
  void lock(); void unlock(); bool try_lock(); void lock_shared(); void unlock_shared(); void lock_upgrade();
  unsigned owner() const;
  class ReadHolder {
  public:
    explicit ReadHolder(SharedMutexImpl &); ~ReadHolder();
  };
  class WriteHolder {
  public:
    explicit WriteHolder(SharedMutexImpl &); ~WriteHolder();
  };
};
using SharedMutex = SharedMutexImpl<false>;
class RWSpinLock {
  int bits_ = 0;
public:
  void lock(); void lock_shared(); void unlock_shared();
  class ReadHolder {
  public:
    explicit ReadHolder(RWSpinLock &); ~ReadHolder();
  };
};
template <bool MayBlock> class Baton {
  unsigned state_ = 0;
public:
  void post(); void wait(); bool ready() const;
};
} // namespace folly
namespace mine {
template <bool B> class SharedMutexImpl {
  unsigned state_ = 0;
public:
  void acquire();
};
} // namespace mine

folly::MicroSpinLock micro_spin;
folly::SpinLock spin;
folly::MicroLock micro;
folly::SharedMutex shared;
folly::RWSpinLock rw;
folly::Baton<true> baton;
mine::SharedMutexImpl<false> other;
void work();

void takes_micro_spin() { micro_spin.lock(); } // lock folly::MicroSpinLock
void takes_spin() { spin.lock(); }             // lock folly::MicroSpinLock
void takes_micro() { micro.lock(); }           // lock folly::MicroLock
void tries_micro() { (void)micro.try_lock(); } // try folly::MicroLock
void drops_micro() { micro.unlock(); }         // unlock folly::MicroLock
void writes() { shared.lock(); }               // lock folly::SharedMutexImpl
void upgrades() { shared.lock_upgrade(); }     // lock folly::SharedMutexImpl
void reads() { shared.lock_shared(); }         // lock shared folly::SharedMutexImpl
void reads_no_more() { shared.unlock_shared(); } // unlock shared folly::SharedMutexImpl
void holds() { folly::SharedMutex::WriteHolder h(shared); work(); } // guard folly::SharedMutexImpl
void holds_shared() { folly::SharedMutex::ReadHolder h(shared); work(); } // guard shared folly::SharedMutexImpl
void takes_rw() { rw.lock_shared(); }          // lock shared folly::RWSpinLock
void holds_rw() { folly::RWSpinLock::ReadHolder h(rw); work(); } // guard shared folly::RWSpinLock
void posts() { baton.post(); }                 // lock folly::Baton
void waits() { baton.wait(); }                 // wait folly::Baton
void loads() { (void)micro.load(); }           // nothing
void owner() { (void)shared.owner(); }         // nothing
void ready() { (void)baton.ready(); }          // nothing
void others() { other.acquire(); }             // nothing
