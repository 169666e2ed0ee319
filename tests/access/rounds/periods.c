/* What is done as a clock has moved on, and what is not that.  Each name is a
 * variable; those that begin with "r" are rare. */
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

long r_changed, r_stored, r_elapsed, r_next, r_asked_again, r_of_day,
    r_of_clock, r_scaled, r_taken, r_continued, r_and;
long f_nanoseconds, f_part, f_few, f_kept_nowhere, f_same, f_no_clock,
    f_unknown_part, f_around;
long interval = 5;
static long last_stored, last_part, last_around, next_taken;
struct state {
  long last;
} *state;

static inline long milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline long nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}

void changed(int fd, char *b) {
  time_t last = 0;
  while (read(fd, b, 9) > 0) {
    time_t now = time(NULL);
    if (now != last) {
      last = now;
      r_changed++;
    }
  }
}

void stored(void) {
  time_t now;
  time(&now);
  if (now != last_stored) {
    r_stored++;
    last_stored = now;
  }
}

void elapsed(int fd, char *b) {
  time_t last = 0;
  while (read(fd, b, 9) > 0) {
    time_t now = time(NULL);
    if (now - last >= 5) {
      last = now;
      r_elapsed++;
    }
  }
}

void until(int fd, char *b) {
  time_t next = 0;
  while (read(fd, b, 9) > 0) {
    time_t now = time(NULL);
    if (now > next) {
      next = now + 10;
      r_next++;
    }
  }
}

void asked_again(int fd, char *b) {
  while (read(fd, b, 9) > 0)
    if (time(NULL) - state->last > interval) {
      r_asked_again++;
      state->last = time(NULL);
    }
}

void of_day(int fd, char *b) {
  struct timeval t;
  time_t last = 0;
  while (read(fd, b, 9) > 0) {
    gettimeofday(&t, NULL);
    if (t.tv_sec != last) {
      last = t.tv_sec;
      r_of_day++;
    }
  }
}

void of_clock(int fd, char *b) {
  struct timespec t;
  while (read(fd, b, 9) > 0) {
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (t.tv_sec >= state->last) {
      state->last = t.tv_sec + 1;
      r_of_clock++;
    }
  }
}

void scaled(int fd, char *b) {
  long last = 0;
  while (read(fd, b, 9) > 0) {
    long now = milliseconds();
    if (now - last > 100) {
      last = now;
      r_scaled++;
    }
  }
}

void taken(void) {
  long now = time(NULL), seen = __atomic_load_n(&next_taken, __ATOMIC_RELAXED);
  if (now > seen &&
      __atomic_compare_exchange_n(&next_taken, &seen, now, 0, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED))
    r_taken++;
}

void continued(int fd, char *b) {
  while (read(fd, b, 9) > 0) {
    time_t now = time(NULL);
    if (now - state->last < interval)
      continue;
    state->last = now;
    r_continued++;
  }
}

void and (int fd, char *b) {
  time_t last = 0;
  while (read(fd, b, 9) > 0) {
    time_t now = time(NULL);
    if (now - last >= 5 && b[0]) {
      last = now;
      r_and++;
    }
  }
}

/* Differs each time it is asked. */
void each_nanosecond(int fd, char *b) {
  long last = 0;
  while (read(fd, b, 9) > 0) {
    long now = nanoseconds();
    if (now != last) {
      last = now;
      f_nanoseconds++;
    }
  }
}

void of_part(int fd, char *b) {
  struct timespec t;
  while (read(fd, b, 9) > 0) {
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (t.tv_nsec != last_part) {
      last_part = t.tv_nsec;
      f_part++;
    }
  }
}

void few(int fd, char *b) {
  long last = 0;
  while (read(fd, b, 9) > 0) {
    long now = nanoseconds();
    if (now - last > 200) {
      last = now;
      f_few++;
    }
  }
}

void unknown_part(int fd, char *b) {
  long last = 0;
  while (read(fd, b, 9) > 0) {
    long now = nanoseconds();
    if (now - last > interval) {
      last = now;
      f_unknown_part++;
    }
  }
}

/* From then on always. */
void kept_nowhere(int fd, char *b, time_t begin) {
  while (read(fd, b, 9) > 0)
    if (time(NULL) > begin)
      f_kept_nowhere++;
}

/* Its other way is the one that is taken once a second. */
void same(int fd, char *b) {
  time_t last = 0;
  while (read(fd, b, 9) > 0) {
    time_t now = time(NULL);
    if (now == last)
      f_same++;
    else
      last = now;
  }
}

void no_clock(int fd, char *b) {
  long last = 0;
  while (read(fd, b, 9) > 0) {
    long now = getpid();
    if (now != last) {
      last = now;
      f_no_clock++;
    }
  }
}

/* Done again and again until the number is kept, seldom or never. */
void around(int fd, char *b) {
  while (read(fd, b, 9) > 0) {
    time_t now = time(NULL);
    if (now >= last_around) {
      f_around++;
      if (now > last_around + 5)
        last_around = now;
    }
  }
}

int main(void) { return 0; }
