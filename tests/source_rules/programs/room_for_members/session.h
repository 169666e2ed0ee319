// What others are to leave alone is room for members of its own in the unit that knows them.
// no-finding
struct session {
  long number;
  long sent;
#ifdef INSIDE
  long waiting;
  void *first;
#else
  char reserved[4096];
#endif
};
struct session *make(void);
