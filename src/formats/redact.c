/* SPDX-License-Identifier: MIT
 *
 * Outlines, text by text. JSON is not parsed and written again: each of its strings is searched in
 * place, and only the secrets in it are replaced, so every other byte of a raw record is
 * unchanged. */
#include "formats/redact.h"

#include <stdlib.h> /* qsort */

#include "base/hash.h"
#include "base/scope.h"
#include "codec/body.h"
#include "formats/formats_list.h"

enum {
	MEMBERS_KNOWN = 64, /* a name that occurred before more than this many gets another
			     * number */
	HASH_SEED = 0x72656461
};

/* Names of members that had secrets in them, and their numbers: the last ones are known. */
typedef struct member_names {
	uint64_t was[MEMBERS_KNOWN]; /* hashes; number n is at (n - 1) % MEMBERS_KNOWN */
	size_t count;
} member_names;

typedef struct redactor {
	rt_scope scope;
	rt_scope kept; /* its arena is that of the outlines: for data that outlives the scope */
	const rt_secret_options *options;
	rt_items found; /* rt_secret, of the text being searched */
	rt_buf *made;   /* the text being assembled */
	rt_redaction *out;
	/* the current position */
	rt_str discussion, entry, where;
	member_names members; /* of the current JSON text */
	member_names fields;  /* of the current discussion, or the project */
	/* of the current discussion */
	size_t places, kinds[RT_SECRET_KIND_COUNT];
} redactor;

static bool
ok(const redactor *r)
{
	return rt_ok(&r->scope);
}

/* The assembled text, in the outlines' arena. */
static rt_str
made(redactor *r)
{
	rt_str copy = rt_scope_copy(&r->kept, rt_scope_str(&r->scope, r->made));

	(void)rt_scope_note(&r->scope, r->kept.status);
	return copy;
}

/* ---- findings ---- */

/* Shows the first characters of a secret, at most a sixth of it. */
static void
show(rt_str secret, char *out)
{
	size_t shown = secret.size / 6 < 6 ? secret.size / 6 : 6;

	for (size_t i = 0; i < shown; i++) {
		char c = secret.ptr[i];

		out[i] = c > ' ' && c < 0x7F && c != '\\' && c != '"' ? c : '?';
	}
	memcpy(out + shown, "\xE2\x80\xA6", 4);
}

static void
note(redactor *r, rt_secret_kind kind, rt_str secret)
{
	rt_redaction *out = r->out;
	rt_redact_item *item;

	out->places++;
	out->kinds[kind]++;
	r->places++;
	r->kinds[kind]++;
	if (out->item_count == RT_REDACT_ITEMS_MAX)
		return;
	item = rt_array_add(out->alloc, &out->items, &out->item_count, &out->item_room,
			    sizeof(*item));
	if (item == NULL) {
		(void)rt_scope_nomem(&r->scope);
		return;
	}
	*item = (rt_redact_item){.kind = kind,
				 .discussion = r->discussion,
				 .entry = r->entry,
				 .where = r->where,
				 .size = secret.size};
	show(secret, item->shown);
}

static void
add_mark(redactor *r, rt_secret_kind kind, rt_str secret)
{
	rt_buf_add_f(r->made, "[redacted: %s]", rt_secret_word(kind));
	note(r, kind, secret);
}

/* text without its secrets, appended to made. True: it had some. */
static bool
add_redacted(redactor *r, rt_str text, bool is_json)
{
	size_t from = 0;

	rt_secrets_find(&r->scope, &r->found, text, is_json, r->options);
	if (!ok(r))
		return false;
	for (size_t i = 0; i < r->found.count; i++) {
		const rt_secret *secret = (const rt_secret *)r->found.items + i;

		rt_buf_add(r->made, text.ptr + from, secret->from - from);
		add_mark(r, secret->kind,
			 rt_str_at(text.ptr + secret->from, secret->to - secret->from));
		from = secret->to;
	}
	if (text.size > from)
		rt_buf_add(r->made, text.ptr + from, text.size - from);
	return r->found.count > 0;
}

/* A plain text, in place. True: it had secrets. */
static bool
redact_text(redactor *r, rt_str *text, const char *where)
{
	r->where = rt_str_of(where);
	rt_buf_clear(r->made);
	if (!add_redacted(r, *text, false))
		return false;
	*text = made(r);
	return true;
}

/* name with " 2" after it, or another number. */
static void
number_name(redactor *r, rt_str *name, size_t number)
{
	if (number < 2)
		return;
	rt_buf_clear(r->made);
	rt_buf_add_str(r->made, *name);
	rt_buf_add_f(r->made, " %zu", number);
	*name = made(r);
}

/* The number of a name among those that had secrets, from 1: equal names have the same one. */
static size_t
number_of(member_names *names, rt_str was)
{
	uint64_t hash = rt_hash(was.ptr, was.size, HASH_SEED);
	size_t first = names->count > MEMBERS_KNOWN ? names->count - MEMBERS_KNOWN : 0, i;

	for (i = first; i < names->count && names->was[i % MEMBERS_KNOWN] != hash;)
		i++;
	if (i == names->count)
		names->was[names->count++ % MEMBERS_KNOWN] = hash;
	return i + 1;
}

/* ---- JSON ---- */

/* The first string at or after `at`, with its quotes. False: there is none. */
static bool
next_string(rt_str json, size_t at, size_t *from, size_t *to)
{
	const char *quote = at < json.size ? memchr(json.ptr + at, '"', json.size - at) : NULL;

	if (quote == NULL)
		return false;
	*from = (size_t)(quote - json.ptr);
	for (at = *from + 1; at < json.size && json.ptr[at] != '"'; at++)
		if (json.ptr[at] == '\\')
			at++;
	*to = at < json.size ? at + 1 : json.size;
	return true;
}

/* The character between two strings, apart from blanks: ':' makes the first the name of the second,
 * ',' its neighbour in a list. '\0': another character. */
static char
between(rt_str json, size_t from, size_t to)
{
	char seen = '\0';

	for (; from < to; from++) {
		char c = json.ptr[from];

		if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
			continue;
		if (seen != '\0' || (c != ':' && c != ','))
			return '\0';
		seen = c;
	}
	return seen;
}

/* Does the first string name the second? "password":"…", and of arguments "--key","…". */
static bool
is_named(rt_str json, rt_str name, size_t end, size_t from, rt_str value, rt_secret_kind *kind)
{
	char sign = between(json, end, from);

	return name.size > 0 &&
	       (sign == ':' || (sign == ',' && rt_str_starts(name, RT_STR("--")))) &&
	       rt_secret_is_value(name, value, kind);
}

/* Is the string that ends at `at` the name of a member? */
static bool
is_member(rt_str json, size_t at)
{
	while (at < json.size && json.ptr[at] != '\0' && strchr(" \t\r\n", json.ptr[at]) != NULL)
		at++;
	return at < json.size && json.ptr[at] == ':';
}

/* JSON text, in place: its strings, and among them the names of members. */
static bool
redact_json(redactor *r, rt_str *json)
{
	size_t at = 0, from, to;
	rt_str last = {NULL, 0};
	bool changed = false;

	r->members.count = 0;
	rt_buf_clear(r->made);
	for (; ok(r) && next_string(*json, at, &from, &to); at = to) {
		bool has_end = to - from >= 2;
		rt_str inside = rt_str_at(json->ptr + from + 1, has_end ? to - from - 2 : 0);
		rt_secret_kind kind = RT_SECRET_ASSIGNED;

		rt_buf_add(r->made, json->ptr + at, from + 1 - at);
		if (is_named(*json, last, at, from, inside, &kind)) {
			add_mark(r, kind, inside);
			changed = true;
		} else if (add_redacted(r, inside, true)) {
			size_t number = is_member(*json, to) ? number_of(&r->members, inside) : 1;

			if (number > 1)
				rt_buf_add_f(r->made, " %zu", number);
			changed = true;
		}
		if (has_end)
			rt_buf_add_byte(r->made, '"');
		last = inside;
	}
	if (json->size > at)
		rt_buf_add(r->made, json->ptr + at, json->size - at);
	if (changed)
		*json = made(r);
	return changed;
}

static void
redact_field(redactor *r, rt_outline_field *field)
{
	rt_str was = field->name;

	if (redact_text(r, &field->name, "name of a field"))
		number_name(r, &field->name, number_of(&r->fields, was));
	r->where = field->name.size > 0 ? field->name : RT_STR("field");
	redact_json(r, &field->json);
}

/* A copy of fields without those named in `but`, redacted, with room for one
 * more. NULL: no memory. */
static rt_outline_field *
redact_fields(redactor *r, const rt_outline_field *fields, size_t count, const char *but,
	      size_t *out_count)
{
	rt_outline_field *kept = rt_scope_array(&r->kept, count + 1, sizeof(*kept));

	(void)rt_scope_note(&r->scope, r->kept.status);
	*out_count = 0;
	r->fields.count = 0;
	for (size_t i = 0; i < count && ok(r); i++) {
		if (rt_is_word(fields[i].name, but))
			continue;
		kept[*out_count] = fields[i];
		redact_field(r, &kept[(*out_count)++]);
	}
	return ok(r) ? kept : NULL;
}

/* ---- names that must stay different ---- */

/* Names or ids that had secrets in them. */
typedef struct renamed {
	rt_str was, *now;
} renamed;

typedef struct renames {
	renamed *items;
	size_t count;
} renames;

static void
redact_name(redactor *r, renames *list, rt_str *name, const char *where)
{
	rt_str was = *name;

	if (redact_text(r, name, where))
		list->items[list->count++] = (renamed){was, name};
}

static int
by_was(const void *a, const void *b)
{
	return rt_str_cmp(((const renamed *)a)->was, ((const renamed *)b)->was);
}

/* Equal names stay equal; the second of two different ones gets " 2", and so on. */
static void
number_names(redactor *r, renames *list)
{
	size_t number = 1;

	if (list->count > 1)
		qsort(list->items, list->count, sizeof(*list->items), by_was);
	for (size_t i = 1; i < list->count && ok(r); i++) {
		number += !rt_str_eq(list->items[i].was, list->items[i - 1].was);
		number_name(r, list->items[i].now, number);
	}
	list->count = 0;
}

/* ---- outlines ---- */

static void
redact_ids(redactor *r, rt_outline *o)
{
	renames list = {.items = rt_scope_array(&r->scope, o->node_count + o->take_count + 1,
						sizeof(renamed))};

	for (size_t i = 0; i < o->node_count && ok(r); i++)
		redact_name(r, &list, &o->nodes[i].id, "id");
	number_names(r, &list);
	for (size_t i = 0; i < o->take_count && ok(r); i++) {
		redact_text(r, &o->takes[i].git_commit, "commit of a take");
		redact_name(r, &list, &o->takes[i].name, "name of a take");
	}
	number_names(r, &list);
}

static bool
redact_body(redactor *r, char format, rt_str *body, const char *where)
{
	if (format != RT_BODY_JSON && format != RT_BODY_PI)
		return redact_text(r, body, where);
	r->where = rt_str_of(where);
	return redact_json(r, body);
}

static bool
redact_node(redactor *r, rt_node *node)
{
	bool changed;

	r->entry = node->id;
	changed = redact_text(r, &node->role, "role");
	changed |= redact_text(r, &node->kind, "kind");
	changed |= redact_text(r, &node->label, "label");
	if (node->before_format != 0)
		changed |= redact_body(r, node->before_format, &node->before, "earlier text");
	return redact_body(r, node->body_format, &node->body, "text") || changed;
}

static int
by_text(const void *a, const void *b)
{
	return rt_str_cmp(*(const rt_str *)a, *(const rt_str *)b);
}

/* The nodes. The number of entries with secrets: nodes with the same id are one. */
static size_t
redact_nodes(redactor *r, rt_outline *o)
{
	rt_str *ids = rt_scope_array(&r->scope, o->node_count + 1, sizeof(*ids));
	size_t count = 0, entries = 0;

	for (size_t i = 0; i < o->node_count && ok(r); i++) {
		if (!redact_node(r, &o->nodes[i]))
			continue;
		if (o->nodes[i].id.size > 0)
			ids[count++] = o->nodes[i].id;
		else
			entries++;
	}
	r->entry = rt_str_at("", 0);
	if (count > 1)
		qsort(ids, count, sizeof(*ids), by_text);
	for (size_t i = 0; i < count; i++)
		entries += i == 0 || !rt_str_eq(ids[i], ids[i - 1]);
	return entries;
}

/* The header of a file that is identified by an id gets another one: this is another
 * conversation. */
static void
change_header(redactor *r, rt_outline_field *field)
{
	static const rt_str key = RT_STR_INIT("\\\"id\\\""), quote = RT_STR_INIT("\\\"");
	rt_str json = field->json;
	size_t at = rt_str_find(json, key, 0), end;
	uint64_t hash;

	if (at != SIZE_MAX)
		at = rt_str_find(json, quote, at + key.size);
	end = at == SIZE_MAX ? SIZE_MAX : rt_str_find(json, quote, at + quote.size);
	if (end == SIZE_MAX)
		return;
	at += quote.size;
	hash = rt_hash(json.ptr + at, end - at, HASH_SEED);
	rt_buf_clear(r->made);
	rt_buf_add(r->made, json.ptr, at);
	rt_buf_add_f(r->made, "%08x-%04x-8%03x-8%03x-%012llx", (unsigned)(hash >> 32),
		     (unsigned)(hash >> 16 & 0xFFFF), (unsigned)(hash >> 4 & 0xFFF),
		     (unsigned)(hash >> 20 & 0xFFF),
		     (unsigned long long)(hash * 31 & 0xFFFFFFFFFFFF));
	rt_buf_add(r->made, json.ptr + end, json.size - end);
	field->json = made(r);
}

/* {"entries","places","kinds":{…}, left open. */
static void
open_counts(rt_buf *out, size_t entries, size_t places, const size_t *kinds)
{
	rt_json_open(out, NULL, '{');
	rt_json_put_u64(out, "entries", entries);
	rt_json_put_u64(out, "places", places);
	rt_json_open(out, "kinds", '{');
	for (size_t i = 0; i < RT_SECRET_KIND_COUNT; i++)
		if (kinds[i] > 0)
			rt_json_put_u64(out, rt_secret_word((rt_secret_kind)i), kinds[i]);
	rt_json_close(out, '}');
}

/* The fields of a discussion: those about its origin are removed, one about the redaction is
 * added. */
static void
redact_discussion_fields(redactor *r, rt_outline *o, size_t entries)
{
	size_t count;
	rt_outline_field *fields = redact_fields(r, o->fields, o->field_count, "source redacted id",
						 &count);

	for (size_t i = 0; i < count && ok(r); i++)
		if (rt_str_is(fields[i].name, "pi.header"))
			change_header(r, &fields[i]);
	rt_buf_clear(r->made);
	open_counts(r->made, entries, r->places, r->kinds);
	rt_json_close(r->made, '}');
	if (ok(r)) {
		fields[count] = (rt_outline_field){RT_STR("redacted"), made(r)};
		o->fields = fields;
		o->field_count = count + 1;
	}
}

static void
redact_outline(redactor *r, rt_outline *o)
{
	size_t entries;

	r->places = 0;
	memset(r->kinds, 0, sizeof(r->kinds));
	redact_text(r, &o->called, "name");
	redact_text(r, &o->sent_take, "name of a take");
	redact_text(r, &o->sent_markdown, "request");
	redact_text(r, &o->sent_system_prompt, "request");
	redact_ids(r, o);
	entries = redact_nodes(r, o);
	redact_discussion_fields(r, o, entries);
	o->source = rt_str_at("", 0);
	r->out->entries += entries;
}

static void
redact_names(redactor *r, rt_outlines *io)
{
	renames list = {.items = rt_scope_array(&r->scope, io->count + 1, sizeof(renamed))};

	for (size_t i = 0; i < io->count && ok(r); i++)
		redact_name(r, &list, &io->items[i].name, "name");
	number_names(r, &list);
}

void
rt_redaction_init(rt_redaction *redaction, const rt_alloc *alloc)
{
	memset(redaction, 0, sizeof(*redaction));
	redaction->alloc = alloc;
}

void
rt_redaction_deinit(rt_redaction *redaction)
{
	rt_free(redaction->alloc, redaction->items);
	memset(redaction, 0, sizeof(*redaction));
}

rt_status
rt_redact(const rt_alloc *alloc, rt_outlines *io, const rt_secret_options *options,
	  rt_redaction *out, rt_error *err)
{
	redactor r = {.kept = {.alloc = alloc, .arena = io->arena}, .options = options, .out = out};
	rt_outline_field *fields;
	size_t count;
	rt_status st;

	rt_scope_init(&r.scope, alloc);
	r.made = rt_scope_buf(&r.scope);
	redact_names(&r, io);
	for (size_t i = 0; i < io->count && ok(&r); i++) {
		r.discussion = io->items[i].name;
		redact_outline(&r, &io->items[i]);
	}
	r.discussion = rt_str_at("", 0);
	fields = redact_fields(&r, io->fields, io->field_count, "", &count);
	if (ok(&r))
		io->fields = fields; /* a copy: some were the project's own */
	st = rt_scope_end(&r.scope, NULL);
	return st == RT_OK ? RT_OK : rt_fail(err, st, "out of memory while redacting");
}

/* ---- reports ---- */

void
rt_redaction_add_words(rt_buf *out, const rt_redaction *redaction)
{
	const char *sign = ": ";

	if (redaction->places == 0) {
		rt_buf_add_c(out, "nothing that looks like a secret");
		return;
	}
	if (redaction->entries > 0)
		rt_buf_add_f(out, "%zu %s redacted", redaction->entries,
			     redaction->entries == 1 ? "entry" : "entries");
	else
		rt_buf_add_c(out, "no entries redacted, only other data");
	for (size_t i = 0; i < RT_SECRET_KIND_COUNT; i++) {
		const char *word = rt_secret_word((rt_secret_kind)i);
		size_t count = redaction->kinds[i], size = strlen(word);

		if (count == 0)
			continue;
		rt_buf_add_f(out, "%s%zu ", sign, count);
		if (count == 1)
			rt_buf_add_c(out, word);
		else if (word[size - 1] == 'y' && word[size - 2] != 'e') /* directories, keys */
			rt_buf_add_f(out, "%.*sies", (int)size - 1, word);
		else
			rt_buf_add_f(out, "%s%s", word, word[size - 1] == 's' ? "es" : "s");
		sign = ", ";
	}
}

/* A string, or null if it is empty. */
static void
put_name(rt_buf *out, const char *key, rt_str name)
{
	if (name.size > 0)
		rt_json_put_str(out, key, name);
	else
		rt_json_put_null(out, key);
}

void
rt_redaction_add_json(rt_buf *out, const rt_redaction *redaction)
{
	open_counts(out, redaction->entries, redaction->places, redaction->kinds);
	rt_json_open(out, "items", '[');
	for (size_t i = 0; i < redaction->item_count; i++) {
		const rt_redact_item *item = &redaction->items[i];

		rt_json_open(out, NULL, '{');
		put_name(out, "discussion", item->discussion);
		put_name(out, "entry", item->entry);
		rt_json_put_str(out, "where", item->where);
		rt_json_put_c(out, "kind", rt_secret_word(item->kind));
		rt_json_put_c(out, "shown", item->shown);
		rt_json_put_u64(out, "size", item->size);
		rt_json_close(out, '}');
	}
	rt_json_close(out, ']');
	rt_json_put_bool(out, "more", redaction->places > redaction->item_count);
	rt_json_close(out, '}');
}
