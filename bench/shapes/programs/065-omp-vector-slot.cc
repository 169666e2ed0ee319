#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <string>
#include <vector>

struct Acc {
    volatile double sum = 0;
};

int main()
{
    std::vector<std::string> fields;
    for (int i = 0; i < 400; i++)
        fields.push_back(std::to_string(i * 0.25));
    omp_set_num_threads(4);
    std::vector<Acc> acc(static_cast<size_t>(omp_get_max_threads()));
#pragma omp parallel
    {
        auto &mine = acc[static_cast<size_t>(omp_get_thread_num())];
        for (int round = 0; round < 400; round++) {
#pragma omp for nowait
            for (size_t i = 0; i < fields.size(); i++)
                mine.sum = mine.sum + std::strtod(fields[i].c_str(), nullptr);
        }
    }
    double total = 0;
    for (auto &a : acc)
        total += a.sum;
    std::printf("%.1f\n", total);
}
