/* SPDX-License-Identifier: MIT */
#include "server/kept.h"

#include "base/hash.h"

bool
rt_kept_init(rt_kept *kept, const rt_alloc *alloc)
{
	memset(kept, 0, sizeof(*kept));
	kept->alloc = alloc;
	return pthread_mutex_init(&kept->lock, NULL) == 0;
}

static void
drop_all(rt_kept *kept)
{
	size_t i;

	for (i = 0; i < RT_KEPT_SLOTS; i++)
		rt_text_unref(kept->at[i].body);
	memset(kept->at, 0, sizeof(kept->at));
}

void
rt_kept_deinit(rt_kept *kept)
{
	drop_all(kept);
	pthread_mutex_destroy(&kept->lock);
}

void
rt_kept_forget(rt_kept *kept)
{
	pthread_mutex_lock(&kept->lock);
	drop_all(kept);
	pthread_mutex_unlock(&kept->lock);
}

/* With the lock. */
static void
enter_epoch(rt_kept *kept, uint64_t epoch)
{
	if (kept->epoch != epoch)
		drop_all(kept);
	kept->epoch = epoch;
}

static rt_kept_answer *
slot_of(rt_kept *kept, rt_str target)
{
	return &kept->at[rt_hash(target.ptr, target.size, 0) % RT_KEPT_SLOTS];
}

bool
rt_kept_find(rt_kept *kept, uint64_t epoch, uint64_t seq, rt_str target, rt_buf *body,
	     char tag[RT_TAG_ROOM])
{
	const rt_kept_answer *slot;
	const rt_text *found = NULL;

	if (target.size == 0 || target.size > RT_KEPT_TARGET_MAX)
		return false;
	slot = slot_of(kept, target);
	pthread_mutex_lock(&kept->lock);
	enter_epoch(kept, epoch);
	if (slot->epoch == epoch && slot->seq == seq &&
	    rt_str_eq(target, rt_str_at(slot->target, slot->target_size))) {
		found = rt_text_ref(slot->body);
		memcpy(tag, slot->tag, RT_TAG_ROOM);
	}
	pthread_mutex_unlock(&kept->lock);
	if (found != NULL)
		rt_buf_add_str(body, rt_text_str(found));
	rt_text_unref(found);
	return found != NULL;
}

void
rt_kept_put(rt_kept *kept, uint64_t epoch, uint64_t seq, rt_str target, rt_str body,
	    const char *tag)
{
	const rt_text *text, *old;
	rt_kept_answer *slot;

	if (target.size == 0 || target.size > RT_KEPT_TARGET_MAX || body.size == 0 ||
	    body.size > RT_KEPT_SIZE_MAX || strlen(tag) >= RT_TAG_ROOM)
		return;
	text = rt_text_new(kept->alloc, body);
	if (text == NULL)
		return;
	slot = slot_of(kept, target);
	pthread_mutex_lock(&kept->lock);
	enter_epoch(kept, epoch);
	old = slot->body;
	slot->epoch = epoch;
	slot->seq = seq;
	memcpy(slot->target, target.ptr, target.size);
	slot->target_size = target.size;
	memcpy(slot->tag, tag, strlen(tag) + 1);
	slot->body = text;
	pthread_mutex_unlock(&kept->lock);
	rt_text_unref(old);
}
