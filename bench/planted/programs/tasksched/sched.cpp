#include "sched.hpp"

#include <chrono>
#include <cstdio>

namespace ts {

Scheduler::Scheduler(unsigned workers, long jobs)
    : nworkers_(workers), partial_(workers), finished_(workers), ctx_(std::make_shared<JobContext>()), jobs_(jobs) {
    for (unsigned i = 0; i < workers; ++i) {
        workers_.push_back(std::make_unique<Worker>(i, 1024));
        workers_.back()->rng = 7919u * (i + 1);
    }
    ctx_->name = "job";
}

std::uint64_t Scheduler::crunch(const Task& t) const {
    std::uint64_t a = 1, b = 0;
    for (std::uint32_t i = 0; i < t.ctx->width; ++i) {
        a = (a + (t.seed >> (i & 31))) % t.ctx->modulus;
        b += a * i;
    }
    return a ^ (b << 16);
}

bool Scheduler::find(Worker& w, Task*& t) {
    if (w.queue.pop(t)) return true;
    w.rng = w.rng * 1103515245u + 12345u;
    for (std::size_t i = 0; i < nworkers_; ++i) {
        Worker& v = *workers_[(w.rng / 65536u + i) % nworkers_];
        if (v.id == w.id) continue;
        v.hint.fetch_add(1, std::memory_order_relaxed);
        if (v.queue.steal(t)) {
            ++w.stolen;
            return true;
        }
    }
    return false;
}

void Scheduler::execute(Worker& w, Task* t) {
    std::uint64_t v = crunch(*t);
    ++t->steps;
    partial_[w.id] += static_cast<double>(v & 0xffff);
    ++w.executed;
    if (t->depth < max_depth_) {
        // two children, the second one is the thief's
        for (unsigned k = 0; k < 2; ++k) {
            Task* child = tasks_.make(t->seed * 31 + k, t->depth + 1, t->ctx);
            pending_.fetch_add(1, std::memory_order_relaxed);
            if (!w.queue.push(child)) {
                ++overflows_;
                pending_.fetch_sub(1);
                tasks_.drop(child);
            }
        }
    } else if (replies_.try_reserve(1)) {
        Reply* r = replies_.make(v);
        for (int i = 0; i < 4; ++i) r->value = r->value * 6364136223846793005ull + ++r->polls;
        partial_[w.id] += static_cast<double>(r->value & 0xff);
        replies_.drop(r);
        replies_.unreserve(1);
    }
    tasks_.drop(t);
    finished_[w.id].n.fetch_add(1, std::memory_order_relaxed);
    pending_.fetch_sub(1, std::memory_order_release);
}

void Scheduler::loop(Worker& w) {
    Task* t = nullptr;
    long mine = 0;
    const long share = jobs_ / static_cast<long>(nworkers_);
    while (true) {
        if (find(w, t)) {
            execute(w, t);
            continue;
        }
        if (mine < share) {
            for (int i = 0; i < 16; ++i, ++mine) {
                pending_.fetch_add(1, std::memory_order_relaxed);
                w.queue.push(tasks_.make(static_cast<std::uint64_t>(mine) * 2654435761u, 0u, ctx_));
            }
            if (mine >= share) pending_.fetch_sub(1);    // the token of this source of jobs
            std::this_thread::yield();
            continue;
        }
        if (w.id == 0 && pending_.load(std::memory_order_acquire) == 0) {
            stop_ = true;
        }
        if (stop_) break;
        std::this_thread::yield();
    }
}

void Scheduler::watch() {
    while (!stop_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        ++watch_runs_;
    }
}

void Scheduler::run() {
    pending_ = static_cast<std::int64_t>(nworkers_);
    std::vector<std::thread> threads;
    for (auto& w : workers_) threads.emplace_back([this, p = w.get()] { loop(*p); });
    std::thread watcher(&Scheduler::watch, this);
    for (auto& t : threads) t.join();
    watcher.join();
}

void Scheduler::report() const {
    std::uint64_t executed = 0, stolen = 0;
    double sum = 0;
    for (auto& w : workers_) {
        executed += w->executed;
        stolen += w->stolen;
    }
    for (double p : partial_) sum += p;
    std::printf("executed %lu stolen %lu sum %.0f tasks %lu replies %lu overflows %lu watches %lu\n", (unsigned long)executed,
                (unsigned long)stolen, sum, (unsigned long)PoolCounter<Task>::made.load(),
                (unsigned long)PoolCounter<Reply>::made.load(), (unsigned long)overflows_, (unsigned long)watch_runs_);
}

}  // namespace ts
