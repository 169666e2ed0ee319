#include "engine.h"

#include "options.h"

#include <iostream>

namespace tx {

thread_local unsigned ThreadNumber::number_ = 0;

// The feeder moves the time on; indexers stamp postings with it.
std::atomic<std::uint64_t> now{1};
std::uint64_t rejected, overfull;

void Barrier::wait()
{
    std::unique_lock<std::mutex> hold(mutex_);
    unsigned phase = phase_;
    if (--left_ == 0) {
        left_ = wanted_;
        phase_++;
        turn_.notify_all();
    } else {
        turn_.wait(hold, [&] { return phase != phase_; });
    }
}

Engine::Engine(long rounds) : rounds_(rounds), searches_(searchers)
{
    for (auto &q : queues_)
        q = std::make_unique<SpscQueue<Document *, 32>>();
    for (auto &c : commands_)
        c = std::make_unique<RoomyQueue<Command, 4>>();
    for (auto &s : states_)
        s = std::make_unique<IndexerState>();
}

// Before the barrier: each indexer enters its half of the vocabulary.
void Engine::load(unsigned n)
{
    for (unsigned w = n; w < vocabulary_.size(); w += indexers) {
        const std::string &s = vocabulary_.word(w);
        Posting *p = index_.shard(term_hash(s.data(), s.size())).add(term_hash(s.data(), s.size()), 1);
        if (p)
            loaded_[n]++;
        else
            overfull++;
    }
}

void Engine::feeder()
{
    Corpus corpus(vocabulary_, 4711);
    ThreadNumber::set(0);
    barrier_.wait();
    for (long i = 0; i < rounds_ * long(indexers); i++) {
        Document *d;
        while (!(d = pool_.take()))
            std::this_thread::yield();
        corpus.next(*d);
        while (!queues_[std::size_t(i) % indexers]->push(d))
            std::this_thread::yield();
        PaddedStriped<ByteTag>::add(d->length);
        now.fetch_add(1, std::memory_order_relaxed);
    }
}

void Engine::indexer(unsigned n)
{
    IndexerState &own = *states_[n];
    ThreadNumber::set(1 + n);
    load(n);
    barrier_.wait();
    if (loaded_[(n + 1) % indexers] == 0)
        trace("the other indexer loaded nothing");
    for (long i = 0; i < rounds_; i++) {
        Document *d = nullptr;
        while (!queues_[n]->pop(d))
            std::this_thread::yield();
        if (control_.stop.load(std::memory_order_relaxed))
            std::this_thread::yield();
        const Options &o = Options::current;
        const auto stamp = std::uint32_t(now.load(std::memory_order_relaxed));
        own.terms += for_each_term(*d, o.min_length, o.max_terms, [&](std::uint32_t hash) {
            Posting *p = index_.shard(hash).add(hash, stamp);
            if (!p) {
                own.full++;
                return;
            }
            p->frequency.fetch_add(1, std::memory_order_relaxed);
            Striped<TermTag>::add(1);
        });
        if (d->length == 0) {
            rejected++;
            if (trace_level > 0)
                trace("an empty document");
        }
        own.documents++;
        touched[n * 16 + (d->id & 15)].store(1, std::memory_order_relaxed);
        Tally<IndexTag>::value.fetch_add(1, std::memory_order_relaxed);
        Options::current.documents.fetch_add(1, std::memory_order_relaxed);
        pool_.give(d);
    }
}

void Engine::searcher(unsigned n, SearchState &own)
{
    Corpus words(vocabulary_, 17 + n);
    ThreadNumber::set(1 + indexers + n);
    barrier_.wait();
    for (long i = 0; i < rounds_ * 3; i++) {
        Command command;
        if (commands_[n]->pop(command) && command.what == 99)
            trace("unknown command");
        const Segment *segment = index_.segments().live();
        segment->hold();
        std::uint32_t score = segment->base();
        std::uint32_t key = 0;
        for (unsigned k = 0; k < 3; k++) {
            const std::string &w = vocabulary_.word(words.draw());
            std::uint32_t hash = term_hash(w.data(), w.size());
            key = key * 31 + hash;
            Posting *p = index_.shard(hash).find(hash);
            if (!p)
                continue;
            p->asked.fetch_add(1, std::memory_order_relaxed);
            score = score * 7 + p->frequency.load(std::memory_order_relaxed) % 1000 * segment->boost();
            own.found++;
        }
        own.queries++;
        own.score += score % 1000;
        Striped<TermTag>::add(3);
        Tally<SearchTag>::value.fetch_add(1, std::memory_order_relaxed);
        if ((i & 3) == 0) {
            std::uint32_t cached = 0;
            if (!index_.cache().get(key & 127, cached))
                index_.cache().put(key & 127, score);
        }
        if ((i & 15) == 0)
            index_.top().offer(score);
        segment->drop();
        if ((i & 63) == 63)
            std::this_thread::yield();
    }
}

void Engine::merger()
{
    std::uint32_t x = 1;
    ThreadNumber::set(1 + indexers + searchers);
    barrier_.wait();
    for (long i = 0; i < rounds_ * 3; i++) {
        for (int k = 0; k < 60; k++)
            x = x * 1664525u + 1013904223u + std::uint32_t(k);
        control_.ticks++;
        merge_.seen += x & 7;
        merge_.digest ^= x;
        index_.segments().merged();
        if ((i & 1) == 0)
            index_.cache().age();
        if ((i & 3) == 0) {
            auto &t = touched[(x >> 20) & 31];
            if (t.load(std::memory_order_relaxed)) {
                t.store(0, std::memory_order_relaxed);
                merge_.cleared++;
            }
        }
        if (i % Options::current.note_every == 0)
            pool_.note_level(x & 255);
        if ((i & 63) == 0)
            commands_[std::size_t(i >> 6) % searchers]->push(Command{x & 1});
        if (trace_level > 1)
            trace("merge " + std::to_string(i));
        if ((i & 63) == 63)
            std::this_thread::yield();
    }
}

void Engine::run()
{
    std::vector<std::thread> threads;
    threads.emplace_back(&Engine::feeder, this);
    for (unsigned n = 0; n < indexers; n++)
        threads.emplace_back(&Engine::indexer, this, n);
    for (unsigned n = 0; n < searchers; n++)
        threads.emplace_back(&Engine::searcher, this, n, std::ref(searches_[n]));
    threads.emplace_back(&Engine::merger, this);
    for (auto &t : threads)
        t.join();
}

void Engine::report()
{
    for (unsigned n = 0; n < indexers; n++)
        std::cout << "indexer " << n << ": " << states_[n]->documents << " documents, " << states_[n]->terms << " terms, "
                  << states_[n]->full << " lost, " << loaded_[n] << " loaded\n";
    for (unsigned n = 0; n < searchers; n++)
        std::cout << "searcher " << n << ": " << searches_[n].queries << " queries, " << searches_[n].found << " found, score "
                  << searches_[n].score << "\n";
    std::cout << "terms " << Striped<TermTag>::sum() << ", bytes " << PaddedStriped<ByteTag>::sum() << ", tallies "
              << Tally<IndexTag>::value.load() << "/" << Tally<SearchTag>::value.load() << ", documents "
              << Options::current.documents.load() << ", merges " << index_.segments().merges() << ", epoch "
              << index_.cache().epoch() << ", ticks " << control_.ticks << ", seen " << merge_.seen << ", best "
              << index_.top().best() << ", pool " << pool_.out() << "/" << pool_.level() << ", errors " << rejected << "/"
              << overfull << "\n";
}

} // namespace tx
