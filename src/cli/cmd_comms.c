/* SPDX-License-Identifier: MIT
 *
 * comms: the log of requests to models and their replies, read without the conversation. */
#include "cli/requests_log.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/host.h"
#include "base/hash.h"
#include "llm/comms_host.h"

enum { LISTED = 20 };

/* A request and its reply; texts live as long as the command. */
typedef struct exchange {
	rt_str name, at, reason, service, model;
	uint64_t bytes;
	rt_str entry, stop, error; /* of the reply */
	bool is_answered;
} exchange;

typedef struct reading {
	rt_cli *cli;
	rt_str store;     /* ptr NULL: requests of all stores */
	uint64_t project;
	exchange *items;
	size_t count, capacity;
	exchange *replies; /* read before their requests, which an older file contains */
	size_t reply_count, reply_capacity;
	/* a second pass, for one request: */
	rt_str name;
	rt_buf *out[2];   /* bodies of the request and the reply; or NULL */
	rt_buf *head[2];  /* the other members of their lines */
	bool found[2], has_body[2], is_exact;
} reading;

static rt_str
member(rt_scope *s, yyjson_val *root, const char *key)
{
	return rt_scope_copy(s, rt_json_str(rt_json_get(root, key)));
}

static bool
is_ours(const reading *r, yyjson_val *root)
{
	uint64_t project = 0;

	return r->store.ptr == NULL ||
	       (rt_json_u64(rt_json_get(root, "project"), &project) && project == r->project &&
		rt_str_eq(rt_json_str(rt_json_get(root, "store")), r->store));
}

static exchange *
exchange_named(const reading *r, rt_str name)
{
	for (size_t i = r->count; i > 0; i--)
		if (rt_str_eq(r->items[i - 1].name, name))
			return &r->items[i - 1];
	return NULL;
}

static void
set_reply(exchange *e, const exchange *reply)
{
	e->is_answered = true;
	e->entry = reply->entry;
	e->stop = reply->stop;
	e->error = reply->error;
}

static void
add_request(reading *r, yyjson_val *root)
{
	rt_scope *s = &r->cli->s;
	exchange *items =
		rt_scope_grow(s, r->items, r->count, &r->capacity, sizeof(*r->items));

	if (items == NULL)
		return;
	r->items = items;
	items[r->count] = (exchange){.name = member(s, root, "request"),
				     .at = member(s, root, "at"),
				     .reason = member(s, root, "for"),
				     .service = member(s, root, "service"),
				     .model = member(s, root, "model")};
	if (items[r->count].reason.size == 0)
		items[r->count].reason = RT_STR("reply");
	if (items[r->count].service.size == 0) /* an older version wrote it */
		items[r->count].service = member(s, root, "provider");
	(void)rt_json_u64(rt_json_get(root, "bytes"), &items[r->count].bytes);
	r->count++;
}

static void
add_reply(reading *r, yyjson_val *root)
{
	rt_scope *s = &r->cli->s;
	exchange reply = {.name = member(s, root, "request"),
			  .entry = member(s, root, "entry"),
			  .stop = member(s, root, "stop"),
			  .error = member(s, root, "message")};
	exchange *e = exchange_named(r, reply.name);

	if (e != NULL) {
		set_reply(e, &reply);
		return;
	}
	exchange *replies = rt_scope_grow(s, r->replies, r->reply_count, &r->reply_capacity,
					  sizeof(*r->replies));

	if (replies != NULL) {
		r->replies = replies;
		replies[r->reply_count++] = reply;
	}
}

static int
by_name(const void *a, const void *b)
{
	return rt_str_cmp(((const exchange *)a)->name, ((const exchange *)b)->name);
}

/* Files are read newest first: a reply after a rotation comes before its request. */
static void
match_replies(reading *r)
{
	if (r->reply_count == 0)
		return;
	qsort(r->replies, r->reply_count, sizeof(*r->replies), by_name);
	for (size_t i = 0; i < r->count; i++) {
		exchange *e = &r->items[i];
		const exchange *reply = e->is_answered ? NULL
						       : bsearch(e, r->replies, r->reply_count,
								 sizeof(*r->replies), by_name);

		if (reply != NULL)
			set_reply(e, reply);
	}
}

static bool
list_line(void *ctx, const rt_comms_line *at)
{
	reading *r = ctx;
	rt_scope *s = &r->cli->s;
	rt_json_doc *doc = NULL;

	if (rt_json_read(r->cli->alloc, at->line, &doc, NULL) != RT_OK)
		return true; /* torn */
	yyjson_val *root = rt_json_root(doc);
	rt_str what = rt_json_str(rt_json_get(root, "what"));

	if (rt_str_is(what, "request") && is_ours(r, root)) {
		add_request(r, root);
	} else if (rt_str_is(what, "reply")) {
		add_reply(r, root);
	}
	rt_json_free(doc);
	return rt_ok(s);
}

static int
newer_first(const void *a, const void *b)
{
	const exchange *x = a, *y = b;
	size_t size = x->at.size < y->at.size ? x->at.size : y->at.size;
	int order = size == 0 ? 0 : memcmp(y->at.ptr, x->at.ptr, size);

	/* equal times: the newer one has the larger name only by chance, but always the same */
	return order != 0 ? order : (x->name.size > 0 && y->name.size > 0)
					    ? strcmp(y->name.ptr, x->name.ptr)
					    : 0;
}

/* The members of a line but texts and body. */
static void
add_head(yyjson_val *root, rt_buf *out)
{
	for (rt_json_iter it = rt_json_members(root); rt_json_next(&it);)
		if (!rt_str_is(it.key, "texts") && !rt_str_is(it.key, "body")) {
			rt_json_add_key_str(out, it.key);
			rt_json_add_value(out, it.value);
		}
}

static bool
show_line(void *ctx, const rt_comms_line *at)
{
	reading *r = ctx;
	rt_scope *s = &r->cli->s;
	rt_json_doc *doc = NULL;
	char hash[24];

	if (rt_str_find(at->line, r->name, 0) == SIZE_MAX ||
	    rt_json_read(r->cli->alloc, at->line, &doc, NULL) != RT_OK)
		return true;
	yyjson_val *root = rt_json_root(doc);
	bool is_reply = rt_str_is(rt_json_str(rt_json_get(root, "what")), "reply");

	if (rt_str_eq(rt_json_str(rt_json_get(root, "request")), r->name) && !r->found[is_reply] &&
	    (is_reply || is_ours(r, root))) {
		r->found[is_reply] = true;
		r->has_body[is_reply] = rt_json_get(root, "body") != NULL;
		add_head(root, r->head[is_reply]);
		if (r->has_body[is_reply])
			RT_TRY(s, rt_comms_body(r->cli->alloc, at, r->out[is_reply], &s->error));
		if (!is_reply && rt_ok(s)) {
			const rt_buf *body = r->out[0];

			snprintf(hash, sizeof(hash), "%016llx",
				 (unsigned long long)rt_hash(body->ptr, body->size, 0));
			r->is_exact = r->has_body[0] &&
				      rt_str_is(rt_json_str(rt_json_get(root, "hash")), hash);
		}
	}
	rt_json_free(doc);
	return rt_ok(s) && !(r->found[0] && r->found[1]);
}

static void
begin_show(reading *r, rt_str name)
{
	r->name = name;
	for (size_t i = 0; i < 2; i++) {
		r->out[i] = rt_scope_buf(&r->cli->s);
		r->head[i] = rt_scope_buf(&r->cli->s);
		rt_buf_add_byte(r->head[i], '{');
	}
}

bool
rt_cli_logged_request(rt_cli *cli, rt_str state_folder, rt_str name, rt_buf *out)
{
	reading r = {.cli = cli};
	rt_scope outer;
	bool is_exact;

	rt_cli_begin_part(cli, &outer);
	begin_show(&r, name);
	RT_TRY(&cli->s, rt_comms_read(cli->alloc, state_folder, show_line, &r, &cli->s.error));
	is_exact = rt_ok(&cli->s) && r.is_exact;
	if (is_exact) {
		rt_buf_clear(out);
		rt_buf_add_str(out, rt_buf_str(r.out[0]));
	}
	return rt_cli_end_part(cli, &outer, NULL) == RT_OK && is_exact && out->status == RT_OK;
}

/* ---- output ---- */

static void
list_json(rt_cli *cli, const reading *r, size_t count)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	rt_json_open(json, NULL, '[');
	for (size_t i = 0; i < count; i++) {
		const exchange *e = &r->items[i];

		rt_json_open(json, NULL, '{');
		rt_json_put_u64(json, "number", i + 1);
		rt_json_put_str(json, "request", e->name);
		rt_json_put_str(json, "at", e->at);
		rt_json_put_str(json, "for", e->reason);
		rt_json_put_str(json, "service", e->service);
		rt_json_put_str(json, "model", e->model);
		rt_json_put_u64(json, "bytes", e->bytes);
		rt_json_put_bool(json, "answered", e->is_answered);
		if (e->entry.size > 0)
			rt_json_put_str(json, "entry", e->entry);
		if (e->stop.size > 0)
			rt_json_put_str(json, "stop", e->stop);
		if (e->error.size > 0)
			rt_json_put_str(json, "message", e->error);
		rt_json_close(json, '}');
	}
	rt_json_close(json, ']');
	rt_cli_print_json(cli, json);
}

static void
list(rt_cli *cli, const reading *r, size_t count)
{
	rt_term *out = &cli->out;

	if (cli->json) {
		list_json(cli, r, count);
		return;
	}
	if (r->count == 0)
		rt_cli_advise(cli, "The request log is empty. Ask a model: retake ask TEXT\n");
	for (size_t i = 0; i < count; i++) {
		const exchange *e = &r->items[i];

		rt_term_f(out, "%4zu  %.10s %.8s  %-8.*s", i + 1, e->at.size > 19 ? e->at.ptr : "",
			  e->at.size > 19 ? e->at.ptr + 11 : "", RT_STR_ARG(e->reason));
		rt_term_c(out, " ");
		rt_term_line(out, e->service);
		rt_term_c(out, "/");
		rt_term_line(out, e->model);
		rt_term_f(out, "  %llu bytes", (unsigned long long)e->bytes);
		if (e->entry.size > 0)
			rt_term_f(out, "  -> %.*s", RT_STR_ARG(e->entry));
		if (e->error.size > 0) {
			rt_term_c(out, "  ");
			rt_term_line(out, e->error);
		} else if (!e->is_answered) {
			rt_term_c(out, "  no reply");
		}
		rt_term_c(out, "\n");
	}
	if (count < r->count)
		rt_term_f(out, "%zu older: -n COUNT\n", r->count - count);
}

static void
read_log(rt_cli *cli, reading *r, rt_comms_line_fn fn)
{
	const char *file = rt_cli_flag_value(cli, "file");
	rt_scope *s = &cli->s;
	rt_buf *state = rt_scope_buf(s);

	if (file != NULL) {
		if (RT_TRY(s, rt_comms_read_file(cli->alloc, file, fn, r, &s->error)) ==
		    RT_NOT_FOUND)
			rt_cli_hint(cli, "The files are in $XDG_STATE_HOME/retake/comms (default: "
					 "~/.local/state/retake/comms)");
		return;
	}
	RT_TRY(s, rt_host_state_dir(state, &s->error));
	RT_TRY(s, rt_comms_read(cli->alloc, rt_buf_str(state), fn, r, &s->error));
}

static void
show(rt_cli *cli, reading *r, const exchange *e)
{
	bool only_request = rt_cli_has(cli, "request"), only_reply = rt_cli_has(cli, "reply");
	static const char *const names[] = {"request", "reply"};
	rt_buf *json = rt_scope_buf(&cli->s);

	begin_show(r, e->name);
	read_log(cli, r, show_line);
	if (!rt_ok(&cli->s))
		return;
	if (!r->has_body[0]) {
		rt_cli_hint(cli, "To rebuild it from the conversation: retake replay ENTRY");
		rt_cli_fail(cli, RT_NOT_FOUND, "the log has no text for this request: an older "
					       "version wrote it, or comms_texts is false");
		return;
	}
	if (only_reply && !r->has_body[1]) {
		rt_cli_fail(cli, RT_NOT_FOUND, "the log has no reply to this request");
		return;
	}
	if (!r->is_exact && !only_reply)
		rt_cli_note(cli, "a text was purged from this request after it was sent");
	if (only_request || only_reply) {
		rt_cli_print_json(cli, r->out[only_reply]);
		return;
	}
	if (cli->json)
		rt_json_open(json, NULL, '{');
	for (size_t i = 0; i < 2; i++) {
		if (!r->found[i])
			continue;
		if (r->has_body[i])
			rt_json_put_raw(r->head[i], "body", rt_buf_str(r->out[i]));
		if (i == 0)
			rt_json_put_bool(r->head[i], "exact", r->is_exact);
		rt_json_close(r->head[i], '}');
		rt_str line = rt_scope_str(&cli->s, r->head[i]);
		if (cli->json) {
			rt_json_put_raw(json, names[i], line);
		} else {
			rt_term_json(&cli->out, line);
			rt_term_c(&cli->out, "\n");
		}
	}
	if (cli->json) {
		rt_json_close(json, '}');
		rt_cli_print_json(cli, json);
	}
}

static const exchange *
find_id(const reading *r, const char *word)
{
	for (size_t i = 0; i < r->count; i++)
		if (rt_str_is(r->items[i].name, word) ||
		    (*word != '\0' && rt_str_is(r->items[i].entry, word)))
			return &r->items[i];
	return NULL;
}

/* The exchange that a word names: its name, its number in the list, or the entry with the reply. */
static const exchange *
find(rt_cli *cli, const reading *r, const char *word)
{
	size_t size = strlen(word);
	const exchange *e = find_id(r, word);
	char id[RT_ID_MAX + 1] = "";

	if (e != NULL)
		return e;
	if (size > 0 && strspn(word, "0123456789") == size) {
		uint64_t number = rt_cli_number(cli, word, "a request number");

		if (rt_ok(&cli->s) && number >= 1 && number <= r->count)
			return &r->items[number - 1];
	} else if (r->store.ptr != NULL) {
		uint32_t entry = rt_cli_entry(cli, word, true);

		RT_TRY(&cli->s, rt_entry_id(cli->session.value, entry, id, &cli->s.error));
		e = rt_ok(&cli->s) ? find_id(r, id) : NULL;
		if (e != NULL || !rt_ok(&cli->s))
			return e;
	}
	rt_cli_hint(cli, "Requests: retake comms");
	rt_cli_fail(cli, RT_NOT_FOUND, "there is no request \"%.60s\" in the log", word);
	return NULL;
}

static void
run_comms(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	const char *word = rt_cli_word(cli, 0);
	uint64_t count = rt_cli_flag_number(cli, "count", "number of requests", LISTED);
	reading r = {.cli = cli};
	char *store = NULL;

	if (rt_cli_flag_value(cli, "file") == NULL) {
		if (!rt_cli_open(cli, RT_SESSION_LOOK)) {
			rt_cli_hint(cli, "A file of the log can be read without a store: "
					 "retake comms --file FILE");
			return;
		}
		store = rt_session_store_path(&cli->session);
		rt_scope_defer(s, free, store);
		r.store = store != NULL ? rt_str_of(store) : rt_str_of(cli->session.store->place);
		r.project = rt_engine_project_number(cli->session.engine);
	}
	read_log(cli, &r, list_line);
	if (!rt_ok(s))
		return;
	match_replies(&r);
	if (r.count > 1)
		qsort(r.items, r.count, sizeof(*r.items), newer_first);
	if (word == NULL) {
		list(cli, &r, count < r.count ? (size_t)count : r.count);
		return;
	}
	const exchange *e = find(cli, &r, word);
	if (e != NULL)
		show(cli, &r, e);
}

static const rt_flag comms_flags[] = {
	{"count", 'n', "COUNT", RT_ARG_TEXT, "number of requests to list; default: 20"},
	{"file", 0, "FILE", RT_ARG_FILE, "read this file of the log, without a store"},
	{"request", 0, NULL, RT_ARG_TEXT, "print only the request, byte for byte"},
	{"reply", 0, NULL, RT_ARG_TEXT, "print only the reply"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_comms = {
	.name = "comms",
	.group = RT_COMMANDS_ASKING,
	.max_words = 1,
	.usage = "[NUMBER | ENTRY | REQUEST] [--request | --reply]",
	.summary = "list the request log, or print a request with its reply",
	.about =
		"Each request and each reply is logged in full, in files that undo and reset do "
		"not change; a purge does. The newest request is number 1. The output comes from "
		"the log alone, not from the current state of the conversation.",
	.examples = "retake comms\nretake comms 1 --request\nretake comms --file "
		    "~/.local/state/retake/comms/20261122T054412Z-91c3a07e5d2b4f68.jsonl 1",
	.flags = comms_flags,
	.kinds = {RT_ARG_ENTRY},
	.run = run_comms,
};
