/* SPDX-License-Identifier: MIT
 *
 * Counters: one block for each route, and one for everything else. */
#include "server/metrics.h"

#include <stdatomic.h>

static const struct {
	int64_t us;
	const char *le; /* the same in seconds */
} bounds[] = {{1000, "0.001"},   {5000, "0.005"},   {10000, "0.01"},  {50000, "0.05"},
	      {100000, "0.1"},   {500000, "0.5"},   {1000000, "1"},   {5000000, "5"}};

enum { BOUNDS = sizeof(bounds) / sizeof(bounds[0]), CLASSES = 5 /* 1xx to 5xx */ };

typedef struct block {
	const rt_route *route; /* NULL: pages, and requests without a route */
	_Atomic uint64_t answers[CLASSES];
	_Atomic uint64_t below[BOUNDS]; /* answers that took at most this long; not cumulative */
	_Atomic uint64_t us;
} block;

struct rt_metrics {
	const rt_alloc *alloc;
	size_t count;
	block blocks[];
};

/* The place of the route's block: after those of the tables before its own; 0: none. */
static size_t
place_of(const rt_route *route)
{
	size_t place = 1;

	for (size_t t = 0; route != NULL && rt_all_routes[t] != NULL; t++)
		for (const rt_route *one = rt_all_routes[t]; one->path != NULL; one++, place++)
			if (one == route)
				return place;
	return 0;
}

rt_metrics *
rt_metrics_new(const rt_alloc *alloc)
{
	size_t count = 1;

	for (size_t t = 0; rt_all_routes[t] != NULL; t++)
		for (const rt_route *one = rt_all_routes[t]; one->path != NULL; one++)
			count++;
	rt_metrics *metrics = rt_new0(alloc, sizeof(*metrics) + count * sizeof(metrics->blocks[0]));
	if (metrics == NULL)
		return NULL;
	metrics->alloc = alloc;
	metrics->count = count;
	for (size_t t = 0; rt_all_routes[t] != NULL; t++)
		for (const rt_route *one = rt_all_routes[t]; one->path != NULL; one++)
			metrics->blocks[place_of(one)].route = one;
	return metrics;
}

void
rt_metrics_free(rt_metrics *metrics)
{
	if (metrics != NULL)
		rt_free(metrics->alloc, metrics);
}

void
rt_metrics_add(rt_metrics *metrics, const rt_route *route, unsigned status, int64_t us)
{
	block *b = &metrics->blocks[place_of(route)];
	size_t at = status >= 100 && status < 600 ? status / 100 - 1 : CLASSES - 1;

	atomic_fetch_add_explicit(&b->answers[at], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&b->us, (uint64_t)(us > 0 ? us : 0), memory_order_relaxed);
	for (size_t i = 0; i < BOUNDS; i++)
		if (us <= bounds[i].us) {
			atomic_fetch_add_explicit(&b->below[i], 1, memory_order_relaxed);
			break;
		}
}

static uint64_t
count_of(const block *b)
{
	uint64_t count = 0;

	for (size_t i = 0; i < CLASSES; i++)
		count += b->answers[i];
	return count;
}

static const char *
name_of(const block *b)
{
	return b->route != NULL ? b->route->name : "page";
}

static void
write_times(const block *b, rt_buf *out)
{
	uint64_t below = 0, count = count_of(b);

	for (size_t i = 0; i < BOUNDS; i++) {
		below += b->below[i];
		rt_buf_add_f(out, "retake_http_request_seconds_bucket{route=\"%s\",le=\"%s\"} %llu\n",
			     name_of(b), bounds[i].le, (unsigned long long)below);
	}
	rt_buf_add_f(out, "retake_http_request_seconds_bucket{route=\"%s\",le=\"+Inf\"} %llu\n", name_of(b),
		     (unsigned long long)count);
	rt_buf_add_f(out, "retake_http_request_seconds_sum{route=\"%s\"} %llu.%06llu\n", name_of(b),
		     (unsigned long long)(b->us / 1000000), (unsigned long long)(b->us % 1000000));
	rt_buf_add_f(out, "retake_http_request_seconds_count{route=\"%s\"} %llu\n", name_of(b),
		     (unsigned long long)count);
}

void
rt_metrics_write(rt_metrics *metrics, rt_buf *out)
{
	rt_buf_add_c(out, "# HELP retake_http_requests_total Responses by route and status class.\n"
			  "# TYPE retake_http_requests_total counter\n");
	for (size_t i = 0; i < metrics->count; i++)
		for (size_t c = 0; c < CLASSES; c++)
			if (metrics->blocks[i].answers[c] > 0)
				rt_buf_add_f(out,
					     "retake_http_requests_total{route=\"%s\",status=\"%zuxx\"} %llu\n",
					     name_of(&metrics->blocks[i]), c + 1,
					     (unsigned long long)metrics->blocks[i].answers[c]);
	rt_buf_add_c(
		out,
		"# HELP retake_http_request_seconds Time from the request headers to the response; for streams, to the first byte.\n"
		"# TYPE retake_http_request_seconds histogram\n");
	for (size_t i = 0; i < metrics->count; i++)
		if (count_of(&metrics->blocks[i]) > 0)
			write_times(&metrics->blocks[i], out);
}
