/* Pointers to functions: where they are kept, and from where they are called. */
typedef void (*task_function)(void *);
struct task_work {
  long pad;
  task_function run;
  void *data;
};
struct task_loop {
  long pad[3];
  task_function handler;
};
static task_function task_hook;
static long tasks_done;

void on_task(void *data) { tasks_done += data != 0; }
void on_ready(void *data) { tasks_done -= data != 0; }

void keep_task(struct task_work *w, task_function run) { w->run = run; }
void hand_over(struct task_work *w) { keep_task(w, on_task); }
void set_handler(struct task_loop *l) { l->handler = on_ready; }
void set_task_hook(task_function run) { task_hook = run; }

void call_work(struct task_work *w) { w->run(w->data); }
void call_all(struct task_loop **all, long n) {
  for (long i = 0; i < n; ++i)
    if (all[i]->handler)
      all[i]->handler(0);
}
void call_hook(void) { task_hook(0); }
void call_given(task_function run) { run(0); }
void call_each(task_function *at, task_function *end) {
  for (; at < end; ++at)
    (*at)(0);
}
void call_rounds(struct task_work *w, long n) {
  task_function run = w->run;
  for (long i = 0; i < n; ++i)
    run((void *)i);
}
void call_either(struct task_loop *l, struct task_work *w, long n) {
  task_function run = n & 4 ? l->handler : w->run;
  for (long i = 0; i < n; ++i)
    run((void *)i);
}

int main(int n, char **v) {
  struct task_loop *l = (struct task_loop *)v;
  hand_over((struct task_work *)v);
  set_handler(l);
  set_task_hook(on_ready);
  call_work((struct task_work *)v);
  call_all(&l, n);
  call_hook();
  call_given(on_task);
  call_each((task_function *)v, (task_function *)v + n);
  call_rounds((struct task_work *)v, n);
  call_either(l, (struct task_work *)v, n);
  return (int)tasks_done;
}
