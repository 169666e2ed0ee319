#include <stdio.h>
#include <string.h>

#include "server.h"

typedef int (*route_fn)(struct conn *c, char *out, unsigned int cap);

static int serve_index(struct conn *c, char *out, unsigned int cap);
static int serve_status(struct conn *c, char *out, unsigned int cap);
static int serve_echo(struct conn *c, char *out, unsigned int cap);
static int serve_missing(struct conn *c, char *out, unsigned int cap);

struct route {
    const char *path;
    size_t len;
    route_fn fn;
    unsigned long hits;
};

static struct route routes[] = {
    { "/", 1, serve_index, 0 },
    { "/status", 7, serve_status, 0 },
    { "/echo", 5, serve_echo, 0 },
    { "/favicon.ico", 12, serve_missing, 0 },
};

#define NROUTES (sizeof(routes) / sizeof(routes[0]))

static int serve_index(struct conn *c, char *out, unsigned int cap)
{
    static const char page[] = "HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n<html>hello</html>\r\n\r\n";
    unsigned int n = sizeof(page) - 1 < cap ? sizeof(page) - 1 : cap;

    memcpy(out, page, n);
    c->status = 200;
    return (int)n;
}

static int serve_status(struct conn *c, char *out, unsigned int cap)
{
    unsigned int n = 0;
    unsigned long now = atomic_load_explicit(&clock_ms, memory_order_relaxed);

    memcpy(out, "HTTP/1.1 200 OK\r\n\r\nuptime=", 26);
    n = 26;
    do {
        out[n++] = (char)('0' + now % 10);
        now /= 10;
    } while (now && n < cap);
    c->status = 200;
    return (int)n;
}

static int serve_echo(struct conn *c, char *out, unsigned int cap)
{
    unsigned int n = 0;

    for (size_t i = 0; i < c->req_len && n < cap; i++)
        out[n++] = c->req[i] >= 'a' && c->req[i] <= 'z' ? (char)(c->req[i] - 32) : c->req[i];
    c->status = 200;
    return (int)n;
}

static int serve_missing(struct conn *c, char *out, unsigned int cap)
{
    (void)cap;
    memcpy(out, "HTTP/1.1 404 Not Found\r\n\r\n", 26);
    c->status = 404;
    return 26;
}

int route_dispatch(const char *path, size_t len, struct conn *c, char *out, unsigned int cap)
{
    for (size_t i = 0; i < NROUTES; i++) {
        struct route *r = &routes[i];

        if (r->len == len && memcmp(r->path, path, len) == 0) {
            r->hits++;
            return r->fn(c, out, cap);
        }
    }
    c->status = 404;
    return -1;
}

void routes_print(void)
{
    for (size_t i = 0; i < NROUTES; i++)
        printf("  %-14s %s\n", routes[i].path, routes[i].hits ? "used" : "unused");
}
