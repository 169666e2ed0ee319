// The C++ standard library, by its own headers.
// args: -std=c++20
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#ifdef __clang__ // what the code of an object file hides costs the compiler most
#include <future>
#include <latch>
#endif

std::mutex m, second;
std::timed_mutex timed;
std::recursive_mutex again;
std::recursive_timed_mutex timed_again;
std::shared_mutex shared;
std::shared_timed_mutex timed_shared;
std::condition_variable cv;
std::condition_variable_any cv_any;
std::counting_semaphore<4> sem(1);
std::once_flag once;
void work();
void entry();

void takes() { m.lock(); }                                          // lock std::mutex
void drops() { m.unlock(); }                                        // unlock std::mutex
void tries() { (void)m.try_lock(); }                                // try std::mutex
void takes_timed() { timed.lock(); }                                // lock std::mutex
void tries_timed() { (void)timed.try_lock_for(std::chrono::seconds(1)); } // try std::mutex
void recurses() { again.lock(); }                                   // lock std::mutex
void recurses_timed() { timed_again.lock(); }                       // lock std::mutex
void writes() { shared.lock(); }                                    // lock std::shared_mutex
void reads() { shared.lock_shared(); }                              // lock shared std::shared_mutex
void reads_no_more() { shared.unlock_shared(); }                    // unlock shared std::shared_mutex
void tries_reading() { (void)timed_shared.try_lock_shared(); }      // try shared std::shared_mutex
void guards() { std::lock_guard<std::mutex> l(m); work(); }         // guard std::mutex
void guards_timed() { std::unique_lock<std::timed_mutex> l(timed); work(); } // guard std::mutex
void guards_two() { std::scoped_lock<std::mutex, std::mutex> l(m, second); work(); } // guard std::mutex
void guards_readers() { std::shared_lock<std::shared_mutex> l(shared); work(); } // guard shared std::shared_mutex
void deferred() { std::unique_lock<std::mutex> l(m, std::defer_lock); work(); } // deferred std::mutex
void adopted() { std::lock_guard<std::mutex> l(m, std::adopt_lock); work(); }   // deferred std::mutex
void wakes() { cv.notify_one(); }                                   // lock std::condition_variable
void wakes_any() { cv_any.notify_all(); }                           // lock std::condition_variable
void acquires() { sem.acquire(); }                                  // lock std::counting_semaphore
#ifdef __clang__
std::latch latch(1);
void counts() { latch.count_down(); }                               // lock std::latch, source only
void runs() { auto f = std::async(std::launch::async, entry); }     // start entry, source only
void takes_result(std::future<int> &f) { (void)f.get(); }           // result, source only
void waits_for(std::future<int> &f) { f.wait(); }                   // result, source only
void asks_result(std::future<int> &f) { (void)f.valid(); }          // nothing
#endif
void handle() { (void)m.native_handle(); }                          // lock std::mutex, source only
void starts() { std::thread t(entry); }                             // start entry, source only
void starts_j() { std::jthread t([] { work(); }); }                 // start {lambda}, source only
void joins(std::thread &t) { t.join(); }                            // join
void asks(std::thread &t) { (void)t.joinable(); }                   // nothing
