#ifndef MD_NEIGHBOR_H
#define MD_NEIGHBOR_H

#define MAX_NEIGHBORS 24

/* half lists: a pair is in the list of the atom with the smaller number */
struct neighbor_table {
	int *count;
	int *list;
	int capacity;
	int rebuilds;
	long total;
	int overflow;
};

extern struct neighbor_table neighbors;

void neighbors_create(void);
void neighbors_rebuild(void);
int neighbors_stale(void);
void neighbors_free(void);

#endif
