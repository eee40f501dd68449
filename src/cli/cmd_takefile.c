/* SPDX-License-Identifier: MIT
 *
 * The commands around take files: show --take-file prints one, edit --all applies one, from the
 * editor or a file. No text of the user is ever lost: a file that cannot be used is kept, and its
 * name printed. */
#include "cli/takefile.h"

#include "app/screen.h"
#include "codec/content.h"

/* --- from the value --- */

static void
add_entry(rt_cli_items *items, const rt_entry_row *e)
{
	rt_cli_item item = {.id = e->id, .role = e->role, .muted = e->muted};
	rt_buf text;

	rt_buf_init(&text, items->s->alloc, RT_BUF_UNLIMITED);
	rt_content_add_text(&text, e->content);
	if (rt_content_text_count(e->content) == 0 || e->purged ||
	    (text.size > 0 && memchr(text.ptr, 0, text.size) != NULL)) {
		/* Locked ones are kept as JSON, so that a change of them is noticed, too. */
		item.locked = true;
		rt_buf_clear(&text);
		rt_body_add_content(&text, e->body);
	}
	item.content = rt_scope_str(items->s, &text);
	rt_cli_items_add(items, &item);
	rt_buf_deinit(&text);
}

/* The viewed take as items. */
static rt_cli_items
load(rt_cli *cli)
{
	rt_cli_items items = {.s = &cli->s, .step = cli->session.value->seq, .has_step = true};
	rt_view view = rt_cli_view(cli);
	rt_entry_cursor *c = rt_ok(&cli->s) ? rt_entries_open(&view, NULL) : NULL;

	for (const rt_entry_row *e; (e = rt_entries_next(c)) != NULL;)
		add_entry(&items, e);
	return items;
}

/* The take as a file. */
static rt_buf *
write_file(rt_cli *cli)
{
	rt_cli_items items = load(cli);
	const rt_take *take = rt_cli_take(cli);
	rt_buf *out = rt_scope_buf(&cli->s), *title = rt_scope_buf(&cli->s);

	if (take == NULL)
		return out;
	rt_buf_add_c(title, "Take \"");
	rt_screen_add_line(title, rt_text_str(take->name));
	rt_buf_add_c(title, "\" of \"");
	rt_screen_add_line(title, rt_cli_disc_name(cli));
	rt_buf_add_f(title, "\" after step %llu.",
		     (unsigned long long)cli->session.value->seq);
	rt_cli_takefile_write(out, &items, rt_scope_str(&cli->s, title));
	return out;
}

void
rt_cli_takefile_print(rt_cli *cli)
{
	rt_str text = rt_scope_str(&cli->s, write_file(cli));
	rt_buf *json = rt_scope_buf(&cli->s);

	if (!rt_ok(&cli->s))
		return;
	if (!cli->json) {
		rt_term_raw(&cli->out, text);
		return;
	}
	rt_json_open(json, NULL, '{');
	rt_json_put_str(json, "text", text);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

/* --- and back --- */

static void
say_unchanged(rt_cli *cli)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	if (!cli->json) {
		rt_term_c(&cli->out, cli->quiet ? "" : "Nothing was changed.\n");
		return;
	}
	rt_json_open(json, NULL, '{');
	rt_json_put_u64(json, "seq", cli->session.value->seq);
	rt_json_put_bool(json, "unchanged", true);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

/* result NULL: a dry run. */
static void
say_changes(rt_cli *cli, const rt_result *result, const rt_cli_counts *counts)
{
	const struct {
		const char *key, *words;
		size_t count;
	} rows[] = {
		{"edited", "edited", counts->edited},
		{"roles", "with a new role", counts->roles},
		{"muted", "muted or unmuted", counts->muted},
		{"added", "added", counts->added},
		{"deleted", "deleted", counts->deleted},
		{"moved", "moved", counts->moved},
	};
	rt_buf *parts = rt_scope_buf(&cli->s), *json = rt_scope_buf(&cli->s);
	const rt_take *take = rt_cli_take(cli);

	if (take == NULL)
		return;
	rt_json_open(json, NULL, '{');
	rt_json_put_bool(json, "dry_run", true);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rt_json_put_u64(result != NULL ? rt_cli_extra(cli) : json, rows[i].key,
				rows[i].count);
		if (rows[i].count > 0)
			rt_buf_add_f(parts, "%s%zu %s", parts->size > 0 ? ", " : "", rows[i].count,
				     rows[i].words);
	}
	rt_json_close(json, '}');
	if (result != NULL)
		rt_cli_say_result(cli, result, "Changed take \"%s\": %s.", take->name->ptr,
				  parts->ptr);
	else if (cli->json)
		rt_cli_print_json(cli, json);
	else
		rt_term_f(&cli->out, "Would change: %s. Nothing was changed.\n", parts->ptr);
}

/* The take from which the file was written, if it has changed since. */
static rt_cli_items
load_base(rt_cli *cli, const rt_cli_items *read)
{
	rt_scope *s = &cli->s;
	const rt_project *now = cli->session.value, *then = NULL;
	rt_cli_items base = {.s = s};

	if (!rt_ok(s) || !read->has_step || read->step == now->seq)
		return rt_ok(s) ? load(cli) : base;
	if (RT_TRY(s, rt_engine_value_at(cli->session.engine, read->step, &then, &s->error)) !=
	    RT_OK) {
		rt_cli_hint(cli, "The first line names the step that the file shows.");
		return base;
	}
	cli->session.value = then;
	base = load(cli);
	cli->session.value = now;
	rt_object_unref(then);
	return base;
}

/* Locked items are read without their content; it is not changed. */
static void
fill_locked(const rt_cli_items *base, rt_cli_items *read)
{
	const rt_cli_index *index = rt_cli_index_new(base);

	for (size_t i = 0; index != NULL && i < read->count; i++) {
		rt_cli_item *item = &read->items[i];
		size_t at = item->locked ? rt_cli_index_find(index, item->id) : SIZE_MAX;

		if (at != SIZE_MAX && base->items[at].locked)
			item->content = base->items[at].content;
	}
}

/* Applies the changes in a text. */
static void
apply_text(rt_cli *cli, rt_str text)
{
	rt_scope *s = &cli->s;
	rt_cli_items read = rt_cli_takefile_read(s, text), base, current;
	rt_cli_requests requests = {0};
	const rt_result *result = NULL;
	rt_cli_counts counts;

	RT_TRY(s, rt_engine_refresh(cli->session.engine, &s->error));
	rt_cli_look(cli);
	base = load_base(cli, &read);
	fill_locked(&base, &read);
	counts = rt_cli_takefile_diff(&base, &read, &requests);
	if (!rt_ok(s))
		return;
	if (requests.count == 0) {
		say_unchanged(cli);
		return;
	}
	current = load(cli);
	rt_cli_takefile_check(&base, &read, &current);
	if (!rt_cli_has(cli, "dry-run"))
		result = rt_cli_execute(cli, requests.items, requests.count);
	if (rt_ok(s))
		say_changes(cli, result, &counts);
}

/* Through the editor. */
static void
edit_take(rt_cli *cli)
{
	rt_str text = rt_cli_edit_text(cli, "take", rt_scope_str(&cli->s, write_file(cli)), false);

	if (!rt_ok(&cli->s))
		return;
	apply_text(cli, text);
	if (!rt_ok(&cli->s))
		rt_cli_hint(cli,
			    "Your text is in %s   Correct it and continue: retake edit --all -f "
			    "%s",
			    cli->draft, cli->draft);
	rt_cli_drop_draft(cli);
}

void
rt_cli_takefile_edit(rt_cli *cli)
{
	const char *file = rt_cli_flag_value(cli, "file"), *word = rt_cli_word(cli, 0);

	if (word != NULL && strcmp(word, "-") != 0)
		rt_cli_fail(cli, RT_USAGE, "--all edits the whole take; remove \"%.40s\"", word);
	if (!rt_cli_open(cli, RT_SESSION_CHANGE))
		return;
	if (file == NULL && word == NULL) {
		edit_take(cli);
		return;
	}
	apply_text(cli, rt_cli_read_file(cli, file != NULL ? file : "-"));
	if (cli->s.status == RT_USAGE && cli->s.error.line > 0)
		rt_cli_hint(cli, "Nothing was changed. The format: retake show --take-file");
}
