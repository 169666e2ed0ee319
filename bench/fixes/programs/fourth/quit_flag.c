// A traffic generator: two threads count what they send and receive in globals beside each other and a flag to stop.
// about: sent_packets received_packets
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#ifdef FIXED
#define APART __attribute__((aligned(64)))
#else
#define APART
#endif

extern int send_burst(int port);
extern int receive_burst(int port);

static uint64_t sent_packets APART;
static uint64_t received_packets APART;
static volatile sig_atomic_t force_quit APART;
#ifdef EDIT
static int promiscuous;
void set_promiscuous(int on) { promiscuous = on; }
#endif

static void on_signal(int number) {
  (void)number;
  force_quit = 1;
}

static void *transmit(void *port) {
  while (!force_quit)
    sent_packets += (uint64_t)send_burst(*(int *)port);
  return NULL;
}

static void *receive(void *port) {
  while (!force_quit)
    received_packets += (uint64_t)receive_burst(*(int *)port);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  int ports[2] = {0, 1};
  struct sigaction action = {.sa_handler = on_signal};

  sigaction(SIGINT, &action, NULL);
  pthread_create(&threads[0], NULL, transmit, &ports[0]);
  pthread_create(&threads[1], NULL, receive, &ports[1]);
  while (!force_quit) {
    sleep(1);
    printf("%lu sent, %lu received\n", (unsigned long)sent_packets, (unsigned long)received_packets);
  }
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
