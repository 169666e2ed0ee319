#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

class Probe {
public:
    explicit Probe(double f) : freq_(f) {}
    void sample(int n)
    {
        double ph = 0, f = freq_;
        for (int i = 0; i < n; i++) {
            ph = std::fmod(ph + f, 6.28318);
            if (ph > 3.14159)
                samples_ = samples_ + 1;
        }
    }
    unsigned samples() const { return samples_; }
private:
    double freq_;
    volatile unsigned samples_ = 0;
};

int main()
{
    std::vector<std::unique_ptr<Probe>> probes;
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; i++)
        probes.push_back(std::make_unique<Probe>(0.1 * (i + 1)));
    for (int i = 0; i < 4; i++)
        threads.emplace_back(&Probe::sample, probes[i].get(), 500000);
    for (auto &t : threads)
        t.join();
    unsigned s = 0;
    for (auto &p : probes)
        s += p->samples();
    std::printf("%u\n", s);
}
