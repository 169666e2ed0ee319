#include "store.h"
#include <iostream>
#include <thread>

int main() {
  try {
    store::limit_per_client = store::setting("STORE_LIMIT", 1000);
    store::Table table(1024);
    std::vector<std::thread> clients;
    for (int i = 0; i < store::setting("STORE_CLIENTS", 4); ++i)
      clients.emplace_back([&table, i] { store::serve(table, i, 200000); });
    for (auto &client : clients)
      client.join();
    std::string text;
    store::report(text);
    std::cout << text << "\n";
  } catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
