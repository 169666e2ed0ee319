// Data that is used under its lock alone: padding parts what is used together.
#include <mutex>
#include <thread>
struct Account {
  std::mutex guard;
  long balance = 0;
};
alignas(64) static Account account;
int main() {
  auto pay = [] {
    for (int i = 0; i < 3000000; i++) {
      std::lock_guard<std::mutex> held(account.guard);
      account.balance += i;
    }
  };
  std::thread a(pay), b(pay);
  a.join(), b.join();
}
