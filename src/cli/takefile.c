/* SPDX-License-Identifier: MIT
 *
 * The text form of a take: writing and reading. */
#include "cli/takefile.h"

#include "base/hash.h"

#define LOCKED_TEXT "(not plain text; not editable here)"

static const char guide[] =
	"Each entry starts with a line \"=== ID ROLE\", followed by its text.\nChange texts and "
	"roles, move entries, delete entries together with their\nlines, add new ones with a line "
	"\"=== + ROLE\". \"+muted\" after an ID\nkeeps the entry from being sent. Tool calls and "
	"images of an entry are\nkept. A line of a text that begins with \"=== \" has a backslash "
	"before\nit. Everything above the next line is ignored.\n\n";

void
rt_cli_items_add(rt_cli_items *items, const rt_cli_item *item)
{
	rt_cli_item *last;

	items->items = rt_scope_grow(items->s, items->items, items->count, &items->capacity,
				     sizeof(*items->items));
	if (items->items == NULL)
		return;
	last = &items->items[items->count++];
	*last = *item;
	last->id = rt_scope_copy(items->s, item->id);
	last->role = rt_scope_copy(items->s, item->role);
	last->content = rt_scope_copy(items->s, item->content);
}

/* --- ids --- */

struct rt_cli_index {
	const rt_cli_items *items;
	size_t mask;
	size_t slots[]; /* position + 1, or 0 */
};

rt_cli_index *
rt_cli_index_new(const rt_cli_items *items)
{
	size_t capacity = 16;
	rt_cli_index *index;

	while (capacity < items->count * 2)
		capacity *= 2;
	index = rt_scope_get(items->s, sizeof(*index) + capacity * sizeof(index->slots[0]));
	if (index == NULL)
		return NULL;
	index->items = items;
	index->mask = capacity - 1;
	for (size_t i = 0; i < items->count; i++) {
		rt_str id = items->items[i].id;
		size_t at = (size_t)rt_hash(id.ptr, id.size, 0) & index->mask;

		if (id.size == 0)
			continue;
		while (index->slots[at] != 0)
			at = (at + 1) & index->mask;
		index->slots[at] = i + 1;
	}
	return index;
}

size_t
rt_cli_index_find(const rt_cli_index *index, rt_str id)
{
	size_t at = (size_t)rt_hash(id.ptr, id.size, 0) & index->mask;

	for (; index->slots[at] != 0; at = (at + 1) & index->mask)
		if (rt_str_eq(index->items->items[index->slots[at] - 1].id, id))
			return index->slots[at] - 1;
	return SIZE_MAX;
}

/* --- writing --- */

/* Is it a line that looks like a frame, after any number of backslashes? */
static bool
looks_like_frame(rt_str line)
{
	while (line.size > 0 && line.ptr[0] == '\\')
		line = rt_str_skip(line, 1);
	return rt_str_starts(line, RT_STR("=== "));
}

/* The next line of text from *at on, without its end. */
static rt_str
next_line(rt_str text, size_t *at)
{
	const char *end = memchr(text.ptr + *at, '\n', text.size - *at);
	size_t size = end == NULL ? text.size - *at : (size_t)(end - text.ptr) - *at;
	rt_str line = rt_str_at(text.ptr + *at, size);

	*at += size + 1;
	return line;
}

static void
add_content(rt_buf *buf, rt_str content)
{
	size_t at = 0;

	while (at < content.size) {
		rt_str line = next_line(content, &at);

		rt_buf_add_c(buf, looks_like_frame(line) ? "\\" : "");
		rt_buf_add_str(buf, line);
		rt_buf_add_c(buf, at <= content.size ? "\n" : "");
	}
}

static bool
is_plain_role(rt_str role)
{
	if (role.size == 0 || role.ptr[0] == ' ' || role.ptr[0] == '"' ||
	    role.ptr[role.size - 1] == ' ')
		return false;
	for (size_t i = 0; i < role.size; i++)
		if ((unsigned char)role.ptr[i] < 0x20 || role.ptr[i] == 0x7F)
			return false;
	return true;
}

void
rt_cli_takefile_write(rt_buf *buf, const rt_cli_items *items, rt_str title)
{
	size_t i;

	if (title.size > 0) {
		rt_buf_add_str(buf, title);
		rt_buf_add_c(buf, "\n\n");
	}
	rt_buf_add_c(buf, guide);
	rt_buf_add_f(buf, "=== :step %llu\n", (unsigned long long)items->step);
	for (i = 0; i < items->count; i++) {
		const rt_cli_item *item = &items->items[i];

		rt_buf_add_c(buf, "=== ");
		rt_buf_add_str(buf, item->id.size > 0 ? item->id : RT_STR("+"));
		rt_buf_add_c(buf, item->muted ? "+muted" : "");
		rt_buf_add_c(buf, item->locked ? "+locked " : " ");
		if (is_plain_role(item->role))
			rt_buf_add_str(buf, item->role);
		else
			rt_json_add_string(buf, item->role);
		rt_buf_add_byte(buf, '\n');
		if (item->locked)
			rt_buf_add_c(buf, LOCKED_TEXT);
		else
			add_content(buf, item->content);
		rt_buf_add_c(buf, "\n\n");
	}
	rt_buf_add_c(buf, "=== :end\n");
}

/* --- reading --- */

typedef struct reader {
	rt_scope *s;
	rt_str text;
	size_t at;
	uint64_t line; /* number of the last line that was read */
	bool crlf;     /* the editor ended all lines with CR LF */
	bool ended;    /* the last frame was read */
	rt_cli_items out;
	rt_cli_item item; /* the one that is being read */
	bool in_item;
	rt_buf *body;
} reader;

static void
fail(reader *r, uint64_t line, const char *what, rt_str where)
{
	if (!rt_ok(r->s))
		return;
	rt_scope_fail(r->s, RT_USAGE, "line %llu: %s: \"%.*s\"", (unsigned long long)line, what,
		      (int)(where.size > 80 ? rt_utf8_cut(where, 80) : where.size), where.ptr);
	r->s->error.line = line;
}

/* Adds the item that ends here. */
static void
finish_item(reader *r)
{
	rt_buf *body = r->body;

	if (!r->in_item)
		return;
	r->in_item = false;
	/* The last line's end, and the blank line that belongs to the frame. */
	for (int i = 0; i < 2 && body->size > 0 && body->ptr[body->size - 1] == '\n'; i++)
		body->size--;
	r->item.content = rt_scope_str(r->s, body);
	if (r->item.locked) {
		rt_str text = rt_str_trim(r->item.content);

		if (text.size > 0 && !rt_str_is(text, LOCKED_TEXT))
			fail(r, r->item.line,
			     "this entry is not plain text and cannot be edited here", r->item.id);
		r->item.content = rt_str_at(NULL, 0);
	}
	rt_cli_items_add(&r->out, &r->item);
}

/* ID[+muted][+locked] */
static void
read_name(reader *r, rt_str name, rt_str line)
{
	size_t plus = rt_str_find(name, RT_STR("+"), 0);
	rt_str flags = rt_str_skip(name, plus == SIZE_MAX ? name.size : plus + 1), flag;

	r->item.id = rt_str_at(name.ptr, plus == SIZE_MAX ? name.size : plus);
	while (rt_str_split(&flags, '+', &flag)) {
		if (rt_str_is(flag, "muted"))
			r->item.muted = true;
		else if (rt_str_is(flag, "locked"))
			r->item.locked = true;
		else
			fail(r, r->line, "an entry can only be +muted or +locked", line);
	}
	if (r->item.id.size > 0 && !rt_id_is_legal(r->item.id))
		fail(r, r->line, "not an id (for a new entry write: === + ROLE)", line);
	if (r->item.id.size == 0 && r->item.locked)
		fail(r, r->line, "a new entry cannot be locked", line);
}

static void
read_role(reader *r, rt_str role, rt_str line)
{
	rt_json_doc *doc = NULL;
	rt_status st;

	r->item.role = role;
	if (role.size == 0)
		fail(r, r->line, "the role is missing", line);
	if (role.size == 0 || role.ptr[0] != '"')
		return;
	st = rt_json_read(r->s->alloc, role, &doc, NULL);
	if (st == RT_NOMEM)
		rt_scope_nomem(r->s);
	else if (st != RT_OK || !yyjson_is_str(rt_json_root(doc)))
		fail(r, r->line, "a role in quotes must be a JSON string", line);
	else
		r->item.role = rt_scope_copy(r->s, rt_json_str(rt_json_root(doc)));
	rt_json_free(doc);
}

static void
read_step(reader *r, rt_str text, rt_str line)
{
	size_t i;

	r->out.step = 0;
	for (i = 0; i < text.size && text.ptr[i] >= '0' && text.ptr[i] <= '9' && i < 18; i++)
		r->out.step = r->out.step * 10 + (uint64_t)(text.ptr[i] - '0');
	r->out.has_step = text.size > 0 && i == text.size;
	if (!r->out.has_step)
		fail(r, r->line, "the step must be a number", line);
}

/* The part after "=== ". */
static void
read_frame(reader *r, rt_str rest, rt_str line)
{
	size_t space = rt_str_find(rest, RT_STR(" "), 0);
	rt_str name = rt_str_at(rest.ptr, space == SIZE_MAX ? rest.size : space);
	rt_str role = rt_str_trim(rt_str_skip(rest, name.size));

	finish_item(r);
	if (rt_str_is(name, ":end")) {
		r->ended = true;
	} else if (rt_str_is(name, ":step")) {
		read_step(r, role, line);
	} else {
		r->item = (rt_cli_item){.line = r->line};
		r->in_item = true;
		rt_buf_clear(r->body);
		read_name(r, name, line);
		read_role(r, role, line);
	}
}

static void
read_line(reader *r, rt_str line)
{
	if (r->ended) { /* ignoring it could delete entries */
		if (rt_str_trim(line).size > 0)
			fail(r, r->line,
			     "this is after the line that ends the file, === :end; move it before "
			     "that line, or delete it",
			     line);
	} else if (rt_str_starts(line, RT_STR("=== "))) {
		if (line.ptr[line.size - 1] == '\r') {
			r->crlf = true;
			line.size--;
		}
		read_frame(r, rt_str_skip(line, 4), line);
	} else if (!r->in_item) {
		/* Only text between frames belongs to an item. */
		if (r->out.count > 0 && rt_str_trim(line).size > 0)
			fail(r, r->line, "this text does not belong to any entry", line);
	} else {
		if (r->crlf && line.size > 0 && line.ptr[line.size - 1] == '\r')
			line.size--;
		if (line.size > 0 && line.ptr[0] == '\\' && looks_like_frame(line))
			line = rt_str_skip(line, 1);
		rt_buf_add_str(r->body, line);
		rt_buf_add_byte(r->body, '\n');
	}
}

static void
check_ids(rt_scope *s, const rt_cli_items *items)
{
	const rt_cli_index *index = rt_cli_index_new(items);

	for (size_t i = 0; rt_ok(s) && i < items->count; i++) {
		const rt_cli_item *item = &items->items[i];

		if (item->id.size > 0 && rt_cli_index_find(index, item->id) != i)
			rt_scope_fail(s, RT_USAGE,
				      "line %llu: entry %.*s appears a second time (start a copy "
				      "with \"=== + ROLE\")",
				      (unsigned long long)item->line, RT_STR_ARG(item->id));
	}
}

rt_cli_items
rt_cli_takefile_read(rt_scope *s, rt_str text)
{
	reader r = {.s = s, .text = text, .out.s = s, .body = rt_scope_buf(s)};
	size_t valid = rt_utf8_valid_size(text);

	if (valid != text.size)
		rt_scope_fail(s, RT_USAGE, "the file is not UTF-8 (at byte %zu)", valid);
	while (rt_ok(s) && r.at < r.text.size) {
		rt_str line = next_line(r.text, &r.at);

		r.line++;
		read_line(&r, line);
	}
	if (!r.ended)
		fail(&r, r.line + 1, "the last line of the file is missing", RT_STR("=== :end"));
	check_ids(s, &r.out);
	return r.out;
}
