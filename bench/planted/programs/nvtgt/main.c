/* SPDX-License-Identifier: BSD-3-Clause */
#include "nv.h"

static const struct nv_subsystem *const order[] = {
	&nv_bdev_subsystem,
	&nv_reactor_subsystem,
	&nv_mgr_subsystem,
	&nv_host_subsystem,
};

int main(int argc, char **argv)
{
	struct nv_opts o = {
		.name = "nvtgt",
		.conf_path = "/etc/nvtgt.conf",
		.reactors = 3,
		.hosts = 2,
		.rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 3000,
		.qos_quota = 40,
	};

	if (nv_app_start(order, NV_ARRAY_SIZE(order), &o)) {
		fprintf(stderr, "nvtgt: cannot start\n");
		return 1;
	}
	nv_app_stop(stdout);
	return 0;
}
