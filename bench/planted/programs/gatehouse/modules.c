#include "gate.h"

#define MODULE_SLOTS 8

static struct module *slots[MODULE_SLOTS];
static unsigned slots_used;

void module_register(struct module *m)
{
	if (slots_used == MODULE_SLOTS)
		abort();
	slots[slots_used++] = m;
}

struct module *module_find(unsigned slot)
{
	return slot < slots_used ? slots[slot] : NULL;
}

static int echo_handle(struct module *self, const struct request *rq, struct reply *out)
{
	(void)self;
	memcpy(out->data, rq->body, rq->len);
	out->len = rq->len;
	return 0;
}

static int digest_handle(struct module *self, const struct request *rq, struct reply *out)
{
	uint32_t h = 2166136261u;

	(void)self;
	for (unsigned i = 0; i < rq->len; i++)
		h = (h ^ rq->body[i]) * 16777619u;
	memcpy(out->data, &h, sizeof h);
	out->len = sizeof h;
	return 0;
}

static int fold_handle(struct module *self, const struct request *rq, struct reply *out)
{
	uint32_t lo = 0, hi = 0;

	if (rq->len < 2) {
		self->failures++;
		return -1;
	}
	for (unsigned i = 0; i + 1 < rq->len; i += 2) {
		lo += rq->body[i];
		hi ^= rq->body[i + 1];
	}
	out->data[0] = (unsigned char)lo;
	out->data[1] = (unsigned char)(lo >> 8);
	out->data[2] = (unsigned char)hi;
	out->len = 3;
	return 0;
}

static struct module echo_module = {
	.name = "echo", .handle = echo_handle, .min_len = 1,
};
static struct module digest_module = {
	.name = "digest", .handle = digest_handle, .flags = MOD_NEEDS_SESSION, .min_len = 1,
};
static struct module fold_module = {
	.name = "fold", .handle = fold_handle, .flags = MOD_NEEDS_SESSION, .min_len = 2,
};

void modules_init(void)
{
	module_register(&echo_module);
	module_register(&digest_module);
	module_register(&fold_module);
}

void modules_report(FILE *f)
{
	for (unsigned i = 0; i < slots_used; i++)
		fprintf(f, "module %s: %u calls, %u failures\n", slots[i]->name,
			atomic_load(&slots[i]->calls), slots[i]->failures);
}
