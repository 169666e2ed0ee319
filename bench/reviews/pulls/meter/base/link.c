#include "meter.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int fd = -1;

void link_open(const char *path)
{
    fd = open(path, O_RDWR);
}

int link_receive(struct frame *frame)
{
    ssize_t got = read(fd, frame->bytes, sizeof frame->bytes);
    if (got <= 0)
        return 0;
    frame->length = (uint32_t)got;
    return 1;
}

int link_send(const struct frame *frame)
{
    return write(fd, frame->bytes, frame->length) == (ssize_t)frame->length;
}
