/* SPDX-License-Identifier: MIT
 *
 * All discussions, the takes of one of them, and a search: typed text filters discussions by name,
 * and the entries that contain it follow below them. After a "/" only entries are searched, after a "~" by
 * meaning (pane_discussions_search.c). */
#include "core/role.h"
#include "tui/bar.h"
#include "tui/find.h"
#include "tui/pane_discussions_impl.h"

enum {
	DATE_MIN = 64,
	COUNTS_MIN = 46, /* columns from which on these are shown */
	DATE = 16,
	COUNTS = 24,
	ENTRIES = 13, /* the counts without the number of takes */
	MARKS = 10,   /* columns of a title for its marks */
	COUNTS_ALWAYS = 100, /* columns from which on all counts are shown */
	TRACK_MIN = 8, /* columns from which on a track is shown after the name */
	COMMIT_AT = 15, COMMIT = 9, /* within the counts */
	NAME_MAX_HIT = 18,
	TAKE_MAX_HIT = 12,
	ROLE_MAX_HIT = 9,
	LABEL_COLUMNS = 10 /* of "Search:" */
};

/* Moves the cursor to that row, else to its discussion, else not at all. */
static void
select_place(rt_discussions *d, rt_switch_place p)
{
	const rt_discussions_row *rows = d->filter.rows;

	for (size_t i = 0; i < d->filter.list.count && p.disc != 0; i++)
		if (rows[i].disc != NULL && rows[i].disc->number == p.disc &&
		    (rows[i].take == NULL || rows[i].take->number == p.take))
			d->filter.list.at = i;
}

/* ---- rows ---- */

static bool
is_here(const rt_discussions *d, const rt_disc_row *disc)
{
	return disc->number == d->pane.tui->work.place.disc;
}

/* By name, title, track or tag. */
static bool
is_found(const rt_disc_row *disc, rt_str text)
{
	bool found = rt_find_holds(disc->name, text) || rt_find_holds(disc->title, text);

	if (text.size > 0 && !found)
		found = rt_find_holds(disc->track, text);
	for (size_t i = 0; !found && i < disc->tag_count; i++)
		found = rt_find_holds(disc->tags[i], text);
	return found;
}

static bool
is_left_out(const rt_discussions *d, const rt_disc_row *disc)
{
	return disc->archived && !d->has_deleted && !is_here(d, disc);
}

static void
fill(void *ctx, rt_str text)
{
	rt_discussions *d = ctx;
	bool is_for_entries = (text.size > 0 && text.ptr[0] == '/') ||
			      rt_discussions_is_meaning(d->pane.tui->session->config, text);

	for (size_t i = 0; i < d->discs.count && !is_for_entries; i++) {
		const rt_disc_row *disc = &d->discs.items[i];

		if (is_left_out(d, disc) || !is_found(disc, text))
			continue;
		rt_filter_add(&d->filter, &(rt_discussions_row){.disc = disc});
		for (size_t k = 0; disc->number == d->open && k < d->takes.count; k++)
			rt_filter_add(
				&d->filter,
				&(rt_discussions_row){.disc = disc, .take = &d->takes.items[k]});
	}
	for (size_t i = 0; i < d->hits.count && rt_discussions_query(d).size > 0; i++)
		rt_filter_add(&d->filter, &(rt_discussions_row){.hit = &d->hits.items[i]});
}

/* Pinned ones first, then the most recently changed, as on the page; new ones have no time yet. */
static int
compare_discs(const void *a, const void *b)
{
	const rt_disc_row *x = a, *y = b;

	if (x->pinned != y->pinned)
		return x->pinned ? -1 : 1;
	if (x->has_updated != y->has_updated)
		return x->has_updated ? 1 : -1;
	if (x->updated_us != y->updated_us)
		return x->updated_us > y->updated_us ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Read the lists of the current value; the cursor stays on its discussion and take. */
static void
reload(rt_discussions *d)
{
	rt_tui *tui = d->pane.tui;
	rt_work *work = &tui->work;
	rt_switch_place was = rt_discussions_place(rt_discussions_at_cursor(d));
	const rt_project *old = d->value;
	rt_take_rows takes = {0};
	rt_disc_rows discs;
	rt_scope lists;
	rt_view view = {&lists, work->engine, work->value, {0}};

	if (!rt_ok(rt_discussions_scope(d)))
		return;
	rt_scope_init(&lists, tui->alloc);
	d->seen = work->value_change;
	d->is_searched = false;
	discs = rt_discs_list(&view, d->has_deleted);
	if (d->open != 0 && (rt_project_cell(work->value, d->open) == NULL ||
			     !rt_project_cell(work->value, d->open)->present))
		d->open = 0;
	if (d->open != 0) {
		view.place.disc = d->open;
		takes = rt_takes_list(&view,
				      &(rt_takes_options){.grouped = true, .times = true, .titles = true});
	}
	if (!rt_tui_ok(tui, lists.status, &lists.error)) {
		rt_scope_deinit(&lists);
		return;
	}
	if (discs.count > 1)
		qsort(discs.items, discs.count, sizeof(*discs.items), compare_discs);
	rt_scope_deinit(&d->lists);
	d->lists = lists;
	d->discs = discs;
	d->takes = takes;
	d->value = rt_object_ref(work->value);
	rt_object_unref(old);
	rt_filter_fill(&d->filter);
	select_place(d, was);
}

static void
changed(rt_pane *pane)
{
	if (rt_discussions_of(pane)->seen != pane->tui->work.value_change)
		reload(rt_discussions_of(pane));
}

/* ---- drawing ---- */

/* Columns before the counts and the date. */
static int
name_columns(const rt_discussions *d, rt_box box)
{
	int counts = d->has_long_titles ? ENTRIES : COUNTS;

	return box.w - 1 - (box.w >= DATE_MIN ? DATE + 1 : 0) - (box.w >= COUNTS_MIN ? counts + 1 : 0);
}

/* Are there titles that are cut unless counts are left out? */
static bool
has_long_titles(rt_discussions *d, const rt_canvas *canvas, rt_box box)
{
	int columns;

	d->has_long_titles = false;
	columns = name_columns(d, box) - MARKS;
	for (size_t i = 0; box.w < COUNTS_ALWAYS && i < d->discs.count; i++)
		if (rt_canvas_width(canvas, d->discs.items[i].title) > columns)
			return true;
	return false;
}

static void
draw_count(const rt_discussions *d, rt_canvas *canvas, rt_box box, int y, size_t entries, const char *end)
{
	if (box.w >= COUNTS_MIN)
		(void)rt_canvas_put_f(canvas, box, name_columns(d, box) + 1, y, RT_INK_DIM,
				      "%zu entr%s%s", entries, entries == 1 ? "y" : "ies", end);
}

static void
draw_disc(rt_discussions *d, rt_canvas *canvas, rt_box box, int y, const rt_disc_row *disc)
{
	bool here = is_here(d, disc);
	const char *state = disc->absent	 ? "(deleted)"
			    : disc->archived ? "(archived)"
			    : disc->pinned   ? "(pinned)"
					     : "";
	int marks = (here ? 6 : 0) + (state[0] != '\0' ? (int)strlen(state) + 1 : 0); /* columns */
	bool has_takes = disc->takes > 1 && box.w >= COUNTS_MIN && !d->has_long_titles;
	int columns = name_columns(d, box), x;

	if (box.w >= DATE_MIN && disc->has_updated)
		(void)rt_canvas_put(canvas, box, box.w - DATE - 1, y,
				    rt_bar_time(d->pane.tui, disc->updated_us), RT_INK_DIM);
	draw_count(d, canvas, box, y, disc->entries, has_takes ? "," : "");
	if (has_takes)
		(void)rt_canvas_put_f(canvas, box, columns + 15, y, RT_INK_DIM, "%zu takes",
				      disc->takes);
	if (disc->takes > 1)
		(void)rt_canvas_put(canvas, box, 1, y,
				    rt_canvas_glyph(canvas, disc->number == d->open
								    ? RT_GLYPH_OPEN
								    : RT_GLYPH_CLOSED),
				    RT_INK_DIM);
	x = rt_canvas_put_name(canvas, box, 3, y, columns - 3 - marks, disc->title,
			       here ? RT_INK_TEXT | RT_INK_BOLD : RT_INK_TEXT);
	if (disc->track.size > 0 && columns - x - marks > TRACK_MIN)
		x = rt_canvas_put_cut(canvas, box, x + 2, y, columns - x - marks - 3, disc->track,
				      RT_INK_DIM);
	for (size_t i = 0; i < disc->tag_count && columns - x - marks > TRACK_MIN; i++)
		x = rt_canvas_put_cut(canvas, box, x + 2, y, columns - x - marks - 3,
				      rt_tui_format(d->pane.tui, "#%.*s",
						    RT_STR_ARG(disc->tags[i])),
				      RT_INK_DIM);
	if (state[0] != '\0')
		x = rt_canvas_put_c(canvas, box, x + 1, y, state, RT_INK_DIM);
	if (here) {
		x = rt_canvas_put(canvas, box, x + 1, y,
				  rt_canvas_glyph(canvas, RT_GLYPH_LEFT_ARROW), RT_INK_GOOD);
		(void)rt_canvas_put_c(canvas, box, x + 1, y, "now", RT_INK_GOOD);
	}
}

static void
draw_take(rt_discussions *d, rt_canvas *canvas, rt_box box, int y, const rt_discussions_row *r)
{
	const rt_work *work = &d->pane.tui->work;
	const rt_take_row *take = r->take;
	bool is_here = r->disc->number == work->place.disc && take->number == work->place.take;
	int x = rt_str_eq(take->base, take->name) ? 5 : 7;

	draw_count(d, canvas, box, y, take->entries, "");
	if (box.w >= DATE_MIN && take->updated_us != 0)
		(void)rt_canvas_put(canvas, box, box.w - DATE - 1, y,
				    rt_bar_time(d->pane.tui, take->updated_us), RT_INK_DIM);
	if (box.w >= COUNTS_MIN && take->git_commit.size > 0 && !d->has_long_titles)
		(void)rt_canvas_put_cut(canvas, box, name_columns(d, box) + COMMIT_AT, y, COMMIT,
					rt_str_at(take->git_commit.ptr,
						  take->git_commit.size < COMMIT
							  ? take->git_commit.size
							  : COMMIT),
					RT_INK_DIM);
	int columns = name_columns(d, box) - x - (take->active ? 9 : 0);
	x = rt_canvas_put_name(canvas, box, x, y, columns, take->name,
			       is_here ? RT_INK_TEXT | RT_INK_BOLD : RT_INK_TEXT);
	columns = name_columns(d, box) - x - (take->active ? 9 : 0);
	if (take->title.size > 0 && columns > TRACK_MIN)
		x = rt_canvas_put_cut(canvas, box, x + 2, y, columns - 3, take->title, RT_INK_DIM);
	if (take->active)
		(void)rt_canvas_put_c(canvas, box, x + 1, y, "(active)", RT_INK_GOOD);
}

/* The name of a hit's discussion, or the title in its place. */
static rt_str
hit_title(const rt_discussions *d, const rt_hit *hit)
{
	for (size_t i = 0; i < d->discs.count; i++)
		if (rt_str_eq(d->discs.items[i].name, hit->discussion))
			return d->discs.items[i].title;
	return hit->discussion;
}

static void
draw_hit(rt_discussions *d, rt_canvas *canvas, rt_box box, int y, const rt_hit *hit)
{
	bool is_wide = box.w >= DATE_MIN, is_match = false;
	int name = box.w >= COUNTS_ALWAYS ? 2 * NAME_MAX_HIT : is_wide ? NAME_MAX_HIT : NAME_MAX_HIT / 2;
	rt_buf *plain = rt_scope_buf(rt_discussions_scope(d));
	rt_str snippet, run;
	int x = 3;

	rt_hit_add_plain(plain, hit);
	snippet = rt_scope_str(rt_discussions_scope(d), plain);
	if (is_wide && hit->has_time) { /* as in the rows of discussions */
		(void)rt_canvas_put(canvas, box, box.w - DATE - 1, y, rt_bar_time(d->pane.tui, hit->time.us),
				    RT_INK_DIM);
		box.w -= DATE + 2;
	}
	x = rt_canvas_put_name(canvas, box, x, y, name, hit_title(d, hit), RT_INK_DIM) + 1;
	if (is_wide)
		x = rt_canvas_put_name(canvas, box, x, y, TAKE_MAX_HIT,
				       hit->at > 0 ? hit->take : RT_STR("(deleted)"), RT_INK_DIM) +
		    1;
	x = rt_canvas_put_cut(canvas, box, x, y, ROLE_MAX_HIT,
			      rt_role_label(d->pane.tui->work.value, hit->role), rt_role_ink(hit->role)) +
	    1;
	while (x < box.w && rt_highlight_next(&snippet, &is_match, &run))
		x = rt_canvas_put(canvas, box, x, y, run, is_match ? RT_INK_MATCH : RT_INK_TEXT);
}

static void
draw_row(void *ctx, rt_canvas *canvas, rt_box box, int y, size_t row_number)
{
	rt_discussions *d = ctx;
	const rt_discussions_row *r = (const rt_discussions_row *)d->filter.rows + row_number;

	if (r->hit != NULL)
		draw_hit(d, canvas, box, y, r->hit);
	else if (r->take != NULL)
		draw_take(d, canvas, box, y, r);
	else
		draw_disc(d, canvas, box, y, r->disc);
}

/* On the right of the title: the counts, or the progress of the search. */
static rt_str
status_of(rt_discussions *d, bool utf8)
{
	rt_tui *tui = d->pane.tui;
	const rt_discussions_row *rows = d->filter.rows;
	size_t shown = 0, hidden = 0;

	for (size_t i = 0; i < d->filter.list.count; i++)
		shown += rows[i].disc != NULL && rows[i].take == NULL;
	for (size_t i = 0; i < d->discs.count; i++)
		hidden += is_left_out(d, &d->discs.items[i]);
	if (rt_discussions_query(d).size == 0)
		return hidden == 0 ? rt_tui_format(tui, "%zu", d->discs.count)
				   : rt_tui_format(tui, "%zu, %zu archived",
						   d->discs.count - hidden, hidden);
	if (!rt_discussions_is_answered(d))
		return rt_tui_format(tui, "searching%s %u%%", utf8 ? "…" : "...",
				     d->job == NULL ? 0 : atomic_load(&d->job->percent));
	return rt_tui_format(tui, "%zu%s found", shown + d->hits.count,
			     d->hits.count == RT_FIND_HITS ? "+" : "");
}

static void
draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	rt_discussions *d = rt_discussions_of(pane);
	rt_box list = {box.x, box.y + 1, box.w, box.h - 1};
	bool is_over = rt_discussions_query(d).size == 0 || rt_discussions_is_answered(d);
	bool has_failed = d->found != NULL && d->found->is_complete && !rt_ok(&d->found->scope);

	rt_canvas_fill(canvas, box, RT_INK_TEXT);
	rt_bar_draw(canvas, box, RT_STR("Discussions"), status_of(d, canvas->utf8));
	if (list.h > 1) {
		rt_filter_draw_field(
			&d->filter, canvas,
			rt_bar_ask(canvas, (rt_box){list.x, list.y, list.w, 1}, "Search:"));
		list.y++;
		list.h--;
	}
	d->filter.columns = box.w - LABEL_COLUMNS;
	d->has_long_titles = has_long_titles(d, canvas, box);
	rt_filter_draw_rows(&d->filter, canvas, list, 3, is_over && !has_failed ? "No match." : "");
	if (d->filter.list.count == 0 && has_failed)
		(void)rt_canvas_put_cut(canvas, list, 3, 0, list.w - 3,
					rt_str_of(d->found->scope.error.text), RT_INK_ERROR);
}

/* ---- keys ---- */

/* Show or hide the takes of the discussion under the cursor, which goes to the discussion. */
static void
open_takes(rt_discussions *d, bool is_open)
{
	const rt_discussions_row *rows = d->filter.rows, *r = rt_discussions_at_cursor(d);
	uint32_t number;

	if (r == NULL || r->disc == NULL || (is_open && r->take != NULL))
		return;
	number = r->disc->number;
	if (!is_open && d->open != number)
		return;
	while (d->filter.list.at > 0 && rows[d->filter.list.at].take != NULL)
		d->filter.list.at--;
	d->open = is_open ? number : 0;
	reload(d);
}

static void
toggle_takes(rt_discussions *d)
{
	const rt_discussions_row *r = rt_discussions_at_cursor(d);

	if (r != NULL && r->disc != NULL)
		open_takes(d, r->disc->number != d->open);
}

/* Text was edited: filter, and after the search put the cursor back unless it was moved. */
static void
update(rt_discussions *d)
{
	rt_switch_place at = rt_discussions_place(rt_discussions_at_cursor(d));

	if (d->filter.typed.size == 0 && !rt_field_is_empty(d->filter.field)) {
		d->before = at;
		d->is_moved = false;
	}
	if (rt_filter_update(&d->filter) && rt_field_is_empty(d->filter.field))
		select_place(d, d->is_moved && at.disc != 0 ? at : d->before);
}

static bool
act(rt_pane *pane, rt_action action)
{
	rt_discussions *d = rt_discussions_of(pane);

	if (rt_list_act(&d->filter.list, action)) {
		d->is_moved = true;
		return true;
	}
	switch (action) {
	case RT_ACT_ACCEPT: rt_discussions_accept(d); return true;
	case RT_ACT_NEW: rt_discussions_ask_new(d); return true;
	case RT_ACT_RENAME: rt_discussions_ask_rename(d); return true;
	case RT_ACT_DELETE: rt_discussions_delete(d); return true;
	case RT_ACT_PROMOTE: rt_discussions_ask_promote(d); return true;
	case RT_ACT_PREVIEW: toggle_takes(d); return true;
	case RT_ACT_TAGS: rt_discussions_ask_tags(d); return true;
	case RT_ACT_PIN:
		rt_discussions_toggle(d, RT_STR("pinned"),
				      rt_discussions_at_cursor(d) != NULL &&
					      rt_discussions_at_cursor(d)->disc != NULL &&
					      rt_discussions_at_cursor(d)->disc->pinned);
		return true;
	case RT_ACT_ARCHIVE:
		rt_discussions_toggle(d, RT_STR("archived"),
				      rt_discussions_at_cursor(d) != NULL &&
					      rt_discussions_at_cursor(d)->disc != NULL &&
					      rt_discussions_at_cursor(d)->disc->archived);
		return true;
	case RT_ACT_CANCEL:
		if (rt_field_is_empty(d->filter.field)) {
			rt_tui_close(pane->tui, pane);
		} else {
			rt_field_clear(d->filter.field);
			update(d);
		}
		return true;
	case RT_ACT_FILTER_ALL:
		d->has_deleted = !d->has_deleted;
		reload(d);
		return true;
	default: return false;
	}
}

/* Keys for fields: some move in the list while the field is empty. */
static bool
act_on_field(rt_discussions *d, rt_action action)
{
	bool is_empty = rt_field_is_empty(d->filter.field), used = false;

	if (action == RT_ACT_COMPLETE) {
		toggle_takes(d);
		return true;
	}
	if (is_empty && (action == RT_ACT_LEFT || action == RT_ACT_RIGHT)) {
		open_takes(d, action == RT_ACT_RIGHT);
		return true;
	}
	if (is_empty && action == RT_ACT_ERASE_NEXT) {
		rt_discussions_delete(d);
		return true;
	}
	if (is_empty && (action == RT_ACT_LINE_START || action == RT_ACT_LINE_END))
		return rt_list_act(&d->filter.list,
				   action == RT_ACT_LINE_START ? RT_ACT_HOME : RT_ACT_END);
	if (action != RT_ACT_NONE)
		RT_TRY(rt_discussions_scope(d),
		       rt_field_act(d->filter.field, action, d->filter.columns, &used));
	return used;
}

static bool
key(rt_pane *pane, rt_key k)
{
	rt_discussions *d = rt_discussions_of(pane);
	const rt_keymap *keys = pane->tui->keys;
	bool used = false;

	if (!rt_key_is_text(k))
		used = act_on_field(d, rt_keymap_action(keys, RT_SCREEN_FIELD, k));
	else if (!rt_field_is_empty(d->filter.field) ||
		 (k.code != ' ' && rt_keymap_action(keys, RT_SCREEN_DISCUSSIONS, k) == RT_ACT_NONE))
		RT_TRY(rt_discussions_scope(d), rt_field_key(d->filter.field, k, &used));
	if (used)
		update(d);
	return used;
}

static void
paste(rt_pane *pane, rt_str text)
{
	RT_TRY(&pane->tui->scope, rt_field_insert(rt_discussions_of(pane)->filter.field, text));
	update(rt_discussions_of(pane));
}

static void
free_discussions(rt_pane *pane)
{
	rt_discussions *d = rt_discussions_of(pane);

	if (d->found != d->job)
		rt_find_job_free(d->found);
	if (d->job != NULL) /* the first search of a large store takes long: it builds the index */
		rt_worker_detach(&d->job->worker, pane->tui, rt_find_job_free);
	rt_filter_deinit(&d->filter);
	rt_scope_deinit(&d->lists);
	rt_object_unref(d->value);
	rt_free(pane->tui->alloc, d);
}

static const rt_pane_ops ops = {
	.screen = RT_SCREEN_DISCUSSIONS,
	.draw = draw,
	.act = act,
	.key = key,
	.paste = paste,
	.changed = changed,
	.poll = rt_discussions_poll,
	.free = free_discussions,
};

rt_status
rt_pane_discussions(rt_tui *tui, rt_str query)
{
	rt_discussions *d = rt_new0(tui->alloc, sizeof(*d));
	rt_status st;

	if (d == NULL)
		return RT_NOMEM;
	(void)rt_tui_begin(tui);
	d->pane.ops = &ops;
	d->pane.tui = tui;
	d->pane.list = &d->filter.list;
	d->before.disc = tui->work.place.disc;
	d->filter = (rt_filter){.row_size = sizeof(rt_discussions_row),
				.s = &tui->scope,
				.fill = fill,
				.draw = draw_row,
				.ctx = d};
	rt_scope_init(&d->lists, tui->alloc);
	rt_filter_init(&d->filter, query);
	reload(d);
	if (query.size == 0)
		select_place(d, d->before);
	st = rt_tui_end(tui);
	if (st != RT_OK) {
		free_discussions(&d->pane);
		return st;
	}
	return rt_tui_push(tui, &d->pane);
}
