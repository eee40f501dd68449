/* SPDX-License-Identifier: MIT
 *
 * The same words replaced in many entries, as one step; or (-n) a list of where that
 * would be. In arrays of blocks the texts are looked at, one by one; all else stays. */
#include "cli/replace.h"

#include <stdio.h>

#include "app/screen.h"
#include "codec/content.h"

enum { AROUND = 24 /* bytes shown on either side of a match */ };

typedef struct replacing {
	rt_str old, new;
	rt_old_change *change;
	bool dry_run;
	size_t matches, entries;
	rt_buf content; /* the new one, as JSON */
	rt_buf text;    /* the old one, where it is shown */
	rt_buf list; /* JSON of what would change */
} replacing;

/* ":4 k3f9  2 times: … around the first …" */
static void
say_match(rt_cli *cli, const replacing *r, size_t at, rt_str id, rt_str text, size_t count)
{
	size_t found = rt_str_find(text, r->old, 0), from = found > AROUND ? found - AROUND : 0;
	size_t end = found + r->old.size, to = end + AROUND < text.size ? end + AROUND : text.size;
	rt_term *out = &cli->out;

	while (from > 0 && ((unsigned char)text.ptr[from] & 0xC0) == 0x80)
		from--;
	while (to < text.size && ((unsigned char)text.ptr[to] & 0xC0) == 0x80)
		to++;
	rt_term_f(out, ":%zu  ", at + 1);
	rt_term_line(out, id);
	rt_term_f(out, "  %zu time%s:  ", count, RT_CLI_S(count));
	rt_term_c(out, from > 0 ? "..." : "");
	rt_term_line(out, rt_str_at(text.ptr + from, found - from));
	rt_term_c(out, found > from && text.ptr[found - 1] == ' ' ? " " : "");
	rt_term_style(out, RT_STYLE_RED);
	rt_term_c(out, "[-");
	rt_term_line(out, r->old);
	rt_term_c(out, "-]");
	rt_term_style(out, RT_STYLE_GREEN);
	rt_term_c(out, "{+");
	rt_term_line(out, r->new);
	rt_term_c(out, "+}");
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, end < text.size && text.ptr[end] == ' ' ? " " : "");
	rt_term_line(out, rt_str_at(text.ptr + end, to - end));
	rt_term_c(out, to < text.size ? "...\n" : "\n");
}

static rt_status
replace_window(rt_cli *cli, void *ctx, yyjson_val *show, size_t from)
{
	replacing *r = ctx;
	rt_scope *s = &r->change->scope;
	yyjson_val *entry;
	size_t i, count, found;

	yyjson_arr_foreach(rt_json_get(show, "entries"), i, count, entry) {
		rt_content content = rt_content_of(rt_json_get(entry, "content"));
		rt_str id = rt_json_str(rt_json_get(entry, "id"));

		rt_buf_clear(&r->content);
		found = rt_content_replace(&r->content, content, r->old, r->new);
		if (r->content.status != RT_OK)
			return rt_old_buf(cli, &r->content);
		if (found == 0)
			continue;
		r->entries++;
		r->matches += found;
		if (r->dry_run && !cli->json) {
			rt_buf_clear(&r->text);
			rt_content_add_text(&r->text, content);
			if (r->text.status != RT_OK)
				return rt_old_buf(cli, &r->text);
			say_match(cli, r, from + i, id, rt_buf_str(&r->text), found);
		}
		rt_json_add_comma(&r->list);
		rt_buf_add_c(&r->list, "{\"entry\":");
		rt_json_add_string(&r->list, id);
		rt_buf_add_f(&r->list, ",\"count\":%zu}", found);
		rt_old_change_add(
			r->change,
			&(rt_request){.op = RT_OP_ENTRY_EDIT,
				      .entry = rt_scope_copy(s, id),
				      .content = rt_content_of(rt_old_change_value(
					      r->change, rt_buf_str(&r->content)))});
	}
	return RT_OK;
}

static rt_status
say_dry(rt_cli *cli, const replacing *r)
{
	rt_status st = RT_OK;
	rt_buf buf;

	if (!cli->json) {
		rt_term_f(&cli->out,
			  "Would replace %zu time%s in %zu entr%s. Nothing was changed.\n",
			  r->matches, RT_CLI_S(r->matches), r->entries, RT_CLI_IES(r->entries));
		return RT_OK;
	}
	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(&buf, "{\"dry_run\":true,\"replaced\":%zu,\"entries\":%s]}", r->matches,
		     r->list.ptr);
	st = rt_old_buf(cli, &buf);
	if (st == RT_OK)
		st = rt_old_print_json(cli, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
	return st;
}

static rt_status
finish(rt_cli *cli, replacing *r)
{
	rt_status st;

	if (r->matches == 0) {
		rt_old_hint(cli, RT_NOT_FOUND, "Look for it: retake search TEXT");
		return rt_old_fail(cli, RT_NOT_FOUND, "\"%.*s\" stands nowhere there",
				   (int)rt_utf8_cut(r->old, 100), r->old.ptr);
	}
	if (r->dry_run)
		return say_dry(cli, r);
	st = rt_old_change_run(r->change);
	if (st != RT_OK)
		return st;
	rt_buf_add_f(r->change->extra, ",\"replaced\":%zu,\"entries\":%s]", r->matches,
		     r->list.ptr);
	return rt_old_change_say(
		r->change, "Replaced \"%.*s\" by \"%.*s\": %zu time%s in %zu entr%s.",
		(int)rt_utf8_cut(r->old, 60), r->old.ptr, (int)rt_utf8_cut(r->new, 60),
		r->new.ptr == NULL ? "" : r->new.ptr, r->matches, RT_CLI_S(r->matches), r->entries,
		RT_CLI_IES(r->entries));
}

rt_status
rt_cli_replace(rt_cli *cli)
{
	const rt_take *take = NULL;
	const char *range = rt_cli_word(cli, 2);
	replacing r = {.dry_run = rt_cli_has(cli, "dry-run")};
	size_t first = 0, last = 0;
	rt_old_change change;
	rt_status st;

	if (cli->args.word_count < 2 || cli->args.word_count > 3)
		return rt_old_fail(cli, RT_USAGE,
				   "edit --replace needs OLD, NEW and, if not all "
				   "entries are meant, ENTRY or FROM..TO");
	r.old = rt_str_of(rt_cli_word(cli, 0));
	r.new = rt_str_of(rt_cli_word(cli, 1));
	if (r.old.size == 0)
		return rt_old_fail(cli, RT_USAGE, "there is nothing to replace (OLD is empty)");
	if (rt_utf8_valid_size(r.old) != r.old.size || rt_utf8_valid_size(r.new) != r.new.size)
		return rt_old_fail(cli, RT_USAGE, "OLD and NEW must be UTF-8");
	st = rt_old_open(cli, r.dry_run ? RT_SESSION_LOOK : RT_SESSION_CHANGE);
	if (st == RT_OK)
		st = rt_old_take(cli, &take);
	if (st != RT_OK)
		return st;
	last = rt_seq_count(take->slots);
	if (last > 0)
		last--;
	if (range != NULL)
		st = rt_old_range(cli, range, &first, &last);
	if (st != RT_OK)
		return st;
	rt_old_change_init(cli, &change);
	r.change = &change;
	rt_buf_init(&r.content, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&r.text, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&r.list, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&r.list, '[');
	st = rt_old_each_window(cli, first, last, replace_window, &r);
	if (st == RT_OK)
		st = finish(cli, &r);
	rt_buf_deinit(&r.content);
	rt_buf_deinit(&r.text);
	rt_buf_deinit(&r.list);
	rt_old_change_deinit(&change);
	return st;
}
