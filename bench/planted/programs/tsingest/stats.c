/* What was counted, by whom. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

struct lane_stat lane_stats[LANES];
struct padded_stat padded_stats[LANES];
struct reader_stat *reader_stats;
struct cursor *cursors[LANES];
struct control control;

/* One byte per shard and slot: the ingester says that it wrote there. */
uint8_t dirty[SHARDS * 8];

/* The reader of lane 0 moves the clock; the query side starts epochs. */
_Atomic uint64_t clock_now = 1;
_Atomic uint32_t query_epoch = 1;
uint64_t compacted_total;

/* Only when something went wrong. */
uint64_t parse_errors, queue_errors, store_errors;

int stats_init(void)
{
	reader_stats = calloc(LANES, sizeof *reader_stats);
	if (!reader_stats)
		return -1;
	for (int i = 0; i < LANES; i++) {
		cursors[i] = calloc(1, sizeof *cursors[i]);
		if (!cursors[i])
			return -1;
	}
	return 0;
}

void stats_lane(int lane, size_t bytes)
{
	lane_stats[lane].points++;
	lane_stats[lane].bytes += bytes;
}

void stats_reader(int lane, unsigned lines)
{
	reader_stats[lane].lines += lines;
}

void stats_cursor(int lane, uint32_t step)
{
	struct cursor *c = cursors[lane];

	c->position += step;
	if (c->position >= 4096) {
		c->position -= 4096;
		c->wraps++;
	}
}

void stats_digits(int lane, unsigned n)
{
	padded_stats[lane].parsed++;
	padded_stats[lane].digits += n;
}

void stats_report(void)
{
	for (int i = 0; i < LANES; i++)
		printf("lane %d: %llu points, %llu bytes, %llu rejected, %llu lines, %llu stalls, %llu digits, cursor %llu/%u\n", i,
		       (unsigned long long)lane_stats[i].points, (unsigned long long)lane_stats[i].bytes,
		       (unsigned long long)lane_stats[i].rejected, (unsigned long long)reader_stats[i].lines,
		       (unsigned long long)reader_stats[i].stalls, (unsigned long long)padded_stats[i].digits,
		       (unsigned long long)cursors[i]->position, cursors[i]->wraps);
	printf("compacted %llu, beats %llu, epoch %u, errors %llu/%llu/%llu\n", (unsigned long long)compacted_total,
	       (unsigned long long)control.beats, atomic_load(&query_epoch), (unsigned long long)parse_errors,
	       (unsigned long long)queue_errors, (unsigned long long)store_errors);
}

void stats_destroy(void)
{
	for (int i = 0; i < LANES; i++)
		free(cursors[i]);
	free(reader_stats);
}
