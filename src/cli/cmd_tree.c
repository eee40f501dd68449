/* SPDX-License-Identifier: MIT
 *
 * tree: all takes of a discussion as one tree. Lines of descent are drawn only where the
 * tree forks, so a long conversation does not drift to the right:
 *
 *     * User  Which database?
 *     * AI  SQLite: one file …  [good-start]
 *     |- * User  Use SQLite
 *     |  * AI  Good. Schema: …  (main)  <- head
 *     `- User  What about DuckDB?  (duck)
 *
 * Nothing here recurses: rows come depth-first, and each knows its parent's row. */
#include "cli/cli.h"
#include "app/screen.h"
#include "base/hash.h"
#include "view/view.h"

enum {
	PREVIEW = 60,      /* characters that the engine gives unless told otherwise */
	WIDTH = 80,
	NARROW = 50,
	ROLE_MAX = 12,     /* columns to which roles are filled up */
	GUTTER_MAX = 40 /* columns of gutter at most; deeper forks show the last few levels */
};

typedef struct row {
	yyjson_val *json;
	size_t parent; /* row, or SIZE_MAX */
	size_t children;
	size_t level; /* forks above */
	bool forked;  /* one of several children */
	bool last;    /* the last of them */
	bool hidden;  /* not drawn: what is below belongs to the nearest row above that is */
	bool active;  /* the head is here, or at a hidden row that belongs here */
} row;

/* The last row of a take. */
typedef struct tip {
	rt_str take;
	size_t row; /* + 1; 0: free */
} tip;

typedef struct tree {
	const rt_alloc *alloc;
	row *rows;
	size_t count;
	size_t roots;
	size_t *table; /* node -> row + 1 */
	size_t mask;
	bool *more; /* by level: do siblings follow further down */
	tip *tips;  /* by the hash of a take's name */
	size_t tips_mask;
	rt_str active; /* name of the active take */
	size_t hidden; /* rows that are not listed for that */
	size_t width;  /* columns */
	size_t preview;
	size_t role_width;
} tree;

/* --- shape --- */

static size_t *
find_node(const tree *t, rt_str node)
{
	size_t at = (size_t)rt_hash(node.ptr, node.size, 0) & t->mask;

	for (; t->table[at] != 0; at = (at + 1) & t->mask)
		if (rt_str_eq(rt_json_str(rt_json_get(t->rows[t->table[at] - 1].json, "node")),
			      node))
			break;
	return &t->table[at];
}

static tip *
find_tip(const tree *t, rt_str take)
{
	size_t at = (size_t)rt_hash(take.ptr, take.size, 0) & t->tips_mask;

	while (t->tips[at].row != 0 && !rt_str_eq(t->tips[at].take, take))
		at = (at + 1) & t->tips_mask;
	return &t->tips[at];
}

static rt_status
tree_tips(rt_cli *cli, tree *t, size_t takes)
{
	size_t room = 16, i, j, count;
	yyjson_val *take;

	while (room < takes * 2 + 2)
		room *= 2;
	t->tips_mask = room - 1;
	t->tips = rt_new0(t->alloc, room * sizeof(*t->tips));
	if (t->tips == NULL)
		return rt_old_nomem(cli);
	for (i = 0; i < t->count; i++) {
		if (t->rows[i].hidden)
			continue;
		yyjson_arr_foreach(rt_json_get(t->rows[i].json, "takes"), j, count, take)
			*find_tip(t, rt_json_str(take)) = (tip){rt_json_str(take), i + 1};
	}
	return RT_OK;
}

static rt_status
tree_init(rt_cli *cli, tree *t, yyjson_val *rows)
{
	size_t count = yyjson_arr_size(rows), room = 16, i, max;
	yyjson_val *json;

	while (room < count * 2)
		room *= 2;
	t->alloc = cli->alloc;
	t->mask = room - 1;
	t->table = rt_new0(cli->alloc, room * sizeof(*t->table));
	t->rows = rt_new0(cli->alloc, (count + 1) * sizeof(*t->rows));
	t->more = rt_new0(cli->alloc, count + 2);
	if (t->table == NULL || t->rows == NULL || t->more == NULL)
		return rt_old_nomem(cli);
	yyjson_arr_foreach(rows, i, max, json) {
		rt_str parent = rt_json_str(rt_json_get(json, "parent_node"));
		size_t above = parent.size == 0 ? 0 : *find_node(t, parent);
		row *r = &t->rows[i];

		while (above != 0 && t->rows[above - 1].hidden)
			above = t->rows[above - 1].parent == SIZE_MAX ? 0 : t->rows[above - 1].parent + 1;
		r->json = json;
		r->parent = above == 0 ? SIZE_MAX : above - 1;
		r->hidden = !rt_cli_has(cli, "all") && yyjson_is_true(rt_json_get(json, "hidden"));
		r->active = yyjson_is_true(rt_json_get(json, "active"));
		if (r->hidden) {
			t->hidden++;
			if (above != 0 && r->active)
				t->rows[above - 1].active = true;
		} else if (above == 0) {
			t->roots++;
		} else {
			t->rows[above - 1].children++;
		}
		t->count = i + 1;
		*find_node(t, rt_json_str(rt_json_get(json, "node"))) = i + 1;
	}
	return RT_OK;
}

/* Levels; and, going backwards, the first child that is met is the last of its siblings. */
static rt_status
tree_shape(rt_cli *cli, tree *t)
{
	bool *met = rt_new0(t->alloc, t->count + 1); /* by parent; at count: of the roots */
	size_t i;

	if (met == NULL)
		return rt_old_nomem(cli);
	for (i = 0; i < t->count; i++) {
		row *r = &t->rows[i];
		const row *parent = r->parent == SIZE_MAX ? NULL : &t->rows[r->parent];

		r->forked = parent == NULL ? t->roots > 1 : parent->children > 1;
		r->level = (parent == NULL ? 0 : parent->level) + (size_t)r->forked;
	}
	for (i = t->count; i-- > 0;) {
		size_t parent = t->rows[i].parent == SIZE_MAX ? t->count : t->rows[i].parent;

		if (t->rows[i].hidden)
			continue;
		t->rows[i].last = !met[parent];
		met[parent] = true;
	}
	rt_free(t->alloc, met);
	return RT_OK;
}

/* --- drawing --- */

/* As many characters of a text as may find room on a line. */
static size_t
preview_of(size_t width)
{
	return width > WIDTH ? width : PREVIEW;
}

static void
add_gutter(rt_cli *cli, const tree *t, const row *r)
{
	bool fine = cli->out.utf8;
	size_t room = cli->out.columns > 0 && cli->out.columns / 2 < GUTTER_MAX
			      ? cli->out.columns / 2
			      : GUTTER_MAX;
	size_t levels = room / 3, level = 1;

	if (levels == 0)
		levels = 1;
	rt_term_style(&cli->out, RT_STYLE_DIM);
	if (r->level > levels) {
		level = r->level - levels + 1;
		rt_term_c(&cli->out, fine ? "\xE2\x80\xA6" : "<");
	}
	for (; level <= r->level; level++) {
		bool here = level == r->level && r->forked;

		if (here)
			rt_term_c(&cli->out,
				  r->last ? (fine ? "\xE2\x94\x94\xE2\x94\x80 " : "`- ")
					  : (fine ? "\xE2\x94\x9C\xE2\x94\x80 " : "|- "));
		else
			rt_term_c(&cli->out,
				  t->more[level] ? (fine ? "\xE2\x94\x82  " : "|  ") : "   ");
	}
	rt_term_style(&cli->out, RT_STYLE_NONE);
}

static bool
holds(yyjson_val *takes, rt_str name)
{
	yyjson_val *take;
	size_t i, count;

	yyjson_arr_foreach(takes, i, count, take) {
		if (rt_str_eq(rt_json_str(take), name))
			return true;
	}
	return false;
}

/* Takes that end here. */
static void
add_tips(const tree *t, size_t at, rt_buf *buf)
{
	yyjson_val *take;
	size_t i, count;

	yyjson_arr_foreach(rt_json_get(t->rows[at].json, "takes"), i, count, take) {
		const tip *end = find_tip(t, rt_json_str(take));

		if (end->row != at + 1)
			continue;
		rt_buf_add_c(buf, buf->size > 0 ? ", " : "");
		rt_screen_add_line(buf, rt_json_str(take));
		if (rt_str_eq(rt_json_str(take), t->active))
			rt_buf_add_c(buf, " *");
	}
}

/* What stands behind the text, without styles, to know its width. */
static void
add_tail(rt_cli *cli, const tree *t, size_t at, rt_buf *buf)
{
	yyjson_val *json = t->rows[at].json;
	rt_str kind = rt_json_str(rt_json_get(json, "kind"));
	rt_buf tips;

	rt_buf_init(&tips, cli->alloc, RT_BUF_UNLIMITED);
	add_tips(t, at, &tips);
	if (kind.size > 0 && !rt_str_is(kind, "message")) {
		rt_buf_add_c(buf, "  (");
		rt_screen_add_line(buf, kind);
		rt_buf_add_c(buf, ")");
	}
	if (yyjson_is_true(rt_json_get(json, "muted")))
		rt_buf_add_c(buf, "  (muted)");
	if (yyjson_is_true(rt_json_get(json, "edited")))
		rt_buf_add_c(buf, "  (edited)");
	if (yyjson_is_true(rt_json_get(json, "partial")))
		rt_buf_add_c(buf, "  (partial)");
	if (rt_json_get(json, "variants") != NULL)
		rt_buf_add_c(buf, "  (differs by take)");
	if (tips.size > 0) {
		rt_buf_add_c(buf, "  (take ");
		rt_buf_add_str(buf, rt_buf_str(&tips));
		rt_buf_add_c(buf, ")");
	}
	if (t->rows[at].active)
		rt_buf_add_c(buf, "  <- head");
	rt_buf_deinit(&tips);
}

static void
draw_row(rt_cli *cli, const tree *t, size_t at)
{
	const row *r = &t->rows[at];
	rt_term *out = &cli->out;
	rt_str role = rt_json_str(rt_json_get(r->json, "role"));
	/* On a very narrow screen the text counts for more than the id. */
	rt_str id = out->columns > 0 && out->columns < NARROW
			    ? rt_str_of(NULL)
			    : rt_json_str(rt_json_get(r->json, "id"));
	rt_str label = rt_json_str(rt_json_get(r->json, "label"));
	rt_str preview = rt_json_str(rt_json_get(r->json, "preview"));
	bool active = holds(rt_json_get(r->json, "takes"), t->active);
	size_t levels = r->level < GUTTER_MAX / 3 ? r->level : GUTTER_MAX / 3, used, room;
	size_t role_used = rt_screen_width(role);
	rt_buf tail, text;

	rt_buf_init(&tail, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	add_gutter(cli, t, r);
	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_c(out, active ? (out->utf8 ? "\xE2\x80\xA2 " : "* ") : "  ");
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_style(out, rt_cli_role_style(role));
	rt_term_line(out, role);
	if (role_used < t->role_width) {
		rt_term_spaces(out, t->role_width - role_used);
		role_used = t->role_width;
	}
	if (id.size > 0) {
		rt_term_style(out, RT_STYLE_DIM);
		rt_term_c(out, "  ");
		rt_term_line(out, id);
		rt_term_style(out, RT_STYLE_NONE);
	}
	rt_term_c(out, "  ");
	add_tail(cli, t, at, &tail);
	rt_screen_add_preview(&text, preview, t->preview, out->utf8);
	/* The engine cuts there; whether more follows is not said. */
	if (rt_utf8_count(preview) == t->preview)
		rt_buf_add_c(&text, out->utf8 ? "\xE2\x80\xA6" : "...");
	used = levels * 3 + 2 + role_used + 2 +
	       (id.size > 0 ? rt_screen_width(id) + 2 : 0) + rt_screen_width(rt_buf_str(&tail)) +
	       (label.size > 0 ? rt_screen_width(label) + 4 : 0);
	room = t->width > used + 4 ? t->width - used : 4;
	if (rt_screen_width(rt_buf_str(&text)) > room) {
		rt_term_text(out, rt_screen_cut(rt_buf_str(&text), room - 1));
		rt_term_c(out, out->utf8 ? "\xE2\x80\xA6" : "~");
	} else {
		rt_term_text(out, rt_buf_str(&text));
	}
	if (label.size > 0) {
		rt_term_style(out, RT_STYLE_YELLOW);
		rt_term_c(out, "  [");
		rt_term_line(out, label);
		rt_term_c(out, "]");
		rt_term_style(out, RT_STYLE_NONE);
	}
	rt_term_text(out, rt_buf_str(&tail));
	rt_term_c(out, "\n");
	rt_buf_deinit(&tail);
	rt_buf_deinit(&text);
}

static bool
is_listed(rt_cli *cli, yyjson_val *json)
{
	if (rt_cli_has(cli, "labels") && rt_json_str(rt_json_get(json, "label")).size == 0)
		return false;
	if (rt_cli_has(cli, "user-only") &&
	    !rt_str_eq_nocase(rt_json_str(rt_json_get(json, "role")), RT_STR("user")))
		return false;
	return true;
}

static rt_status
draw(rt_cli *cli, yyjson_val *rows, size_t width)
{
	const rt_disc *disc = NULL;
	tree t = {.width = width, .preview = preview_of(width)};
	size_t i;
	rt_status st = rt_old_disc(cli, &disc);

	if (st == RT_OK)
		st = tree_init(cli, &t, rows);
	if (st == RT_OK)
		st = tree_shape(cli, &t);
	if (st == RT_OK)
		st = tree_tips(cli, &t, rt_disc_take_count(disc));
	if (st == RT_OK) {
		t.active = rt_text_str(rt_disc_active(disc)->name);
		if (!rt_cli_has(cli, "no-pager"))
			rt_term_page(&cli->out);
		if (t.count == 0)
			rt_cli_advise(cli, "Nothing is here yet. Add an entry: retake add TEXT\n");
		for (i = 0; i < t.count; i++) {
			rt_str role = rt_json_str(rt_json_get(t.rows[i].json, "role"));
			size_t used = rt_screen_width(role);

			if (used > t.role_width && used <= ROLE_MAX)
				t.role_width = used;
		}
		for (i = 0; i < t.count && !cli->out.broken; i++) {
			if (t.rows[i].hidden)
				continue;
			if (t.rows[i].forked)
				t.more[t.rows[i].level] = !t.rows[i].last;
			if (is_listed(cli, t.rows[i].json))
				draw_row(cli, &t, i);
		}
		if (t.hidden > 0)
			rt_cli_advise(cli, "%zu hidden   All entries: retake tree --all\n", t.hidden);
	}
	rt_free(cli->alloc, t.rows);
	rt_free(cli->alloc, t.table);
	rt_free(cli->alloc, t.more);
	rt_free(cli->alloc, t.tips);
	return st;
}

/* Those of the replies that are to this entry, or more of it, as an array. */
static void
add_arriving(rt_buf *out, yyjson_val *replies, rt_str id)
{
	yyjson_val *reply;
	size_t i, max, count = 0;

	yyjson_arr_foreach(replies, i, max, reply)
	{
		if (rt_str_is(rt_json_str(rt_json_get(reply, "state")), "aside") ||
		    (!rt_str_eq(rt_json_str(rt_json_get(reply, "after")), id) &&
		     !rt_str_eq(rt_json_str(rt_json_get(reply, "into")), id)))
			continue;
		rt_buf_add_c(out, count++ == 0 ? ",\"arriving\":[" : ",");
		rt_json_add_value(out, reply);
	}
	if (count > 0)
		rt_buf_add_byte(out, ']');
}

static rt_status
add_rows(rt_cli *cli, yyjson_val *rows, rt_str replies, rt_buf *out)
{
	yyjson_val *json, *key, *value;
	size_t i, max, k, keys;
	rt_json_doc *doc = NULL;
	rt_status st = rt_json_read(cli->alloc, replies, &doc, &cli->error);

	if (st != RT_OK)
		return st;
	rt_buf_add_byte(out, '[');
	yyjson_arr_foreach(rows, i, max, json)
	{
		rt_json_add_comma(out);
		rt_buf_add_byte(out, '{');
		rt_json_foreach(json, k, keys, key, value)
		{
			rt_json_add_key_str(out, rt_json_str(key));
			rt_json_add_value(out, value);
		}
		add_arriving(out, rt_json_root(doc), rt_json_str(rt_json_get(json, "id")));
		rt_buf_add_byte(out, '}');
	}
	rt_buf_add_byte(out, ']');
	rt_json_free(doc);
	return rt_old_buf(cli, out);
}

/* The rows, and in those whose reply is arriving "arriving":[…]. Nearly always there are
 * none, and the rows go out as they came. */
static rt_status
print_json(rt_cli *cli, rt_old_view *view)
{
	size_t count = 0;
	rt_buf buf, replies;
	rt_status st;

	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&replies, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&replies, '[');
	st = rt_old_inflight_add(cli, &replies, &count);
	rt_buf_add_byte(&replies, ']');
	if (st == RT_OK && count > 0)
		st = rt_old_view_read(cli, view, RT_OK);
	if (st == RT_OK && count > 0)
		st = add_rows(cli, view->root, rt_buf_str(&replies), &buf);
	if (st == RT_OK)
		st = rt_old_print_json(cli, rt_buf_str(count > 0 ? &buf : &view->buf));
	rt_buf_deinit(&buf);
	rt_buf_deinit(&replies);
	return st;
}

static rt_status
run_tree(rt_cli *cli)
{
	size_t width = rt_term_width(&cli->out);
	rt_old_view view;
	rt_status st = rt_old_open(cli, RT_SESSION_LOOK);

	if (st != RT_OK)
		return st;
	rt_old_view_init(cli, &view);
	if (cli->json)
		st = rt_view_tree(cli->session.engine, cli->session.value, cli->session.place.disc,
				  &view.buf, &cli->error);
	else
		st = rt_view_tree_wide(cli->session.engine, cli->session.value,
				       cli->session.place.disc, preview_of(width), &view.buf,
				       &cli->error);
	if (st == RT_OK && cli->json)
		st = print_json(cli, &view);
	else if ((st = rt_old_view_read(cli, &view, st)) == RT_OK)
		st = draw(cli, view.root, width);
	if (st == RT_OK && !cli->json)
		st = rt_old_inflight_report(cli);
	rt_old_view_deinit(&view);
	return st;
}

static const rt_flag tree_flags[] = {
	{"user-only", 'u', NULL, RT_ARG_TEXT, "only the user's entries"},
	{"labels", 'l', NULL, RT_ARG_TEXT, "only labelled entries"},
	{"all", 'a', NULL, RT_ARG_TEXT, "also entries that are hidden (see retake help show)"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_tree = {
	.name = "tree",
	.group = RT_COMMANDS_LOOKING,
	.traits = RT_COMMAND_AT_OP,
	.usage = "[--user-only] [--labels] [--all]",
	.summary = "show all takes of the discussion as a tree",
	.about =
		"Entries of the active take have a dot in front. The last entry of a take names the "
		"take; the active one has a star.",
	.examples = "retake tree\nretake tree --labels\nretake tree --json",
	.flags = tree_flags,
	.run_status = run_tree,
};
