// Padding that only one unit asks for.
// expect: alignment-lost-in-unit high session
struct session {
  long number;
#ifdef WITH_PADS
  char numberPad[56];
#endif
  long sent;
};
