/* chatrelay: sessions say things in rooms, relays hand them on, one thread watches who is there. */
#ifndef RELAY_H
#define RELAY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NSESS 2			/* threads that run sessions */
#define NRELAY 2
#define NROOMS 8
#define NUSERS 24
#define NBUCKETS 8
#define PER_THREAD 6		/* sessions of one thread */
#define BODY 72
#define CLINE 64

/* ---- thr.c ---- */

typedef struct thr {
	pthread_t id;
	char name[16];
	int (*main)(void *);
	void *arg;
	int rc;
	bool up;
} thr_t;

typedef struct startline {
	pthread_mutex_t mu;
	pthread_cond_t cv;
	int missing;
} startline_t;

extern __thread int thr_slot;

int thr_spawn(thr_t *t, const char *name, int slot, int (*fn)(void *), void *arg);
int thr_wait(thr_t *t);
void startline_init(startline_t *s, int n);
void startline_cross(startline_t *s);
void thr_relax(unsigned *turns);

/* ---- log.c ---- */

enum { L_ERR = 1, L_WARN = 2, L_TRACE = 4 };

extern unsigned log_mask;
void log_line(unsigned bit, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_close(void);

/* ---- msg.c ---- */

typedef struct msg {
	struct msg *next;
	uint32_t from;
	uint32_t room;
	uint32_t seq;
	uint16_t len;
	uint16_t kind;
	char body[BODY];
} msg_t;

typedef struct msgpool {
	pthread_mutex_t mu;
	msg_t *free;
	unsigned out;
	atomic_uint quota;		/* the watcher's opinion; asked without the lock */
} msgpool_t;

int msgpool_init(msgpool_t *p, unsigned n);
msg_t *msgpool_take(msgpool_t *p);
void msgpool_give(msgpool_t *p, msg_t *m);
void msgpool_free(msgpool_t *p);

typedef struct inbox {
	pthread_mutex_t mu;
	msg_t *first, *last;
	atomic_uint paused;		/* looked at before each message */
	unsigned count;
} inbox_t;

void inbox_init(inbox_t *b);
void inbox_put(inbox_t *b, msg_t *m);
msg_t *inbox_get(inbox_t *b);

/* From one relay to the watcher: which room had a message. */
typedef struct notes {
	_Atomic uint16_t wr;
	_Atomic uint16_t rd;
	uint16_t lost;
	uint16_t _pad;
	uint8_t rooms[120];
} notes_t;

void notes_put(notes_t *n, uint8_t room);
int notes_get(notes_t *n);

/* ---- users.c ---- */

typedef struct user {
	struct user *next;
	uint32_t id;
	uint32_t colour;
	atomic_uint refs;
	uint32_t rank;
	char nick[16];
} user_t;

typedef struct ubucket {
	pthread_spinlock_t lock;
	unsigned looked;
	user_t *head;
} ubucket_t;

int users_init(void);
user_t *user_get(uint32_t id);
user_t *user_peek(uint32_t id);
void user_put(user_t *u);
void users_free(void);

/* ---- rooms.c ---- */

typedef struct room {
	uint32_t id;
	uint32_t nmembers;
	uint32_t messages;		/* by the relay that has the room */
	uint32_t digest;
	atomic_uint seen;		/* by the watcher */
	uint32_t topic;
	user_t *members[4];
} room_t;

extern room_t *rooms[NROOMS];
int rooms_init(void);
void room_relay(room_t *r, const msg_t *m);
void rooms_free(void);

/* ---- stats.c ---- */

struct tstat {
	uint32_t in;
	uint32_t out;
	uint64_t bytes;
};

struct lanectr {
	_Alignas(CLINE) uint64_t events;
	uint64_t weight;
};

typedef struct tally {
	uint32_t turns;
	uint32_t words;
} tally_t;

extern struct lanectr lanectrs[NSESS + NRELAY + 1];
extern unsigned char strikes[NUSERS];
extern unsigned long drop_oversize, drop_closed, drop_unknown;

void tstat_in(uint32_t bytes);
void tstat_out(uint32_t bytes);
void tstat_print(void);

/* ---- server.c ---- */

typedef uint32_t (*filter_fn)(const char *text, unsigned len);

struct hooks {
	filter_fn filter;
	uint32_t limit;
	uint32_t flags;
	atomic_ulong calls;		/* of all threads together */
};

struct session {
	uint32_t user;
	uint32_t sent;
	uint32_t state;
	uint32_t muted;
};

struct control {
	atomic_bool draining;
	bool verbose;
	uint32_t beat;			/* the watcher's */
	uint32_t skips;
};

struct wheel {
	uint8_t *slots;
	uint32_t mask;
	atomic_uint now;		/* the watcher turns it */
};

struct server {
	_Alignas(CLINE) uint32_t max_body;
	uint32_t fanout;
	uint32_t trace_every;
	atomic_uint seq;		/* numbers of messages */
	_Alignas(CLINE) struct hooks hooks;
	_Alignas(CLINE) struct wheel wheel;
	_Alignas(CLINE) msgpool_t pool;
	_Alignas(CLINE) inbox_t inboxes[NRELAY];
	_Alignas(CLINE) notes_t notes[NRELAY];
	struct session *sessions;
	struct control *control;
	tally_t *tallies[NSESS + NRELAY];
	startline_t line;
	long rounds;
};

int server_run(struct server *s, long rounds);

#endif
