/* What is done where less was written than was asked for, and what is not that.
 * Each name is a variable; those that begin with "r" are rare. */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

long r_short, r_word, r_file, r_round, f_other, f_read, f_sent, f_whole,
    f_changed, f_negative;

void writes(int fd, const char *from, long n) {
  if (write(fd, from, n) != n)
    r_short++;
}

void writes_word(int fd, long word) {
  if (write(fd, &word, sizeof word) != sizeof word)
    r_word++;
}

void writes_file(FILE *to, const char *from, unsigned long n) {
  if (fwrite(from, 1, n, to) != n)
    r_file++;
}

void writes_rounds(int fd, const char *from, long n, long rounds) {
  for (long i = 0; i < rounds; i++)
    if (write(fd, from + i, n) != n)
      r_round++;
}

/* Another number, another function, or the other way. */
void writes_other(int fd, const char *from, long n, long other) {
  if (write(fd, from, n) != other)
    f_other++;
}

void reads(int fd, char *to, long n) {
  if (read(fd, to, n) != n)
    f_read++;
}

void sends(int fd, const char *from, long n) {
  if (send(fd, from, n, 0) != n)
    f_sent++;
}

void whole(int fd, const char *from, long n) {
  if (write(fd, from, n) == n)
    f_whole++;
}

void changed(int fd, const char *from, long n) {
  long done = write(fd, from, n);
  if (done != n + 1)
    f_changed++;
}

void negative(int fd, const char *from, long n) {
  if (write(fd, from, n) < 0)
    f_negative++;
}

int main(void) { return 0; }
