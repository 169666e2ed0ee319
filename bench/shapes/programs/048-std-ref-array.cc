#include <array>
#include <cctype>
#include <cstdio>
#include <functional>
#include <thread>

class Matcher {
public:
    void configure(char c, int rounds) { letter_ = c; rounds_ = rounds; }
    void operator()()
    {
        const char *text = "pack my box with five dozen liquor jugs";
        const int n = rounds_;
        const int c = letter_;
        for (int i = 0; i < n; i++)
            for (const char *p = text; *p; ++p)
                if (std::tolower(*p) == c)
                    ++hits_;
    }
    long hits() const { return hits_; }
private:
    char letter_ = 0;
    int rounds_ = 0;
    long hits_ = 0;
};

std::array<Matcher, 4> matchers;

int main()
{
    const char letters[] = "iaeo";
    for (int i = 0; i < 4; i++)
        matchers[i].configure(letters[i], 40000);
    std::thread t0(std::ref(matchers[0])), t1(std::ref(matchers[1])),
                t2(std::ref(matchers[2])), t3(std::ref(matchers[3]));
    t0.join(); t1.join(); t2.join(); t3.join();
    long sum = 0;
    for (const auto &m : matchers)
        sum += m.hits();
    std::printf("%ld\n", sum);
}
