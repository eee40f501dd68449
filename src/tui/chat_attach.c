/* SPDX-License-Identifier: MIT
 *
 * Files attached to the next message (/attach, or "@" with a path), and the completion of their
 * paths. Only a file that is shown above the input is sent: Enter first attaches the files that the
 * text names and sends nothing. */
#define _POSIX_C_SOURCE 200809L

#include "tui/pane_chat_impl.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/attached.h"
#include "tui/command_host.h"
#include "tui/verb_impl.h"

enum {
	FILES_MAX = 32,       /* attached at a time */
	FOLDER_MAX = 1 << 15, /* names of a folder that are read */
	ROWS_MAX = 4,         /* of the attached ones that are shown */
	EXTENSION_MAX = 5     /* letters of a file name's extension */
};

/* ---- attached files ---- */

static size_t
count_of(const rt_buf *list)
{
	size_t count = 0;

	for (size_t i = 0; i < list->size; i++)
		count += list->ptr[i] == 0;
	return count;
}

bool
rt_chat_is_attached(const rt_chat *chat, rt_str path)
{
	const char *one = chat->attached.ptr;

	for (size_t i = count_of(&chat->attached); i > 0; i--, one += strlen(one) + 1)
		if (rt_str_is(path, one))
			return true;
	return false;
}

bool
rt_chat_attach(rt_chat *chat, rt_str path)
{
	rt_tui *tui = chat->pane.tui;
	rt_attached file;
	rt_scope s;
	bool is_ok;

	if (rt_chat_is_attached(chat, path))
		return true;
	rt_scope_init(&s, tui->alloc);
	if (count_of(&chat->attached) >= FILES_MAX)
		(void)rt_scope_fail(&s, RT_LIMIT, "no more than %d files can be attached", FILES_MAX);
	file = rt_attached_read(&s, path);
	if (rt_ok(&s)) {
		rt_buf_add_str(&chat->attached, path);
		rt_buf_add_byte(&chat->attached, 0);
		rt_buf_add_str(&chat->attached_rows, file.name);
		rt_buf_add_c(&chat->attached_rows, ", ");
		rt_attached_add_type(&chat->attached_rows, file.bytes);
		rt_buf_add_byte(&chat->attached_rows, 0);
	}
	is_ok = rt_tui_ok(tui, s.status, &s.error);
	rt_scope_deinit(&s);
	return is_ok;
}

void
rt_chat_drop_attached(rt_chat *chat)
{
	rt_buf_clear(&chat->attached);
	rt_buf_clear(&chat->attached_rows);
}

void
rt_chat_detach(rt_chat *chat)
{
	rt_chat_drop_attached(chat);
	rt_buf_clear(&chat->attached_sent);
	rt_buf_clear(&chat->cleared_files);
	rt_buf_clear(&chat->cleared);
}

size_t
rt_chat_attached_number(const rt_chat *chat)
{
	return count_of(&chat->attached);
}

yyjson_val *
rt_chat_attached_content(rt_chat *chat, rt_scope *s, rt_str text)
{
	rt_attached_list list = {NULL, count_of(&chat->attached)};
	const char *path = chat->attached.ptr;
	rt_str content;

	if (list.count == 0)
		return NULL;
	list.items = rt_scope_array(s, list.count, sizeof(*list.items));
	for (size_t i = 0; rt_ok(s) && i < list.count; i++, path += strlen(path) + 1)
		list.items[i] = rt_attached_read(s, rt_str_of(path));
	content = rt_attached_content(s, chat->pane.tui->work.engine, text, &list);
	return rt_ok(s) ? rt_json_parse(s, content) : NULL;
}

void
rt_chat_attached_sent(rt_chat *chat)
{
	rt_buf was = chat->attached_sent;

	chat->attached_sent = chat->attached;
	chat->attached = was;
	rt_buf_clear(&chat->attached);
	rt_buf_clear(&chat->attached_rows);
}

/* Attaches the files of a list of paths, which is empty afterwards. */
static void
attach_list(rt_chat *chat, rt_buf *list)
{
	rt_buf paths = *list;
	const char *path = paths.ptr;

	rt_buf_init(list, chat->pane.tui->alloc, RT_BUF_UNLIMITED);
	for (size_t i = count_of(&paths); i > 0 && rt_ok(rt_chat_scope(chat)); i--, path += strlen(path) + 1)
		(void)rt_chat_attach(chat, rt_str_of(path));
	rt_buf_deinit(&paths);
}

void
rt_chat_attached_return(rt_chat *chat)
{
	attach_list(chat, &chat->attached_sent);
}

void
rt_chat_attached_clear(rt_chat *chat)
{
	rt_buf_clear(&chat->cleared);
	rt_buf_add_str(&chat->cleared, rt_field_text(chat->field));
	rt_buf_clear(&chat->cleared_files);
	rt_buf_add_str(&chat->cleared_files, rt_buf_str(&chat->attached));
	rt_chat_drop_attached(chat);
}

bool
rt_chat_attached_restore(rt_chat *chat)
{
	if (chat->cleared_files.size == 0 || chat->attached.size > 0 ||
	    !rt_str_eq(rt_field_text(chat->field), rt_buf_str(&chat->cleared)))
		return false;
	attach_list(chat, &chat->cleared_files);
	return true;
}

int
rt_chat_attached_count(const rt_chat *chat)
{
	size_t count = count_of(&chat->attached_rows);

	return count > ROWS_MAX ? ROWS_MAX : (int)count;
}

void
rt_chat_attached_draw(const rt_chat *chat, rt_canvas *c, rt_box box)
{
	const char *row = chat->attached_rows.ptr;
	size_t count = count_of(&chat->attached_rows);

	for (int y = 0; y < box.h; y++, row += strlen(row) + 1) {
		int x = rt_canvas_put_c(c, box, 1, y, "+ ", RT_INK_GOOD);
		size_t more = y + 1 == box.h ? count - (size_t)y - 1 : 0;

		x = rt_canvas_put_name(c, box, x, y, box.w - x - 1, rt_str_of(row), RT_INK_TOOL);
		if (more > 0)
			x = rt_canvas_put_f(c, box, x + 2, y, RT_INK_DIM, "and %zu more", more);
		if (more == 0 && y + 1 == box.h && x + 35 < box.w)
			(void)rt_canvas_put_c(c, box, x + 2, y, "Backspace at the start removes it", RT_INK_DIM);
	}
}

/* ---- the commands ---- */

rt_status
rt_slash_ask_file(rt_tui *tui, const char *command, const char *question)
{
	rt_scope *s = rt_tui_begin(tui);

	tui->chat->return_line(tui->panes[0], rt_str_of(command));
	if (rt_ok(s))
		rt_tui_say(tui, "%s", question);
	return rt_tui_end(tui);
}

rt_status
rt_slash_attach(rt_tui *tui, rt_action action, rt_str rest)
{
	rt_chat *chat = rt_chat_of(tui->panes[0]);
	size_t count = 0, done = 0;
	rt_buf *words;
	const char *word;
	rt_error err;
	rt_scope s;
	rt_status st;

	(void)action;
	if (rest.size == 0)
		return rt_slash_ask_file(tui, "/attach ",
					 "Which file? Tab completes its name, here and after @ in a "
					 "message");
	rt_scope_init(&s, tui->alloc);
	words = rt_scope_buf(&s);
	rest = rt_scope_copy(&s, rest);
	if (rt_ok(&s) && access(rest.ptr, F_OK) == 0) { /* a name with blanks, without quotes */
		rt_buf_add_str(words, rest);
		rt_buf_add_byte(words, 0);
		count = 1;
	} else {
		(void)rt_tui_ok(tui, rt_command_split(rest, words, &count, &err), &err);
	}
	word = words->ptr;
	for (; rt_ok(&s) && done < count && rt_chat_attach(chat, rt_str_of(word)); done++)
		word += strlen(word) + 1;
	if (count > 0 && done == count) {
		rt_tui_say(tui, "Attached to the next message");
	} else { /* it can be corrected */
		if (count > 1)
			rt_buf_add_c(&tui->notice, ".  With several files, put names with spaces in quotes");
		tui->chat->return_line(tui->panes[0], rt_tui_format(tui, "/attach %.*s", RT_STR_ARG(rest)));
	}
	st = s.status;
	rt_scope_deinit(&s);
	return st;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t';
}

/* Removes "@FILE" of an attached file from the input. */
static void
remove_word(rt_chat *chat, const char *path)
{
	rt_scope *s = rt_chat_scope(chat);
	rt_str text = rt_field_text(chat->field);
	rt_str word = rt_tui_format(chat->pane.tui, "@%s", path);
	size_t at = rt_str_find(text, word, 0), end = at + word.size;
	rt_buf *rest = rt_scope_buf(s);

	if (!rt_ok(s) || at == SIZE_MAX || (at > 0 && !is_blank(text.ptr[at - 1])) ||
	    (end < text.size && !is_blank(text.ptr[end])))
		return;
	end += end < text.size;
	rt_buf_add(rest, text.ptr, at);
	rt_buf_add_str(rest, rt_str_skip(text, end));
	RT_TRY(s, rt_field_set(chat->field, rt_scope_str(s, rest)));
}

/* The last of a list of texts that each end with a NUL; the list is not empty. */
static size_t
last_of(const rt_buf *list)
{
	size_t at = list->size - 1;

	while (at > 0 && list->ptr[at - 1] != 0)
		at--;
	return at;
}

bool
rt_chat_detach_last(rt_chat *chat)
{
	if (chat->attached.size == 0)
		return false;
	rt_tui_say(chat->pane.tui, "Removed %s", chat->attached_rows.ptr + last_of(&chat->attached_rows));
	remove_word(chat, chat->attached.ptr + last_of(&chat->attached));
	chat->attached.size = last_of(&chat->attached);
	chat->attached_rows.size = last_of(&chat->attached_rows);
	return true;
}

rt_status
rt_slash_detach(rt_tui *tui, rt_action action, rt_str rest)
{
	rt_chat *chat = rt_chat_of(tui->panes[0]);
	const char *path = chat->attached.ptr;

	(void)action;
	(void)rest;
	rt_tui_say(tui, chat->attached.size > 0 ? "Removed all attached files"
						: "Nothing is attached");
	for (size_t i = count_of(&chat->attached); i > 0; i--, path += strlen(path) + 1)
		remove_word(chat, path);
	rt_chat_detach(chat);
	return RT_OK;
}

/* ---- files that a message names ---- */

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Does the text after "@" look like a path, and not like a name? It begins like one, or ends in a
 * file extension. */
static bool
looks_like_path(rt_str text)
{
	size_t dot = text.size;
	bool has_letter = false;

	if (text.ptr[0] == '/' || rt_str_starts(text, RT_STR("~/")) || rt_str_starts(text, RT_STR("./")) ||
	    rt_str_starts(text, RT_STR("../")))
		return true;
	while (dot > 0 && (is_letter(text.ptr[dot - 1]) ||
			   (text.ptr[dot - 1] >= '0' && text.ptr[dot - 1] <= '9')))
		has_letter = is_letter(text.ptr[--dot]) || has_letter;
	return has_letter && dot > 1 && text.ptr[dot - 1] == '.' && text.ptr[dot - 2] != '/' &&
	       text.size - dot <= EXTENSION_MAX;
}

/* Is there such a file or directory? */
static bool
exists(rt_chat *chat, rt_str path)
{
	const char *home = getenv("HOME");
	bool is_home = home != NULL && rt_str_starts(path, RT_STR("~/"));
	struct stat info;
	rt_str name = rt_tui_format(chat->pane.tui, "%s%.*s", is_home ? home : "",
				    RT_STR_ARG(rt_str_skip(path, is_home)));

	return rt_ok(rt_chat_scope(chat)) && name.size > 0 && stat(name.ptr, &info) == 0;
}

/* The path of the next word "@PATH" of the text that names a file which is not attached, without the
 * punctuation after it; not in a folded paste. False: there is none. */
static bool
next_named(rt_chat *chat, rt_str text, size_t *at, rt_str *out)
{
	bool is_folded = rt_chat_paste_is_folded(chat) && text.ptr == rt_field_text(chat->field).ptr;

	while (*at < text.size && rt_ok(rt_chat_scope(chat))) {
		size_t from = *at;

		if (is_folded && from == chat->paste.at) {
			*at += chat->paste.size;
			continue;
		}
		while (*at < text.size && !is_blank(text.ptr[*at]))
			(*at)++;
		*out = rt_str_at(text.ptr + from, *at - from);
		*at += *at < text.size;
		if (out->size < 2 || out->ptr[0] != '@')
			continue;
		*out = rt_str_skip(*out, 1);
		while (out->size > 0 && strchr(".,;:!?)\"'", out->ptr[out->size - 1]) != NULL &&
		       !exists(chat, *out))
			out->size--;
		if (out->size > 0 && !rt_chat_is_attached(chat, *out) &&
		    (looks_like_path(*out) || exists(chat, *out)))
			return true;
	}
	return false;
}

/* Was it reported that this text names a file that is not attached? */
static bool
is_checked(const rt_chat *chat, rt_str text)
{
	return chat->checked.size > 0 && rt_str_eq(text, rt_buf_str(&chat->checked));
}

bool
rt_chat_attach_named(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	rt_str text = rt_field_text(chat->field), path;
	unsigned errors = tui->errors;
	size_t at = 0, count = 0;

	if (is_checked(chat, text))
		return true;
	rt_buf_clear(&chat->checked);
	while (tui->errors == errors && next_named(chat, text, &at, &path))
		count += rt_chat_attach(chat, path);
	if (tui->errors != errors) {
		rt_buf_add_str(&chat->checked, text);
		rt_buf_add_c(&tui->notice, ".  Correct the path, or press Enter again to send the text "
					   "without this file");
	} else if (count > 0) {
		rt_tui_say(tui, "Attached %zu %s.  Enter sends the message", count,
			   count == 1 ? "file" : "files");
	}
	return rt_ok(rt_chat_scope(chat)) && tui->errors == errors && count == 0;
}

rt_status
rt_chat_check_named(rt_chat *chat, rt_str text, rt_error *err)
{
	size_t at = 0;
	rt_str path;

	if (is_checked(chat, text) || !next_named(chat, text, &at, &path))
		return RT_OK;
	rt_buf_clear(&chat->checked);
	rt_buf_add_str(&chat->checked, text);
	return rt_fail(err, RT_REFUSED, "the file %.*s is not attached: attach it with /attach, or send the "
					"text again", RT_STR_ARG(path));
}

/* ---- completion ---- */

static const rt_str file_commands[] = {RT_STR_INIT("/attach "), RT_STR_INIT("/import ")};

/* The command with its blank, if it is one whose word is a file; or empty. */
static rt_str
file_command(rt_str text)
{
	for (size_t i = 0; i < sizeof(file_commands) / sizeof(file_commands[0]); i++)
		if (rt_str_starts(text, file_commands[i]) &&
		    memchr(text.ptr, '\n', text.size) == NULL)
			return file_commands[i];
	return RT_STR("");
}

bool
rt_chat_is_file_command(rt_str text)
{
	return file_command(text).size > 0;
}

bool
rt_chat_is_attach(rt_str text)
{
	return rt_str_eq(file_command(text), file_commands[0]);
}

rt_str
rt_chat_file_word(const rt_chat *chat)
{
	rt_str text = rt_field_text(chat->field);
	size_t end = rt_field_cursor(chat->field), at = end;

	if (rt_chat_is_file_command(text))
		return end == text.size ? rt_str_skip(text, file_command(text).size)
					: rt_str_at(NULL, 0);
	if (rt_chat_is_command(text))
		return rt_str_at(NULL, 0);
	if (end < text.size && !is_blank(text.ptr[end]))
		return rt_str_at(NULL, 0);
	while (at > 0 && !is_blank(text.ptr[at - 1]))
		at--;
	return at < end && text.ptr[at] == '@' ? rt_str_at(text.ptr + at + 1, end - at - 1)
					       : rt_str_at(NULL, 0);
}

/* Can a name be shown and typed? */
static bool
is_plain(rt_str name)
{
	for (size_t i = 0; i < name.size; i++)
		if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == 0x7F)
			return false;
	return rt_utf8_valid_size(name) == name.size;
}

static int
compare(const void *a, const void *b)
{
	return strcmp(((const rt_chat_suggestion *)a)->name, ((const rt_chat_suggestion *)b)->name);
}

int
rt_chat_files(const rt_chat *chat, rt_str word, rt_chat_suggestion out[RT_CHAT_SUGGESTIONS])
{
	rt_scope *s = &chat->pane.tui->scope;
	const char *home = getenv("HOME");
	rt_buf *path = rt_scope_buf(s);
	size_t folder = word.size;
	struct dirent *item;
	int count = 0;
	rt_str begin;
	DIR *dir;

	while (folder > 0 && word.ptr[folder - 1] != '/')
		folder--;
	begin = rt_str_skip(word, folder);
	if (home != NULL && rt_str_starts(word, RT_STR("~/"))) {
		rt_buf_add_c(path, home);
		rt_buf_add(path, word.ptr + 1, folder - 1);
	} else {
		rt_buf_add(path, word.ptr, folder);
	}
	dir = rt_ok(s) ? opendir(folder == 0 ? "." : rt_scope_str(s, path).ptr) : NULL;
	for (int seen = 0; dir != NULL && rt_ok(s) && count < RT_CHAT_SUGGESTIONS &&
			   seen < FOLDER_MAX && (item = readdir(dir)) != NULL;
	     seen++) {
		rt_str name = rt_str_of(item->d_name);
		struct stat info;

		if (!rt_str_starts(name, begin) || (begin.size == 0 && name.ptr[0] == '.') ||
		    rt_str_is(name, ".") || rt_str_is(name, "..") || !is_plain(name) ||
		    fstatat(dirfd(dir), item->d_name, &info, 0) != 0 ||
		    !(S_ISDIR(info.st_mode) || S_ISREG(info.st_mode)))
			continue;
		out[count++] = (rt_chat_suggestion){
			.name = rt_tui_format(chat->pane.tui, "%.*s%s%s", (int)folder,
					      word.ptr == NULL ? "" : word.ptr, item->d_name,
					      S_ISDIR(info.st_mode) ? "/" : "")
					.ptr,
			.words = "",
			.what = S_ISDIR(info.st_mode) ? "directory" : "",
			.is_file = true};
	}
	if (dir != NULL)
		(void)closedir(dir);
	if (!rt_ok(s))
		return 0;
	qsort(out, (size_t)count, sizeof(*out), compare);
	if (count == 1 && out[0].what[0] == 0)
		out[0].what = !rt_chat_is_file_command(rt_field_text(chat->field)) ? "Enter attaches it"
			      : rt_chat_is_attach(rt_field_text(chat->field)) ? "Tab attaches it"
									      : "Tab completes it";
	return count;
}
