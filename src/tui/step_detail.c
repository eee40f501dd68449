/* SPDX-License-Identifier: MIT */
#include "tui/step_detail.h"

#include "app/host.h"
#include "codec/content.h"
#include "tui/bar.h"
#include "view/view.h"

enum {
	SIDES_MAX = 20,     /* entries of a step that are told one by one */
	ENTRIES = 12,       /* of the conversation */
	TEXT_MAX = 4000,    /* bytes of each that are laid out */
	VALUE_MAX = 200,
	DIFFERENCE_MAX = 20000
};

/* What all of these functions share. */
typedef struct looking {
	const rt_step_detail *detail;
	rt_lines *lines;
	rt_lines_options how;
	rt_buf buf; /* scratch */
} looking;

static void
add_plain(looking *l, rt_ink ink, int indent)
{
	rt_lines_options how = l->how;

	how.ink = ink;
	how.indent = indent;
	rt_lines_add_plain(l->lines, rt_buf_str(&l->buf), &how);
	rt_buf_clear(&l->buf);
}

static void
add_failure(looking *l, const rt_error *err)
{
	rt_buf_clear(&l->buf);
	rt_buf_add_c(&l->buf, err->text);
	add_plain(l, RT_INK_ERROR, 0);
}

/* --- what it changed --- */

static void
cut(rt_buf *buf, size_t max)
{
	if (buf->size > max) {
		buf->size = rt_utf8_cut(rt_buf_str(buf), max);
		rt_buf_add_c(buf, " ...");
	}
}

/* "+ AI", and below it its text. */
static void
add_side(looking *l, yyjson_val *slot, const char *sign, rt_ink ink)
{
	rt_buf_add_f(&l->buf, "%s ", sign);
	rt_buf_add_str(&l->buf, rt_json_str(rt_json_get(slot, "role")));
	if (yyjson_is_true(rt_json_get(slot, "muted")))
		rt_buf_add_c(&l->buf, "  muted");
	add_plain(l, (rt_ink)(ink | RT_INK_BOLD), 0);
	rt_content_add_entry(&l->buf, slot);
	cut(&l->buf, TEXT_MAX);
	add_plain(l, ink, 2);
}

static void
add_sides(looking *l, yyjson_val *side, const char *sign, rt_ink ink)
{
	size_t i, count;
	yyjson_val *slot;

	yyjson_arr_foreach(side, i, count, slot) {
		if (i == SIDES_MAX) {
			rt_buf_add_f(&l->buf, "%s %zu more", sign, count - i);
			add_plain(l, ink, 0);
			return;
		}
		add_side(l, slot, sign, ink);
	}
}

/* The one entry that was there before and after. */
static void
add_edit(looking *l, yyjson_val *before, yyjson_val *after)
{
	rt_str was = rt_json_str(rt_json_get(before, "role"));
	rt_str is = rt_json_str(rt_json_get(after, "role"));
	rt_buf a, b;

	rt_buf_init(&a, l->detail->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&b, l->detail->alloc, RT_BUF_UNLIMITED);
	rt_content_add_entry(&a, before);
	rt_content_add_entry(&b, after);
	rt_buf_add_str(&l->buf, was);
	if (!rt_str_eq(was, is)) {
		rt_buf_add_c(&l->buf, " -> ");
		rt_buf_add_str(&l->buf, is);
	}
	if (yyjson_is_true(rt_json_get(before, "muted")) !=
	    yyjson_is_true(rt_json_get(after, "muted")))
		rt_buf_add_c(&l->buf, yyjson_is_true(rt_json_get(after, "muted")) ? "  muted"
										  : "  unmuted");
	add_plain(l, (rt_ink)(rt_role_ink(is) | RT_INK_BOLD), 0);
	if (a.status != RT_OK || b.status != RT_OK) {
		l->lines->status = RT_NOMEM;
	} else if (!rt_str_eq(rt_buf_str(&a), rt_buf_str(&b))) {
		rt_lines_options how = l->how;

		cut(&a, DIFFERENCE_MAX);
		cut(&b, DIFFERENCE_MAX);
		how.indent = 2;
		rt_lines_add_difference(l->lines, rt_buf_str(&a), rt_buf_str(&b), &how);
	}
	rt_buf_deinit(&a);
	rt_buf_deinit(&b);
}

static void
add_value(looking *l, const char *sign, yyjson_val *value, rt_ink ink)
{
	rt_buf_add_c(&l->buf, sign);
	rt_json_add_value(&l->buf, value);
	cut(&l->buf, VALUE_MAX);
	add_plain(l, ink, 2);
}

/* What is active, by its name: an operation on takes changes which take is, any other one which
 * discussion. */
static void
add_active(looking *l, rt_str op, const char *sign, yyjson_val *value, rt_ink ink)
{
	const rt_project *project = l->detail->value;
	const rt_disc *disc = NULL;
	uint64_t number = 0;
	rt_error ignored;
	bool is_take = rt_str_starts(op, RT_STR("take."));

	if (is_take && rt_project_cell(project, l->detail->disc) != NULL &&
	    rt_project_disc(project, l->detail->disc, &disc, &ignored) != RT_OK)
		disc = NULL;
	if (!rt_json_u64(value, &number) || number == 0 ||
	    number > (is_take ? disc == NULL ? 0 : rt_disc_take_count(disc)
			      : rt_project_disc_count(project))) {
		add_value(l, sign, value, ink);
		return;
	}
	rt_buf_add_c(&l->buf, sign);
	rt_buf_add_str(&l->buf,
		       is_take ? rt_text_str(rt_disc_take(disc, (uint32_t)number)->name)
			       : rt_cell_name(rt_project_cell(project, (uint32_t)number)));
	cut(&l->buf, VALUE_MAX);
	add_plain(l, ink, 2);
}

static void
add_effect(looking *l, rt_str op, yyjson_val *effect)
{
	bool is_active = rt_str_is(rt_json_str(rt_json_get(effect, "field")), "active");
	rt_str kind = rt_json_str(rt_json_get(effect, "effect"));
	yyjson_val *before = rt_json_get(effect, "before"), *after = rt_json_get(effect, "after");
	yyjson_val *one = yyjson_arr_get_first(before), *other = yyjson_arr_get_first(after);

	if (rt_str_is(kind, "splice")) {
		if (yyjson_arr_size(before) == 1 && yyjson_arr_size(after) == 1 &&
		    rt_str_eq(rt_json_str(rt_json_get(one, "id")),
			      rt_json_str(rt_json_get(other, "id")))) {
			add_edit(l, one, other);
			return;
		}
		add_sides(l, before, "-", RT_INK_REMOVED);
		add_sides(l, after, "+", RT_INK_ADDED);
		return;
	}
	if (rt_str_is(kind, "set")) {
		rt_buf_add_str(&l->buf, rt_json_str(rt_json_get(effect, "field")));
		add_plain(l, RT_INK_BOLD, 0);
		if (is_active) {
			add_active(l, op, "- ", before, RT_INK_REMOVED);
			add_active(l, op, "+ ", after, RT_INK_ADDED);
			return;
		}
		if (!yyjson_is_null(before))
			add_value(l, "- ", before, RT_INK_REMOVED);
		if (!yyjson_is_null(after))
			add_value(l, "+ ", after, RT_INK_ADDED);
		return;
	}
	rt_buf_add_c(&l->buf, "+ ");
	rt_buf_add_str(&l->buf, kind);
	rt_buf_add_c(&l->buf, " \"");
	rt_buf_add_str(&l->buf, rt_json_str(rt_json_get(effect, "name")));
	rt_buf_add_byte(&l->buf, '"');
	add_plain(l, RT_INK_ADDED, 0);
}

/* What goes along with something else: which take is active, where the head is. */
static bool
is_aside(yyjson_val *effect)
{
	static const char *const fields[] = {"active", "head", "present"};
	rt_str field = rt_json_str(rt_json_get(effect, "field"));
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (rt_str_is(field, fields[i]))
			return true;
	return false;
}

static rt_status
add_step(looking *l)
{
	const rt_step_detail *detail = l->detail;
	rt_json_doc *doc = NULL;
	yyjson_val *effect, *root;
	rt_status st;
	size_t i, count, others = 0, told = 0;
	rt_moment at;
	rt_error err;
	rt_buf json;

	rt_buf_init(&json, detail->alloc, RT_BUF_UNLIMITED);
	st = rt_view_step(detail->engine, detail->value, detail->seq, &json, &err);
	if (st == RT_OK)
		st = rt_json_read(detail->alloc, rt_buf_str(&json), &doc, &err);
	if (st != RT_OK) {
		add_failure(l, &err);
		goto done;
	}
	root = rt_json_root(doc);
	rt_buf_add_f(&l->buf, "Step %llu  ", (unsigned long long)detail->seq);
	rt_buf_add_str(&l->buf, detail->did);
	add_plain(l, RT_INK_HEADING | RT_INK_BOLD, 0);
	if (rt_moment_parse(rt_json_str(rt_json_get(root, "at")), &at))
		rt_host_add_local_time(&l->buf, at.us, true);
	rt_buf_add_c(&l->buf, "  ");
	rt_buf_add_str(&l->buf, rt_json_str(rt_json_get(root, "by")));
	add_plain(l, RT_INK_DIM, 0);
	yyjson_arr_foreach(rt_json_get(root, "effects"), i, count, effect)
		others += !is_aside(effect);
	yyjson_arr_foreach(rt_json_get(root, "effects"), i, count, effect) {
		if (others > 0 && is_aside(effect))
			continue;
		if (told++ == SIDES_MAX) {
			rt_buf_add_f(&l->buf, "and more, %zu changes in all", count);
			add_plain(l, RT_INK_DIM, 0);
			break;
		}
		add_effect(l, rt_json_str(rt_json_get(root, "op")), effect);
	}
done:
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st == RT_NOMEM ? st : RT_OK;
}

/* --- what there was --- */

/* number: its place in the take. */
static void
add_entry(looking *l, yyjson_val *entry, size_t number)
{
	rt_str role = rt_json_str(rt_json_get(entry, "role"));
	rt_str label = rt_json_str(rt_json_get(entry, "label"));
	rt_lines_options how = l->how;

	rt_buf_add_str(&l->buf, role);
	rt_buf_add_f(&l->buf, "  %zu", number);
	if (label.size > 0) {
		rt_buf_add_c(&l->buf, "  #");
		rt_buf_add_str(&l->buf, label);
	}
	add_plain(l, (rt_ink)(rt_role_ink(role) | RT_INK_BOLD), 0);
	rt_content_add_entry(&l->buf, entry);
	cut(&l->buf, TEXT_MAX);
	how.indent = 2;
	rt_lines_add_markdown(l->lines, rt_buf_str(&l->buf), &how);
	rt_buf_clear(&l->buf);
}

static rt_status
add_state(looking *l)
{
	const rt_step_detail *detail = l->detail;
	const rt_project *then = NULL;
	const rt_disc *disc = NULL;
	const rt_take *take;
	rt_json_doc *doc = NULL;
	rt_window window = {0};
	yyjson_val *entry;
	rt_status st;
	size_t i, max, count;
	rt_error err;
	rt_buf json;

	rt_buf_init(&json, detail->alloc, RT_BUF_UNLIMITED);
	st = rt_engine_value_at(detail->engine, detail->seq, &then, &err);
	if (st != RT_OK)
		goto failed;
	if (rt_project_cell(then, detail->disc) == NULL ||
	    rt_project_disc(then, detail->disc, &disc, &err) != RT_OK) {
		rt_buf_add_c(&l->buf, "The discussion was not there yet.");
		add_plain(l, RT_INK_DIM, 0);
		goto done;
	}
	take = rt_disc_active(disc);
	count = rt_seq_count(take->slots);
	rt_buf_add_c(&l->buf, "As it was then: take ");
	rt_buf_add_str(&l->buf, rt_text_str(take->name));
	rt_buf_add_f(&l->buf, ", %zu entr%s", count, count == 1 ? "y" : "ies");
	add_plain(l, RT_INK_HEADING | RT_INK_BOLD, 0);
	if (count == 0)
		goto done;
	window.from = count > ENTRIES ? count - ENTRIES : 0;
	window.count = ENTRIES;
	if (window.from > 0) {
		rt_buf_add_f(&l->buf, "%zu before these", window.from);
		add_plain(l, RT_INK_DIM, 0);
	}
	st = rt_view_show(detail->engine, then, (rt_place){detail->disc, take->number}, &window,
			  &json, &err);
	if (st == RT_OK)
		st = rt_json_read(detail->alloc, rt_buf_str(&json), &doc, &err);
	if (st != RT_OK)
		goto failed;
	yyjson_arr_foreach(rt_json_get(rt_json_root(doc), "entries"), i, max, entry)
		add_entry(l, entry, window.from + i + 1);
	goto done;
failed:
	add_failure(l, &err);
done:
	rt_object_unref(then);
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st == RT_NOMEM ? st : RT_OK;
}

rt_status
rt_step_detail_add(const rt_step_detail *detail, rt_lines *lines)
{
	looking l = {.detail = detail,
		     .lines = lines,
		     .how = {.columns = detail->columns > 1 ? detail->columns : 1,
			     .utf8 = detail->utf8,
			     .ink = RT_INK_TEXT}};
	rt_status st = RT_OK;

	rt_buf_init(&l.buf, detail->alloc, RT_BUF_UNLIMITED);
	if (detail->seq != 0) {
		st = add_step(&l);
		rt_lines_add_blank(lines);
	}
	if (st == RT_OK)
		st = add_state(&l);
	if (st == RT_OK)
		st = l.buf.status;
	rt_buf_deinit(&l.buf);
	return st == RT_OK ? lines->status : st;
}
