// Members that only one unit asks for are no padding, whatever the last letter of a word in their names.
// no-finding
struct session {
  long number;
#ifdef WITH_TLS
  char ocsp_required;
  char heap[8];
#endif
  long sent;
};
