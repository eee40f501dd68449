/* SPDX-License-Identifier: MIT
 *
 * The handling of arguments and results, common to all public functions. */
#include "library/library_impl.h"

/* The public statuses have the numbers of the internal ones. */
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

/* Part of the ABI: it is in the caller's memory. */
_Static_assert(sizeof(retake_error) == 512, "retake_error keeps its size");
_Static_assert((int)RETAKE_ERROR_TEXT_SIZE == RT_ERROR_TEXT_SIZE, "texts fit");

enum { OPTIONS_MAX = 4096 /* a larger size was never set */ };

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

/* ---- arguments ---- */

void
rt_library_require(rt_scope *scope, const void *ptr, const char *what)
{
	if (ptr == NULL)
		rt_scope_fail(scope, RT_USAGE, "the %s was not given", what);
}

rt_str
rt_library_str(rt_scope *scope, const char *text, const char *what)
{
	rt_str all = rt_str_of(text);
	size_t valid = rt_utf8_valid_size(all);

	if (valid != all.size)
		RT_TRY(scope, rt_fail_at(&scope->error, RT_USAGE, valid,
					 "the %s is not UTF-8 (at byte %zu)", what, valid));
	return all;
}

rt_str
rt_library_bytes(rt_scope *scope, const char *ptr, size_t size, const char *what)
{
	if (size != 0)
		rt_library_require(scope, ptr, what);
	return size == RETAKE_CSTR ? rt_str_of(ptr) : rt_str_at(ptr, size);
}

void
rt_library_options(rt_scope *scope, const void *given, void *into, size_t size, const char *what)
{
	const char *bytes = given;
	size_t theirs;

	memset(into, 0, size);
	if (given == NULL)
		return;
	memcpy(&theirs, given, sizeof(theirs));
	if (theirs < size || theirs > OPTIONS_MAX) {
		rt_scope_fail(scope, RT_USAGE, "the size of the %s is not set", what);
		return;
	}
	for (size_t i = size; i < theirs; i++)
		if (bytes[i] != 0)
			rt_scope_fail(scope, RT_USAGE,
				      "the %s use a feature that libretake %s does not have",
				      what, RT_VERSION);
	memcpy(into, given, size);
}

/* ---- one call ---- */

rt_scope *
rt_library_begin(rt_library_call *c, const rt_alloc *alloc)
{
	*c = (rt_library_call){.engine = NULL};
	rt_scope_init(&c->scope, alloc);
	rt_buf_init(&c->text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	return &c->scope;
}

rt_scope *
rt_library_begin_store(rt_library_call *c, const retake_store *store)
{
	rt_library_begin(c, store != NULL ? store->alloc : rt_alloc_libc());
	rt_library_require(&c->scope, store, "store");
	return &c->scope;
}

rt_scope *
rt_library_begin_project(rt_library_call *c, const retake_project *project)
{
	rt_library_begin(c, project != NULL ? project->store->alloc : rt_alloc_libc());
	rt_library_require(&c->scope, project, "project");
	return &c->scope;
}

static void
unref_value(void *value)
{
	rt_object_unref(value);
}

rt_scope *
rt_library_begin_view(rt_library_call *c, retake_project *project, const retake_place *place,
		      const retake_text *out)
{
	rt_scope *s = rt_library_begin_project(c, project);
	rt_str disc, take;
	uint64_t seq;

	rt_library_require(s, out, "output parameter for the text");
	rt_library_options(s, place, &c->from, sizeof(c->from), "place");
	disc = rt_library_str(s, c->from.discussion, "discussion's name");
	take = rt_library_str(s, c->from.take, "take's name");
	if (!rt_ok(s))
		return s;
	c->engine = project->engine;
	seq = c->from.at_seq == RETAKE_SEQ_FIRST ? 0 : c->from.at_seq;
	if (c->from.at_seq == 0)
		c->value = rt_engine_value(c->engine);
	else
		RT_TRY(s, rt_engine_value_at(c->engine, seq, &c->value, &s->error));
	rt_scope_defer(s, unref_value, (void *)(uintptr_t)c->value);
	RT_TRY(s, rt_resolve_place(c->value, disc, take, &c->at, &s->error));
	return s;
}

void
rt_library_give(rt_library_call *c, retake_text *out)
{
	rt_buf *text = &c->text;

	(void)rt_buf_reserve(text, 1); /* an empty text is not NULL either */
	if (text->status != RT_OK)
		rt_scope_fail(&c->scope, text->status, "%s",
			      text->status == RT_NOMEM ? "out of memory" : "the text is too long");
	if (!rt_ok(&c->scope))
		return;
	text->ptr[text->size] = '\0';
	out->ptr = text->ptr;
	out->size = text->size;
	text->ptr = NULL;
}

retake_status
rt_library_end(rt_library_call *c, retake_text *out, retake_error *error)
{
	rt_error err;
	rt_status st;

	if (out != NULL)
		rt_library_give(c, out);
	rt_buf_deinit(&c->text);
	st = rt_scope_end(&c->scope, &err);
	if (st == RT_OK || error == NULL)
		return (retake_status)st;
	memset(error, 0, sizeof(*error));
	error->status = (retake_status)st;
	error->has_at = err.has_at != 0;
	error->at = err.at;
	error->line = err.line;
	memcpy(error->text, err.text, strlen(err.text));
	return (retake_status)st;
}
