#include "silt.h"

static uint32_t crc_table[256];

static void crc_setup(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xEDB88320u ^ c >> 1 : c >> 1;
		crc_table[i] = c;
	}
}

struct wal *wal_open(uint32_t size)
{
	struct wal *w = aligned_alloc(64, sizeof *w);

	if (!w)
		abort();
	memset(w, 0, sizeof *w);
	crc_setup();
	w->buf = aligned_alloc(64, size);
	w->size = size;
	return w;
}

void wal_append(struct wal *w, latch_t *latch, const void *rec, uint32_t len)
{
	uint32_t at;

	latch_lock(latch);
	at = w->appended % w->size;
	if (at + len > w->size) {
		w->appended += w->size - at;
		w->wraps++;
		at = 0;
	}
	memcpy(w->buf + at, rec, len);
	w->appended += len;
	w->records++;
	latch_unlock(latch);
}

/* One syncer only; takes what has been appended so far. */
unsigned wal_sync(struct wal *w)
{
	uint32_t upto = *(volatile uint32_t *)&w->appended, n = 0;

	if (upto - w->synced > w->size)
		w->synced = upto - w->size;
	while (w->synced != upto && n < 16) {
		w->crc = crc_table[(w->crc ^ w->buf[w->synced % w->size]) & 255] ^ w->crc >> 8;
		w->synced++;
		n++;
	}
	w->syncs++;
	return n;
}
