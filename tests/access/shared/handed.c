/* Calls through pointers behind another call, which leaves nothing in the registers of arguments but its result. */
struct box {
  long pad;
  void (*none)(void);
  void (*one)(long);
  void (*two)(long, long);
};
void before(void);

void call_none(struct box *b) {
  before();
  b->none();
}
void call_one(struct box *b) {
  before();
  b->one(7);
}
void call_two(struct box *b) {
  before();
  b->two(7, 8);
}
