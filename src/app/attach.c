/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "app/attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "chat/context.h"
#include "codec/json.h"

enum { MESSAGE_ROOM = RT_ERROR_TEXT_SIZE - 120 }; /* for the problems of a set */

rt_file_options
rt_attach_here(rt_scope *s)
{
	rt_file_options options = {.path = getenv("PATH")};
	rt_str *root = rt_scope_get(s, sizeof(*root));
	char *here = getcwd(NULL, 0);

	if (root != NULL && here != NULL) {
		*root = rt_scope_copy(s, rt_str_of(here));
		options.roots = root;
		options.root_count = 1;
	} else if (here == NULL && errno == ENOMEM)
		(void)rt_scope_fail(s, RT_NOMEM, "out of memory");
	free(here);
	return options;
}

/* A list: a separate field, or a member of the field "files" (of imported projects). */
static rt_str
list_of(rt_scope *s, const rt_disc *disc, const char *name)
{
	rt_str files = rt_fields_get(disc->fields, RT_STR("files"));
	rt_str own = rt_fields_get(disc->fields, rt_str_of(name));

	if (files.size == 0 || files.ptr[0] != '{')
		return own;
	yyjson_val *inner = rt_json_get(rt_json_parse(s, files), name);
	rt_buf *json = rt_scope_buf(s);

	if (inner == NULL)
		return strcmp(name, "files") == 0 ? RT_STR("") : own;
	rt_json_add_value(json, inner);
	return rt_scope_str(s, json);
}

const rt_file_set *
rt_attach_look(rt_scope *s, const rt_file_options *options, const rt_project *value, uint32_t number,
	       rt_str message)
{
	static const rt_file_set none = {0};
	const rt_disc *disc = NULL;
	const rt_file_set *set = NULL;

	RT_TRY(s, rt_project_disc(value, number, &disc, &s->error));
	if (rt_ok(s)) {
		rt_file_lists lists = {.files = list_of(s, disc, "files"),
				       .context_files = list_of(s, disc, "context_files"),
				       .screenshots = list_of(s, disc, "screenshots")};

		set = rt_file_set_read(s, options, &lists);
		if (set != NULL)
			set = rt_file_set_add_symbols(s, options, set, message);
	}
	return set != NULL ? set : &none;
}

rt_attachments
rt_attach_set(rt_scope *s, const rt_file_set *set)
{
	rt_attachment *items = rt_scope_array(s, set->count, sizeof(*items));

	if (items == NULL)
		return (rt_attachments){NULL, 0};
	for (size_t i = 0; i < set->count; i++) {
		const rt_file *file = &set->files[i];

		items[i] = (rt_attachment){.name = file->name,
					   .language = file->language,
					   .mime = file->mime,
					   .bytes = file->bytes,
					   .name_only = file->view == RT_FILE_NAME};
		memcpy(items[i].sha256, file->sha256, sizeof(items[i].sha256));
	}
	return (rt_attachments){items, set->count};
}

size_t
rt_attach_tokens(rt_scope *s, const rt_file_options *options, const rt_project *value, uint32_t disc,
		 rt_str message)
{
	rt_attachments files = rt_attach_set(s, rt_attach_look(s, options, value, disc, message));
	size_t tokens = files.count > 0 ? RT_TOKENS_PER_MESSAGE : 0;
	rt_buf *text = rt_scope_buf(s);

	for (size_t i = 0; i < files.count; i++) {
		rt_buf_clear(text);
		rt_attachment_add_text(text, &files.items[i]);
		tokens += rt_tokens_estimate(text->size) +
			  (files.items[i].mime.size > 0 ? RT_TOKENS_PER_IMAGE : 0);
	}
	return tokens;
}

rt_str
rt_attach_lists(rt_scope *s, const rt_disc *disc)
{
	rt_buf *lists = rt_scope_buf(s);

	rt_buf_add_str(lists, list_of(s, disc, "files"));
	rt_buf_add_byte(lists, '\n');
	rt_buf_add_str(lists, list_of(s, disc, "context_files"));
	rt_buf_add_byte(lists, '\n');
	rt_buf_add_str(lists, list_of(s, disc, "screenshots"));
	return rt_scope_str(s, lists);
}

void
rt_attach_check(rt_scope *s, const rt_file_set *set)
{
	size_t count = set->problem_count + set->problems_more, said = 0;
	rt_buf *words = rt_scope_buf(s);

	for (; said < set->problem_count; said++) {
		rt_str message = set->problems[said].message;

		if (said > 0 && words->size + message.size > MESSAGE_ROOM)
			break;
		rt_buf_add_c(words, said > 0 ? "; " : "");
		rt_buf_add(words, message.ptr, rt_utf8_cut(message, MESSAGE_ROOM));
	}
	if (said < count)
		rt_buf_add_f(words, "; and %zu more", count - said);
	rt_str text = rt_scope_str(s, words);
	if (count == 1)
		rt_scope_fail(s, RT_REFUSED, "a file cannot be sent: %.*s", RT_STR_ARG(text));
	else if (count > 1)
		rt_scope_fail(s, RT_REFUSED, "%zu files cannot be sent: %.*s", count,
			      RT_STR_ARG(text));
}

rt_attachments
rt_attach(const void *options, rt_scope *s, const rt_project *value, uint32_t disc, rt_str message)
{
	const rt_file_set *set = rt_attach_look(s, options, value, disc, message);

	rt_attach_check(s, set);
	return rt_attach_set(s, set);
}

static void
put_file(rt_buf *json, const rt_file *file, const size_t *tokens)
{
	char lines[48];

	rt_json_open(json, NULL, '{');
	rt_json_put_str(json, "list", file->list);
	rt_json_put_str(json, "item", file->item);
	rt_json_put_str(json, "name", file->name);
	rt_json_put_u64(json, "size", file->bytes.size);
	if (file->mime.size > 0)
		rt_json_put_str(json, "mime", file->mime);
	else if (file->language.size > 0)
		rt_json_put_str(json, "language", file->language);
	if (file->first_line > 0) {
		snprintf(lines, sizeof(lines), "%zu-%zu", file->first_line, file->last_line);
		rt_json_put_c(json, "lines", lines);
	}
	if (file->view != RT_FILE_FULL)
		rt_json_put_c(json, "view", file->view == RT_FILE_NAME ? "none" : "outline");
	if (tokens != NULL)
		rt_json_put_u64(json, "tokens", *tokens);
	rt_json_close(json, '}');
}

void
rt_attach_put(rt_buf *json, const rt_file_set *set, const size_t *tokens)
{
	rt_json_open(json, "files", '[');
	for (size_t i = 0; i < set->count; i++)
		put_file(json, &set->files[i], tokens != NULL ? &tokens[i] : NULL);
	rt_json_close(json, ']');
	rt_json_open(json, "file_problems", '[');
	for (size_t i = 0; i < set->problem_count; i++) {
		const rt_file_problem *problem = &set->problems[i];

		rt_json_open(json, NULL, '{');
		rt_json_put_str(json, "list", problem->list);
		rt_json_put_str(json, "item", problem->item);
		if (problem->path.size > 0)
			rt_json_put_str(json, "path", problem->path);
		rt_json_put_c(json, "kind", rt_file_problem_word(problem->kind));
		rt_json_put_str(json, "message", problem->message);
		rt_json_close(json, '}');
	}
	rt_json_close(json, ']');
}
