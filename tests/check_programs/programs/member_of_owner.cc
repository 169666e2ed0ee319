// ARGS: -std=c++17
// Methods use the counters behind this, threads use them as a member of the
// server: one record, said once. The client's slots have the same names at the
// same places as others', but are a type of their own that nothing else uses.
// expect: packed-thread-slots high Server.slots.hits[0].n
// expect: packed-thread-slots high Other.hits[0].n
// expect: packed-thread-slots high Client.slots.hits[0].n
#include <thread>
#include <vector>
struct Count {
  long n;
};
struct Slots {
  Count hits[8];
  void add(int id);
};
struct Other {
  Count hits[8];
  void add(int id);
};
struct Server {
  int mode;
  Slots slots;
};
struct Private {
  Count hits[8];
};
struct Client {
  int mode;
  Private slots;
};
void Slots::add(int id) {
  for (int i = 0; i < 1000000; i++)
    hits[id].n += i & 3;
}
void Other::add(int id) {
  for (int i = 0; i < 1000000; i++)
    hits[id].n += i & 5;
}
static void serve(Server *server, Other *other, Client *client, int id) {
  for (int i = 0; i < 1000000; i++) {
    server->slots.hits[id].n += i & 1;
    client->slots.hits[id].n += i & 7;
  }
  server->slots.add(id);
  other->add(id);
}
int main() {
  Server *server = new Server();
  Other *other = new Other();
  Client *client = new Client();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++)
    threads.emplace_back(serve, server, other, client, i);
  for (auto &t : threads)
    t.join();
  delete server;
  delete other;
  delete client;
}
