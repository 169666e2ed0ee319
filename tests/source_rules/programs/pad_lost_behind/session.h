// Padding behind all members that only one unit asks for.
// expect: alignment-lost-in-unit high session
struct session {
  long number;
  long sent;
#ifdef WITH_PADS
  char pad[48];
#endif
};
struct session *make(void);
