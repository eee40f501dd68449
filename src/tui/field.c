/* SPDX-License-Identifier: MIT
 *
 * The text is one run of bytes: moving ten megabytes by one byte takes a millisecond, and who
 * sends it wants it in one piece anyway. All changes go through change, which makes sure of the
 * memory first. */
#include "tui/field_impl.h"

#include "app/width.h"

enum {
	UNDO_MAX = 1000,       /* changes that can be taken back */
	RUN_SIZE_MAX = 4096,   /* bytes that are taken back together */
	COLUMNS_UNKNOWN = 80   /* before it was drawn */
};

rt_status
rt_field_new(const rt_alloc *alloc, bool several_lines, rt_field **out)
{
	rt_field *field = rt_new0(alloc, sizeof(*field));

	if (field == NULL)
		return RT_NOMEM;
	field->alloc = alloc;
	field->several_lines = several_lines;
	field->goal = -1;
	field->columns = COLUMNS_UNKNOWN;
	field->utf8 = true;
	rt_buf_init(&field->text, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&field->killed, alloc, RT_BUF_UNLIMITED);
	*out = field;
	return RT_OK;
}

static void
forget(rt_field *field, rt_field_edits *edits)
{
	while (edits->count > 0)
		rt_free(field->alloc, edits->edits[--edits->count].removed);
}

void
rt_field_free(rt_field *field)
{
	size_t i;

	if (field == NULL)
		return;
	forget(field, &field->undo);
	forget(field, &field->redo);
	rt_free(field->alloc, field->undo.edits);
	rt_free(field->alloc, field->redo.edits);
	for (i = 0; i < field->sent_count; i++)
		rt_text_unref(field->sent[i]);
	rt_text_unref(field->draft);
	rt_free(field->alloc, field->rows);
	rt_buf_deinit(&field->text);
	rt_buf_deinit(&field->killed);
	rt_free(field->alloc, field);
}

rt_str
rt_field_text(const rt_field *field)
{
	return rt_buf_str(&field->text);
}

bool
rt_field_is_empty(const rt_field *field)
{
	return field->text.size == 0;
}

size_t
rt_field_cursor(const rt_field *field)
{
	return field->cursor;
}

/* --- changes --- */

static rt_status
make_room(rt_field *field, rt_field_edits *edits)
{
	size_t room = edits->room == 0 ? 16 : edits->room * 2;
	rt_field_edit *more;

	if (edits->count < edits->room)
		return RT_OK;
	more = rt_resize(field->alloc, edits->edits, room * sizeof(*more));
	if (more == NULL)
		return RT_NOMEM;
	edits->edits = more;
	edits->room = room;
	return RT_OK;
}

static void
push(rt_field *field, rt_field_edits *edits, rt_field_edit edit)
{
	RT_ASSERT(edits->count < edits->room);
	edits->edits[edits->count++] = edit;
	if (edits->count <= UNDO_MAX)
		return;
	rt_free(field->alloc, edits->edits[0].removed);
	memmove(edits->edits, edits->edits + 1, --edits->count * sizeof(*edits->edits));
}

static rt_status
copy_bytes(const rt_field *field, const char *ptr, size_t size, char **out)
{
	*out = NULL;
	if (size == 0)
		return RT_OK;
	*out = rt_new(field->alloc, size);
	if (*out == NULL)
		return RT_NOMEM;
	memcpy(*out, ptr, size);
	return RT_OK;
}

/* Room in the text for what a change adds to it. */
static rt_status
reserve(rt_field *field, size_t removed, size_t put)
{
	rt_status st = RT_OK;

	if (put > removed && rt_buf_reserve(&field->text, put - removed) == NULL)
		st = field->text.status;
	field->text.status = RT_OK;
	return st;
}

/* There is room. */
static void
replace(rt_field *field, size_t at, size_t remove, const char *put, size_t put_size)
{
	rt_buf *text = &field->text;

	if (text->ptr == NULL)
		return;
	memmove(text->ptr + at + put_size, text->ptr + at + remove, text->size - at - remove);
	if (put_size > 0)
		memcpy(text->ptr + at, put, put_size);
	text->size = text->size - remove + put_size;
	text->ptr[text->size] = 0;
	rt_field_rows_changed(field, at);
	field->goal = -1;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Is this change one with the last? */
static bool
goes_on(const rt_field *field, rt_field_run run, size_t at, size_t remove, rt_str put)
{
	const rt_field_edit *last;

	if (run == RT_RUN_NONE || run != field->run || field->undo.count == 0)
		return false;
	last = &field->undo.edits[field->undo.count - 1];
	if (last->put + last->removed_size > RUN_SIZE_MAX)
		return false;
	if (run == RT_RUN_TYPE) /* a word, and the blanks behind it */
		return remove == 0 && last->at + last->put == at && put.size > 0 && at > 0 &&
		       (is_blank(put.ptr[0]) || !is_blank(field->text.ptr[at - 1]));
	if (run == RT_RUN_KILL_RIGHT)
		return last->put == 0 && last->at == at;
	return last->put == 0 && at + remove == last->at;
}

/* The one way to another text. On failure nothing has changed. */
static rt_status
change(rt_field *field, size_t at, size_t remove, rt_str put, rt_field_run run)
{
	bool is_on = goes_on(field, run, at, remove, put);
	rt_field_edit edit = {at, put.size, NULL, 0, field->cursor}, *last;
	rt_status st = reserve(field, remove, put.size);

	if (st == RT_OK && !is_on)
		st = make_room(field, &field->undo);
	last = is_on ? &field->undo.edits[field->undo.count - 1] : &edit;
	if (st == RT_OK && remove > 0) {
		char *all = rt_resize(field->alloc, last->removed, last->removed_size + remove);

		if (all == NULL)
			return RT_NOMEM;
		if (run == RT_RUN_KILL_RIGHT) {
			memcpy(all + last->removed_size, field->text.ptr + at, remove);
		} else {
			memmove(all + remove, all, last->removed_size);
			memcpy(all, field->text.ptr + at, remove);
		}
		last->removed = all;
		last->removed_size += remove;
	}
	if (st != RT_OK)
		return st;
	if (is_on && run == RT_RUN_TYPE)
		last->put += put.size;
	else if (is_on)
		last->at = at;
	else
		push(field, &field->undo, edit);
	forget(field, &field->redo);
	replace(field, at, remove, put.ptr, put.size);
	field->cursor = at + put.size;
	field->run = run;
	return RT_OK;
}

/* The newest of one list undone, and what undoes that into the other. */
static rt_status
undo_edit(rt_field *field, rt_field_edits *list, rt_field_edits *other, bool *out_used)
{
	rt_field_edit edit, back;
	rt_status st;

	*out_used = list->count > 0;
	if (list->count == 0)
		return RT_OK;
	edit = list->edits[list->count - 1];
	back = (rt_field_edit){edit.at, edit.removed_size, NULL, edit.put, field->cursor};
	st = reserve(field, edit.put, edit.removed_size);
	if (st == RT_OK)
		st = make_room(field, other);
	if (st == RT_OK)
		st = copy_bytes(field, field->text.ptr + edit.at, edit.put, &back.removed);
	if (st != RT_OK)
		return st;
	replace(field, edit.at, edit.put, edit.removed, edit.removed_size);
	field->cursor = list == &field->undo ? edit.cursor : edit.at + edit.removed_size;
	if (field->cursor > field->text.size)
		field->cursor = field->text.size;
	field->run = RT_RUN_NONE;
	list->count--;
	rt_free(field->alloc, edit.removed);
	push(field, other, back);
	return RT_OK;
}

/* What may stand in the text: UTF-8, one kind of line end, or none. */
static rt_status
put_text(rt_field *field, size_t at, size_t remove, rt_str text)
{
	rt_status st;
	size_t i, to;
	rt_buf buf;

	rt_buf_init(&buf, field->alloc, RT_BUF_UNLIMITED);
	if (field->several_lines && rt_utf8_valid_size(text) == text.size &&
	    (text.size == 0 || memchr(text.ptr, '\r', text.size) == NULL))
		return change(field, at, remove, text, RT_RUN_NONE);
	rt_utf8_repair(&buf, text);
	st = buf.status;
	for (i = to = 0; st == RT_OK && i < buf.size; i++) {
		char c = buf.ptr[i];

		if (c == '\r' && i + 1 < buf.size && buf.ptr[i + 1] == '\n')
			continue;
		c = c == '\r' ? '\n' : c;
		buf.ptr[to++] = c == '\n' && !field->several_lines ? ' ' : c;
	}
	if (st == RT_OK)
		st = change(field, at, remove, rt_str_at(buf.ptr, to), RT_RUN_NONE);
	rt_buf_deinit(&buf);
	return st;
}

rt_status
rt_field_set(rt_field *field, rt_str text)
{
	return put_text(field, 0, field->text.size, text);
}

rt_status
rt_field_insert(rt_field *field, rt_str text)
{
	return text.size == 0 ? RT_OK : put_text(field, field->cursor, 0, text);
}

void
rt_field_clear(rt_field *field)
{
	forget(field, &field->undo);
	forget(field, &field->redo);
	rt_buf_clear(&field->text);
	rt_text_unref(field->draft);
	field->draft = NULL;
	field->sent_at = field->sent_count;
	field->cursor = field->top = 0;
	field->run = RT_RUN_NONE;
	field->goal = -1;
	rt_field_rows_changed(field, 0);
}

/* --- what was sent --- */

rt_status
rt_field_remember(rt_field *field, rt_str text)
{
	const rt_text *kept;

	field->sent_at = field->sent_count;
	if (text.size == 0 || (field->sent_count > 0 &&
			       rt_str_eq(rt_text_str(field->sent[field->sent_count - 1]), text)))
		return RT_OK;
	kept = rt_text_new(field->alloc, text);
	if (kept == NULL)
		return RT_NOMEM;
	if (field->sent_count == RT_FIELD_SENT_MAX) {
		rt_text_unref(field->sent[0]);
		memmove(field->sent, field->sent + 1, --field->sent_count * sizeof(field->sent[0]));
	}
	field->sent[field->sent_count++] = kept;
	field->sent_at = field->sent_count;
	return RT_OK;
}

void
rt_field_forget(rt_field *field)
{
	while (field->sent_count > 0)
		rt_text_unref(field->sent[--field->sent_count]);
	field->sent_at = 0;
	rt_text_unref(field->draft);
	field->draft = NULL;
	forget(field, &field->undo);
	forget(field, &field->redo);
	field->run = RT_RUN_NONE;
	rt_buf_deinit(&field->killed);
	rt_buf_init(&field->killed, field->alloc, RT_BUF_UNLIMITED);
}

rt_status
rt_field_mask(rt_field *field, rt_str what)
{
	size_t at = rt_str_find(rt_buf_str(&field->text), what, 0);
	rt_status st;
	rt_buf text;

	if (at == SIZE_MAX)
		return RT_OK;
	rt_buf_init(&text, field->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&text, rt_buf_str(&field->text));
	st = text.status;
	for (; st == RT_OK && at != SIZE_MAX; at = rt_str_find(rt_buf_str(&text), what, at))
		memset(text.ptr + at, 'x', what.size);
	if (st == RT_OK) {
		rt_field_clear(field);
		st = rt_field_set(field, rt_buf_str(&text));
		forget(field, &field->undo);
	}
	rt_buf_deinit(&text);
	return st;
}

/* The one sent before or after the one that is there. */
static rt_status
go_sent(rt_field *field, bool back, bool *out_used)
{
	size_t to = back ? field->sent_at - 1 : field->sent_at + 1;
	const rt_text *draft = NULL;
	rt_status st;

	*out_used = field->sent_count > 0;
	if (back && field->sent_at == 0)
		return RT_OK;
	if (!back && field->sent_at == field->sent_count) {
		*out_used = false;
		return RT_OK;
	}
	if (field->sent_at == field->sent_count) {
		draft = rt_text_new(field->alloc, rt_field_text(field));
		if (draft == NULL)
			return RT_NOMEM;
	}
	st = rt_field_set(field, rt_text_str(to == field->sent_count ? field->draft : field->sent[to]));
	if (st != RT_OK) {
		rt_text_unref(draft);
		return st;
	}
	if (draft != NULL) {
		rt_text_unref(field->draft);
		field->draft = draft;
	}
	field->sent_at = to;
	return RT_OK;
}

/* --- moving and erasing --- */

static bool
is_word(char c)
{
	unsigned char u = (unsigned char)c;

	return u >= 0x80 || (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') || (u >= 'a' && u <= 'z') ||
	       u == '_';
}

static size_t
word_left(const rt_field *field)
{
	const char *text = field->text.ptr;
	size_t at = field->cursor;

	while (at > 0 && !is_word(text[at - 1]))
		at--;
	while (at > 0 && is_word(text[at - 1]))
		at--;
	return rt_field_snap(field, at);
}

static size_t
word_right(const rt_field *field)
{
	const char *text = field->text.ptr;
	size_t at = field->cursor, here;

	while (at < field->text.size && !is_word(text[at]))
		at++;
	while (at < field->text.size && is_word(text[at]))
		at++;
	here = rt_field_snap(field, at);
	return here < at ? rt_field_next(field, here) : here;
}

static size_t
line_start(const rt_field *field)
{
	size_t at = field->cursor;

	while (at > 0 && field->text.ptr[at - 1] != '\n')
		at--;
	return at;
}

static size_t
line_end(const rt_field *field)
{
	const char *end = field->cursor == field->text.size
				  ? NULL
				  : memchr(field->text.ptr + field->cursor, '\n',
					   field->text.size - field->cursor);

	return end == NULL ? field->text.size : (size_t)(end - field->text.ptr);
}

static void
go(rt_field *field, size_t to)
{
	field->cursor = to;
	field->run = RT_RUN_NONE;
	field->goal = -1;
}

static rt_status
go_row(rt_field *field, bool up, int columns, bool *out_used)
{
	size_t row, to;
	int column;

	rt_field_wrap(field, columns, field->utf8);
	row = rt_field_row_of(field, field->cursor, &column);
	if (field->goal < 0)
		field->goal = column;
	to = up && row == 0 ? SIZE_MAX : rt_field_place(field, up ? row - 1 : row + 1, field->goal);
	field->run = RT_RUN_NONE;
	if (to == SIZE_MAX)
		return go_sent(field, up, out_used);
	field->cursor = to;
	return RT_OK;
}

static rt_status
erase(rt_field *field, size_t first, size_t end, rt_field_run run)
{
	bool is_kill = run == RT_RUN_KILL_LEFT || run == RT_RUN_KILL_RIGHT, more = field->run == run;
	rt_buf killed;
	rt_status st;

	if (first == end)
		return RT_OK;
	rt_buf_init(&killed, field->alloc, RT_BUF_UNLIMITED);
	if (is_kill) { /* one behind the other is kept as one */
		if (more && run == RT_RUN_KILL_RIGHT)
			rt_buf_add_str(&killed, rt_buf_str(&field->killed));
		rt_buf_add(&killed, field->text.ptr + first, end - first);
		if (more && run == RT_RUN_KILL_LEFT)
			rt_buf_add_str(&killed, rt_buf_str(&field->killed));
	}
	st = killed.status;
	if (st == RT_OK)
		st = change(field, first, end - first, rt_str_at(NULL, 0), run);
	if (st == RT_OK && is_kill) {
		rt_buf_deinit(&field->killed);
		field->killed = killed;
	} else {
		rt_buf_deinit(&killed);
	}
	return st;
}

rt_status
rt_field_act(rt_field *field, rt_action action, int columns, bool *out_used)
{
	size_t cursor = field->cursor, size = field->text.size, at;

	*out_used = true;
	switch (action) {
	case RT_ACT_LEFT: go(field, rt_field_previous(field, cursor)); return RT_OK;
	case RT_ACT_RIGHT: go(field, rt_field_next(field, cursor)); return RT_OK;
	case RT_ACT_WORD_LEFT: go(field, word_left(field)); return RT_OK;
	case RT_ACT_WORD_RIGHT: go(field, word_right(field)); return RT_OK;
	case RT_ACT_LINE_START: go(field, line_start(field)); return RT_OK;
	case RT_ACT_LINE_END: go(field, line_end(field)); return RT_OK;
	case RT_ACT_TEXT_START: go(field, 0); return RT_OK;
	case RT_ACT_TEXT_END: go(field, size); return RT_OK;
	case RT_ACT_UP: return go_row(field, true, columns, out_used);
	case RT_ACT_DOWN: return go_row(field, false, columns, out_used);
	case RT_ACT_ERASE:
		return erase(field, rt_field_previous(field, cursor), cursor, RT_RUN_ERASE);
	case RT_ACT_ERASE_NEXT: return erase(field, cursor, rt_field_next(field, cursor), RT_RUN_NONE);
	case RT_ACT_ERASE_WORD: return erase(field, word_left(field), cursor, RT_RUN_KILL_LEFT);
	case RT_ACT_ERASE_WORD_NEXT:
		return erase(field, cursor, word_right(field), RT_RUN_KILL_RIGHT);
	case RT_ACT_ERASE_TO_START:
		at = line_start(field);
		return erase(field, at == cursor && at > 0 ? at - 1 : at, cursor, RT_RUN_KILL_LEFT);
	case RT_ACT_ERASE_TO_END:
		at = line_end(field);
		return erase(field, cursor, at == cursor && at < size ? at + 1 : at, RT_RUN_KILL_RIGHT);
	case RT_ACT_YANK: return rt_field_insert(field, rt_buf_str(&field->killed));
	case RT_ACT_FIELD_UNDO: return undo_edit(field, &field->undo, &field->redo, out_used);
	case RT_ACT_FIELD_REDO: return undo_edit(field, &field->redo, &field->undo, out_used);
	case RT_ACT_NEWLINE:
		*out_used = field->several_lines;
		return field->several_lines ? change(field, cursor, 0, RT_STR("\n"), RT_RUN_NONE) : RT_OK;
	default: *out_used = false; return RT_OK;
	}
}

rt_status
rt_field_key(rt_field *field, rt_key key, bool *out_used)
{
	char bytes[4];

	*out_used = rt_key_is_text(key);
	if (!*out_used)
		return RT_OK;
	return change(field, field->cursor, 0, rt_str_at(bytes, rt_rune_encode(key.code, bytes)),
		      RT_RUN_TYPE);
}
