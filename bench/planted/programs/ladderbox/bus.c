/*
 *
 * bus.c - the field bus driver: inputs in, outputs out.
 */
#include "ladder.h"

struct io_image image;

static u32 bus_errors;            /* seldom */
static u32 bus_frames;            /* driver */
static u32 bus_check;             /* driver */

/* The modules on the bus, found at start-up by the driver itself. */
static const struct {
    u8 first, count;
} modules[] = {
    { 0, 8 }, { 8, 6 }, { 14, 10 },
};

static u16 crc_step(u16 crc, u16 v)
{
    u32 i;

    crc ^= v;
    for (i = 0; i < 4; i++)
        crc = (u16)(crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1);
    return crc;
}

static void exchange(u32 m)
{
    u16 crc = (u16)bus_frames;
    u32 i;

    if ((u32)modules[m].first + modules[m].count > NINPUT) {
        bus_errors++;
        return;
    }
    for (i = modules[m].first; i < (u32)modules[m].first + modules[m].count; i++) {
        crc = crc_step(crc, (u16)(i * 77 + bus_frames));
        WRITE_ONCE(image.im_in[i], crc);
    }
    bus_check += crc;
    bus_frames++;
}

void bus_main(void *arg)
{
    u32 i;

    (void)arg;
    gate_pass(&start_gate);
    while (!kt_should_stop()) {
        for (i = 0; i < ARRAY_SIZE(modules); i++)
            exchange(i);
        for (i = 0; i < NOUTPUT; i++)
            bus_check ^= READ_ONCE(image.im_out[i]);
        image.im_reads += NOUTPUT;
        WRITE_ONCE(image.im_seq, image.im_seq + 1);
        kt_pause();
    }
}

void bus_report(void)
{
    if (settings.st_verbose)
        printf("bus: %u frames, check %08x, seq %u, reads %u\n", bus_frames, bus_check,
               image.im_seq, image.im_reads);
    printf("bus errors %u\n", bus_errors);
}
