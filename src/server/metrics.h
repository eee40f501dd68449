/* SPDX-License-Identifier: MIT
 *
 * Metrics: counts of answers and how long they took, by route, in the text format of Prometheus
 * (exposition format 0.0.4).
 *
 * Threads: any. */
#ifndef RT_SERVER_METRICS_H
#define RT_SERVER_METRICS_H

#include "server/route.h"

typedef struct rt_metrics rt_metrics;

/* NULL: no memory. */
rt_metrics *rt_metrics_new(const rt_alloc *alloc);
void rt_metrics_free(rt_metrics *metrics);
/* One answer; route NULL: a page, or none. us: from the end of the headers until it is ready. */
void rt_metrics_add(rt_metrics *metrics, const rt_route *route, unsigned status, int64_t us);
/* Appends the families retake_http_requests_total and retake_http_request_seconds. */
void rt_metrics_write(rt_metrics *metrics, rt_buf *out);

#endif
