#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

class Telemetry {
public:
    static std::atomic<unsigned> framesIn;
    static std::atomic<unsigned> framesOut;
    static void capture(std::stop_token st);
    static void encode(std::stop_token st);
};
std::atomic<unsigned> Telemetry::framesIn{0};
std::atomic<unsigned> Telemetry::framesOut{0};

void Telemetry::capture(std::stop_token st)
{
    unsigned char row[32] = {};
    unsigned y = 0;
    while (!st.stop_requested()) {
        for (unsigned x = 0; x < sizeof row; x++)
            row[x] = static_cast<unsigned char>(row[x] + x * y);
        if (row[y++ % sizeof row] != 250)
            framesIn.fetch_add(1, std::memory_order_relaxed);
    }
}

void Telemetry::encode(std::stop_token st)
{
    unsigned bits = 1;
    while (!st.stop_requested()) {
        for (int i = 0; i < 12; i++)
            bits = (bits >> 1) ^ ((bits & 1) ? 0xb8000000u : 0);
        if (bits & 0xff)
            framesOut.fetch_add(1, std::memory_order_relaxed);
    }
}

int main()
{
    {
        std::jthread cap(&Telemetry::capture);
        std::this_thread::sleep_for(std::chrono::milliseconds(80));
    }
    {
        std::jthread enc(&Telemetry::encode);
        std::this_thread::sleep_for(std::chrono::milliseconds(80));
    }
    std::printf("%d %d\n", Telemetry::framesIn > 0, Telemetry::framesOut > 0);
}
