#ifndef MD_INTEGRATE_H
#define MD_INTEGRATE_H

void integrate_init(void);
void integrate_step(void);
void thermostat(void);
float integrate_temperature(void);
void integrate_report(void);

#endif
