// Where documents come from, and how they are cut into terms.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tx {

struct Document {
    Document *next_free = nullptr;
    std::uint32_t id = 0;
    std::uint32_t length = 0;
    std::array<char, 120> text{};
};

class Vocabulary {
public:
    Vocabulary();
    const std::string &word(unsigned n) const { return words_[n % words_.size()]; }
    std::size_t size() const { return words_.size(); }

private:
    std::vector<std::string> words_;
};

class Corpus {
public:
    explicit Corpus(const Vocabulary &v, std::uint32_t seed) : vocabulary_(v), state_(seed) {}
    void next(Document &d);
    std::uint32_t draw();

private:
    const Vocabulary &vocabulary_;
    std::uint32_t state_;
    std::uint32_t made_ = 0;
};

std::uint32_t term_hash(const char *p, std::size_t n);

// Calls f(hash) for each term; returns how many there were.
template <class F>
unsigned for_each_term(const Document &d, unsigned min_length, unsigned max_terms, F f)
{
    unsigned terms = 0;
    std::size_t start = 0;
    for (std::size_t i = 0; i <= d.length && terms < max_terms; i++) {
        if (i < d.length && d.text[i] != ' ')
            continue;
        if (i - start >= min_length) {
            f(term_hash(d.text.data() + start, i - start));
            terms++;
        }
        start = i + 1;
    }
    return terms;
}

} // namespace tx
