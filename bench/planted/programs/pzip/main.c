/* pzip command: compresses generated text, or a file, to nowhere or a file. */
#include <getopt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pzip.h"

static struct {
    uint64_t chunks_read;
    uint64_t left;
    uint64_t chunks_written;
    uint64_t write_errors;
} io __attribute__((aligned(64)));

/* Source and sink of one run; lives in main's frame. */
struct job {
    FILE *src;
    FILE *dst;
    uint32_t rng;
    uint32_t line_len;
    uint64_t check_out;
};

static const uint8_t dictionary[] = "GET /index.html HTTP/1.1\r\nHost: ";
static const char *const words[] = {
    "error ", "connection ", "accepted ", "from ", "10.0.0.", "status=", "200 ", "bytes ",
};

static size_t read_source(void *opaque, uint8_t *buf, size_t max)
{
    struct job *j = opaque;
    size_t n = 0;

    io.chunks_read++;
    if (j->src)
        return fread(buf, 1, max, j->src);
    if (io.left < max)
        max = io.left;
    while (n < max) {
        const char *w;
        size_t l;

        j->rng = j->rng * 1103515245u + 12345u;
        w = words[j->rng >> 20 & 7];
        l = strlen(w);
        if (l > max - n)
            l = max - n;
        memcpy(buf + n, w, l);
        if (l > 2)
            buf[n + 1] = 'a' + (j->rng >> 27 & 15);
        n += l;
        j->line_len += l;
    }
    io.left -= n;
    return n;
}

static int write_sink(void *opaque, const uint8_t *buf, size_t len)
{
    struct job *j = opaque;
    size_t i;

    io.chunks_written++;
    for (i = 0; i < len; i += 8)
        j->check_out = j->check_out * 33 + buf[i];
    if (j->dst && fwrite(buf, 1, len, j->dst) != len) {
        io.write_errors++;
        return -1;
    }
    return 0;
}

static void usage(const char *argv0)
{
    fprintf(stderr, "usage: %s [-l level] [-w workers] [-b block] [-n bytes] [-o out] [file]\n",
            argv0);
    exit(2);
}

int main(int argc, char **argv)
{
    pz_options opt = { .level = 2, .workers = 2, .block = 512,
                       .dict = dictionary, .dict_len = sizeof dictionary - 1 };
    struct job job = { .rng = 42 };
    pz_ctx *c;
    int ch, err = PZ_OK;

    io.left = 4 << 20;
    while ((ch = getopt(argc, argv, "l:w:b:n:o:")) != -1) {
        switch (ch) {
        case 'l': opt.level = atoi(optarg); break;
        case 'w': opt.workers = atoi(optarg); break;
        case 'b': opt.block = strtoul(optarg, NULL, 0); break;
        case 'n': io.left = strtoull(optarg, NULL, 0); break;
        case 'o':
            job.dst = fopen(optarg, "wb");
            if (!job.dst) {
                perror(optarg);
                return 1;
            }
            break;
        default: usage(argv[0]);
        }
    }
    if (optind < argc && !(job.src = fopen(argv[optind], "rb"))) {
        perror(argv[optind]);
        return 1;
    }
    c = pz_create(&opt, &err);
    if (!c) {
        fprintf(stderr, "%s: cannot start (%d)\n", argv[0], err);
        return 1;
    }
    err = pz_run(c, read_source, &job, write_sink, &job);
    if (err != PZ_OK)
        fprintf(stderr, "%s: compression failed (%d)\n", argv[0], err);
    printf("%llu -> %llu bytes, %llu/%llu chunks, check %llx\n",
           (unsigned long long)pz_bytes_in(c), (unsigned long long)pz_bytes_out(c),
           (unsigned long long)io.chunks_read, (unsigned long long)io.chunks_written,
           (unsigned long long)job.check_out);
    pz_dump_stats(c);
    pz_free(c);
    if (job.src)
        fclose(job.src);
    if (job.dst && fclose(job.dst) != 0)
        err = PZ_EOUT;
    return err == PZ_OK ? 0 : 1;
}
