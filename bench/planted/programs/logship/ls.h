/* logship: tailers parse and filter lines, a shipper batches them, an acker checks */
#ifndef LS_H
#define LS_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NTAIL 3
#define NRULES 4
#define LINE 64
#define QCAP 64

struct line {
	uint32_t source;
	uint32_t level;
	char text[40];
};

/* a filter rule; rules are tried in order */
struct rule {
	char prefix[8];
	uint32_t min_level;
	uint32_t hits;
};

/* a named counter of the registry; comes from the registry's arena */
struct metric {
	const char *name;
	uint64_t value;
	struct metric *next;
};

/* the connection to the collector */
struct conn {
	int fd;
	uint32_t window;
	uint64_t sent;
	char batch[24];         /* header of the batch being put together */
	uint32_t acked;         /* the acker's side */
	uint32_t ack_sum;
	uint32_t resets;
	uint32_t refused;
};

/* per-source position, allocated one by one */
struct cursor {
	uint32_t offset;
	uint32_t lines;
};

struct queue {
	pthread_mutex_t mu;
	pthread_cond_t more, room;
	struct line item[QCAP];
	unsigned in, out;
	int writers;
};

struct tailer {
	int id;
	pthread_t tid;
	long count;
	struct cursor *cur;
	struct metric *parsed;
	struct queue *q;
} __attribute__((aligned(LINE)));

/* registry.c */
struct metric *metric_new(const char *name);
void metric_add(struct metric *m, uint64_t n);
void metrics_print(FILE *f);
int rules_load(const char *text);
const struct rule *rule_match(const struct line *l);
void rules_print(FILE *f);

void queue_init(struct queue *q, int writers);
void queue_put(struct queue *q, const struct line *l);
bool queue_get(struct queue *q, struct line *l);
void queue_done(struct queue *q);

/* ship.c */
void *shipper_main(void *arg);
void *acker_main(void *arg);
extern struct conn *g_conn;
extern struct queue g_queue;
extern long g_acks;
extern unsigned char g_alive[8];
extern struct metric *m_shipped, *m_acked;

/* main.c */
void control_poll(void);

#endif
