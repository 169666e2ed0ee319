#pragma once

#include "types.hh"

#include <memory>
#include <string>
#include <vector>

namespace bourse {

// Static data, and the statistics of the day that the matcher keeps.
class Instrument {
public:
    Instrument(std::string symbol, uint32_t reference);
    virtual ~Instrument() = default;

    virtual bool validPrice(uint32_t price) const = 0;
    virtual uint32_t margin(uint32_t price, uint32_t quantity) const = 0;

    void trade(uint32_t price, uint32_t quantity);
    uint32_t reference() const { return reference_; }
    uint32_t last() const { return last_; }
    uint64_t turnover() const { return turnover_; }
    uint32_t volume() const { return volume_; }
    const std::string& symbol() const { return symbol_; }

protected:
    uint32_t reference_;
    uint32_t band_;
    uint32_t last_;
    uint32_t volume_ = 0;
    uint64_t turnover_ = 0;
    uint32_t high_ = 0;
    uint32_t low_ = ~0u;

private:
    std::string symbol_;
};

class Equity : public Instrument {
public:
    using Instrument::Instrument;
    bool validPrice(uint32_t price) const override;
    uint32_t margin(uint32_t price, uint32_t quantity) const override;
};

class Future : public Instrument {
public:
    Future(std::string symbol, uint32_t reference, uint32_t multiplier)
        : Instrument(std::move(symbol), reference), multiplier_(multiplier) {}
    bool validPrice(uint32_t price) const override;
    uint32_t margin(uint32_t price, uint32_t quantity) const override;

private:
    uint32_t multiplier_;
};

std::vector<std::unique_ptr<Instrument>> listInstruments(unsigned n);

}  // namespace bourse
