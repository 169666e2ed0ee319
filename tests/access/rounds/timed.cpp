// What is done where the time of a condition variable's wait has come, and what
// is not that.  Each name is a variable; those that begin with "r" are rare.
#include <chrono>
#include <condition_variable>
#include <mutex>

using Clock = std::chrono::steady_clock;
long r_ticks, r_until, r_left, r_status, f_woken, f_any, f_passed, f_early;
volatile bool stop;
std::mutex lock;
std::condition_variable cond;

void ticks(std::chrono::milliseconds period) {
  std::unique_lock<std::mutex> held(lock);
  while (!cond.wait_for(held, period, [] { return stop; }))
    r_ticks++;
}

void until(std::chrono::milliseconds period) {
  std::unique_lock<std::mutex> held(lock);
  for (auto next = Clock::now() + period;
       !cond.wait_until(held, next, [] { return stop; }); next += period)
    r_until++;
}

void left(std::chrono::milliseconds period) {
  std::unique_lock<std::mutex> held(lock);
  for (;;) {
    if (cond.wait_for(held, period, [] { return stop; }))
      break;
    r_left++;
  }
}

void status(std::chrono::milliseconds period) {
  std::unique_lock<std::mutex> held(lock);
  while (!stop)
    if (cond.wait_for(held, period) == std::cv_status::timeout)
      r_status++;
}

/* The wait may end as it was woken, or nothing is waited for. */
void woken(std::chrono::milliseconds period) {
  std::unique_lock<std::mutex> held(lock);
  while (cond.wait_for(held, period, [] { return stop; })) {
    f_woken++;
    stop = false;
  }
}

void any(std::chrono::milliseconds period) {
  std::unique_lock<std::mutex> held(lock);
  while (!stop) {
    cond.wait_for(held, period);
    f_any++;
  }
}

void passed(Clock::time_point end) {
  while (!stop)
    if (Clock::now() >= end)
      f_passed++;
}

void early(Clock::time_point end) {
  std::unique_lock<std::mutex> held(lock);
  while (!stop) {
    cond.wait_until(held, end);
    lock.unlock();
    if (Clock::now() >= end)
      f_early++;
    lock.lock();
  }
}

int main() { return 0; }
