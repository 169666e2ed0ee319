// ARGS: -std=c++17
// What a function always returns is the one object of its class: members that two threads write share a line of it.
// expect: independent-writers high Mixer::get::mixer.peak_ Mixer::get::mixer.volume_
// expect: independent-writers high state.sent state.received
#include <atomic>
#include <thread>

class Mixer {
public:
  static Mixer &get() {
    static Mixer mixer;
    return mixer;
  }
  void block(const float *in, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
      sum += in[i];
    peak_ = sum;
  }
  void setVolume(float v) { volume_ = v; }
  float heard() const { return peak_ * volume_; }

private:
  float peak_ = 0;
  float volume_ = 1;
};

struct alignas(64) State {
  long sent;
  long received;
};
static State state;
static State *theState() { return &state; }

static std::atomic<bool> quit{false};
static const float samples[512] = {1};

static void audio() {
  while (!quit.load(std::memory_order_relaxed)) {
    Mixer::get().block(samples, 512);
    theState()->sent++;
  }
}
static void render() {
  float t = 0;
  while (!quit.load(std::memory_order_relaxed)) {
    Mixer::get().setVolume(t += 0.5f);
    theState()->received++;
  }
}
int main() {
  std::thread a(audio), b(render);
  a.join();
  b.join();
  return Mixer::get().heard() > theState()->sent;
}
