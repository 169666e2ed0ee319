// The same data and loops without threads: nothing is shared.
// no-finding
volatile unsigned long produced;
volatile unsigned long consumed;
static void producer(long n) {
  for (long i = 0; i < n; i++)
    produced++;
}
static void consumer(long n) {
  for (long i = 0; i < n; i++)
    consumed++;
}
int main(int argc, char **argv) {
  producer(argc * 1000);
  consumer(argc * 1000);
  return produced == consumed;
}
