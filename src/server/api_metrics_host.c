/* SPDX-License-Identifier: MIT
 *
 * GET /metrics: the counts of metrics.h, the load of the server, and the usual figures of a
 * process, read from /proc. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/run.h"
#include "server/api.h"
#include "server/metrics.h"

static void
put_gauge(rt_buf *out, const char *name, const char *type, const char *help, double value)
{
	rt_buf_add_f(out, "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", name, help, name, type, name, value);
}

/* Counts the entries of /proc/self/fd; 0: there is no /proc. */
static unsigned
open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	if (folder == NULL)
		return 0;
	while (readdir(folder) != NULL)
		count++;
	(void)closedir(folder);
	return count > 3 ? count - 3 : 0; /* without ".", ".." and the folder's own */
}

/* proc(5): the fields after the name of the program in parentheses, which may contain spaces. */
static void
put_process(rt_buf *out)
{
	FILE *file = fopen("/proc/self/stat", "re");
	unsigned long user = 0, system = 0;
	unsigned long long begun = 0;
	long pages = 0, ticks = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);
	char line[1024];
	const char *rest;
	bool is_read;

	if (file == NULL)
		return;
	is_read = fgets(line, sizeof(line), file) != NULL;
	(void)fclose(file);
	rest = is_read ? strrchr(line, ')') : NULL;
	if (rest == NULL ||
	    sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d %*d %llu %*u %ld",
		   &user, &system, &begun, &pages) != 4)
		return;
	put_gauge(out, "process_cpu_seconds_total", "counter", "Processor time.",
		  (double)(user + system) / (double)ticks);
	put_gauge(out, "process_resident_memory_bytes", "gauge", "Memory in use.",
		  (double)pages * (double)page);
	put_gauge(out, "process_open_fds", "gauge", "Open files.", open_files());
}

void
rt_api_metrics(rt_call *call)
{
	rt_buf *out = &call->answer->body;
	size_t projects = 0, running = 0;
	rt_front_counts counts;

	rt_front_count(call->front, &counts);
	for (rt_open_project *p = rt_project_pool_first(call->pool); p != NULL; p = p->next) {
		projects++;
		running += rt_runs_running(p->runs);
	}
	rt_buf_add_c(out, "# HELP retake_build_info The version.\n# TYPE retake_build_info gauge\n"
			  "retake_build_info{version=\"" RT_VERSION "\"} 1\n");
	rt_metrics_write(call->metrics, out);
	put_gauge(out, "retake_http_connections", "gauge", "Open connections.", counts.connections);
	put_gauge(out, "retake_http_streams", "gauge", "Open event streams.", counts.streams);
	put_gauge(out, "retake_http_workers", "gauge", "Worker threads for requests that can block.",
		  counts.workers);
	put_gauge(out, "retake_http_late_total", "counter", "Connections closed because of a timeout.",
		  (double)counts.late);
	put_gauge(out, "retake_projects_open", "gauge", "Projects in memory.", (double)projects);
	put_gauge(out, "retake_runs_running", "gauge", "Replies that this server is receiving.",
		  (double)running);
	put_process(out);
	call->answer->type = "text/plain; version=0.0.4; charset=utf-8";
}
