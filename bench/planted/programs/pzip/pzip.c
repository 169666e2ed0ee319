#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static void set_error(int *err, int code)
{
    if (err)
        *err = code;
}

static uint32_t slot_room(const pz_options *o)
{
    return (uint32_t)((o->block * 2 + 16 + 63) & ~(size_t)63);
}

pz_ctx *pz_create(const pz_options *opt, int *err)
{
    pz_ctx *c;
    size_t room;
    int i;

    if (!opt || opt->level < 1 || opt->level > 9 || opt->workers < 1 ||
        opt->workers > PZ_MAX_WORKERS || opt->block < 64 || opt->block > 65536) {
        set_error(err, PZ_EINVAL);
        return NULL;
    }
    c = aligned_alloc(64, sizeof *c);
    if (!c) {
        set_error(err, PZ_EMEM);
        return NULL;
    }
    memset(c, 0, sizeof *c);
    c->opt = *opt;
    c->max_match = 32u * opt->level;
    c->max_probe = 2u + opt->level;
    room = slot_room(opt);
    c->slots = calloc(PZ_SLOTS, sizeof *c->slots);
    c->workers = calloc(opt->workers, sizeof *c->workers);
    c->arena = aligned_alloc(64, 2 * PZ_SLOTS * room);
    if (!c->slots || !c->workers || !c->arena || pz_queue_init(&c->todo) != PZ_OK)
        goto fail;
    for (i = 0; i < PZ_SLOTS; i++) {
        c->slots[i].in = c->arena + 2 * i * room;
        c->slots[i].out = c->arena + (2 * i + 1) * room;
    }
    for (i = 0; i < opt->workers; i++) {
        c->workers[i].ctx = c;
        c->workers[i].id = i;
        c->workers[i].hash = aligned_alloc(64, PZ_HASH * sizeof(uint16_t));
        if (!c->workers[i].hash)
            goto fail;
    }
    if (opt->dict && opt->dict_len) {
        c->dict = aligned_alloc(64, 64);
        if (!c->dict)
            goto fail;
        atomic_init(&c->dict->refs, 1);
        c->dict->data = opt->dict;
        c->dict->len = (uint32_t)opt->dict_len;
    }
    return c;
fail:
    set_error(err, PZ_EMEM);
    pz_free(c);
    return NULL;
}

void pz_free(pz_ctx *c)
{
    int i;

    if (!c)
        return;
    for (i = 0; c->workers && i < c->opt.workers; i++)
        free(c->workers[i].hash);
    pz_queue_destroy(&c->todo);
    free(c->dict);
    free(c->workers);
    free(c->slots);
    free(c->arena);
    free(c);
}

static void *worker_main(void *p)
{
    pz_worker *w = p;
    pz_ctx *c = w->ctx;
    int k;

    while ((k = pz_queue_take(&c->todo)) >= 0) {
        pz_slot *s = &c->slots[k];

        if (pz_compress_block(c, w, s) == 0)
            atomic_store(&c->failed, 1);
        atomic_store_explicit(&s->state, SLOT_DONE, memory_order_release);
    }
    return NULL;
}

static void *reader_main(void *p)
{
    pz_ctx *c = p;

    for (;;) {
        pz_slot *s = &c->slots[c->next_in % PZ_SLOTS];
        size_t got = 0;

        while (atomic_load_explicit(&s->state, memory_order_acquire) != SLOT_FREE)
            sched_yield();
        while (got < c->opt.block) {
            size_t n = c->rd(c->rd_opaque, s->in + got, 64);

            if (n == 0)
                break;
            got += n;
            c->bytes_in += n;
        }
        if (got == 0)
            break;
        s->in_len = (uint32_t)got;
        s->seq = c->next_in;
        atomic_store_explicit(&s->state, SLOT_FILLED, memory_order_release);
        pz_queue_give(&c->todo, (uint16_t)(c->next_in % PZ_SLOTS));
        c->next_in++;
    }
    pz_queue_close(&c->todo);
    atomic_store(&c->eof, 1);
    return NULL;
}

static void *writer_main(void *p)
{
    pz_ctx *c = p;

    for (;;) {
        pz_slot *s = &c->slots[c->next_out % PZ_SLOTS];
        uint32_t off = 0;

        if (atomic_load_explicit(&s->state, memory_order_acquire) != SLOT_DONE) {
            if (atomic_load(&c->eof) && c->next_out == c->next_in)
                break;
            sched_yield();
            continue;
        }
        while (off < s->out_len) {
            uint32_t n = s->out_len - off > 64 ? 64 : s->out_len - off;

            if (c->wr(c->wr_opaque, s->out + off, n) != 0) {
                atomic_store(&c->failed, 1);
                break;
            }
            off += n;
            c->bytes_out += n;
        }
        c->next_out++;
        atomic_store_explicit(&s->state, SLOT_FREE, memory_order_release);
    }
    return NULL;
}

int pz_run(pz_ctx *c, pz_read_fn rd, void *rd_opaque, pz_write_fn wr, void *wr_opaque)
{
    pthread_t reader, writer;
    int i;

    c->rd = rd;
    c->rd_opaque = rd_opaque;
    c->wr = wr;
    c->wr_opaque = wr_opaque;
    if (pthread_create(&reader, NULL, reader_main, c) != 0)
        return PZ_ETHREAD;
    for (i = 0; i < c->opt.workers; i++)
        if (pthread_create(&c->workers[i].tid, NULL, worker_main, &c->workers[i]) != 0)
            abort();
    if (pthread_create(&writer, NULL, writer_main, c) != 0)
        abort();
    pthread_join(reader, NULL);
    for (i = 0; i < c->opt.workers; i++) {
        pthread_join(c->workers[i].tid, NULL);
        c->probes += c->lane[i].probes;
        c->chain += c->lane[i].chain;
    }
    pthread_join(writer, NULL);
    return atomic_load(&c->failed) ? PZ_EOUT : PZ_OK;
}

uint64_t pz_bytes_in(const pz_ctx *c)
{
    return c->bytes_in;
}

uint64_t pz_bytes_out(const pz_ctx *c)
{
    return c->bytes_out;
}

void pz_dump_stats(const pz_ctx *c)
{
    uint32_t crc = 0;
    int i;

    for (i = 0; i < c->opt.workers; i++) {
        const pz_worker *w = &c->workers[i];

        printf("worker %d: %u blocks, %llu literals, %llu matches, %llu overflows, %u dict\n",
               i, w->blocks, (unsigned long long)w->literals, (unsigned long long)w->matches,
               (unsigned long long)w->overflows, pz_sym_count[i][3]);
        crc ^= c->crc_lane[i];
    }
    printf("tokens %llu probes %llu chain %llu crc %08x\n", (unsigned long long)c->tokens,
           (unsigned long long)c->probes, (unsigned long long)c->chain, crc);
}
