#include "pool.h"

namespace readmap {

namespace {

thread_local int current_worker = 0;
unsigned blocks_done[max_workers];

}  // namespace

int worker_id() { return current_worker; }

thread_pool::thread_pool(int n)
{
    for (int i = 0; i < n; ++i)
        threads_.emplace_back([this, i] { work(i); });
}

thread_pool::~thread_pool()
{
    {
        std::lock_guard<std::mutex> guard(mutex_);
        quit_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_)
        thread.join();
}

void thread_pool::work(int id)
{
    current_worker = id;
    unsigned seen = 0;
    for (;;) {
        std::function<void(int)> task;
        {
            std::unique_lock<std::mutex> guard(mutex_);
            wake_.wait(guard, [&] { return quit_ || generation_ != seen; });
            if (quit_)
                return;
            seen = generation_;
            task = task_;
        }
        task(id);
        std::lock_guard<std::mutex> guard(mutex_);
        if (--running_ == 0)
            done_.notify_all();
    }
}

void thread_pool::run_on_all(const std::function<void(int)>& task)
{
    std::unique_lock<std::mutex> guard(mutex_);
    task_ = task;
    running_ = size();
    ++generation_;
    wake_.notify_all();
    done_.wait(guard, [&] { return running_ == 0; });
}

void thread_pool::parallel_for(std::size_t n, std::size_t block, std::function<void(std::size_t, std::size_t)> body)
{
    auto job = std::make_unique<region>();
    job->body = std::move(body);
    job->n = n;
    job->block = block;
    run_on_all([&job](int id) {
        job->busy.fetch_add(1);
        for (;;) {
            const std::size_t at = job->cursor.fetch_add(1, std::memory_order_relaxed);
            const std::size_t from = at * job->block;
            if (from >= job->n)
                break;
            job->body(from, from + job->block < job->n ? from + job->block : job->n);
            ++blocks_done[id];
        }
        job->busy.fetch_sub(1);
    });
}

}  // namespace readmap
