#ifndef FORGE_STATUS_H
#define FORGE_STATUS_H

void status_start(void);
void status_stop(void);

#endif
