#include "venc.h"
#include <signal.h>

static void sigint_handler(int a)
{
    (void)a;
    b_ctrl_c = 1;
}

static int parse_args(int argc, char **argv, venc_param_t *p)
{
    for (int i = 1; i < argc; i++) {
        char name[32];
        const char *eq = strchr(argv[i], '=');

        if (!eq) {
            if (venc_param_parse(p, "frames", argv[i]))
                return -1;
            continue;
        }
        if ((size_t)(eq - argv[i]) >= sizeof(name))
            return -1;
        memcpy(name, argv[i], eq - argv[i]);
        name[eq - argv[i]] = 0;
        if (venc_param_parse(p, name, eq + 1)) {
            venc_log(VENC_LOG_ERROR, "unknown option %s\n", name);
            return -1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    venc_param_t param;
    pthread_t la, mux, ctl;
    venc_t *h;

    venc_param_default(&param);
    if (parse_args(argc, argv, &param) < 0 || !(h = venc_open(&param)))
        return 1;
    venc_param_parse(&param, "zone", "100,140,2");
    signal(SIGINT, sigint_handler);

    pthread_create(&la, NULL, lookahead_main, h);
    pthread_create(&mux, NULL, mux_main, h);
    pthread_create(&ctl, NULL, control_main, h);
    for (int i = 0; i < param.i_threads; i++)
        if (pthread_create(&h->threads[i]->thr, NULL, venc_thread_main, h->threads[i])) {
            perror("pthread_create");
            return 1;
        }
    for (int i = 0; i < param.i_threads; i++)
        pthread_join(h->threads[i]->thr, NULL);
    pthread_join(la, NULL);
    pthread_join(mux, NULL);
    pthread_join(ctl, NULL);
    venc_close(h);
    return 0;
}
