/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NV_MAX_REACTORS 4
#define NV_MAX_HOSTS    4
#define NV_MAX_CPUS     64
#define NV_QDEPTH       16
#define NV_EVRING       32
#define NV_BLOCK        16
#define NV_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define nv_load(p)      atomic_load_explicit(p, memory_order_acquire)
#define nv_peek(p)      atomic_load_explicit(p, memory_order_relaxed)
#define nv_store(p, v)  atomic_store_explicit(p, v, memory_order_release)
#define nv_add(p, v)    atomic_fetch_add_explicit(p, v, memory_order_relaxed)
#define nv_sub(p, v)    atomic_fetch_sub_explicit(p, v, memory_order_relaxed)

/* ---- environment ------------------------------------------------------- */

typedef void (*nv_thread_fn)(void *ctx);

struct nv_thread {
	pthread_t tid;
	nv_thread_fn body;
	void *body_ctx;
	unsigned slot;
};

struct nv_env_ops {
	int (*spawn)(struct nv_thread *t);
	int (*reap)(struct nv_thread *t);
	void (*relax)(void);
};
extern const struct nv_env_ops *nv_env;

struct nv_opts {
	char name[32];
	char conf_path[64];
	unsigned reactors;
	unsigned hosts;
	unsigned long rounds;
	unsigned qos_quota;
	unsigned trace_mask;
};
extern struct nv_opts nv_opts;

extern _Atomic uint32_t nv_ticks;
extern atomic_bool nv_draining;
extern int nv_log_level;

/* ---- subsystems -------------------------------------------------------- */

struct nv_subsystem {
	const char *subsys_name;
	int (*init)(const struct nv_opts *o);
	int (*start)(void);
	void (*stop)(void);
	void (*dump)(FILE *f);
};
int nv_app_start(const struct nv_subsystem *const *tab, size_t n, struct nv_opts *o);
void nv_app_stop(FILE *f);

extern const struct nv_subsystem nv_bdev_subsystem, nv_reactor_subsystem, nv_mgr_subsystem, nv_host_subsystem;

/* ---- requests and queue pairs ------------------------------------------ */

enum nv_opc { NV_READ, NV_WRITE, NV_TRIM, NV_COMPARE, NV_OPC_MAX };

struct nv_cmd {
	uint8_t opcode;
	uint8_t nsid;
	uint16_t cid;
	uint32_t lba;
	uint32_t payload;
};

struct nv_cpl {
	uint16_t cid;
	uint16_t status;
	uint32_t result;
};

struct nv_qpair {
	uint16_t qid;
	uint16_t depth;
	_Atomic uint32_t sq_tail;
	_Atomic uint32_t sq_head;
	_Atomic uint32_t cq_tail;
	_Atomic uint32_t cq_head;
	struct nv_cmd *sq;
	struct nv_cpl *cq;
	struct nv_qpair *next_qp;
};

/* ---- block devices ----------------------------------------------------- */

struct nv_bdev;
struct nv_io {
	const struct nv_cmd *cmd;
	uint32_t lba;
	uint32_t result;
	int rc;
};
typedef int (*nv_io_fn)(struct nv_bdev *bd, struct nv_io *io);

struct nv_bdev_ops {
	const char *kind;
	nv_io_fn submit;
};

struct nv_bdev {
	char label[12];
	uint32_t nblocks;
	const struct nv_bdev_ops *ops;
	struct nv_bdev *child[2];
	uint8_t *media;
	_Atomic uint32_t io_count;
	_Atomic uint32_t io_bytes;
	_Atomic int32_t qos_credit;
	uint32_t qos_refills;
	uint32_t media_errors;
};

struct nv_ns {
	struct nv_bdev *bdev;
	uint32_t ns_id;
	uint32_t ns_flags;
	_Atomic uint32_t ns_refs;
	_Atomic uint32_t ns_gen;
};

struct nv_ns *nv_ns_get(unsigned nsid);
void nv_ns_put(struct nv_ns *ns);
unsigned nv_ns_count(void);
struct nv_bdev *nv_bdev_by_index(unsigned i);
int nv_bdev_submit(struct nv_bdev *bd, struct nv_io *io);
void nv_account(unsigned opc, uint32_t cost);

/* ---- reactors ---------------------------------------------------------- */

typedef int (*nv_poll_fn)(void *ctx);
struct nv_poller {
	nv_poll_fn poll;
	void *poll_ctx;
	uint32_t runs;
	uint32_t hits;
	struct nv_poller *next_poller;
};

struct nv_event {
	void (*handler)(void *a);
	void *ev_arg;
};

struct nv_reactor {
	unsigned rid;
	unsigned batch;
	struct nv_poller *pollers;
	struct nv_qpair *qpairs;
	uint64_t busy_loops;
	uint64_t idle_loops;
	_Atomic uint32_t ev_tail;
	_Atomic uint32_t ev_head;
	struct nv_event ev_slot[NV_EVRING];
	struct nv_thread thread;
};

struct nv_reactor *nv_reactor_at(unsigned i);
int nv_reactor_post(struct nv_reactor *r, void (*fn)(void *), void *arg);
void nv_reactor_add_qpair(struct nv_reactor *r, struct nv_qpair *qp);
unsigned nv_reactor_self(void);
