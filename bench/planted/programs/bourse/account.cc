#include "account.hh"

namespace bourse {

AccountTable::AccountTable(unsigned n, uint32_t limit) : accounts_(n)
{
    for (unsigned i = 0; i < n; i++)
        accounts_[i].limit = limit + i * 100;
}

bool AccountTable::reserve(unsigned id, uint32_t margin)
{
    Account& a = accounts_[id];

    if (a.suspended)
        return false;
    int32_t before = a.reserved.fetch_add(static_cast<int32_t>(margin), std::memory_order_relaxed);
    if (before + static_cast<int32_t>(margin) > static_cast<int32_t>(a.limit)) {
        a.reserved.fetch_sub(static_cast<int32_t>(margin), std::memory_order_relaxed);
        return false;
    }
    a.orders.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void AccountTable::release(unsigned id, uint32_t margin)
{
    accounts_[id].reserved.fetch_sub(static_cast<int32_t>(margin), std::memory_order_relaxed);
}

void AccountTable::fill(unsigned id, Side side, uint32_t quantity)
{
    Account& a = accounts_[id];
    int32_t q = static_cast<int32_t>(quantity);

    a.position.fetch_add(side == Side::Buy ? q : -q, std::memory_order_relaxed);
    a.fills.fetch_add(1, std::memory_order_relaxed);
}

void AccountTable::suspend(unsigned id)
{
    std::lock_guard lock(suspendMutex_);
    accounts_[id].suspended = true;
    suspensions_++;
}

long AccountTable::openInterest() const
{
    long sum = 0;
    for (const Account& a : accounts_)
        sum += a.position > 0 ? a.position.load() : 0;
    return sum;
}

}  // namespace bourse
