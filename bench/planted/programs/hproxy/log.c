/* messages to stderr, and the access log with its own thread */
#include "hproxy.h"
#include <sched.h>
#include <stdarg.h>

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned log_lines;
struct access_log *alog;

static struct { unsigned long records, bytes; unsigned by_class[6]; } logged;

void hp_log_real(int lvl, const char *fmt, ...)
{
    static const char *const names[] = { "ERR", "WARN", "NOTE", "DBG" };
    va_list ap;

    pthread_mutex_lock(&log_mutex);
    fprintf(stderr, "[%s] ", names[lvl & 3]);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    log_lines++;
    pthread_mutex_unlock(&log_mutex);
}

void hp_spin_wait(hp_spin_t *l)
{
    int spins = 0;

    do {
        while (HA_ATOMIC_LOAD(&l->val))
            if (++spins > 50) {
                sched_yield();
                spins = 0;
            }
    } while (__atomic_exchange_n(&l->val, 1, __ATOMIC_ACQUIRE));
}

void access_log_init(void)
{
    alog = calloc(1, sizeof *alog);
    if (!alog)
        abort();
    alog->slots = calloc(ACCESS_SLOTS, sizeof(struct access_rec));
    if (!alog->slots)
        abort();
}

/* called by the workers; the record is dropped when the ring is full */
int access_log_push(const struct access_rec *r)
{
    struct access_log *l = alog;

    SPIN_LOCK(l);
    if (l->prod - __atomic_load_n(&l->cons, __ATOMIC_ACQUIRE) == ACCESS_SLOTS) {
        l->lost++;
        SPIN_UNLOCK(l);
        return -1;
    }
    l->slots[l->prod % ACCESS_SLOTS] = *r;
    __atomic_store_n(&l->prod, l->prod + 1, __ATOMIC_RELEASE);
    SPIN_UNLOCK(l);
    return 0;
}

static char line_buf[4096];
static unsigned line_len;

static void put_num(unsigned v)
{
    char t[12];
    int n = 0;

    do {
        t[n++] = '0' + v % 10;
        v /= 10;
    } while (v);
    while (n)
        line_buf[line_len++] = t[--n];
    line_buf[line_len++] = ' ';
}

static void write_out(const struct access_rec *r)
{
    if (line_len > sizeof line_buf - 64)
        line_len = 0;                  /* would be a write(2) to the log file */
    put_num(r->when);
    put_num(r->worker);
    put_num(r->status);
    put_num(r->bytes);
    line_buf[line_len++] = '\n';
    logged.records++;
    logged.bytes += r->bytes;
    logged.by_class[(r->status / 100) % 6]++;
}

void *access_log_main(void *arg)
{
    struct access_log *l = arg;

    for (;;) {
        unsigned head = __atomic_load_n(&l->prod, __ATOMIC_ACQUIRE);
        unsigned tail = l->cons;

        if (head == tail) {
            if (!HA_ATOMIC_LOAD(&workers_left))
                break;
            sched_yield();
            continue;
        }
        while (tail != head) {
            write_out(&l->slots[tail % ACCESS_SLOTS]);
            __atomic_store_n(&l->cons, ++tail, __ATOMIC_RELEASE);
        }
    }
    hp_log(LOG_NOTE_, "access log: %lu records %lu bytes, %u lost", logged.records, logged.bytes, l->lost);
    return NULL;
}
