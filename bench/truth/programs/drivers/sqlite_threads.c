// Several threads on one SQLite database, each with a connection of its own: what libsqlite3 is counted under.
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static const char *path;

static void run(sqlite3 *db, const char *sql) {
  char *why = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
    fprintf(stderr, "%s: %s\n", sql, why ? why : "failed");
  sqlite3_free(why);
}

static sqlite3 *opened(void) {
  sqlite3 *db = NULL;
  if (sqlite3_open(path, &db) != SQLITE_OK)
    exit(1);
  sqlite3_busy_timeout(db, 60000);
  run(db, "PRAGMA synchronous=OFF");
  return db;
}

static void *work(void *argument) {
  const long self = (long)argument;
  sqlite3 *db = opened();
  char sql[200];
  for (int turn = 0; turn < 80; turn++) {
    snprintf(sql, sizeof sql, "INSERT INTO t(k, v) VALUES(%ld, 'value %d of thread %ld')", self * 1000 + turn, turn,
             self);
    run(db, sql);
    for (int key = 0; key < 8; key++) {
      snprintf(sql, sizeof sql, "SELECT v FROM t WHERE k = %ld", self * 1000 + key * 7);
      run(db, sql);
    }
    snprintf(sql, sizeof sql, "SELECT count(*), max(v) FROM t WHERE k %% 3 = %ld", self);
    run(db, sql);
  }
  sqlite3_close(db);
  return NULL;
}

int main(int count, char **arguments) {
  if (count < 3)
    return 2;
  path = arguments[1];
  const long threads = strtol(arguments[2], NULL, 10);
  sqlite3 *db = opened();
  run(db, "PRAGMA journal_mode=WAL");
  run(db, "CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT)");
  pthread_t started[16];
  for (long at = 0; at < threads && at < 16; at++)
    pthread_create(&started[at], NULL, work, (void *)at);
  for (long at = 0; at < threads && at < 16; at++)
    pthread_join(started[at], NULL);
  sqlite3_close(db);
  return 0;
}
