// ARGS: -std=c++14
// Threads that start with methods: what they write behind this is one object.
// expect: independent-writers medium Pipe.in_ Pipe.out_
#include <atomic>
#include <thread>
class Pipe {
  std::atomic<long> in_{0}, out_{0};
  std::thread reader_, writer_;
  void read() {
    for (int i = 0; i < 1000000; i++)
      in_++;
  }
  void write() {
    for (int i = 0; i < 1000000; i++)
      out_++;
  }

public:
  void run() {
    reader_ = std::thread(&Pipe::read, this);
    writer_ = std::thread(&Pipe::write, this);
    reader_.join();
    writer_.join();
  }
};
int main() {
  Pipe p;
  p.run();
  static Pipe q;
  q.run();
}
