#pragma once

#include "types.hh"

#include <atomic>
#include <mutex>
#include <vector>

namespace bourse {

// One participant. Gateways reserve margin before an order goes in, matchers
// release it and book the position.
struct Account {
    uint32_t limit = 0;
    std::atomic<uint32_t> orders{0};
    std::atomic<int32_t> reserved{0};
    std::atomic<int32_t> position{0};
    std::atomic<uint32_t> fills{0};
    bool suspended = false;
};

class AccountTable {
public:
    AccountTable(unsigned n, uint32_t limit);

    bool reserve(unsigned id, uint32_t margin);
    void release(unsigned id, uint32_t margin);
    void fill(unsigned id, Side side, uint32_t quantity);
    void suspend(unsigned id);
    size_t size() const { return accounts_.size(); }
    const Account& at(unsigned id) const { return accounts_[id]; }

    // closing report
    long openInterest() const;

private:
    std::vector<Account> accounts_;
    std::mutex suspendMutex_;
    unsigned suspensions_ = 0;
};

}  // namespace bourse
