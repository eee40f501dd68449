/* SPDX-License-Identifier: MIT
 *
 * The commands around take files: show --take-file prints one, edit --all takes one back,
 * through an editor or from a file. Nothing that a person wrote is ever thrown away: when
 * it cannot be used, the file stays and its name is said. */
#define _POSIX_C_SOURCE 200809L

#include "cli/takefile.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "app/screen.h"
#include "codec/content.h"

/* --- from the value --- */

static rt_status
load_entry(rt_cli *cli, rt_cli_items *items, yyjson_val *entry, rt_buf *scratch)
{
	yyjson_val *content = rt_json_get(entry, "content");
	rt_content text = rt_content_of(content);
	rt_cli_item item = {
		.id = rt_json_str(rt_json_get(entry, "id")),
		.role = rt_json_str(rt_json_get(entry, "role")),
		.muted = yyjson_is_true(rt_json_get(entry, "muted")),
	};
	rt_status st;

	rt_buf_clear(scratch);
	rt_content_add_text(scratch, text);
	if (rt_content_text_count(text) == 0 || yyjson_is_true(rt_json_get(entry, "purged")) ||
	    (scratch->size > 0 && memchr(scratch->ptr, 0, scratch->size) != NULL)) {
		/* Locked ones are kept as JSON, so that a change of theirs is seen all the same. */
		item.locked = true;
		rt_buf_clear(scratch);
		rt_json_add_value(scratch, content);
	}
	item.content = rt_buf_str(scratch);
	st = rt_old_buf(cli, scratch);
	if (st == RT_OK && rt_cli_items_add(items, &item) != RT_OK)
		st = rt_old_nomem(cli);
	return st;
}

typedef struct loading {
	rt_cli_items *items;
	rt_buf scratch;
} loading;

static rt_status
load_window(rt_cli *cli, void *ctx, yyjson_val *show, size_t from)
{
	loading *l = ctx;
	yyjson_val *entry;
	size_t i, count;
	rt_status st = RT_OK;

	(void)from;
	yyjson_arr_foreach(rt_json_get(show, "entries"), i, count, entry) {
		st = load_entry(cli, l->items, entry, &l->scratch);
		if (st != RT_OK)
			break;
	}
	return st;
}

/* The take at hand as items. */
static rt_status
load(rt_cli *cli, rt_cli_items *items)
{
	const rt_take *take = NULL;
	loading l = {.items = items};
	size_t count;
	rt_status st = rt_cli_items_init(items, cli->alloc);

	if (st != RT_OK)
		return rt_old_nomem(cli);
	st = rt_old_take(cli, &take);
	if (st != RT_OK)
		return st;
	items->step = cli->session.value->seq;
	items->has_step = true;
	count = rt_seq_count(take->slots);
	if (count == 0)
		return RT_OK;
	rt_buf_init(&l.scratch, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_old_each_window(cli, 0, count - 1, load_window, &l);
	rt_buf_deinit(&l.scratch);
	return st;
}

static rt_status
add_title(rt_cli *cli, rt_buf *buf)
{
	const rt_take *take = NULL;
	const rt_cell *cell = rt_project_cell(cli->session.value, cli->session.place.disc);
	rt_status st = rt_old_take(cli, &take);

	if (st != RT_OK)
		return st;
	rt_buf_add_c(buf, "Take \"");
	rt_screen_add_line(buf, rt_text_str(take->name));
	rt_buf_add_c(buf, "\" of \"");
	rt_screen_add_line(buf, cell == NULL ? rt_str_of(NULL) : rt_cell_name(cell));
	rt_buf_add_f(buf, "\" as it was after step %llu.",
		     (unsigned long long)cli->session.value->seq);
	return RT_OK;
}

static rt_status
write_file(rt_cli *cli, const rt_cli_items *items, rt_buf *out)
{
	rt_status st;
	rt_buf title;

	rt_buf_init(&title, cli->alloc, RT_BUF_UNLIMITED);
	st = add_title(cli, &title);
	if (st == RT_OK) {
		rt_cli_takefile_write(out, items, rt_buf_str(&title));
		st = rt_old_buf(cli, out);
	}
	rt_buf_deinit(&title);
	return st;
}

rt_status
rt_cli_takefile_print(rt_cli *cli)
{
	rt_cli_items items = {0};
	rt_status st = load(cli, &items);
	rt_buf buf;

	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK)
		st = write_file(cli, &items, &buf);
	if (st == RT_OK && cli->json) {
		rt_buf json;

		rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_c(&json, "{\"text\":");
		rt_json_add_string(&json, rt_buf_str(&buf));
		rt_buf_add_c(&json, "}");
		st = rt_old_buf(cli, &json);
		if (st == RT_OK)
			st = rt_old_print_json(cli, rt_buf_str(&json));
		rt_buf_deinit(&json);
	} else if (st == RT_OK) {
		rt_term_raw(&cli->out, rt_buf_str(&buf));
	}
	rt_buf_deinit(&buf);
	rt_cli_items_deinit(&items);
	return st;
}

/* --- and back --- */

static void
add_part(rt_buf *buf, size_t count, const char *what)
{
	if (count > 0)
		rt_buf_add_f(buf, "%s%zu %s", buf->size > 0 ? ", " : "", count, what);
}

static void
add_counts(rt_buf *buf, const rt_cli_counts *counts)
{
	add_part(buf, counts->edited, "edited");
	add_part(buf, counts->roles, "with another role");
	add_part(buf, counts->muted, "muted or unmuted");
	add_part(buf, counts->added, "added");
	add_part(buf, counts->deleted, "deleted");
	add_part(buf, counts->moved, "moved");
}

static rt_status
say_unchanged(rt_cli *cli)
{
	rt_buf buf;

	if (!cli->json) {
		if (!cli->quiet)
			rt_term_c(&cli->out, "Nothing was changed.\n");
		return RT_OK;
	}
	rt_buf_init(&buf, cli->alloc, 4096);
	rt_buf_add_f(&buf, "{\"seq\":%llu,\"unchanged\":true}",
		     (unsigned long long)cli->session.value->seq);
	(void)rt_old_print_json(cli, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
	return RT_OK;
}

static rt_status
say_changes(rt_cli *cli, rt_old_change *change, const rt_cli_counts *counts)
{
	const rt_take *take = NULL;
	rt_buf parts;
	rt_status st;

	rt_buf_init(&parts, cli->alloc, 4096);
	add_counts(&parts, counts);
	rt_buf_add_f(change->extra,
		     ",\"edited\":%zu,\"roles\":%zu,\"muted\":%zu,\"added\":%zu,\"deleted\":%zu,"
		     "\"moved\":%zu",
		     counts->edited, counts->roles, counts->muted, counts->added, counts->deleted,
		     counts->moved);
	if (rt_cli_has(cli, "dry-run")) {
		if (cli->json) {
			rt_buf json;

			rt_buf_init(&json, cli->alloc, 4096);
			rt_buf_add_c(&json, "{\"dry_run\":true");
			rt_buf_add_str(&json, rt_buf_str(change->extra));
			rt_buf_add_c(&json, "}");
			st = rt_old_print_json(cli, rt_buf_str(&json));
			rt_buf_deinit(&json);
		} else {
			rt_term_f(&cli->out, "Would change: %s. Nothing was changed.\n", parts.ptr);
			st = RT_OK;
		}
	} else {
		st = rt_old_take(cli, &take);
		if (st == RT_OK)
			st = rt_old_change_say(change, "Changed take \"%s\": %s.", take->name->ptr,
					       parts.ptr);
	}
	rt_buf_deinit(&parts);
	return st;
}

/* What the file was written from, when that is not what the take is now. */
static rt_status
load_base(rt_cli *cli, const rt_cli_items *read, rt_cli_items *base)
{
	const rt_project *now = cli->session.value;
	rt_status st;

	if (!read->has_step || read->step == now->seq)
		return load(cli, base);
	st = rt_engine_value_at(cli->session.engine, read->step, &cli->session.value, &cli->error);
	if (st != RT_OK) {
		cli->session.value = now;
		return rt_old_hint(cli, st,
				   "The first frame line names the step that the file shows.");
	}
	st = load(cli, base);
	rt_object_unref(cli->session.value);
	cli->session.value = now;
	return st;
}

/* Locked items are read without their content; take it from where they were. */
static rt_status
fill_locked(rt_cli *cli, const rt_cli_items *base, rt_cli_items *read)
{
	rt_cli_index *index = NULL;
	rt_status st = rt_cli_index_new(base, &index);
	size_t i, at;

	if (st != RT_OK)
		return rt_old_nomem(cli);
	for (i = 0; i < read->count; i++) {
		if (!read->items[i].locked)
			continue;
		at = rt_cli_index_find(index, read->items[i].id);
		if (at != SIZE_MAX && base->items[at].locked)
			read->items[i].content = base->items[at].content;
	}
	rt_cli_index_free(index);
	return RT_OK;
}

/* Carry out what a text says. */
static rt_status
apply_text(rt_cli *cli, rt_str text)
{
	rt_cli_items read = {0}, base = {0}, current = {0};
	rt_cli_counts counts;
	rt_old_change change;
	rt_status st;

	rt_old_change_init(cli, &change);
	st = rt_cli_items_init(&read, cli->alloc) == RT_OK
		     ? rt_cli_takefile_read(text, &read, &cli->error)
		     : rt_old_nomem(cli);
	if (st == RT_OK)
		st = rt_engine_refresh(cli->session.engine, &cli->error);
	if (st == RT_OK)
		st = rt_old_look(cli);
	if (st == RT_OK)
		st = load_base(cli, &read, &base);
	if (st == RT_OK)
		st = fill_locked(cli, &base, &read);
	if (st == RT_OK)
		st = rt_cli_takefile_diff(&base, &read, &change, &counts, &cli->error);
	if (st == RT_OK && change.count == 0) {
		st = say_unchanged(cli);
		goto done;
	}
	if (st == RT_OK)
		st = load(cli, &current);
	if (st == RT_OK)
		st = rt_cli_takefile_fits(&base, &read, &current, &cli->error);
	if (st == RT_OK && !rt_cli_has(cli, "dry-run"))
		st = rt_old_change_run(&change);
	if (st == RT_OK)
		st = say_changes(cli, &change, &counts);
done:
	rt_old_change_deinit(&change);
	rt_cli_items_deinit(&read);
	rt_cli_items_deinit(&base);
	rt_cli_items_deinit(&current);
	return st;
}

/* Through the editor. */
static rt_status
edit_take(rt_cli *cli)
{
	rt_cli_items items = {0};
	rt_buf text, path;
	rt_status st;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&path, cli->alloc, RT_BUF_UNLIMITED);
	st = load(cli, &items);
	if (st == RT_OK)
		st = write_file(cli, &items, &text);
	if (st == RT_OK)
		st = rt_old_edit_text(cli, "take", &text, &path);
	if (st == RT_OK) {
		st = apply_text(cli, rt_buf_str(&text));
		if (st == RT_OK)
			(void)unlink(path.ptr);
		else
			st = rt_old_hint(cli, st,
					 "Your text is kept in %s   Mend it and go on: "
					 "retake edit --all -f %s",
					 path.ptr, path.ptr);
	}
	rt_cli_items_deinit(&items);
	rt_buf_deinit(&text);
	rt_buf_deinit(&path);
	return st;
}

rt_status
rt_cli_takefile_edit(rt_cli *cli)
{
	const char *file = rt_cli_flag_value(cli, "file"), *word = rt_cli_word(cli, 0);
	rt_status st;
	rt_buf text;

	if (word != NULL && strcmp(word, "-") != 0)
		return rt_old_fail(cli, RT_USAGE, "--all is about the whole take, not \"%.40s\"",
				   word);
	st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st != RT_OK)
		return st;
	if (file == NULL && word == NULL)
		return edit_take(cli);
	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_old_read_file(cli, file != NULL ? file : "-", &text);
	if (st == RT_OK)
		st = apply_text(cli, rt_buf_str(&text));
	if (st == RT_USAGE && cli->error.line > 0)
		rt_old_hint(cli, st, "Nothing was changed. The form: retake show --take-file");
	rt_buf_deinit(&text);
	return st;
}
