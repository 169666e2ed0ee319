// Plain elements at the number that a thread's record has, which the function was given.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>
// expect: packed-thread-slots medium Engine.sums_[]
struct Worker {
  explicit Worker(unsigned i) : id(i) {}
  unsigned id;
  unsigned turn = 1;
};
struct Job {
  unsigned id = 0;
};
class Engine {
public:
  explicit Engine(unsigned n) : sums_(n), jobs_(n), given_(n) {
    for (unsigned i = 0; i < n; ++i)
      workers_.push_back(std::make_unique<Worker>(i));
  }
  void run();

private:
  void loop(Worker &w);
  void execute(Worker &w, const Job &job);
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<double> sums_;
  std::vector<long> jobs_;
  std::vector<long> given_;
  alignas(64) std::atomic<bool> stop_{false};
};
void Engine::execute(Worker &w, const Job &job) {
  sums_[w.id] += 0.5;
  // The number of a job, and of a worker that is looked for, are no numbers of the running thread.
  jobs_[job.id]++;
  Worker &other = *workers_[job.id];
  given_[other.id]++;
}
void Engine::loop(Worker &w) {
  Job job;
  while (!stop_) {
    job.id = (job.id + 1) & 3;
    execute(w, job);
  }
}
void Engine::run() {
  std::vector<std::thread> threads;
  for (auto &w : workers_)
    threads.emplace_back([this, p = w.get()] { loop(*p); });
  for (auto &t : threads)
    t.join();
}
int main() {
  auto engine = std::make_unique<Engine>(4u);
  engine->run();
}
