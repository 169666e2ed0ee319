#ifndef GRID_H
#define GRID_H

enum { SIDE = 96 };

extern double cells[SIDE][SIDE];
extern double next_cells[SIDE][SIDE];
extern double heat_lost;
extern long steps_done;

void fill(unsigned seed);
double step(double rate);
double at_edge(int row, int column);
const char *shade(double value);
void draw(void);
double wave(double x);

#endif
