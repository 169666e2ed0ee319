#ifndef STATS_H
#define STATS_H
#define MAX_WORKERS 8
void stats_init(int n);
void stat_done(int id);
unsigned long stats_total(void);
#endif
