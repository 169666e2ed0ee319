#include <string.h>

#include "internal.h"

/* Token classes per worker: literal runs, short, long and dictionary matches. */
uint32_t pz_sym_count[PZ_MAX_WORKERS][4];

enum { SYM_LIT, SYM_SHORT, SYM_LONG, SYM_DICT };

pz_dict *pz_dict_get(pz_dict *d)
{
    if (d)
        atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed);
    return d;
}

void pz_dict_put(pz_dict *d)
{
    if (d)
        atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel);
}

static inline uint32_t hash3(const uint8_t *p)
{
    return ((p[0] | p[1] << 8 | p[2] << 16) * 2654435761u) >> 24;
}

static inline void emit(pz_slot *s, uint8_t b)
{
    s->out[s->out_len++] = b;
}

/* Longest match of p with the front of the dictionary. */
static uint32_t dict_match(pz_ctx *c, const uint8_t *p, uint32_t max)
{
    pz_dict *d = pz_dict_get(c->dict);
    uint32_t n = 0;

    if (!d)
        return 0;
    if (max > d->len)
        max = d->len;
    while (n < max && d->data[n] == p[n])
        n++;
    pz_dict_put(d);
    return n;
}

uint32_t pz_compress_block(pz_ctx *c, pz_worker *w, pz_slot *s)
{
    pz_lane *ln = &c->lane[w->id];
    uint32_t *sym = pz_sym_count[w->id];
    const uint8_t *in = s->in;
    uint32_t i = 0, n = s->in_len;

    memset(w->hash, 0, PZ_HASH * sizeof *w->hash);
    s->out_len = 0;
    while (i < n) {
        uint32_t best = 0, pos = 0, probe = 0;

        c->crc_lane[w->id] = c->crc_lane[w->id] * 31 + in[i];
        if (i + 4 < n) {
            uint32_t h = hash3(in + i), cand = w->hash[h];

            w->hash[h] = (uint16_t)i;
            while (cand < i && probe < c->max_probe) {
                uint32_t m = 0;

                ln->probes++;
                while (i + m < n && m < c->max_match && in[cand + m] == in[i + m])
                    m++;
                if (m > best) {
                    best = m;
                    pos = cand;
                }
                probe++;
                cand = cand / 2;
                ln->chain++;
            }
        }
        if (best < 4 && (i & 15) == (s->seq & 7)) {
            best = dict_match(c, in + i, n - i);
            if (best >= 4)
                sym[SYM_DICT]++;
        }
        if (s->out_len + 8 > n + n / 2) {
            w->overflows++;
            break;
        }
        if (best >= 4) {
            emit(s, 0x80 | (best > 127 ? 127 : best));
            emit(s, (uint8_t)(i - pos));
            emit(s, (uint8_t)((i - pos) >> 8));
            sym[best < 16 ? SYM_SHORT : SYM_LONG]++;
            w->matches++;
            i += best > 127 ? 127 : best;
        } else {
            emit(s, 1);
            emit(s, in[i]);
            sym[SYM_LIT]++;
            w->literals++;
            i++;
        }
        atomic_fetch_add_explicit(&c->tokens, 1, memory_order_relaxed);
    }
    w->blocks++;
    return s->out_len;
}
