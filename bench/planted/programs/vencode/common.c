/* parameters and messages */
#include "venc.h"
#include <stdarg.h>

int venc_log_level = VENC_LOG_INFO;
volatile int b_ctrl_c;
static int i_log_messages;

void venc_log(int level, const char *fmt, ...)
{
    static const char *const names[] = { "error", "warning", "info", "debug" };
    va_list ap;

    if (level > venc_log_level)
        return;
    flockfile(stderr);
    fprintf(stderr, "venc [%s]: ", names[level]);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    i_log_messages++;
    funlockfile(stderr);
}

void venc_param_default(venc_param_t *p)
{
    memset(p, 0, sizeof(*p));
    p->i_threads = 3;
    p->i_frames = 40000;
    p->i_keyint = 50;
    p->i_log_level = VENC_LOG_INFO;
    p->i_qp_min = 4;
    p->i_qp_max = 40;
    p->i_bitrate = 60000;
    snprintf(p->psz_stats, sizeof(p->psz_stats), "venc.stats");
}

#define OPT(s) else if (!strcmp(name, s))
int venc_param_parse(venc_param_t *p, const char *name, const char *value)
{
    int i = atoi(value);

    if (0)
        ;
    OPT("threads") p->i_threads = X_CLIP(i, 1, THREADS_MAX);
    OPT("frames")  p->i_frames = i;
    OPT("keyint")  p->i_keyint = X_MAX(i, 1);
    OPT("qpmin")   p->i_qp_min = i;
    OPT("qpmax")   p->i_qp_max = i;
    OPT("bitrate") p->i_bitrate = i;
    OPT("zone")    {
        zone_t *z = &zones[i_zones];

        if (i_zones == 4 || sscanf(value, "%d,%d,%d", &z->i_start, &z->i_end, &z->i_qp_add) != 3)
            return -1;
        i_zones++;
    }
    OPT("log")     p->i_log_level = i;
    OPT("stats")   snprintf(p->psz_stats, sizeof(p->psz_stats), "%s", value);
    else
        return -1;
    return 0;
}
