// Statistics of each processor in an array of a driver, at the number of the running processor.
// about: fw_stats
#include <stddef.h>
#include <stdint.h>

#define NR_CPUS 256
extern int smp_processor_id(void);
extern unsigned int nr_cpu_ids;

struct packet {
  uint32_t length;
  uint16_t protocol;
};

struct fw_stats {
  uint64_t accepted;
  uint64_t dropped;
  uint64_t bytes;
#ifdef EDIT
  uint64_t fragments;
#endif
}
#ifdef FIXED
__attribute__((aligned(64)))
#endif
;

static struct fw_stats fw_stats[NR_CPUS];
extern int match_rules(const struct packet *packet);

int fw_filter(const struct packet *packet) {
  struct fw_stats *stats = &fw_stats[smp_processor_id()];

  stats->bytes += packet->length;
  if (match_rules(packet)) {
    stats->accepted++;
    return 1;
  }
  stats->dropped++;
  return 0;
}

uint64_t fw_dropped(void) {
  uint64_t sum = 0;
  for (unsigned int cpu = 0; cpu < nr_cpu_ids; cpu++)
    sum += fw_stats[cpu].dropped;
  return sum;
}
