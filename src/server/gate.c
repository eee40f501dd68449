/* SPDX-License-Identifier: MIT */
#include "server/gate.h"

typedef struct gate {
	rt_web_stream stream;
	const rt_alloc *alloc;
	rt_browsers *browsers;
	rt_web_stream *inner;
	char hash[RT_BROWSER_ROOM];
} gate;

static size_t
gate_read(rt_web_stream *stream, char *out, size_t room, bool *out_ended)
{
	gate *g = (gate *)stream;

	if (!rt_browsers_is_in(g->browsers, rt_str_of(g->hash))) {
		*out_ended = true;
		return 0;
	}
	return g->inner->ops->read(g->inner, out, room, out_ended);
}

static void
gate_close(rt_web_stream *stream)
{
	gate *g = (gate *)stream;

	g->inner->ops->close(g->inner);
	rt_free(g->alloc, g);
}

static void
pass_on(void *ctx)
{
	gate *g = ctx;

	rt_web_wake(&g->stream);
}

rt_web_stream *
rt_gate_new(const rt_alloc *alloc, rt_browsers *browsers, rt_str hash, rt_web_stream *inner)
{
	static const rt_web_stream_ops ops = {gate_read, gate_close};
	gate *g = hash.size < RT_BROWSER_ROOM ? rt_new0(alloc, sizeof(*g)) : NULL;

	if (g == NULL) {
		inner->ops->close(inner);
		return NULL;
	}
	g->stream.ops = &ops;
	g->alloc = alloc;
	g->browsers = browsers;
	g->inner = inner;
	memcpy(g->hash, hash.ptr, hash.size);
	inner->front = g;
	inner->wake = pass_on;
	return &g->stream;
}
