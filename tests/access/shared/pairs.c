/* Records of a function and its argument that are stored by one vector register, as compilers do that put two stores
   together. */
#include <emmintrin.h>

struct job {
    void (*run)(void *);
    void *argument;
};

long first, second;
struct job fixed __attribute__((aligned(16)));
struct job jobs[2];

__attribute__((noinline)) void work(void *p) {
    ++*(long *)p;
}
__attribute__((noinline)) void other_work(void *p) {
    --*(long *)p;
}
__attribute__((noinline)) void take(struct job *job) {
    job->run(job->argument);
}
__attribute__((noinline)) void barrier(void) {
    __asm__ volatile("" ::: "memory");
}

static inline __attribute__((always_inline)) __m128i pair(void *low, void *high) {
    return _mm_unpacklo_epi64(_mm_cvtsi64_si128((long)low), _mm_cvtsi64_si128((long)high));
}

void to_static(void) {
    _mm_store_si128((__m128i *)&fixed, pair((void *)work, &first));
}
void to_record(struct job *job) {
    _mm_storeu_si128((__m128i *)job, pair(&first, (void *)other_work));
}
/* Put together before a loop. */
void in_loop(int n, struct job *job) {
    __m128i both = pair((void *)work, &second);
    for (int i = 0; i < n; i++) {
        _mm_storeu_si128((__m128i *)job, both);
        __asm__ volatile("" ::: "memory");
    }
}
void to_stack(void) {
    struct job job __attribute__((aligned(16)));
    _mm_store_si128((__m128i *)&job, pair((void *)work, &second));
    take(&job);
}
/* What a call leaves of a vector register is not known. */
void lost(struct job *job) {
    register __m128i both __asm__("xmm5") = pair((void *)work, &first);
    __asm__ volatile("" : "+x"(both));
    barrier();
    __asm__ volatile("movups %%xmm5, (%0)" ::"r"(job) : "memory");
}

int main(int n, char **v) {
    to_static();
    to_record(jobs);
    in_loop(n, jobs);
    to_stack();
    lost(jobs);
    return v == 0;
}
