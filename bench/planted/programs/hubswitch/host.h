#ifndef HUB_HOST_H
#define HUB_HOST_H

void hosts_start(void);
void hosts_join(void);

#endif
