/* A pool of GLib's, and a thread beside it. */
#include <glib.h>

extern gint produced, consumed, stop;

static void work(gpointer data, gpointer user) {
  for (gint i = 0; i < GPOINTER_TO_INT(data); ++i)
    g_atomic_int_inc(&produced);
  (void)user;
}

static gpointer consume(gpointer data) {
  while (!g_atomic_int_get(&stop))
    g_atomic_int_inc(&consumed);
  return data;
}

int main(void) {
  GThreadPool *pool = g_thread_pool_new(work, NULL, 4, FALSE, NULL);
  GThread *beside = g_thread_new("consume", consume, NULL);
  for (gint i = 0; i < 8; ++i)
    g_thread_pool_push(pool, GINT_TO_POINTER(1000), NULL);
  g_thread_pool_free(pool, FALSE, TRUE);
  g_thread_join(beside);
  return 0;
}
