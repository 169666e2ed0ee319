#include "index.h"
#include "options.h"
#include "corpus.h"

namespace tx {

alignas(line_size) std::array<std::atomic<std::uint8_t>, 32> touched;

void Shard::open(std::uint32_t bits)
{
    mask_ = (1u << bits) - 1;
    slots_.reset(new Posting[mask_ + 1]);
}

Posting *Shard::add(std::uint32_t hash, std::uint32_t id)
{
    Guard<SpinLock> hold(lock_);
    for (std::uint32_t i = hash; ; i++) {
        Posting &p = slots_[i & mask_];
        if (!p.hash) {
            if (used_ > mask_ / 2)
                return nullptr;
            p.hash = hash;
            used_++;
        }
        if (p.hash == hash) {
            newest_ = id;
            return &p;
        }
    }
}

Posting *Shard::find(std::uint32_t hash)
{
    Guard<SpinLock> hold(lock_);
    for (std::uint32_t i = hash; ; i++) {
        Posting &p = slots_[i & mask_];
        if (p.hash == hash)
            return &p;
        if (!p.hash)
            return nullptr;
    }
}

SegmentList::SegmentList() : live_(new Segment(1, 3)) {}

SegmentList::~SegmentList()
{
    live_.load()->drop();
}

bool ResultCache::get(std::uint32_t key, std::uint32_t &value)
{
    std::lock_guard<std::mutex> hold(mutex_);
    auto &e = entries_[key % entries_.size()];
    if (e.first != key) {
        misses_++;
        return false;
    }
    hits_++;
    value = e.second;
    return true;
}

void ResultCache::put(std::uint32_t key, std::uint32_t value)
{
    std::lock_guard<std::mutex> hold(mutex_);
    entries_[key % entries_.size()] = {key, value};
}

void TopList::offer(std::uint32_t score)
{
    std::lock_guard<std::mutex> hold(mutex_);
    offers_++;
    for (std::uint32_t &s : scores_)
        if (score > s)
            std::swap(score, s);
}

std::uint32_t TopList::best()
{
    std::lock_guard<std::mutex> hold(mutex_);
    return scores_[0];
}

Index::Index()
{
    for (Shard &s : shards_)
        s.open(6);
}

} // namespace tx

namespace tx {

Vocabulary::Vocabulary()
{
    static const char *const onsets[] = {"b", "d", "f", "gr", "k", "l", "st", "v"};
    static const char *const rests[] = {"a", "en", "ir", "om"};
    for (const char *o : onsets)
        for (const char *r : rests)
            words_.push_back(std::string(o) + r);
}

std::uint32_t Corpus::draw()
{
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
}

void Corpus::next(Document &d)
{
    std::uint32_t n = 0;
    unsigned words = 6 + draw() % 3;
    for (unsigned w = 0; w < words; w++) {
        const std::string &s = vocabulary_.word(draw());
        if (n + s.size() + 1 > d.text.size())
            break;
        for (char c : s)
            d.text[n++] = c;
        d.text[n++] = ' ';
    }
    d.length = n;
    d.id = ++made_;
}

std::uint32_t term_hash(const char *p, std::size_t n)
{
    std::uint32_t h = 0x811c9dc5u;
    for (std::size_t i = 0; i < n; i++)
        h = (h ^ static_cast<unsigned char>(p[i])) * 0x01000193u;
    return h ^ (h >> 15);
}

} // namespace tx
