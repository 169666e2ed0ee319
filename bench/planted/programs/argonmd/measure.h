#ifndef MD_MEASURE_H
#define MD_MEASURE_H

void measure_init(void);
void measure_sample(void);
void measure_report(void);
void measure_free(void);

#endif
