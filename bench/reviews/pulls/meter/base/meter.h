#ifndef METER_H
#define METER_H

#include <stdint.h>

#define LINE 64

struct frame {
  uint32_t length;
  uint8_t bytes[252];
};

/* ring.c */
int ring_put(const struct frame *frame);
int ring_take(struct frame *frame);

/* link.c */
void link_open(const char *path);
int link_receive(struct frame *frame);
int link_send(const struct frame *frame);

/* log.c */
void log_line(const char *what, long value);

#endif
