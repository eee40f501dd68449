/* SPDX-License-Identifier: MIT
 *
 * show: the entries of a take, or some of them. */
#include "cli/cli.h"
#include "app/screen.h"
#include "cli/takefile.h"
#include "codec/content.h"
#include "view/view.h"

enum { PREVIEW = 60 };

typedef struct showing {
	bool begun;
	bool raw;
	size_t first, last;
	size_t shown;
	size_t hidden;    /* entries of the take that are not shown for that; 0: all are */
	char head[RT_ID_MAX + 1]; /* then: id of the last one shown before the head; or empty */
	size_t wanted_at; /* position of the one entry that is asked for; SIZE_MAX: several */
} showing;

/* Has it the role that is asked for? As in search, that one alone. */
static bool
is_wanted(const rt_cli *cli, yyjson_val *entry)
{
	const char *role = rt_cli_flag_value(cli, "role");

	return role == NULL ||
	       rt_str_eq_nocase(rt_json_str(rt_json_get(entry, "role")), rt_str_of(role));
}

/* --- JSON: the parts of all windows as one document --- */

static rt_status
json_window(rt_cli *cli, void *ctx, yyjson_val *show, size_t from)
{
	showing *s = ctx;
	yyjson_val *key, *value, *entry;
	size_t i, count;
	rt_status st;
	rt_buf buf;

	(void)from;
	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	if (!s->begun) {
		rt_buf_add_byte(&buf, '{');
		rt_json_foreach(show, i, count, key, value) {
			if (rt_str_is(rt_json_str(key), "entries"))
				continue;
			rt_json_add_key_str(&buf, rt_json_str(key));
			rt_json_add_value(&buf, value);
		}
		rt_json_add_key(&buf, "entries");
		rt_buf_add_byte(&buf, '[');
		s->begun = true;
	}
	yyjson_arr_foreach(rt_json_get(show, "entries"), i, count, entry) {
		if (!is_wanted(cli, entry))
			continue;
		if (s->shown++ > 0)
			rt_buf_add_byte(&buf, ',');
		rt_json_add_value(&buf, entry);
	}
	st = rt_old_buf(cli, &buf);
	if (st == RT_OK)
		rt_term_json(&cli->out, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
	return st;
}

/* --- for people --- */

static void
add_time(rt_term *out, yyjson_val *ts)
{
	rt_str text = rt_json_str(ts);
	rt_moment at;
	rt_buf buf;

	if (text.size == 0)
		return;
	rt_buf_init(&buf, out->buf.alloc, 256);
	if (rt_json_is_number(ts) ? rt_moment_parse_number(text, &at) : rt_moment_parse(text, &at))
		rt_host_add_local_time(&buf, at.us, false);
	rt_term_style(out, RT_STYLE_DIM);
	rt_term_c(out, "  ");
	rt_term_line(out, buf.size > 0 ? rt_buf_str(&buf) : text);
	rt_term_style(out, RT_STYLE_NONE);
	rt_buf_deinit(&buf);
}

static bool
is_true(yyjson_val *entry, const char *key)
{
	return yyjson_is_true(rt_json_get(entry, key));
}

static void
add_marks(rt_term *out, yyjson_val *entry, rt_str head)
{
	rt_str label = rt_json_str(rt_json_get(entry, "label"));
	rt_str kind = rt_json_str(rt_json_get(entry, "kind"));

	if (label.size > 0) {
		rt_term_style(out, RT_STYLE_YELLOW);
		rt_term_c(out, "  [");
		rt_term_line(out, label);
		rt_term_c(out, "]");
		rt_term_style(out, RT_STYLE_NONE);
	}
	if (kind.size > 0 && !rt_str_is(kind, "message")) {
		rt_term_c(out, "  (");
		rt_term_line(out, kind);
		rt_term_c(out, ")");
	}
	if (is_true(entry, "muted"))
		rt_term_c(out, "  (muted)");
	if (is_true(entry, "edited"))
		rt_term_c(out, "  (edited)");
	if (is_true(entry, "purged"))
		rt_term_c(out, "  (purged)");
	if (is_true(entry, "lost"))
		rt_term_c(out, "  (lost)");
	if (is_true(entry, "partial"))
		rt_term_c(out, "  (partial)");
	add_time(out, rt_json_get(entry, "ts"));
	if (head.size > 0 && rt_str_eq(head, rt_json_str(rt_json_get(entry, "id"))))
		rt_term_c(out, "  <- head");
}

static void
show_content(rt_cli *cli, yyjson_val *entry, bool whole)
{
	rt_term *out = &cli->out;
	rt_buf text, preview;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&preview, cli->alloc, 4096);
	rt_content_add_entry(&text, entry);
	if (text.size == 0) {
		rt_term_style(out, RT_STYLE_DIM);
		rt_term_c(out, is_true(entry, "purged") ? "    (nothing is left of it)\n"
			       : is_true(entry, "lost") ? "    (its text was damaged)\n"
							: "    (empty)\n");
		rt_term_style(out, RT_STYLE_NONE);
	} else if (!whole && is_true(entry, "collapsed")) {
		rt_screen_add_preview(&preview, rt_buf_str(&text), PREVIEW, out->utf8);
		rt_term_c(out, "    ");
		rt_term_text(out, rt_buf_str(&preview));
		rt_term_style(out, RT_STYLE_DIM);
		rt_term_c(out, "  (collapsed)\n");
		rt_term_style(out, RT_STYLE_NONE);
	} else {
		rt_term_indented(out, rt_buf_str(&text), 4);
	}
	rt_buf_deinit(&text);
	rt_buf_deinit(&preview);
}

static void
show_details(rt_cli *cli, yyjson_val *entry)
{
	yyjson_val *thinking = rt_json_get(entry, "thinking_segments");
	yyjson_val *usage = rt_json_get(entry, "usage");
	rt_buf buf;

	if (!cli->verbose)
		return;
	rt_term_style(&cli->out, RT_STYLE_DIM);
	if (yyjson_is_arr(thinking))
		rt_term_f(&cli->out, "    thinking: %zu segments\n", yyjson_arr_size(thinking));
	if (usage != NULL) {
		rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
		rt_json_add_value(&buf, usage);
		rt_term_c(&cli->out, "    usage: ");
		rt_term_line(&cli->out, rt_buf_str(&buf));
		rt_term_c(&cli->out, "\n");
		rt_buf_deinit(&buf);
	}
	rt_term_style(&cli->out, RT_STYLE_NONE);
}

static void
show_entry(rt_cli *cli, yyjson_val *entry, size_t at, rt_str head, bool whole)
{
	rt_term *out = &cli->out;
	rt_str role = rt_json_str(rt_json_get(entry, "role"));

	rt_term_style(out, RT_STYLE_DIM);
	if (at != SIZE_MAX)
		rt_term_f(out, ":%zu  ", at + 1);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_style(out, rt_cli_role_style(role));
	rt_term_line(out, role);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "  ");
	rt_term_line(out, rt_json_str(rt_json_get(entry, "id")));
	add_marks(out, entry, head);
	rt_term_c(out, "\n");
	show_content(cli, entry, whole);
	show_details(cli, entry);
}

static void
show_title(rt_cli *cli, yyjson_val *show, size_t hidden)
{
	rt_term *out = &cli->out;
	const char *at_op = rt_cli_flag_value(cli, "at-op");
	uint64_t count = 0;

	rt_term_c(out, "Discussion ");
	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_line(out, rt_json_str(rt_json_get(show, "discussion")));
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, ", take ");
	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_line(out, rt_json_str(rt_json_get(show, "take")));
	rt_term_style(out, RT_STYLE_NONE);
	if (rt_json_u64(rt_json_get(show, "count"), &count))
		rt_term_f(out, ", %llu entr%s", (unsigned long long)count, RT_CLI_IES(count));
	if (hidden > 0)
		rt_term_f(out, ", %zu hidden", hidden);
	if (at_op != NULL)
		rt_term_f(out, ", as it was right after step %s", at_op);
	rt_term_c(out, "\n");
	if (count == 0)
		rt_cli_advise(cli, "\nNothing is here yet. Add an entry: retake add TEXT\n");
}

/* Positions count it all the same. */
static bool
is_hidden(yyjson_val *entry)
{
	return rt_content_is_hidden(rt_json_str(rt_json_get(entry, "kind")), entry,
				    rt_json_get(entry, "pi"));
}

static rt_status
human_window(rt_cli *cli, void *ctx, yyjson_val *show, size_t from)
{
	showing *s = ctx;
	rt_str head = s->hidden > 0 ? rt_str_of(s->head) : rt_json_str(rt_json_get(show, "head"));
	yyjson_val *entry;
	size_t i, count;
	rt_buf buf;

	if (!s->begun && !s->raw && s->wanted_at == SIZE_MAX)
		show_title(cli, show, s->hidden);
	s->begun = true;
	yyjson_arr_foreach(rt_json_get(show, "entries"), i, count, entry) {
		if (!is_wanted(cli, entry) || (s->hidden > 0 && is_hidden(entry)))
			continue;
		if (s->raw) {
			rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
			rt_content_add_text(&buf, rt_content_of(rt_json_get(entry, "content")));
			rt_term_raw(&cli->out, rt_buf_str(&buf));
			if (s->first != s->last)
				rt_term_c(&cli->out, "\n");
			rt_buf_deinit(&buf);
			continue;
		}
		if (s->wanted_at == SIZE_MAX)
			rt_term_c(&cli->out, "\n");
		show_entry(cli, entry, from + i, head, s->wanted_at != SIZE_MAX);
		s->shown++;
	}
	return RT_OK;
}

/* One entry, which may be in another take. */
static rt_status
show_one(rt_cli *cli, uint32_t entry)
{
	rt_old_view view;
	rt_buf content;
	rt_status st;

	rt_old_view_init(cli, &view);
	st = rt_view_entry(cli->session.engine, cli->session.value, cli->session.place, entry,
			   &view.buf, &cli->error);
	if (st == RT_OK && cli->json) {
		st = rt_old_print_json(cli, rt_buf_str(&view.buf));
		goto done;
	}
	st = rt_old_view_read(cli, &view, st);
	if (st != RT_OK)
		goto done;
	if (rt_cli_has(cli, "raw")) {
		rt_buf_init(&content, cli->alloc, RT_BUF_UNLIMITED);
		rt_content_add_text(&content, rt_content_of(rt_json_get(view.root, "content")));
		rt_term_raw(&cli->out, rt_buf_str(&content));
		rt_buf_deinit(&content);
	} else {
		const rt_take *take = NULL;
		size_t at = SIZE_MAX;
		rt_slot slot;
		bool found = false;

		st = rt_old_take(cli, &take);
		if (st == RT_OK)
			st = rt_take_find(cli->session.value, take, entry, &at, &slot, &found,
					  &cli->error);
		show_entry(cli, view.root, found ? at : SIZE_MAX, rt_str_of(NULL), true);
	}
done:
	rt_old_view_deinit(&view);
	return st;
}

/* "]}", or "],"replies":[…]}" where some are no entries yet. */
static rt_status
end_json(rt_cli *cli)
{
	size_t count = 0;
	rt_buf buf;
	rt_status st;

	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&buf, "],\"replies\":[");
	st = rt_old_inflight_add(cli, &buf, &count);
	rt_buf_add_c(&buf, "]}");
	if (st == RT_OK)
		st = rt_old_buf(cli, &buf);
	if (st == RT_OK)
		st = rt_old_print_json(cli, count > 0 ? rt_buf_str(&buf) : RT_STR("]}"));
	rt_buf_deinit(&buf);
	return st;
}

/* How much is hidden, and where the head is among the rest. */
static rt_status
find_hidden(rt_cli *cli, showing *s)
{
	const rt_take *take = NULL;
	const rt_disc *disc = NULL;
	bool hidden = true;
	rt_slot slot;
	size_t at;
	rt_status st = rt_old_disc(cli, &disc);

	if (st == RT_OK)
		st = rt_old_take(cli, &take);
	if (st == RT_OK)
		st = rt_view_count_hidden(cli->session.engine, cli->session.value, take, &s->hidden,
					  &cli->error);
	if (st != RT_OK || s->hidden == 0)
		return st;
	at = rt_seq_count(take->slots);
	if (take->number == disc->active)
		st = rt_disc_head_at(cli->session.value, disc, &at, &cli->error);
	while (st == RT_OK && hidden && at > 0) {
		st = rt_seq_get(take->slots, --at, &slot, &cli->error);
		if (st == RT_OK)
			st = rt_view_is_hidden(cli->session.engine, cli->session.value, &slot,
					       &hidden, &cli->error);
	}
	if (st == RT_OK && !hidden)
		st = rt_entry_id(cli->session.value, slot.entry, s->head, &cli->error);
	return st;
}

static rt_status
show_many(rt_cli *cli, size_t first, size_t last)
{
	showing s = {
		.raw = rt_cli_has(cli, "raw"), .first = first, .last = last, .wanted_at = SIZE_MAX};
	rt_status st = RT_OK;

	if (!cli->json) {
		if (!rt_cli_has(cli, "all"))
			st = find_hidden(cli, &s);
		if (st != RT_OK)
			return st;
		if (!s.raw && !rt_cli_has(cli, "no-pager"))
			rt_term_page(&cli->out);
		st = rt_old_each_window(cli, first, last, human_window, &s);
		if (st == RT_OK && !s.raw && s.shown == 0 && rt_cli_has(cli, "role"))
			rt_cli_advise(cli, "\nNone of them is of the role \"%.80s\". Roles: retake roles\n",
				      rt_cli_flag_value(cli, "role"));
		if (st == RT_OK && !s.raw)
			st = rt_old_inflight_report(cli);
		return st;
	}
	st = rt_old_each_window(cli, first, last, json_window, &s);
	if (st == RT_OK)
		st = end_json(cli);
	return st;
}

static rt_status
run_show(rt_cli *cli)
{
	const char *what = rt_cli_word(cli, 0);
	const rt_take *take = NULL;
	size_t first = 0, last = 0;
	uint32_t entry = 0;
	rt_status st = rt_old_open(cli, RT_SESSION_LOOK);

	if (st != RT_OK)
		return st;
	if (rt_cli_has(cli, "take-file"))
		return rt_cli_takefile_print(cli);
	if (what == NULL) {
		st = rt_old_take(cli, &take);
		if (st != RT_OK)
			return st;
		last = rt_seq_count(take->slots);
		return show_many(cli, 0, last == 0 ? 0 : last - 1);
	}
	/* One entry of the discussion, of whatever take; or several of this one. */
	if (rt_old_entry(cli, what, true, &entry) == RT_OK) {
		if (entry == 0)
			return rt_old_fail(cli, RT_NOT_FOUND, "the head is before the first entry");
		return show_one(cli, entry);
	}
	st = cli->error.status;
	if (strstr(what, "..") == NULL)
		return st;
	cli->session.hint[0] = 0;
	st = rt_old_range(cli, what, &first, &last);
	return st != RT_OK ? st : show_many(cli, first, last);
}

static const rt_flag show_flags[] = {
	{"role", 'r', "ROLE", RT_ARG_ROLE, "only entries of this role"},
	{"all", 'a', NULL, RT_ARG_TEXT, "also entries that are hidden"},
	{"raw", 0, NULL, RT_ARG_TEXT, "the text alone, byte for byte (into a pipe or file)"},
	{"take-file", 0, NULL, RT_ARG_TEXT, "the take as a text file for retake edit --all"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_show = {
	.name = "show",
	.alias = "cat",
	.group = RT_COMMANDS_LOOKING,
	.traits = RT_COMMAND_AT_OP,
	.max_words = 1,
	.usage = "[ENTRY | FROM..TO]",
	.summary = "show the take, or some of its entries",
	.about =
		"Shows the entries of the active take with their positions and ids. With an entry, "
		"shows that one alone, whatever take it is in. What programs keep for themselves "
		"is hidden (entries of the kind custom, and messages with \"display\":false); the "
		"others keep their positions. --all and --json show everything.",
	.examples = "retake show\nretake show :4\nretake show :2..:5\nretake show --at-op 12\n"
		    "retake show --json | less",
	.flags = show_flags,
	.kinds = {RT_ARG_ENTRY},
	.run_status = run_show,
};
