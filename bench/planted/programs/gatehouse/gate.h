/* gatehouse: a small request gateway. Frames arrive over stream sockets,
 * a poller hands them to workers, the workers run the module they name. */
#ifndef GATE_H
#define GATE_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GATE_MAX_CONNS   8
#define GATE_MAX_WORKERS 4
#define GATE_MAX_PAYLOAD 56
#define GATE_SESSIONS    64
#define GATE_BATCH       6

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_LEVELS };
enum role { ROLE_POLLER, ROLE_TIMER, ROLE_WORKER };

struct frame {
	uint16_t len;
	uint8_t module;
	uint8_t op;
	uint32_t id;
	unsigned char payload[GATE_MAX_PAYLOAD];
};
#define FRAME_HEAD offsetof(struct frame, payload)

struct conn {
	int fd;
	bool open;
	uint32_t rx_frames;
	uint64_t rx_bytes;
	uint32_t tx_frames;
	uint32_t tx_errors;
	uint64_t tx_bytes;
	uint32_t last_module;
	struct {
		unsigned used;
		unsigned char data[512];
	} in;
};

struct request {
	struct request *next;
	struct conn *conn;
	uint32_t id;
	uint16_t len;
	uint8_t module, op;
	uint32_t status;
	uint32_t cost;
	unsigned char *body;
};

/* server-wide settings; requests_seen is for the status page */
struct settings {
	unsigned max_len;
	unsigned workers;
	unsigned trace;
	unsigned session_ttl;
	uint64_t requests_seen;
	unsigned reload_count;
};
extern struct settings settings;

/* inbox.c */
struct inbox {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct request *head;
	struct request **tail;
	unsigned depth;
	unsigned waiting;
	uint64_t taken;
	bool closed;
};
void inbox_init(struct inbox *in);
void inbox_put(struct inbox *in, struct request *rq);
struct request *inbox_take(struct inbox *in);
void inbox_close(struct inbox *in);

/* pool.c */
void request_pool_init(unsigned count);
struct request *request_get(void);
void request_put(struct request *rq);

/* modules.c */
struct reply {
	unsigned len;
	unsigned char data[GATE_MAX_PAYLOAD];
};
struct module {
	const char *name;
	int (*handle)(struct module *self, const struct request *rq, struct reply *out);
	unsigned flags;
	unsigned min_len;
	_Atomic uint32_t calls;
	uint32_t failures;
	struct module *next;
};
#define MOD_NEEDS_SESSION 1u
void module_register(struct module *m);
struct module *module_find(unsigned slot);
void modules_init(void);
void modules_report(FILE *f);

/* session.c */
void sessions_init(void);
unsigned session_open(uint32_t id);
void session_touch(unsigned slot, uint32_t cost);
unsigned session_sweep(void);
uint64_t session_digest(void);

/* limit.c */
void limits_init(unsigned conns, unsigned burst);
bool limit_pass(unsigned conn);
void limits_refill(void);
uint64_t limits_delayed(void);

/* timer.c */
void timer_arm(unsigned delay);
int timer_start(void);
void timer_stop(void);
void timer_report(FILE *f);

/* log.c */
void log_event(enum log_level level, const char *what, uint32_t value);
void log_set_threshold(enum log_level level);
void log_report(FILE *f);

/* watch.c */
unsigned watch_join(enum role role, const char *name);
void watch_beat(unsigned slot);
unsigned watch_scan(void);

/* worker.c */
struct worker {
	pthread_t thread;
	struct inbox *inbox;
	unsigned index;
	uint32_t handled;
	uint32_t busy;
	uint32_t rejected;
};
int workers_start(unsigned count);
struct worker *worker_for(const struct conn *c, uint32_t id);
void workers_stop(void);
uint64_t workers_report(FILE *f);
extern alignas(64) _Atomic int inflight;

/* poller.c */
void poller_add(int fd);
int poller_start(void);
void poller_stop(void);
void poller_report(FILE *f);

/* client.c */
struct client {
	int fd[2];
	unsigned rounds;
	uint32_t sent;
	uint32_t received;
	uint32_t check;
	uint32_t seed;
	uint32_t bad;
};
void *client_run(void *arg);

#endif
