#include "aggregator.hpp"
#include <cstdio>
#include <cstdlib>

Aggregator::Aggregator(unsigned workers) : slots_(workers), context_(std::make_unique<Context>()) {
    const char *const kinds[] = {"counter", "gauge", "counter", "histogram"};
    for (unsigned i = 0; i < workers; i++)
        queues_.push_back(std::make_unique<EventQueue>(1024));
    for (unsigned i = 0; i < workers * 2; i++) {
        sinks_.push_back(makeSink(kinds[i % 4]));
        sinks_.back()->configure(1.0, true);
    }
    context_->window = new Window;
    if (const char *w = std::getenv("WINDOW"))
        context_->window->width = std::strtoull(w, nullptr, 10);
}

Aggregator::~Aggregator() { delete context_->window; }

void Aggregator::ingest(long rounds) {
    uint64_t r = 88172645463325252ull;
    for (long i = 0; i < rounds; i++) {
        r ^= r << 13;
        r ^= r >> 7;
        r ^= r << 17;
        Event e;
        e.source = static_cast<uint32_t>(r);
        e.kind = static_cast<uint16_t>(r >> 32 & 3);
        e.flags = static_cast<uint16_t>(r >> 40 & 1);
        e.stamp = static_cast<uint64_t>(i);
        e.value = static_cast<double>(r >> 44 & 255);
        EventQueue &q = *queues_[e.source % queues_.size()];
        while (!q.push(e)) {
            stalls_++;
            std::this_thread::yield();
        }
        ingested_++;
        Sink::dispatched++;
    }
    stop_.store(true, std::memory_order_release);
}

void Aggregator::work(unsigned id) {
    EventQueue &q = *queues_[id];
    Sink *const mine[2] = {sinks_[id * 2].get(), sinks_[id * 2 + 1].get()};
    Event e;
    for (;;) {
        if (!q.pop(e)) {
            if (stop_.load(std::memory_order_acquire) && !q.pop(e))
                break;
            std::this_thread::yield();
            continue;
        }
        if (e.value < level_) {
            filtered_.fetch_add(1, std::memory_order_relaxed);
            continue;
        }
        Window *w = context_->window;
        w->events.fetch_add(1, std::memory_order_relaxed);
        if (e.stamp == ~0ull)
            w->late++;
        slots_[id].handled++;
        slots_[id].total += e.value;
        mine[e.kind & 1]->accept(e);
        if (e.flags)
            filtered_.fetch_add(1, std::memory_order_relaxed);
    }
}

void Aggregator::tick() {
    while (!stop_.load(std::memory_order_acquire)) {
        Window *w = context_->window;
        w->epoch++;
        for (int i = 0; i < 20; i++)
            std::atomic_signal_fence(std::memory_order_seq_cst);
        std::this_thread::yield();
    }
}

void Aggregator::poll() {
    double sum = 0;
    while (!stop_.load(std::memory_order_acquire)) {
        for (auto &s : sinks_)
            sum += s->sample();
        polls_++;
        Sink::polled.fetch_add(sinks_.size(), std::memory_order_relaxed);
        std::this_thread::yield();
    }
    if (sum < 0)
        std::abort();
}

void Aggregator::run(long rounds) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < slots_.size(); i++)
        threads.emplace_back([this, i] { work(i); });
    threads.emplace_back(&Aggregator::tick, this);
    threads.emplace_back(&Aggregator::poll, this);
    threads.emplace_back([this, rounds] { ingest(rounds); });
    for (auto &t : threads)
        t.join();
}

void Aggregator::report() const {
    std::printf("%s: ingested %lu dispatched %lu filtered %lu polls %lu polled %lu stalls %lu\n", title_.c_str(),
                ingested_, Sink::dispatched, filtered_.load(), polls_, Sink::polled.load(), stalls_);
    for (const auto &s : slots_)
        std::printf("slot: %lu events, %.0f\n", s.handled, s.total);
    std::printf("window: epoch %lu events %lu late %lu\n", context_->window->epoch, context_->window->events.load(),
                context_->window->late);
}

void Aggregator::probe() const {
#ifdef TRUTH_PROBE
    PROBE("T1.a", &ingested_);
    PROBE("T1.b", &filtered_);
    sinks_[0]->probe("T2");
    PROBE("T3.a", (const unsigned *)queues_[0]->headAddress());
    PROBE("T3.b", (const unsigned *)queues_[0]->tailAddress());
    PROBE("T4.a", &Sink::dispatched);
    PROBE("T4.b", &Sink::polled);
    PROBE("T5.a", &slots_[0].handled);
    PROBE("T5.b", &slots_[1].handled);
    PROBE("T6.a", &context_->window->epoch);
    PROBE("T6.b", &context_->window->events);
    PROBE("T7.a", &polls_);
    PROBE("T7.b", &ingested_);
#endif
}
