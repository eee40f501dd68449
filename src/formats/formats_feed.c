/* SPDX-License-Identifier: MIT */
#include "formats/formats_feed.h"

void
rt_feed_init(rt_feed *feed, rt_build *b, const rt_feed_to *to)
{
	memset(feed, 0, sizeof(*feed));
	feed->b = b;
	feed->to = *to;
	rt_buf_init(&feed->name, b->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&feed->source, b->alloc, RT_BUF_UNLIMITED);
}

void
rt_feed_deinit(rt_feed *feed)
{
	rt_buf_deinit(&feed->name);
	rt_buf_deinit(&feed->source);
}

size_t
rt_feed_count(const rt_feed *feed)
{
	return feed->begun + rt_build_count(feed->b) - (feed->in_piece ? 1 : 0);
}

bool
rt_feed_is_long(const rt_feed *feed)
{
	return rt_feed_is_batched(feed) && rt_build_node_count(feed->b) > 0 &&
	       rt_build_discussion_size(feed->b) >= RT_FEED_BYTES;
}

/* more: the last outline goes on. */
static void
hand_over(rt_feed *feed, bool more)
{
	rt_outlines batch;
	size_t first = feed->begun - (feed->in_piece ? 1 : 0), count = rt_feed_count(feed);

	if (feed->b->status != RT_OK || rt_build_finish(feed->b, &batch, NULL) != RT_OK)
		return;
	if (more && batch.count > 0)
		batch.items[batch.count - 1].more = true;
	if (feed->has_active && feed->active >= first && feed->active - first < batch.count) {
		batch.has_active = true;
		batch.active = feed->active - first;
	}
	if (feed->to.fn == NULL) {
		*feed->to.whole = batch;
		return;
	}
	if (batch.count > 0 || batch.field_count > 0)
		feed->status = feed->to.fn(feed->to.ctx, &batch, &feed->error);
	if (feed->status != RT_OK)
		feed->b->status = feed->status;
	feed->begun = count;
	feed->in_piece = false;
	rt_build_again(feed->b, batch.arena);
}

void
rt_feed_next(rt_feed *feed)
{
	if (rt_feed_is_batched(feed) && (rt_build_size(feed->b) >= RT_FEED_BYTES ||
					 rt_build_count(feed->b) >= RT_FEED_CONVERSATIONS))
		hand_over(feed, false);
}

rt_outline *
rt_feed_piece(rt_feed *feed)
{
	rt_build *b = feed->b;
	const rt_outline *under_way;
	rt_outline *outline;

	if (b->status != RT_OK || b->outlines.count == 0)
		return NULL;
	under_way = (const rt_outline *)b->outlines.items + (b->outlines.count - 1);
	rt_buf_clear(&feed->name);
	rt_buf_clear(&feed->source);
	rt_buf_add_str(&feed->name, under_way->name);
	rt_buf_add_str(&feed->source, under_way->source);
	if (feed->name.status != RT_OK || feed->source.status != RT_OK) {
		b->status = RT_NOMEM;
		return NULL;
	}
	hand_over(feed, true);
	feed->in_piece = true;
	outline = b->status == RT_OK ? rt_build_discussion(b) : NULL;
	if (outline == NULL)
		return NULL;
	outline->name = rt_build_copy(b, rt_buf_str(&feed->name));
	outline->source = rt_build_copy(b, rt_buf_str(&feed->source));
	return outline;
}

rt_status
rt_feed_status(const rt_feed *feed, const rt_walk *w, rt_error *err)
{
	if (feed->status != RT_OK) {
		if (err != NULL)
			*err = feed->error;
		return feed->status;
	}
	if (w != NULL && w->status != RT_OK)
		return rt_walk_fail(w, err);
	if (feed->b->status != RT_OK)
		return rt_fail(err, feed->b->status, "out of memory while importing");
	return RT_OK;
}

rt_status
rt_feed_end(rt_feed *feed, const rt_walk *w, rt_error *err)
{
	if (w == NULL || w->status == RT_OK)
		hand_over(feed, false);
	return rt_feed_status(feed, w, err);
}
