#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const char text[] =
    "the quick brown fox jumps over the lazy dog while seven wizards quietly judge my vow";

static void sum_chunk(const char *s, size_t n, volatile long *part)
{
    for (int rep = 0; rep < 4000; rep++)
        for (size_t i = 0; i < n; i++)
            if (isalpha((unsigned char)s[i]))
                *part += s[i] - 'a';
}

int main(void)
{
    enum { PARTS = 4 };
    long *word_sums = calloc(PARTS, sizeof *word_sums);
    size_t n = (sizeof text - 1) / PARTS;
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int i = 0; i < PARTS; i++) {
#pragma omp task firstprivate(i)
        sum_chunk(text + i * n, n, &word_sums[i]);
    }
    long total = 0;
    for (int i = 0; i < PARTS; i++)
        total += word_sums[i];
    printf("%ld\n", total);
    free(word_sums);
    return 0;
}
