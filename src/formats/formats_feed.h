/* SPDX-License-Identifier: MIT
 *
 * Feed: from a builder to whoever takes its conversations, in batches.
 *
 * A reader builds one conversation after the other (formats_build.h) and calls rt_feed_next
 * when one is complete. When enough has come together, a batch is handed over and the
 * builder begins anew, so memory is that of one batch. A conversation that is longer than a
 * batch, and has one take only, can be handed over in pieces: when rt_feed_is_long, call
 * rt_feed_piece. Or all is one batch at the end, for those who want the whole file.
 *
 * Failing is sticky: the builder's status stops the reader, and rt_feed_end says why. */
#ifndef RT_FORMATS_FEED_H
#define RT_FORMATS_FEED_H

#include "formats/formats_build.h"
#include "formats/formats_walk.h"

enum {
	RT_FEED_BYTES = 1 << 20, /* in a batch */
	RT_FEED_CONVERSATIONS = 1000
};

/* Who takes them. */
typedef struct rt_feed_to {
	rt_outlines_fn fn;  /* or NULL: all in one */
	void *ctx;
	rt_outlines *whole; /* there, then */
} rt_feed_to;

typedef struct rt_feed {
	rt_build *b;
	rt_feed_to to;
	size_t begun;        /* conversations that earlier batches began */
	bool in_piece;       /* the first outline continues one of them */
	rt_buf name, source; /* of that one */
	size_t active;       /* number of the active discussion, from 0 in the whole file */
	bool has_active;     /* set by the reader as soon as it knows */
	rt_status status;    /* of fn */
	rt_error error;
} rt_feed;

void rt_feed_init(rt_feed *feed, rt_build *b, const rt_feed_to *to);
void rt_feed_deinit(rt_feed *feed);
/* Conversations begun so far, in the whole file. */
size_t rt_feed_count(const rt_feed *feed);
/* Does it hand over in batches? */
static inline bool
rt_feed_is_batched(const rt_feed *feed)
{
	return feed->to.fn != NULL;
}

/* Is the conversation under way as long as a batch? Where the pieces of a conversation end
 * depends on nothing else. Never where all is to be one. */
bool rt_feed_is_long(const rt_feed *feed);
/* A conversation is complete. */
void rt_feed_next(rt_feed *feed);
/* Hand over what there is of the conversation under way; the outline that continues it, or
 * NULL. Its nodes are numbered from 0 again. */
rt_outline *rt_feed_piece(rt_feed *feed);
/* Hand over the rest; fails as fn did, as the walk did (may be NULL), or as the builder. */
RT_CHECKED rt_status rt_feed_end(rt_feed *feed, const rt_walk *w, rt_error *err);
/* The same without handing over anything. */
RT_CHECKED rt_status rt_feed_status(const rt_feed *feed, const rt_walk *w, rt_error *err);

#endif
