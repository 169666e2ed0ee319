// Qt: classes without a namespace; a thread runs a method of its object.
class QBasicMutex {
protected:
  void *d = nullptr;
};
class QMutex : public QBasicMutex {
public:
  void lock(); void unlock(); bool tryLock(int timeout = 0); bool isRecursive() const;
};
class QReadWriteLock {
  void *d = nullptr;
public:
  void lockForRead(); void lockForWrite(); bool tryLockForRead(); void unlock();
};
template <class M> class QMutexLocker {
public:
  explicit QMutexLocker(M *); ~QMutexLocker(); void unlock(); void relock();
};
class QReadLocker {
public:
  explicit QReadLocker(QReadWriteLock *); ~QReadLocker();
};
class QSemaphore {
  void *d = nullptr;
public:
  void acquire(int n = 1); void release(int n = 1); int available() const;
};
class QWaitCondition {
  void *d = nullptr;
public:
  bool wait(QMutex *); void wakeOne(); void wakeAll();
};
class QThread {
public:
  virtual ~QThread(); void start(); bool wait(); bool isRunning() const;
protected:
  virtual void run();
};
class QRunnable {
public:
  virtual ~QRunnable(); virtual void run() = 0;
};
class QThreadPool {
public:
  void start(QRunnable *r, int priority = 0); bool waitForDone(int msecs = -1);
};
namespace QtConcurrent {
template <class F> void run(F f);
}

QMutex m;
QReadWriteLock rw;
QSemaphore sem;
QWaitCondition cond;
void work();
void entry();
class Worker : public QThread {
protected:
  void run() override { work(); }
};
class Task : public QRunnable {
public:
  void run() override { work(); }
};

void takes() { m.lock(); }                                  // lock QMutex
void drops() { m.unlock(); }                                // unlock QMutex
void tries() { (void)m.tryLock(); }                         // try QMutex
void locker() { QMutexLocker<QMutex> l(&m); work(); }       // guard QMutex
void relocks() { QMutexLocker<QMutex> l(&m); l.unlock(); work(); l.relock(); } // guard QMutex
void reads() { rw.lockForRead(); }                          // lock shared QReadWriteLock
void writes() { rw.lockForWrite(); }                        // lock QReadWriteLock
void read_locker() { QReadLocker l(&rw); work(); }          // guard shared QReadWriteLock
void acquires() { sem.acquire(); }                          // lock QSemaphore
void waits() { cond.wait(&m); }                             // wait QWaitCondition
void wakes() { cond.wakeAll(); }                            // lock QWaitCondition
void asks() { (void)m.isRecursive(); }                      // nothing
void counts() { (void)sem.available(); }                    // nothing
void starts(Worker &w) { w.start(); }                       // start Worker::run, source only
void submits(QThreadPool &p, Task *t) { p.start(t); }       // start Task::run many, source only
void concurrent() { QtConcurrent::run(entry); }             // start entry many, source only
void joins(QThread &t) { t.wait(); }                        // join
void done(QThreadPool &p) { p.waitForDone(); }              // join
void running(QThread &t) { (void)t.isRunning(); }           // nothing
