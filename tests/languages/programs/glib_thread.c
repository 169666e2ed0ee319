/* Two threads of GLib's. */
#include <glib.h>

extern gint produced, consumed, stop;

static gpointer produce(gpointer data) {
  while (!g_atomic_int_get(&stop))
    g_atomic_int_inc(&produced);
  return data;
}

static gpointer consume(gpointer data) {
  while (!g_atomic_int_get(&stop))
    g_atomic_int_inc(&consumed);
  return data;
}

int main(void) {
  GThread *first = g_thread_new("produce", produce, NULL), *second = g_thread_new("consume", consume, NULL);
  g_thread_join(first);
  g_thread_join(second);
  return 0;
}
