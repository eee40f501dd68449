/* SPDX-License-Identifier: MIT */
#include "server/response_cache.h"

#include "base/hash.h"

bool
rt_response_cache_init(rt_response_cache *cache, const rt_alloc *alloc)
{
	memset(cache, 0, sizeof(*cache));
	cache->alloc = alloc;
	return pthread_mutex_init(&cache->lock, NULL) == 0;
}

static void
drop_all(rt_response_cache *cache)
{
	size_t i;

	for (i = 0; i < RT_RESPONSE_CACHE_SLOTS; i++)
		rt_text_unref(cache->at[i].body);
	memset(cache->at, 0, sizeof(cache->at));
}

void
rt_response_cache_deinit(rt_response_cache *cache)
{
	drop_all(cache);
	pthread_mutex_destroy(&cache->lock);
}

void
rt_response_cache_forget(rt_response_cache *cache)
{
	pthread_mutex_lock(&cache->lock);
	drop_all(cache);
	pthread_mutex_unlock(&cache->lock);
}

/* With the lock. */
static void
enter_epoch(rt_response_cache *cache, uint64_t epoch)
{
	if (cache->epoch != epoch)
		drop_all(cache);
	cache->epoch = epoch;
}

static rt_cached_response *
slot_of(rt_response_cache *cache, rt_str target)
{
	return &cache->at[rt_hash(target.ptr, target.size, 0) % RT_RESPONSE_CACHE_SLOTS];
}

bool
rt_response_cache_find(rt_response_cache *cache, uint64_t epoch, uint64_t seq, rt_str target,
		       rt_buf *body, char etag[RT_ETAG_ROOM])
{
	const rt_cached_response *slot;
	const rt_text *found = NULL;

	if (target.size == 0 || target.size > RT_RESPONSE_CACHE_TARGET_MAX)
		return false;
	slot = slot_of(cache, target);
	pthread_mutex_lock(&cache->lock);
	enter_epoch(cache, epoch);
	if (slot->epoch == epoch && slot->seq == seq &&
	    rt_str_eq(target, rt_str_at(slot->target, slot->target_size))) {
		found = rt_text_ref(slot->body);
		memcpy(etag, slot->etag, RT_ETAG_ROOM);
	}
	pthread_mutex_unlock(&cache->lock);
	if (found != NULL)
		rt_buf_add_str(body, rt_text_str(found));
	rt_text_unref(found);
	return found != NULL;
}

void
rt_response_cache_put(rt_response_cache *cache, uint64_t epoch, uint64_t seq, rt_str target,
		      rt_str body, const char *etag)
{
	const rt_text *text, *old;
	rt_cached_response *slot;

	if (target.size == 0 || target.size > RT_RESPONSE_CACHE_TARGET_MAX || body.size == 0 ||
	    body.size > RT_RESPONSE_CACHE_SIZE_MAX || strlen(etag) >= RT_ETAG_ROOM)
		return;
	text = rt_text_new(cache->alloc, body);
	if (text == NULL)
		return;
	slot = slot_of(cache, target);
	pthread_mutex_lock(&cache->lock);
	enter_epoch(cache, epoch);
	old = slot->body;
	slot->epoch = epoch;
	slot->seq = seq;
	memcpy(slot->target, target.ptr, target.size);
	slot->target_size = target.size;
	memcpy(slot->etag, etag, strlen(etag) + 1);
	slot->body = text;
	pthread_mutex_unlock(&cache->lock);
	rt_text_unref(old);
}
