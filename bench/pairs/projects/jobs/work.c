#include "jobs.h"

const char *const kind_names[] = {"copy", "sum", "mix", "find", "sort", "swap"};

unsigned checksum(const unsigned char *bytes, size_t size) {
  unsigned sum = 1;
  for (size_t i = 0; i < size; ++i)
    sum = sum * 31 + bytes[i];
  return sum;
}

static unsigned mixed(unsigned char *bytes, size_t size) {
  unsigned state = 7;
  for (size_t i = 0; i < size; ++i) {
    state ^= bytes[i];
    state = (state << 5) | (state >> 27);
    bytes[i] = (unsigned char)state;
  }
  return state;
}

static unsigned sorted(unsigned char *bytes, size_t size) {
  for (size_t i = 1; i < size; ++i)
    for (size_t k = i; k > 0 && bytes[k - 1] > bytes[k]; --k) {
      unsigned char other = bytes[k];
      bytes[k] = bytes[k - 1];
      bytes[k - 1] = other;
    }
  return bytes[0];
}

unsigned run_job(struct job *job) {
  unsigned result = 0;
  switch (job->kind) {
  case 0:
    result = job->payload[job->size % sizeof job->payload];
    break;
  case 1:
    result = checksum(job->payload, sizeof job->payload);
    break;
  case 2:
    result = mixed(job->payload, sizeof job->payload);
    break;
  case 3:
    for (unsigned i = 0; i < sizeof job->payload; ++i)
      if (job->payload[i] == (unsigned char)job->size)
        result = i;
    break;
  case 4:
    result = sorted(job->payload, sizeof job->payload);
    break;
  case 5:
    result = job->size << 3;
    break;
  default:
    say("unknown kind %d", job->kind);
  }
  if (verbose)
    say("%s gave %u", kind_names[job->kind], result);
  return result;
}
