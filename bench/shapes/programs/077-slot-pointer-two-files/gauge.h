#ifndef GAUGE_H
#define GAUGE_H
struct gauge { volatile unsigned value; unsigned owner; };
struct gauge *gauge_claim(unsigned owner);
unsigned gauge_sum(void);
#endif
