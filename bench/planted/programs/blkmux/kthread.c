/* In the style of a block layer. */
#include "kernel.h"

struct task_struct {
	int		(*fn)(void *);
	void		*data;
	u32		seed;		/* the task's own */
	u32		utime;
	int		exit_code;
	int		cpu;
};

static struct {
	pthread_t	thread;
	struct task_struct *task;
	char		comm[16];
} task_table[16];
static int nr_tasks;

static pthread_mutex_t boot_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t boot_cond = PTHREAD_COND_INITIALIZER;
static int boot_wanted, boot_here;

static __thread struct task_struct *current;

static void *kthread_entry(void *arg)
{
	current = arg;
	current->exit_code = current->fn(current->data);
	return NULL;
}

struct task_struct *kthread_create(int (*fn)(void *), void *data, const char *comm, int cpu)
{
	struct task_struct *tsk = kzalloc(sizeof(*tsk));
	int i = nr_tasks++;

	if (!tsk)
		return NULL;
	tsk->fn = fn;
	tsk->data = data;
	tsk->cpu = cpu;
	tsk->seed = 2463534242u + cpu * 977u;
	task_table[i].task = tsk;
	snprintf(task_table[i].comm, sizeof(task_table[i].comm), "%s/%d", comm, cpu);
	return tsk;
}

int wake_up_processes(void)
{
	int i;

	for (i = 0; i < nr_tasks; i++)
		if (pthread_create(&task_table[i].thread, NULL, kthread_entry, task_table[i].task)) {
			pr_err("kthread: no thread for %s\n", task_table[i].comm);
			return -EAGAIN;
		}
	return 0;
}

int kthread_stop_wait(struct task_struct *tsk)
{
	int i;

	for (i = 0; i < nr_tasks; i++)
		if (task_table[i].task == tsk) {
			pthread_join(task_table[i].thread, NULL);
			pr_info("%s: %u\n", task_table[i].comm, tsk->utime);
		}
	return tsk->exit_code;
}

void kthread_account(u32 work)
{
	current->utime += work;
}

u32 prandom_u32(void)
{
	u32 x = current->seed;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	current->seed = x;
	return x;
}

int smp_processor_id(void)
{
	return current->cpu;
}

void __init boot_init(int nr)
{
	boot_wanted = nr;
}

/* nobody goes on before everybody is there */
void wait_for_boot(void)
{
	pthread_mutex_lock(&boot_mutex);
	if (++boot_here == boot_wanted)
		pthread_cond_broadcast(&boot_cond);
	while (boot_here < boot_wanted)
		pthread_cond_wait(&boot_cond, &boot_mutex);
	pthread_mutex_unlock(&boot_mutex);
}
