#include "gate.h"
#include <sys/socket.h>
#include <unistd.h>

static int read_full(int fd, void *buf, size_t len)
{
	unsigned char *p = buf;

	while (len) {
		ssize_t n = read(fd, p, len);

		if (n <= 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static uint32_t client_random(struct client *cl)
{
	cl->seed = cl->seed * 1664525u + 1013904223u;
	return cl->seed >> 8;
}

static size_t client_frame(struct client *cl, unsigned char *out)
{
	struct frame f;
	uint32_t r = client_random(cl);

	f.len = (uint16_t)(4 + r % 24);
	f.module = (uint8_t)((r >> 5) % 3);
	f.op = (uint8_t)(r >> 12);
	f.id = r;
	for (unsigned i = 0; i < f.len; i++)
		f.payload[i] = (unsigned char)(r + i * 7);
	memcpy(out, &f, FRAME_HEAD + f.len);
	cl->sent++;
	return FRAME_HEAD + f.len;
}

static int client_reply(struct client *cl, int fd)
{
	struct frame f;

	if (read_full(fd, &f, FRAME_HEAD) || f.len > GATE_MAX_PAYLOAD ||
	    read_full(fd, f.payload, f.len)) {
		cl->bad++;
		return -1;
	}
	for (unsigned i = 0; i < f.len; i++)
		cl->check += f.payload[i];
	cl->received++;
	return 0;
}

void *client_run(void *arg)
{
	struct client *cl = arg;
	unsigned char out[GATE_BATCH * sizeof(struct frame)];

	for (unsigned r = 0; r < cl->rounds; r++) {
		for (int s = 0; s < 2; s++) {
			size_t len = 0;

			for (int k = 0; k < GATE_BATCH; k++)
				len += client_frame(cl, out + len);
			if (write(cl->fd[s], out, len) != (ssize_t)len)
				return NULL;
		}
		for (int s = 0; s < 2; s++)
			for (int k = 0; k < GATE_BATCH; k++)
				if (client_reply(cl, cl->fd[s]))
					return NULL;
	}
	shutdown(cl->fd[0], SHUT_WR);
	shutdown(cl->fd[1], SHUT_WR);
	return NULL;
}
