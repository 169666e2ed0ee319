/* Pointers to functions: where they are kept, and from where they are called. */
typedef void (*task)(void *);
struct work {
  long pad;
  task run;
  void *data;
};
struct loop {
  long pad[3];
  task handler;
};
static task hook;
static long done;

void on_task(void *data) { done += data != 0; }
void on_event(void *data) { done -= data != 0; }

void keep_task(struct work *w, task run) { w->run = run; }
void hand_over(struct work *w) { keep_task(w, on_task); }
void set_handler(struct loop *l) { l->handler = on_event; }
void set_hook(task run) { hook = run; }

void call_work(struct work *w) { w->run(w->data); }
void call_all(struct loop **all, long n) {
  for (long i = 0; i < n; ++i)
    if (all[i]->handler)
      all[i]->handler(0);
}
void call_hook(void) { hook(0); }
void call_given(task run) { run(0); }
void call_each(task *at, task *end) {
  for (; at < end; ++at)
    (*at)(0);
}

int main(int n, char **v) {
  struct loop *l = (struct loop *)v;
  hand_over((struct work *)v);
  set_handler(l);
  set_hook(on_event);
  call_work((struct work *)v);
  call_all(&l, n);
  call_hook();
  call_given(on_task);
  call_each((task *)v, (task *)v + n);
  return (int)done;
}
