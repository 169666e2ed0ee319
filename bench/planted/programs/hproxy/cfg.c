/* configuration parsing and process wide variables */
#include "hproxy.h"
#include <ctype.h>

struct global_conf conf = { .nbworkers = 3, .nbclients = 3, .rounds = 30000, .verbose = 0, .pidfile = "/run/hproxy.pid" };
struct global global = { .maxconn = 2000, .tune_maxrewrite = 256, .tune_ratelimit = 1u << 30, .mode = 1 };
int log_level = LOG_NOTE_;
volatile sig_atomic_t stopping;

struct cfg_keyword {
    const char *kw;
    int (*parse)(const char *arg, const char *arg2);
};

static int kw_maxconn(const char *a, const char *b)   { (void)b; global.maxconn = strtoul(a, NULL, 10); return 0; }
static int kw_rewrite(const char *a, const char *b)   { (void)b; global.tune_maxrewrite = strtoul(a, NULL, 10); return 0; }
static int kw_ratelimit(const char *a, const char *b) { (void)b; global.tune_ratelimit = strtoul(a, NULL, 10); return 0; }
static int kw_workers(const char *a, const char *b)   { (void)b; conf.nbworkers = atoi(a); return conf.nbworkers < 1 || conf.nbworkers > MAX_WORKERS; }
static int kw_clients(const char *a, const char *b)   { (void)b; conf.nbclients = atoi(a); return conf.nbclients < 1 || conf.nbclients > MAX_CLIENTS; }
static int kw_loglevel(const char *a, const char *b)  { (void)b; log_level = atoi(a); return 0; }
static int kw_balance(const char *a, const char *b)   { (void)b; backend_init(a); return default_be == NULL; }
static int kw_server(const char *a, const char *b)    { return backend_add(a, b ? strtoul(b, NULL, 10) : 1); }

static const struct cfg_keyword cfg_keywords[] = {
    { "maxconn", kw_maxconn }, { "tune.maxrewrite", kw_rewrite },
    { "tune.ratelimit", kw_ratelimit }, { "nbthread", kw_workers },
    { "clients", kw_clients }, { "log-level", kw_loglevel },
    { "balance", kw_balance }, { "server", kw_server },
};

static int cfg_errors;

static void parse_line(char *line, int lineno)
{
    char *w[3] = { 0 };
    int n = 0;
    char *p = line;

    while (*p && n < 3) {
        while (isspace((unsigned char)*p))
            p++;
        if (!*p || *p == '#')
            break;
        w[n++] = p;
        while (*p && !isspace((unsigned char)*p))
            p++;
        if (*p)
            *p++ = 0;
    }
    if (!n)
        return;
    for (size_t i = 0; i < sizeof cfg_keywords / sizeof cfg_keywords[0]; i++) {
        if (strcmp(cfg_keywords[i].kw, w[0]))
            continue;
        if (n < 2 || cfg_keywords[i].parse(w[1], w[2])) {
            hp_log(LOG_ERR_, "config: line %d: bad argument for '%s'", lineno, w[0]);
            cfg_errors++;
        }
        return;
    }
    hp_log(LOG_ERR_, "config: line %d: unknown keyword '%s'", lineno, w[0]);
    cfg_errors++;
}

int parse_config(const char *text)
{
    char line[128];
    int lineno = 0;

    while (*text) {
        size_t n = strcspn(text, "\n");
        if (n >= sizeof line)
            n = sizeof line - 1;
        memcpy(line, text, n);
        line[n] = 0;
        parse_line(line, ++lineno);
        text += n;
        if (*text == '\n')
            text++;
    }
    return cfg_errors;
}
