/* SPDX-License-Identifier: MIT
 *
 * The text is one run of bytes: moving ten megabytes takes a millisecond. All changes go through
 * `change`, which allocates first, so that a failure changes nothing. */
#include "terminal/field_impl.h"

#include "app/width.h"
#include "base/scope.h"

enum {
	UNDO_MAX = 1000,     /* changes that can be undone */
	RUN_SIZE_MAX = 4096, /* bytes that are undone together */
	COLUMNS_UNKNOWN = 80 /* until it is drawn */
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
	if (field == NULL)
		return;
	forget(field, &field->undo);
	forget(field, &field->redo);
	rt_free(field->alloc, field->undo.edits);
	rt_free(field->alloc, field->redo.edits);
	while (field->sent_count > 0)
		rt_text_unref(field->sent[--field->sent_count]);
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

/* ---- changes ---- */

/* The newest edits, at most UNDO_MAX. On failure nothing has changed. */
static rt_field_edit *
push(rt_field *field, rt_field_edits *edits)
{
	if (edits->count == UNDO_MAX) {
		rt_free(field->alloc, edits->edits[0].removed);
		memmove(edits->edits, edits->edits + 1, --edits->count * sizeof(*edits->edits));
	}
	return rt_array_add(field->alloc, &edits->edits, &edits->count, &edits->capacity,
			    sizeof(*edits->edits));
}

/* Make sure that replacing bytes cannot fail. */
static rt_status
reserve(rt_field *field, size_t removed, size_t put)
{
	rt_status st = RT_OK;

	if (put > removed && rt_buf_reserve(&field->text, put - removed) == NULL)
		st = field->text.status;
	field->text.status = RT_OK;
	return st;
}

/* After reserve. */
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

/* Is this change undone together with the last one? */
static bool
continues(const rt_field *field, rt_field_run run, size_t at, size_t remove, rt_str put)
{
	const rt_field_edit *last;

	if (run == RT_RUN_NONE || run != field->run || field->undo.count == 0)
		return false;
	last = &field->undo.edits[field->undo.count - 1];
	if (last->put + last->removed_size > RUN_SIZE_MAX)
		return false;
	if (run == RT_RUN_TYPE) /* a word, and the blanks after it */
		return remove == 0 && last->at + last->put == at && put.size > 0 && at > 0 &&
		       (is_blank(put.ptr[0]) || !is_blank(field->text.ptr[at - 1]));
	if (run == RT_RUN_KILL_RIGHT)
		return last->put == 0 && last->at == at;
	return last->put == 0 && at + remove == last->at;
}

/* Every change of the text. On failure nothing has changed. */
static rt_status
change(rt_field *field, size_t at, size_t remove, rt_str put, rt_field_run run)
{
	rt_field_edits *undo = &field->undo;
	bool is_new = !continues(field, run, at, remove, put);
	rt_field_edit *edit;
	rt_status st = reserve(field, remove, put.size);

	if (st != RT_OK)
		return st;
	edit = is_new ? push(field, undo) : &undo->edits[undo->count - 1];
	if (edit == NULL)
		return RT_NOMEM;
	if (is_new)
		*edit = (rt_field_edit){.at = at, .put = put.size, .cursor = field->cursor};
	if (remove > 0) {
		char *removed = rt_resize(field->alloc, edit->removed, edit->removed_size + remove);
		bool is_after = run == RT_RUN_KILL_RIGHT;

		if (removed == NULL) {
			undo->count -= is_new;
			return RT_NOMEM;
		}
		if (!is_after)
			memmove(removed + remove, removed, edit->removed_size);
		memcpy(removed + (is_after ? edit->removed_size : 0), field->text.ptr + at, remove);
		edit->removed = removed;
		edit->removed_size += remove;
	}
	if (!is_new && run == RT_RUN_TYPE)
		edit->put += put.size;
	else
		edit->at = at;
	forget(field, &field->redo);
	replace(field, at, remove, put.ptr, put.size);
	field->cursor = at + put.size;
	field->run = run;
	return RT_OK;
}

/* Undo the newest edit of a list; its inverse goes to the other list. */
static rt_status
undo_edit(rt_field *field, rt_field_edits *list, rt_field_edits *other, bool *out_used)
{
	rt_field_edit edit, *back;
	rt_status st;

	*out_used = list->count > 0;
	if (list->count == 0)
		return RT_OK;
	edit = list->edits[list->count - 1];
	st = reserve(field, edit.put, edit.removed_size);
	if (st != RT_OK)
		return st;
	back = push(field, other);
	if (back == NULL)
		return RT_NOMEM;
	*back = (rt_field_edit){edit.at, edit.removed_size, NULL, edit.put, field->cursor};
	if (edit.put > 0) {
		back->removed = rt_new(field->alloc, edit.put);
		if (back->removed == NULL) {
			other->count--;
			return RT_NOMEM;
		}
		memcpy(back->removed, field->text.ptr + edit.at, edit.put);
	}
	replace(field, edit.at, edit.put, edit.removed, edit.removed_size);
	field->cursor = list == &field->undo ? edit.cursor : edit.at + edit.removed_size;
	if (field->cursor > field->text.size)
		field->cursor = field->text.size;
	field->run = RT_RUN_NONE;
	list->count--;
	rt_free(field->alloc, edit.removed);
	return RT_OK;
}

/* Inserts text after making it valid: UTF-8, and one kind of line end, or none. */
static rt_status
put_text(rt_field *field, size_t at, size_t remove, rt_str text)
{
	size_t to = 0;
	rt_buf *valid;
	rt_scope s;

	if (field->several_lines && rt_utf8_valid_size(text) == text.size &&
	    (text.size == 0 || memchr(text.ptr, '\r', text.size) == NULL))
		return change(field, at, remove, text, RT_RUN_NONE);
	rt_scope_init(&s, field->alloc);
	valid = rt_scope_buf(&s);
	rt_utf8_repair(valid, text);
	(void)rt_scope_str(&s, valid);
	for (size_t i = 0; rt_ok(&s) && i < valid->size; i++) {
		char c = valid->ptr[i];

		if (c == '\r' && i + 1 < valid->size && valid->ptr[i + 1] == '\n')
			continue;
		c = c == '\r' ? '\n' : c;
		valid->ptr[to++] = c == '\n' && !field->several_lines ? ' ' : c;
	}
	RT_TRY(&s, change(field, at, remove, rt_str_at(valid->ptr, to), RT_RUN_NONE));
	return rt_scope_end(&s, NULL);
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

/* ---- the history ---- */

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
	rt_scope s;
	rt_buf *text;

	if (at == SIZE_MAX)
		return RT_OK;
	rt_scope_init(&s, field->alloc);
	text = rt_scope_buf(&s);
	rt_buf_add_str(text, rt_buf_str(&field->text));
	(void)rt_scope_str(&s, text);
	for (; rt_ok(&s) && at != SIZE_MAX; at = rt_str_find(rt_buf_str(text), what, at))
		memset(text->ptr + at, 'x', what.size);
	if (rt_ok(&s)) {
		rt_field_clear(field);
		RT_TRY(&s, rt_field_set(field, rt_buf_str(text)));
		forget(field, &field->undo);
	}
	return rt_scope_end(&s, NULL);
}

/* Show the previous or next text of the history. */
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
	st = rt_field_set(field,
			  rt_text_str(to == field->sent_count ? field->draft : field->sent[to]));
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

/* ---- moving and erasing ---- */

static bool
is_word(char c)
{
	unsigned char u = (unsigned char)c;

	return u >= 0x80 || (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') ||
	       (u >= 'a' && u <= 'z') || u == '_';
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
	bool is_kill = run == RT_RUN_KILL_LEFT || run == RT_RUN_KILL_RIGHT,
	     more = field->run == run;
	rt_buf killed;
	rt_status st;

	if (first == end)
		return RT_OK;
	rt_buf_init(&killed, field->alloc, RT_BUF_UNLIMITED);
	if (is_kill) { /* kills in a row are kept as one text */
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
	case RT_ACT_ERASE_NEXT:
		return erase(field, cursor, rt_field_next(field, cursor), RT_RUN_NONE);
	case RT_ACT_ERASE_WORD: return erase(field, word_left(field), cursor, RT_RUN_KILL_LEFT);
	case RT_ACT_ERASE_WORD_NEXT:
		return erase(field, cursor, word_right(field), RT_RUN_KILL_RIGHT);
	case RT_ACT_ERASE_TO_START:
		at = line_start(field);
		return erase(field, at == cursor && at > 0 ? at - 1 : at, cursor, RT_RUN_KILL_LEFT);
	case RT_ACT_ERASE_TO_END:
		at = line_end(field);
		return erase(field, cursor, at == cursor && at < size ? at + 1 : at,
			     RT_RUN_KILL_RIGHT);
	case RT_ACT_YANK: return rt_field_insert(field, rt_buf_str(&field->killed));
	case RT_ACT_FIELD_UNDO: return undo_edit(field, &field->undo, &field->redo, out_used);
	case RT_ACT_FIELD_REDO: return undo_edit(field, &field->redo, &field->undo, out_used);
	case RT_ACT_NEWLINE:
		*out_used = field->several_lines;
		return field->several_lines ? change(field, cursor, 0, RT_STR("\n"), RT_RUN_NONE)
					    : RT_OK;
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
