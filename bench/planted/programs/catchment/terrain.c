#include "catchment.h"
#include <math.h>

static void raise_hill(struct field *f, float cx, float cy, float height)
{
	for (int y = 0; y < f->height; y++)
		for (int x = 0; x < f->width; x++) {
			float d = hypotf((float)x - cx, (float)y - cy);

			f->elev[y * f->stride + x] += height / (1.0f + d * d * 0.02f);
		}
}

struct field *terrain_create(int width, int height, uint32_t seed)
{
	struct field *f = must_alloc_lines(sizeof *f);
	size_t cells = (size_t)width * (size_t)height;

	f->width = width;
	f->height = height;
	f->stride = (width + 15) / 16 * 16;
	f->elev = must_alloc_lines((size_t)f->stride * (size_t)height * sizeof *f->elev);
	f->water = must_alloc_lines(cells * sizeof *f->water);
	f->sediment = must_alloc_lines(cells * sizeof *f->sediment);
	f->inflow = must_alloc_lines(cells * sizeof *f->inflow);
	f->basin = must_alloc_lines(cells);
	for (int i = 0; i < 5; i++)
		raise_hill(f, (float)(rand_next(&seed) % (uint32_t)width),
			   (float)(rand_next(&seed) % (uint32_t)height), 10.0f + (float)i);
	for (size_t c = 0; c < cells; c++) {
		f->basin[c] = (unsigned char)((c * 7 + c / 5) % BASINS);
		f->sediment[c] = 1.0f;
	}
	return f;
}

void terrain_free(struct field *f)
{
	free(f->elev);
	free(f->water);
	free(f->sediment);
	free(f->inflow);
	free(f->basin);
	free(f);
}

/* The lowest of the four neighbours, or the cell itself. */
int terrain_downhill(const struct field *f, int x, int y)
{
	int bx = x, by = y;
	float low = f->elev[y * f->stride + x];
	static const int dx[4] = { 1, -1, 0, 0 }, dy[4] = { 0, 0, 1, -1 };

	for (int k = 0; k < 4; k++) {
		int nx = x + dx[k], ny = y + dy[k];

		if (nx < 0 || ny < 0 || nx >= f->width || ny >= f->height)
			continue;
		if (f->elev[ny * f->stride + nx] < low) {
			low = f->elev[ny * f->stride + nx];
			bx = nx;
			by = ny;
		}
	}
	return by * f->width + bx;
}
