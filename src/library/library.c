/* SPDX-License-Identifier: MIT
 *
 * What every public function does with what comes in and goes out: errors, texts, options. */
#include "library/library_impl.h"

#include <stdlib.h>

/* The public statuses are ours by number. */
#define SAME(name) _Static_assert((int)RETAKE_##name == (int)RT_##name, #name)
SAME(OK);
SAME(NOMEM);
SAME(USAGE);
SAME(NOT_FOUND);
SAME(AMBIGUOUS);
SAME(REFUSED);
SAME(CONFLICT);
SAME(BUSY);
SAME(CORRUPT);
SAME(TOO_NEW);
SAME(NOT_OURS);
SAME(READ_ONLY);
SAME(IO);
SAME(FULL);
SAME(LIMIT);
SAME(INTERRUPTED);
SAME(CREDENTIALS);
SAME(UPSTREAM);
SAME(DENIED);
#undef SAME

/* Promised: it lies in the caller's memory. */
_Static_assert(sizeof(retake_error) == 512, "retake_error keeps its size");
_Static_assert((int)RETAKE_ERROR_TEXT_SIZE == RT_ERROR_TEXT_SIZE, "texts fit");

enum { OPTIONS_MAX = 4096 /* what is larger was never set */ };

const char *
retake_version(void)
{
	return RT_VERSION;
}

const char *
retake_status_word(retake_status status)
{
	return rt_status_word((rt_status)status);
}

int
retake_status_exit_code(retake_status status)
{
	return rt_status_exit_code((rt_status)status);
}

void
retake_text_free(retake_text *text)
{
	if (text == NULL)
		return;
	rt_free(rt_alloc_libc(), text->ptr);
	text->ptr = NULL;
	text->size = 0;
}

/* ---- what comes in ---- */

rt_status
rt_library_given(const void *ptr, const char *what, rt_error *err)
{
	return ptr != NULL ? RT_OK : rt_fail(err, RT_USAGE, "no %s was given", what);
}

rt_status
rt_library_str(const char *text, const char *what, rt_str *out, rt_error *err)
{
	rt_str all = rt_str_of(text);
	size_t valid = rt_utf8_valid_size(all);

	if (valid != all.size)
		return rt_fail_at(err, RT_USAGE, valid, "the %s is not UTF-8 (at byte %zu)", what,
				  valid);
	*out = all;
	return RT_OK;
}

rt_status
rt_library_bytes(const char *ptr, size_t size, const char *what, rt_str *out, rt_error *err)
{
	if (ptr == NULL && size != 0)
		return rt_library_given(ptr, what, err);
	*out = size == RETAKE_CSTR ? rt_str_of(ptr) : rt_str_at(ptr, size);
	return RT_OK;
}

rt_status
rt_library_options(const void *given, size_t first, void *into, size_t size, const char *what,
		   rt_error *err)
{
	const char *bytes = given;
	size_t theirs, i;

	memset(into, 0, size);
	if (given == NULL)
		return RT_OK;
	memcpy(&theirs, given, sizeof(theirs));
	if (theirs < first || theirs > OPTIONS_MAX)
		return rt_fail(err, RT_USAGE, "the size of the %s is not set", what);
	for (i = size; i < theirs; i++)
		if (bytes[i] != 0)
			return rt_fail(err, RT_USAGE,
				       "the %s ask for something that libretake %s does not know",
				       what, RT_VERSION);
	memcpy(into, given, theirs < size ? theirs : size);
	return RT_OK;
}

/* ---- what goes out ---- */

void
rt_library_buf_init(rt_buf *buf)
{
	rt_buf_init(buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
}

rt_status
rt_library_give(rt_buf *buf, rt_status st, retake_text *out, rt_error *err)
{
	if (st == RT_OK)
		(void)rt_buf_reserve(buf, 1); /* an empty text is one, too */
	if (st == RT_OK && buf->status != RT_OK)
		st = rt_fail(err, buf->status, "%s",
			     buf->status == RT_NOMEM ? "out of memory" : "the text is too long");
	if (st == RT_OK) {
		buf->ptr[buf->size] = '\0';
		out->ptr = buf->ptr;
		out->size = buf->size;
		buf->ptr = NULL;
	}
	rt_buf_deinit(buf);
	return st;
}

retake_status
rt_library_end(rt_status st, const rt_error *err, retake_error *error)
{
	if (st == RT_OK || error == NULL)
		return (retake_status)st;
	memset(error, 0, sizeof(*error));
	error->status = (retake_status)st;
	error->has_at = err->has_at != 0;
	error->at = err->at;
	error->line = err->line;
	memcpy(error->text, err->text, strlen(err->text));
	if (error->text[0] == '\0') {
		const char *word = rt_status_word(st);

		memcpy(error->text, word, strlen(word));
	}
	return (retake_status)st;
}

/* ---- a look ---- */

rt_status
rt_library_look_begin(rt_library_look *look, retake_project *project, const retake_place *place,
		      const retake_text *out)
{
	rt_error *err = &look->error;
	rt_str disc = rt_str_of(NULL), take = disc;
	rt_status st;

	memset(look, 0, sizeof(*look));
	rt_library_buf_init(&look->buf);
	st = rt_library_given(project, "project", err);
	if (st == RT_OK)
		st = rt_library_given(out, "place for the text", err);
	if (st == RT_OK)
		st = rt_library_options(place, sizeof(look->from), &look->from, sizeof(look->from),
					"place", err);
	if (st == RT_OK)
		st = rt_library_str(look->from.discussion, "discussion's name", &disc, err);
	if (st == RT_OK)
		st = rt_library_str(look->from.take, "take's name", &take, err);
	if (st != RT_OK)
		return st;
	look->engine = project->engine;
	if (look->from.at_seq == 0)
		look->value = rt_engine_value(look->engine);
	else
		st = rt_engine_value_at(
			look->engine, look->from.at_seq == RETAKE_SEQ_FIRST ? 0 : look->from.at_seq,
			&look->value, err);
	return st == RT_OK ? rt_resolve_place(look->value, disc, take, &look->place, err) : st;
}

retake_status
rt_library_look_end(rt_library_look *look, rt_status st, retake_text *out, retake_error *error)
{
	st = rt_library_give(&look->buf, st, out, &look->error);
	rt_object_unref(look->value);
	return rt_library_end(st, &look->error, error);
}
