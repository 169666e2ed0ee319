/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory disks and a stripe over two of them. */
#include "nv.h"

#define NDISKS   3
#define NRANGES  16
#define BLOCKS   96

struct range {
	atomic_flag owned;
	uint8_t dirty;
	uint16_t writes;
};

static struct nv_bdev *disks[NDISKS];
static struct nv_ns *namespaces[NDISKS];
static struct range ranges[NRANGES];
static _Atomic uint32_t op_cost[NV_OPC_MAX];
static _Atomic uint32_t inflight;
static uint32_t retry_limit = 1000;
static _Atomic uint32_t mismatches;
static uint32_t qos_denied;

static void range_lock(struct range *r)
{
	while (atomic_flag_test_and_set_explicit(&r->owned, memory_order_acquire))
		nv_env->relax();
}

static void range_unlock(struct range *r)
{
	atomic_flag_clear_explicit(&r->owned, memory_order_release);
}

static int ram_submit(struct nv_bdev *bd, struct nv_io *io)
{
	uint8_t *cell = bd->media + (size_t)(io->lba % bd->nblocks) * NV_BLOCK;
	struct range *r = &ranges[io->lba % NRANGES];
	uint32_t v;

	switch (io->cmd->opcode) {
	case NV_READ:
		memcpy(&v, cell, sizeof v);
		io->result = v;
		break;
	case NV_WRITE:
		range_lock(r);
		memcpy(cell, &io->cmd->payload, sizeof io->cmd->payload);
		cell[8]++;
		r->dirty = 1;
		r->writes++;
		range_unlock(r);
		break;
	case NV_TRIM:
		range_lock(r);
		memset(cell, 0, 8);
		r->dirty = 0;
		range_unlock(r);
		break;
	case NV_COMPARE:
		memcpy(&v, cell, sizeof v);
		io->result = v == io->cmd->payload;
		break;
	default:
		bd->media_errors++;
		return -1;
	}
	return 0;
}

static int stripe_submit(struct nv_bdev *bd, struct nv_io *io)
{
	struct nv_bdev *c = bd->child[io->lba & 1];

	io->lba >>= 1;
	return nv_bdev_submit(c, io);
}

static const struct nv_bdev_ops ram_ops = { "ram", ram_submit };
static const struct nv_bdev_ops stripe_ops = { "stripe", stripe_submit };

int nv_bdev_submit(struct nv_bdev *bd, struct nv_io *io)
{
	int rc;

	nv_add(&inflight, 1);
	nv_add(&bd->io_count, 1);
	nv_add(&bd->io_bytes, NV_BLOCK);
	for (uint32_t n = 0; nv_peek(&bd->qos_credit) <= 0 && n < retry_limit; n++) {
		if (nv_peek(&nv_draining))
			break;
		nv_env->relax();
	}
	nv_sub(&bd->qos_credit, 1);
	rc = bd->ops->submit(bd, io);
	nv_sub(&inflight, 1);
	return rc;
}

void nv_account(unsigned opc, uint32_t cost)
{
	if (opc < NV_OPC_MAX)
		nv_add(&op_cost[opc], cost);
}

struct nv_ns *nv_ns_get(unsigned nsid)
{
	struct nv_ns *ns = nsid < NDISKS ? namespaces[nsid] : NULL;

	if (!ns || (ns->ns_flags & 0x80))
		return NULL;
	nv_add(&ns->ns_refs, 1);
	return ns;
}

void nv_ns_put(struct nv_ns *ns)
{
	nv_sub(&ns->ns_refs, 1);
}

unsigned nv_ns_count(void)
{
	return NDISKS;
}

struct nv_bdev *nv_bdev_by_index(unsigned i)
{
	return i < NDISKS ? disks[i] : NULL;
}

static int bdev_init(const struct nv_opts *o)
{
	for (unsigned i = 0; i < NDISKS; i++) {
		struct nv_bdev *bd = calloc(1, sizeof *bd);

		if (!bd)
			return -1;
		snprintf(bd->label, sizeof bd->label, "ram%u", i);
		bd->nblocks = BLOCKS;
		bd->ops = &ram_ops;
		atomic_init(&bd->qos_credit, (int32_t)o->qos_quota);
		if (i == NDISKS - 1) {
			snprintf(bd->label, sizeof bd->label, "raid0");
			bd->ops = &stripe_ops;
			bd->child[0] = disks[0];
			bd->child[1] = disks[1];
			bd->nblocks *= 2;
		} else {
			bd->media = calloc(BLOCKS, NV_BLOCK);
			if (!bd->media)
				return -1;
		}
		disks[i] = bd;
	}
	for (unsigned i = 0; i < NDISKS; i++) {
		struct nv_ns *ns = calloc(1, sizeof *ns);

		if (!ns)
			return -1;
		ns->ns_id = i;
		ns->bdev = disks[i];
		ns->ns_flags = 1;
		namespaces[i] = ns;
	}
	return 0;
}

static void bdev_dump(FILE *f)
{
	unsigned dirty = 0, w = 0;

	for (unsigned i = 0; i < NDISKS; i++)
		fprintf(f, "%s: %u ios, %u bytes, %u refills, refs %u, %u errors\n", disks[i]->label, nv_peek(&disks[i]->io_count),
			nv_peek(&disks[i]->io_bytes), disks[i]->qos_refills, nv_peek(&namespaces[i]->ns_refs), disks[i]->media_errors);
	for (unsigned i = 0; i < NRANGES; i++) {
		dirty += ranges[i].dirty;
		w += ranges[i].writes;
	}
	fprintf(f, "ranges: %u dirty, %u writes; cost", dirty, w);
	for (unsigned i = 0; i < NV_OPC_MAX; i++)
		fprintf(f, " %u", nv_peek(&op_cost[i]));
	fprintf(f, "; inflight %u, mismatches %u, denied %u\n", nv_peek(&inflight), nv_peek(&mismatches), qos_denied);
}

const struct nv_subsystem nv_bdev_subsystem = {
	.subsys_name = "bdev",
	.init = bdev_init,
	.dump = bdev_dump,
};
