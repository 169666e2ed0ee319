#include "mq.h"
#include <stdlib.h>

struct router *router_new(uint32_t n)
{
    struct router *r = calloc(1, sizeof *r);
    if (!r || !(r->routes = calloc(n, sizeof *r->routes)))
        abort();
    r->nroutes = n;
    for (uint32_t i = 0; i < n; i++) {
        r->routes[i].prefix = i;
        r->routes[i].topic = i % MAX_TOPICS;
    }
    return r;
}

/* dispatcher: linear match, tables are short */
uint32_t router_find(struct router *r, uint32_t key)
{
    r->lookups++;
    for (uint32_t i = 0; i < r->nroutes; i++)
        if (r->routes[i].prefix == key)
            return r->routes[i].topic;
    r->misses++;
    return r->fallback;
}

/* publishers check before they build a message */
bool router_accepts(const struct router *r, uint32_t key)
{
    return key < r->nroutes;
}
