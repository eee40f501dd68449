/* SPDX-License-Identifier: MIT
 *
 * The contract, row by row, as far as the engine alone can show it. Each test is named for
 * its row. Requests are written with ' for ", as nothing here has an apostrophe in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codec/json.h"
#include "log/engine.h"
#include "formats/formats.h"
#include "ops/export.h"
#include "store/store_memory.h"
#include "view/view.h"

typedef struct fixture {
	rt_env env;
	uint64_t chance;
	rt_store *store;
	rt_engine *engine;
	rt_result result; /* of the last request */
	rt_buf out;       /* of the last look */
	char line[4096];
} fixture;

static int64_t
now_us(void *ctx)
{
	(void)ctx;
	return 1770091506000000; /* 2026-02-03T04:05:06Z */
}

static void
random_bytes(void *ctx, void *to, size_t size)
{
	fixture *f = ctx;
	size_t i;

	for (i = 0; i < size; i++) {
		f->chance = f->chance * 6364136223846793005u + 1442695040888963407u;
		((unsigned char *)to)[i] = (unsigned char)(f->chance >> 33);
	}
}

static int
setup(void **state)
{
	fixture *f = calloc(1, sizeof(*f));
	rt_engine_options o = {.alloc = rt_alloc_libc(), .by = RT_STR("test"), .create = true};
	rt_error err;

	if (f == NULL)
		return -1;
	f->env = (rt_env){now_us, random_bytes, f};
	f->chance = 7;
	o.env = &f->env;
	rt_buf_init(&f->out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	if (rt_store_memory_open(rt_alloc_libc(), &f->env, &f->store, &err) != RT_OK ||
	    rt_engine_open(&o, f->store, &f->engine, &err) != RT_OK) {
		print_error("%s\n", err.text);
		return -1;
	}
	return 0;
}

static int
teardown(void **state)
{
	fixture *f = *state;

	rt_result_deinit(&f->result);
	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	rt_buf_deinit(&f->out);
	free(f);
	return 0;
}

/* ' becomes " */
static rt_str
unquoted(fixture *f, const char *text)
{
	size_t i;

	assert_true(strlen(text) < sizeof(f->line));
	for (i = 0; text[i] != '\0'; i++)
		f->line[i] = text[i] == '\'' ? '"' : text[i];
	f->line[i] = '\0';
	return rt_str_at(f->line, i);
}

static rt_status
run_raw(fixture *f, rt_str line)
{
	rt_status st;

	rt_result_deinit(&f->result);
	memset(&f->result, 0, sizeof(f->result));
	st = rt_engine_apply_text(f->engine, line, RT_STR(""), RT_STR(""), &f->result);
	assert_int_equal(st, f->result.status);
	return st;
}

static void
check_status(fixture *f, const char *text, rt_status expected, const char *file, int line)
{
	rt_status st = run_raw(f, unquoted(f, text));

	if (st == expected)
		return;
	print_error("%s: %s (%s), not %s\n", text, rt_status_word(st),
		    st == RT_OK ? "" : f->result.error.text, rt_status_word(expected));
	_fail(file, line);
}

/* A request with this outcome. */
#define GIVES(word, text) check_status(f, text, RT_##word, __FILE__, __LINE__)
#define DONE(text)                                                                                 \
	do {                                                                                       \
		GIVES(OK, text);                                                                   \
		if (f->result.unchanged)                                                           \
			print_error("%s: unchanged\n", text);                                      \
		assert_false(f->result.unchanged);                                                 \
	} while (0)
#define UNCHANGED(text)                                                                            \
	do {                                                                                       \
		GIVES(OK, text);                                                                   \
		if (!f->result.unchanged)                                                          \
			print_error("%s: changed\n", text);                                        \
		assert_true(f->result.unchanged);                                                  \
	} while (0)

/* ---- looking ---- */

typedef enum view { SHOW, TREE, TAKES, DISCUSSIONS, HISTORY } view;

static rt_json_doc *
look_at(fixture *f, view what)
{
	const rt_project *value = rt_engine_value(f->engine);
	rt_place here = {0, 0};
	rt_window all = {0};
	rt_json_doc *doc = NULL;
	rt_error err = {0};
	rt_status st = RT_OK;

	rt_buf_clear(&f->out);
	switch (what) {
	case SHOW: st = rt_view_show(f->engine, value, here, &all, &f->out, &err); break;
	case TREE: st = rt_view_tree(f->engine, value, 0, &f->out, &err); break;
	case TAKES: st = rt_view_takes(f->engine, value, 0, false, &f->out, &err); break;
	case DISCUSSIONS: st = rt_view_discussions(f->engine, value, false, &f->out, &err); break;
	case HISTORY: st = rt_view_history(f->engine, value, 0, 0, 0, &f->out, &err); break;
	}
	if (st != RT_OK)
		print_error("%s\n", err.text);
	assert_int_equal(st, RT_OK);
	rt_object_unref(value);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&f->out), &doc, &err), RT_OK);
	return doc;
}

/* The items' members of that name, with spaces between; - for false, null and absent. */
static void
join(yyjson_val *items, const char *member, rt_buf *out)
{
	size_t i, max;
	yyjson_val *item;

	rt_buf_clear(out);
	yyjson_arr_foreach(items, i, max, item)
	{
		yyjson_val *value = rt_json_get(item, member);

		if (i > 0)
			rt_buf_add_byte(out, ' ');
		if (yyjson_is_str(value))
			rt_buf_add_str(out, rt_json_str(value));
		else if (value == NULL || yyjson_is_null(value) || yyjson_is_false(value))
			rt_buf_add_byte(out, '-');
		else
			rt_json_add_value(out, value);
	}
	rt_buf_add_byte(out, '\0');
}

static void
check_joined(fixture *f, view what, const char *member, const char *expected, const char *file,
	     int line)
{
	rt_json_doc *doc = look_at(f, what);
	rt_buf out;
	bool same;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	join(what == SHOW ? rt_json_get(rt_json_root(doc), "entries") : rt_json_root(doc), member, &out);
	same = strcmp(out.ptr, expected) == 0;
	if (!same)
		print_error("%s: \"%s\", not \"%s\"\n", member, out.ptr, expected);
	rt_json_free(doc);
	rt_buf_deinit(&out);
	if (!same)
		_fail(file, line);
}

#define IDS(expected) check_joined(f, SHOW, "id", expected, __FILE__, __LINE__)
#define CONTENTS(expected) check_joined(f, SHOW, "content", expected, __FILE__, __LINE__)
#define ROLES(expected) check_joined(f, SHOW, "role", expected, __FILE__, __LINE__)
#define TAKES_ARE(expected) check_joined(f, TAKES, "name", expected, __FILE__, __LINE__)
#define DISCUSSIONS_ARE(expected) check_joined(f, DISCUSSIONS, "name", expected, __FILE__, __LINE__)
#define COLUMN(what, member, expected) check_joined(f, what, member, expected, __FILE__, __LINE__)

/* A member of show, of an entry of it (at >= 0), as JSON text; "-" where it is absent. */
static void
check_member(fixture *f, int at, const char *member, const char *expected, const char *file, int line)
{
	rt_json_doc *doc = look_at(f, SHOW);
	yyjson_val *value = rt_json_root(doc);
	rt_buf out;
	bool same;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (at >= 0)
		value = yyjson_arr_get(rt_json_get(value, "entries"), (size_t)at);
	value = rt_json_get(value, member);
	if (value == NULL)
		rt_buf_add_c(&out, "-");
	else
		rt_json_add_value(&out, value);
	same = rt_str_eq(rt_buf_str(&out), unquoted(f, expected));
	if (!same)
		print_error("%s: %s, not %s\n", member, out.ptr, f->line);
	rt_buf_deinit(&out);
	rt_json_free(doc);
	if (!same)
		_fail(file, line);
}

#define SHOWS(member, expected) check_member(f, -1, member, expected, __FILE__, __LINE__)
#define ENTRY_HAS(at, member, expected) check_member(f, at, member, expected, __FILE__, __LINE__)

enum { WHOLE = -1 };

/* The canonical export; the caller's to free. disc: WHOLE, 0 for the project without what its
 * discussions hold, or the number of a discussion (its name is the project's). */
static char *
canonical_of(fixture *f, const rt_project *value, int disc)
{
	const rt_format *format = rt_format_find("canonical");
	rt_export_options how = {.whole = disc <= 0, .lossless = true};
	rt_outlines outlines;
	rt_error err = {0};
	rt_status st;
	char *text;
	size_t i;

	assert_non_null(format);
	rt_outlines_init(&outlines);
	rt_buf_clear(&f->out);
	st = rt_engine_export(f->engine, value, (rt_place){disc > 0 ? (uint32_t)disc : 0, 0},
			      disc <= 0, &outlines, &err);
	for (i = 0; st == RT_OK && disc != WHOLE && i < outlines.count; i++) {
		if (disc == 0)
			outlines.items[i] = (rt_outline){.name = outlines.items[i].name};
		else
			outlines.items[i].name = RT_STR("");
	}
	outlines.has_active = outlines.has_active && disc <= 0;
	if (st == RT_OK)
		st = format->write(rt_alloc_libc(), &outlines, &how, &f->out, &err);
	if (st != RT_OK)
		print_error("%s\n", err.text);
	assert_int_equal(st, RT_OK);
	rt_outlines_deinit(&outlines);
	text = malloc(f->out.size + 1);
	assert_non_null(text);
	memcpy(text, f->out.ptr, f->out.size);
	text[f->out.size] = '\0';
	return text;
}

static char *
canonical(fixture *f)
{
	const rt_project *value = rt_engine_value(f->engine);
	char *text = canonical_of(f, value, WHOLE);

	rt_object_unref(value);
	return text;
}

static void
check_canonical(fixture *f, const char *part, bool wanted, const char *file, int line)
{
	char *text = canonical(f);
	bool found = strstr(text, unquoted(f, part).ptr) != NULL;

	if (found != wanted)
		print_error("%s is %s in %s\n", f->line, found ? "" : "not", text);
	free(text);
	if (found != wanted)
		_fail(file, line);
}

#define EXPORT_HAS(part) check_canonical(f, part, true, __FILE__, __LINE__)
#define EXPORT_LACKS(part) check_canonical(f, part, false, __FILE__, __LINE__)

/* Three entries a, b, c: User, AI, User. */
static void
three(fixture *f)
{
	DONE("{'op':'entry.append','id':'aa','role':'User','content':'one','ts':'2026-01-01'}");
	DONE("{'op':'entry.append','id':'bb','role':'AI','content':'two'}");
	DONE("{'op':'entry.append','id':'cc','role':'User','content':'three'}");
}

static rt_status
run_atomic(fixture *f, const char *const *texts, size_t count, rt_result *results)
{
	rt_json_doc *docs[80];
	yyjson_val *requests[80] = {NULL};
	rt_status st;
	size_t i;

	for (i = 0; i < count; i++) {
		assert_int_equal(rt_json_read(rt_alloc_libc(), unquoted(f, texts[i]), &docs[i], NULL),
				 RT_OK);
		requests[i] = rt_json_root(docs[i]);
	}
	memset(results, 0, count * sizeof(*results));
	st = rt_engine_apply_json(f->engine, requests, count, true, RT_STR(""), RT_STR(""), results);
	for (i = 0; i < count; i++)
		rt_json_free(docs[i]);
	return st;
}

/* All of them one step. */
static void
one_step(fixture *f, const char *const *texts, size_t count)
{
	rt_result results[80];
	rt_status st = run_atomic(f, texts, count, results);
	size_t i;

	if (st != RT_OK)
		print_error("%s\n", results[0].error.text);
	for (i = 0; i < count; i++)
		rt_result_deinit(&results[i]);
	assert_int_equal(st, RT_OK);
}

#define ROW(name)                                                                                  \
	static void name(void **state);                                                            \
	static void name(void **state)
#define F fixture *f = *state

/* ---- the rows ---- */

ROW(c0_op_names_the_operation)
{
	F;
	DONE("{'op':'entry.append','kind':'custom','content':'x'}");
	EXPORT_HAS("'kind':'custom'");
	GIVES(USAGE, "{'kind':'entry.append','content':'x'}");
}

ROW(c1_undo_takes_the_newest_of_discussion_and_project)
{
	F;
	three(f);
	DONE("{'op':'role.add','role':'Tool'}");
	DONE("{'op':'entry.append','id':'dd','content':'four'}");
	DONE("{'op':'undo'}");
	IDS("aa bb cc");
	EXPORT_HAS("'Tool'");
	DONE("{'op':'undo'}");
	EXPORT_LACKS("'Tool'");
	IDS("aa bb cc");
	DONE("{'op':'redo'}");
	EXPORT_HAS("'Tool'");
	DONE("{'op':'redo'}");
	IDS("aa bb cc dd");
	DONE("{'op':'undo','scope':'project'}");
	EXPORT_LACKS("'Tool'");
	IDS("aa bb cc dd");
	DONE("{'op':'undo','scope':'discussion','count':2}");
	IDS("aa bb");
	GIVES(REFUSED, "{'op':'undo','scope':'project'}");
}

ROW(c1_the_steps_of_other_discussions_are_left_alone)
{
	F;
	three(f);
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'entry.append','id':'xx','content':'x'}");
	DONE("{'op':'undo','discussion':'main','scope':'discussion'}");
	IDS("xx");
	DONE("{'op':'discussion.switch','discussion':'main'}");
	IDS("aa bb");
}

ROW(c1_a_pinned_client_is_not_moved_by_switches)
{
	F;
	three(f);
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'discussion.switch','discussion':'main'}");
	DONE("{'op':'entry.append','id':'xx','content':'x','discussion':'other'}");
	DONE("{'op':'discussion.switch','discussion':'other'}");
	DONE("{'op':'discussion.switch','discussion':'main'}");
	/* the switches are newer, and not this client's */
	DONE("{'op':'undo','discussion':'other','take':'other'}");
	SHOWS("discussion", "'main'");
	DONE("{'op':'discussion.switch','discussion':'other'}");
	IDS("");
}

ROW(c1_switches_elsewhere_stay_when_a_pinned_client_undoes)
{
	F;
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'entry.append','id':'xx','content':'x'}");
	DONE("{'op':'discussion.switch','discussion':'main'}");
	DONE("{'op':'undo','discussion':'other','take':'other'}");
	assert_int_equal(f->result.steps, 1);
	SHOWS("discussion", "'main'"); /* whoever went there is still there */
	EXPORT_LACKS("'xx'");
	DONE("{'op':'redo','discussion':'other','take':'other'}");
	SHOWS("discussion", "'main'");
	EXPORT_HAS("'xx'");
}

ROW(c1_a_pinned_client_passes_over_switches)
{
	F;
	char *before, *after;

	three(f);
	DONE("{'op':'take.branch','at':'bb','name':'side'}");
	DONE("{'op':'entry.append','id':'dd','content':'x','take':'main'}");
	DONE("{'op':'take.switch','take':'main'}");
	DONE("{'op':'take.switch','take':'side'}");
	before = canonical(f);
	/* they lie above the step in its own discussion and go with it, uncounted */
	DONE("{'op':'undo','discussion':'main','take':'main'}");
	assert_int_equal(f->result.steps, 1);
	EXPORT_LACKS("'dd'");
	DONE("{'op':'redo','discussion':'main','take':'main'}");
	assert_int_equal(f->result.steps, 1);
	after = canonical(f);
	assert_string_equal(before, after);
	free(after);
	/* what one undo took, one redo brings back, whoever asks for it */
	DONE("{'op':'undo','discussion':'main','take':'main'}");
	DONE("{'op':'redo'}");
	assert_int_equal(f->result.steps, 1);
	after = canonical(f);
	assert_string_equal(before, after);
	free(after);
	DONE("{'op':'undo','discussion':'main','take':'main','count':100}");
	assert_int_equal(f->result.steps, 5);
	GIVES(REFUSED, "{'op':'undo','discussion':'main','take':'main'}");
	DONE("{'op':'redo','discussion':'main','take':'main','count':100}");
	assert_int_equal(f->result.steps, 5);
	after = canonical(f);
	assert_string_equal(before, after);
	free(after);
	/* for everybody else a switch is a step */
	DONE("{'op':'undo','count':100}");
	assert_int_equal(f->result.steps, 7);
	free(before);
}

ROW(c1_switches_in_the_catalogue_do_not_split_a_step)
{
	F;
	three(f);
	DONE("{'op':'take.branch','at':'bb','name':'side'}");
	DONE("{'op':'take.switch','take':'main'}");
	DONE("{'op':'take.promote','take':'side','name':'apart'}");
	DONE("{'op':'discussion.switch','discussion':'apart'}");
	DONE("{'op':'undo','discussion':'main','take':'main'}");
	assert_int_equal(f->result.steps, 1);
	DISCUSSIONS_ARE("main");
	TAKES_ARE("main side");
	DONE("{'op':'redo','discussion':'main','take':'main'}");
	DISCUSSIONS_ARE("main apart");
	SHOWS("discussion", "'apart'");
}

ROW(c2_a_step_over_many_documents)
{
	F;
	char lines[70][100], line[100];
	const char *texts[70];
	int i;

	for (i = 0; i < 70; i++) {
		snprintf(line, sizeof(line), "{'op':'discussion.new','name':'n%d'}", i);
		DONE(line);
		snprintf(lines[i], sizeof(lines[i]),
			 "{'op':'setting.set','key':'draft','value':'new','discussion':'n%d'}", i);
		texts[i] = lines[i];
	}
	one_step(f, texts, 70);
	EXPORT_HAS("'draft'");
	DONE("{'op':'undo'}");
	EXPORT_LACKS("'draft'");
	DONE("{'op':'redo'}");
	DONE("{'op':'undo','discussion':'n69','scope':'discussion'}");
	EXPORT_LACKS("'draft'");
}

ROW(c2_a_step_over_several_documents_is_undone_where_it_is_current)
{
	F;
	three(f);
	DONE("{'op':'take.branch','at':'bb','name':'side'}");
	DONE("{'op':'take.promote','take':'side','name':'apart'}");
	DISCUSSIONS_ARE("main apart");
	DONE("{'op':'undo'}");
	DISCUSSIONS_ARE("main");
	TAKES_ARE("main side");
	DONE("{'op':'redo'}");
	DISCUSSIONS_ARE("main apart");
	/* the old discussion moves on: the promotion is undone in the catalogue only */
	DONE("{'op':'entry.append','id':'dd','content':'x','discussion':'main'}");
	GIVES(OK, "{'op':'undo','scope':'project'}");
	DISCUSSIONS_ARE("main");
	DONE("{'op':'redo','scope':'project'}");
	DISCUSSIONS_ARE("main apart");
}

ROW(c2a_seq_counts_what_changed)
{
	F;
	uint64_t seq;

	DONE("{'op':'entry.append','id':'aa','content':'x'}");
	seq = f->result.seq;
	UNCHANGED("{'op':'entry.edit','entry':'aa','content':'x'}");
	assert_int_equal(f->result.seq, seq);
	GIVES(NOT_FOUND, "{'op':'entry.edit','entry':'zz','content':'x'}");
	DONE("{'op':'entry.view','entry':'aa','collapsed':true}");
	assert_int_equal(f->result.seq, seq + 1);
	DONE("{'op':'undo'}");
	assert_int_equal(f->result.seq, seq + 2);
	DONE("{'op':'redo'}");
	assert_int_equal(f->result.seq, seq + 3);
	DONE("{'op':'jump','to':0}");
	assert_int_equal(f->result.seq, seq + 4);
}

ROW(c3_what_changes_nothing)
{
	F;
	char line[100];
	uint64_t seq;

	three(f);
	seq = f->result.seq;
	UNCHANGED("{'op':'entry.edit','entry':'aa','content':'one'}");
	UNCHANGED("{'op':'entry.role','entry':'aa','role':'User'}");
	UNCHANGED("{'op':'entry.mute','entry':'aa','muted':false}");
	UNCHANGED("{'op':'take.switch','take':'main'}");
	UNCHANGED("{'op':'discussion.switch','discussion':'main'}");
	UNCHANGED("{'op':'prompt.notify'}");
	UNCHANGED("{'op':'prompt.update','text':''}");
	UNCHANGED("{'op':'head.move','entry':'cc'}");
	UNCHANGED("{'op':'label.set','entry':'aa','label':null}");
	UNCHANGED("{'op':'entry.move','entry':'aa','before':'bb'}");
	UNCHANGED("{'op':'setting.set','key':'model','value':null}");
	UNCHANGED("{'op':'files.set','which':'files','items':[]}");
	assert_int_equal(f->result.seq, seq);
	snprintf(line, sizeof(line), "{'op':'jump','to':%llu}", (unsigned long long)seq);
	UNCHANGED(line);
}

ROW(c4_an_unknown_operation_is_refused)
{
	F;
	GIVES(USAGE, "{'op':'entry.explode'}");
	assert_true(f->result.error.text[0] != '\0');
}

ROW(c5_an_id_that_another_take_holds)
{
	F;
	three(f);
	DONE("{'op':'take.branch','at':'bb','name':'side'}");
	GIVES(NOT_FOUND, "{'op':'entry.edit','entry':'cc','content':'x'}");
	assert_non_null(strstr(f->result.error.text, "main"));
	GIVES(NOT_FOUND, "{'op':'entry.role','entry':'cc','role':'x'}");
	GIVES(NOT_FOUND, "{'op':'entry.mute','entry':'cc'}");
	GIVES(NOT_FOUND, "{'op':'entry.delete','entry':'cc'}");
	GIVES(NOT_FOUND, "{'op':'entry.move','entry':'cc','before':'aa'}");
	GIVES(NOT_FOUND, "{'op':'entry.insert','before':'cc'}");
	GIVES(NOT_FOUND, "{'op':'entry.split','entry':'cc','at':1}");
	GIVES(NOT_FOUND, "{'op':'entry.merge','entry':'cc'}");
	GIVES(NOT_FOUND, "{'op':'entry.view','entry':'cc','collapsed':true}");
	DONE("{'op':'label.set','entry':'cc','label':'far'}");
	DONE("{'op':'entry.edit','entry':'cc','content':'x','take':'main'}");
	DONE("{'op':'head.move','entry':'cc'}");
	SHOWS("take", "'main'");
	DONE("{'op':'take.switch','take':'side'}");
	DONE("{'op':'take.branch','at':'cc'}");
	IDS("aa bb cc");
}

ROW(c6_precedence_of_addresses)
{
	F;
	DONE("{'op':'entry.append','id':'ab','content':'1'}");
	DONE("{'op':'entry.append','id':'abc','content':'2'}");
	DONE("{'op':'entry.append','id':'xyz','content':'3'}");
	DONE("{'op':'entry.edit','entry':'ab','content':'exact id before prefix'}");
	ENTRY_HAS(0, "content", "'exact id before prefix'");
	GIVES(AMBIGUOUS, "{'op':'entry.edit','entry':'a','content':'x'}");
	DONE("{'op':'entry.edit','entry':'xy','content':'prefix'}");
	ENTRY_HAS(2, "content", "'prefix'");
	DONE("{'op':'label.set','entry':'ab','label':'x'}");
	DONE("{'op':'entry.edit','entry':'x','content':'label before prefix'}");
	ENTRY_HAS(0, "content", "'label before prefix'");
	DONE("{'op':'label.set','entry':'ab','label':'xyz'}");
	DONE("{'op':'entry.edit','entry':'xyz','content':'id before label'}");
	ENTRY_HAS(2, "content", "'id before label'");
	DONE("{'op':'label.set','entry':'ab','label':'two'}");
	DONE("{'op':'label.set','entry':'abc','label':'two'}");
	GIVES(AMBIGUOUS, "{'op':'entry.edit','entry':'two','content':'x'}");
	DONE("{'op':'label.set','entry':'ab','label':'@'}");
	DONE("{'op':'entry.edit','entry':'@','content':'the head'}");
	ENTRY_HAS(2, "content", "'the head'");
	DONE("{'op':'entry.edit','entry':':1','content':'first'}");
	DONE("{'op':'entry.edit','entry':':-2','content':'last but one'}");
	CONTENTS("first last but one the head");
	GIVES(NOT_FOUND, "{'op':'entry.edit','entry':':0','content':'x'}");
	GIVES(NOT_FOUND, "{'op':'entry.edit','entry':':4','content':'x'}");
	GIVES(NOT_FOUND, "{'op':'entry.edit','entry':':-4','content':'x'}");
	DONE("{'op':'head.move','entry':null}");
	GIVES(NOT_FOUND, "{'op':'entry.edit','entry':'@','content':'x'}");
}

ROW(c6_prefixes_go_over_all_takes)
{
	F;
	three(f);
	DONE("{'op':'take.branch','at':'aa','name':'side'}");
	DONE("{'op':'entry.append','id':'bc','content':'x'}");
	GIVES(AMBIGUOUS, "{'op':'entry.edit','entry':'b','content':'x'}");
	DONE("{'op':'entry.delete','entry':'bc'}");
	GIVES(NOT_FOUND, "{'op':'entry.edit','entry':'b','content':'x'}"); /* in the other take */
}

ROW(c7_names_of_takes)
{
	F;
	three(f);
	DONE("{'op':'take.branch','at':'aa'}");
	assert_string_equal(f->result.take, "main_take_1");
	DONE("{'op':'take.branch','at':'aa'}");
	assert_string_equal(f->result.take, "main_take_2");
	DONE("{'op':'take.delete','take':'main_take_1'}");
	DONE("{'op':'take.branch','at':'aa'}");
	assert_string_equal(f->result.take, "main_take_1");
	DONE("{'op':'discussion.rename','discussion':'main','name':'new name'}");
	TAKES_ARE("main main_take_2 main_take_1");
	DONE("{'op':'discussion.new','name':'second'}");
	TAKES_ARE("second");
	GIVES(REFUSED, "{'op':'take.branch','at':'aa','name':'main','discussion':'new name'}");
}

ROW(c9_a_shared_entry_and_an_append_in_mid_take)
{
	F;
	three(f);
	DONE("{'op':'take.branch','at':'bb'}");
	DONE("{'op':'take.branch','at':'aa'}");
	/* bb: not in the active take; the tip of main_take_1 */
	DONE("{'op':'head.move','entry':'bb'}");
	SHOWS("take", "'main_take_1'");
	DONE("{'op':'take.switch','take':'main'}");
	DONE("{'op':'head.move','entry':'aa'}");
	SHOWS("take", "'main'");
	SHOWS("head", "'aa'");
	DONE("{'op':'entry.append','id':'dd','content':'x'}");
	assert_string_equal(f->result.take, "main_take_3");
	IDS("aa dd");
	DONE("{'op':'undo'}");
	SHOWS("take", "'main'");
	SHOWS("head", "'aa'");
	TAKES_ARE("main main_take_1 main_take_2");
	DONE("{'op':'head.move','entry':null}");
	SHOWS("head", "null");
	DONE("{'op':'entry.append','id':'ee','content':'x'}");
	IDS("ee");
}

ROW(c10_the_head_after_edits)
{
	F;
	three(f);
	DONE("{'op':'entry.insert','after':'cc','id':'dd','content':'x'}");
	SHOWS("head", "'dd'");
	DONE("{'op':'entry.delete','entry':'dd'}");
	SHOWS("head", "'cc'");
	DONE("{'op':'entry.move','entry':'aa','after':'cc'}");
	SHOWS("head", "'aa'");
	IDS("bb cc aa");
	DONE("{'op':'head.move','entry':'cc'}");
	DONE("{'op':'entry.insert','after':'cc','id':'ee','content':'x'}");
	SHOWS("head", "'cc'");
	DONE("{'op':'entry.delete','entry':'cc'}");
	SHOWS("head", "'bb'");
	DONE("{'op':'entry.delete','entry':'bb'}");
	SHOWS("head", "null");
	DONE("{'op':'take.clear'}");
	DONE("{'op':'entry.append','id':'ff','content':'x'}"); /* an empty take is at its tip */
	SHOWS("take", "'main'");
	IDS("ff");
}

ROW(c10_a_switch_to_the_active_take_leaves_the_head)
{
	F;
	three(f);
	DONE("{'op':'head.move','entry':'aa'}");
	UNCHANGED("{'op':'take.switch','take':'main'}");
	SHOWS("head", "'aa'");
}

ROW(c10_the_head_inside_an_atomic_step)
{
	F;
	static const char *const lines[] = {
		"{'op':'entry.insert','before':'bb','id':'xx','content':'x'}",
		"{'op':'entry.delete','entry':'bb'}"};

	three(f);
	DONE("{'op':'head.move','entry':'bb'}");
	one_step(f, lines, 2);
	IDS("aa xx cc");
	SHOWS("head", "'xx'"); /* the nearest before it when it was deleted */
}

ROW(c11_view_flags_stand_beside_history)
{
	F;
	three(f);
	DONE("{'op':'entry.view','entry':'aa','collapsed':true,'read_mode':true}");
	DONE("{'op':'undo'}");
	IDS("aa bb");
	ENTRY_HAS(0, "collapsed", "true");
	DONE("{'op':'take.branch','at':'aa'}");
	ENTRY_HAS(0, "read_mode", "true");
	DONE("{'op':'entry.view','all':true,'collapsed':false}");
	EXPORT_LACKS("collapsed");
	EXPORT_HAS("'read_mode':true");
	GIVES(USAGE, "{'op':'entry.view','collapsed':true}");
}

ROW(c12_promote)
{
	F;
	three(f);
	GIVES(REFUSED, "{'op':'take.promote','take':'main','name':'apart'}");
	DONE("{'op':'label.set','entry':'aa','label':'start'}");
	DONE("{'op':'take.branch','at':'bb','name':'side'}");
	GIVES(REFUSED, "{'op':'take.promote','take':'side','name':'main'}");
	DONE("{'op':'take.promote','take':'side','name':'apart'}");
	assert_string_equal(f->result.discussion, "apart");
	SHOWS("discussion", "'apart'");
	IDS("aa bb");
	TAKES_ARE("apart");
	DONE("{'op':'entry.edit','entry':'start','content':'by its label'}");
	DONE("{'op':'discussion.switch','discussion':'main'}");
	TAKES_ARE("main");
	CONTENTS("one two three");
}

ROW(c13_truncate_keeps_the_last_pairs)
{
	F;
	DONE("{'op':'entry.append','id':'s','role':'System','content':'s'}");
	DONE("{'op':'entry.append','id':'u1','role':'User','content':'1'}");
	DONE("{'op':'entry.append','id':'a1','role':'AI','content':'1'}");
	DONE("{'op':'entry.append','id':'u2','role':'uSER','content':'2'}");
	DONE("{'op':'entry.append','id':'a2','role':'AI','content':'2'}");
	DONE("{'op':'entry.append','id':'u3','role':'User','content':'3'}");
	UNCHANGED("{'op':'take.truncate','pairs':4}");
	DONE("{'op':'take.truncate','pairs':2}");
	IDS("u2 a2 u3");
	UNCHANGED("{'op':'take.truncate','pairs':2}");
	DONE("{'op':'take.truncate','pairs':1}");
	IDS("u3");
	DONE("{'op':'take.truncate','pairs':0}");
	IDS("");
	GIVES(USAGE, "{'op':'take.truncate','pairs':-1}");
}

ROW(c14_split_and_merge)
{
	F;
	DONE("{'op':'entry.append','id':'aa','role':'Tool','kind':'custom','ts':'2026-01-01',"
	     "'content':'h\xc3\xa9\xf0\x9f\x98\x80x','extra':1}");
	DONE("{'op':'entry.mute','entry':'aa'}");
	GIVES(USAGE, "{'op':'entry.split','entry':'aa','at':0}");
	GIVES(USAGE, "{'op':'entry.split','entry':'aa','at':4}");
	DONE("{'op':'entry.split','entry':'aa','at':2,'id':'ab'}");
	assert_string_equal(f->result.entry, "ab");
	CONTENTS("h\xc3\xa9 \xf0\x9f\x98\x80x");
	ENTRY_HAS(0, "extra", "1");
	ENTRY_HAS(1, "extra", "-");
	ENTRY_HAS(1, "role", "'Tool'");
	ENTRY_HAS(1, "kind", "'custom'");
	ENTRY_HAS(1, "muted", "true");
	ENTRY_HAS(1, "ts", "'2026-01-01T00:00:00Z'");
	DONE("{'op':'entry.merge','entry':'aa'}");
	assert_string_equal(f->result.entry, "aa");
	IDS("aa");
	ENTRY_HAS(0, "content", "'h\xc3\xa9\xf0\x9f\x98\x80x'");
	ENTRY_HAS(0, "extra", "1");
	GIVES(REFUSED, "{'op':'entry.merge','entry':'aa'}");
	/* an array is cut in its one text; what stands behind that goes with the second half */
	DONE("{'op':'entry.append','id':'b','content':[{'type':'image'},{'type':'text','text':'xy'},"
	     "{'type':'toolCall'}]}");
	GIVES(USAGE, "{'op':'entry.split','entry':'b','at':2}");
	DONE("{'op':'entry.split','entry':'b','at':1}");
	ENTRY_HAS(1, "content", "[{'type':'image'},{'type':'text','text':'x'}]");
	ENTRY_HAS(2, "content", "[{'type':'text','text':'y'},{'type':'toolCall'}]");
	DONE("{'op':'entry.merge','entry':'b'}");
	ENTRY_HAS(1, "content",
		  "[{'type':'image'},{'type':'text','text':'xy'},{'type':'toolCall'}]");
	DONE("{'op':'entry.append','id':'cc','content':['x','y']}");
	GIVES(REFUSED, "{'op':'entry.split','entry':'cc','at':1}");
	DONE("{'op':'entry.append','id':'dd','content':[]}");
	GIVES(REFUSED, "{'op':'entry.split','entry':'dd','at':1}");
}

ROW(c15_reset)
{
	F;
	char *before;
	char *after;

	three(f);
	DONE("{'op':'role.add','role':'Tool'}");
	DONE("{'op':'setting.set','key':'model','value':'m'}");
	DONE("{'op':'prompt.update','text':'p'}");
	DONE("{'op':'discussion.new','name':'other'}");
	before = canonical(f);
	DONE("{'op':'project.reset'}");
	DISCUSSIONS_ARE("main");
	IDS("");
	EXPORT_LACKS("'Tool'");
	EXPORT_LACKS("'settings'");
	EXPORT_LACKS("'prompt'");
	DONE("{'op':'undo'}");
	after = canonical(f);
	assert_string_equal(before, after);
	free(before);
	free(after);
}

ROW(c16_a_fresh_store)
{
	F;
	SHOWS("discussion", "'main'");
	SHOWS("take", "'main'");
	SHOWS("head", "null");
	IDS("");
	DISCUSSIONS_ARE("main");
	DONE("{'op':'role.remove','role':'User'}");
	DONE("{'op':'role.remove','role':'AI'}");
	DONE("{'op':'role.remove','role':'Vendor API'}");
	DONE("{'op':'role.remove','role':'System'}");
	GIVES(NOT_FOUND, "{'op':'role.remove','role':'User'}");
}

static uint64_t
revert_of(fixture *f, uint64_t seq)
{
	char line[100];

	snprintf(line, sizeof(line), "{'op':'revert','seq':%llu}", (unsigned long long)seq);
	return (uint64_t)run_raw(f, unquoted(f, line));
}

ROW(c17_revert)
{
	F;
	uint64_t edit, role, mute, append, insert, removal, label;

	three(f);
	append = f->result.seq;
	DONE("{'op':'entry.insert','after':'aa','id':'in','content':'x'}");
	insert = f->result.seq;
	DONE("{'op':'entry.edit','entry':'aa','content':'edited'}");
	edit = f->result.seq;
	DONE("{'op':'entry.role','entry':'aa','role':'Tool'}");
	role = f->result.seq;
	DONE("{'op':'entry.mute','entry':'aa'}");
	mute = f->result.seq;
	DONE("{'op':'label.set','entry':'aa','label':'l'}");
	label = f->result.seq;
	DONE("{'op':'entry.delete','entry':'bb'}");
	removal = f->result.seq;

	assert_int_equal(revert_of(f, edit), RT_OK);
	ENTRY_HAS(0, "content", "'one'");
	ENTRY_HAS(0, "role", "'Tool'");
	assert_int_equal(revert_of(f, role), RT_OK);
	ENTRY_HAS(0, "role", "'User'");
	assert_int_equal(revert_of(f, mute), RT_OK);
	EXPORT_LACKS("'muted':true");
	assert_int_equal(revert_of(f, label), RT_OK);
	EXPORT_LACKS("'labels'");
	assert_int_equal(revert_of(f, insert), RT_OK);
	IDS("aa cc");
	assert_int_equal(revert_of(f, append), RT_OK);
	IDS("aa");
	assert_int_equal(revert_of(f, removal), RT_OK);
	IDS("aa bb");
	assert_int_equal(revert_of(f, edit), RT_REFUSED); /* not as it left it */
	assert_int_equal(revert_of(f, removal), RT_REFUSED);
	assert_int_equal(revert_of(f, 9999), RT_NOT_FOUND);
	DONE("{'op':'undo','count':7}"); /* the reverts are steps */
	IDS("aa in cc");
}

static void
gives_note(fixture *f, const char *id)
{
	char line[100];

	snprintf(line, sizeof(line), "{'op':'prompt.notify','id':'%s'}", id);
	DONE(line);
}

ROW(c17_the_model_is_told_of_a_prompt_that_a_revert_brings_back)
{
	F;
	DONE("{'op':'prompt.update','text':'a'}"); /* 1 */
	DONE("{'op':'prompt.update','text':'b'}"); /* 2 */
	DONE("{'op':'prompt.notify','id':'n1'}");  /* 3: told of b */
	DONE("{'op':'revert','seq':2}");
	EXPORT_HAS("'prompt':{'edited':true,'text':'a'}");
	gives_note(f, "n2");
	UNCHANGED("{'op':'prompt.notify'}");
	DONE("{'op':'revert','seq':1}"); /* told of a */
	EXPORT_HAS("'prompt':{'edited':true");
	gives_note(f, "n3");
	CONTENTS("[user edited prompt to: \"b\"] [user edited prompt to: \"a\"] "
		 "[user edited prompt to: \"\"]");
	/* nobody was told of this one */
	DONE("{'op':'prompt.update','text':'c'}");
	snprintf(f->line, sizeof(f->line), "{\"op\":\"revert\",\"seq\":%llu}",
		 (unsigned long long)f->result.seq);
	assert_int_equal(run_raw(f, rt_str_of(f->line)), RT_OK);
	EXPORT_LACKS("'prompt':{");
	UNCHANGED("{'op':'prompt.notify'}");
	/* told of a, and an equal text since */
	DONE("{'op':'prompt.update','text':'d'}");
	DONE("{'op':'undo'}");
	UNCHANGED("{'op':'prompt.notify'}");
	DONE("{'op':'jump','to':2}"); /* nothing of it was told there */
	gives_note(f, "n4");
}

ROW(c17_lists_are_reverted_item_by_item)
{
	F;
	DONE("{'op':'role.add','role':'X'}");    /* 1 */
	DONE("{'op':'role.add','role':'Y'}");    /* 2 */
	DONE("{'op':'role.remove','role':'AI'}"); /* 3 */
	DONE("{'op':'revert','seq':1}");
	EXPORT_HAS("'roles':['User','Vendor API','System','Y']");
	GIVES(REFUSED, "{'op':'revert','seq':1}");
	assert_non_null(strstr(f->result.error.text, "the list of roles was changed again"));
	DONE("{'op':'revert','seq':3}");
	EXPORT_HAS("'roles':['User','AI','Vendor API','System','Y']");
	DONE("{'op':'revert','seq':2}");
	EXPORT_HAS("'roles':['User','AI','Vendor API','System']");
	DONE("{'op':'files.set','which':'files','items':['a','b']}"); /* 7 */
	DONE("{'op':'files.set','which':'files','items':['a','b','c']}");
	DONE("{'op':'revert','seq':7}");
	EXPORT_HAS("'files':['c']");
}

ROW(c17_refusals_say_what_the_step_did)
{
	F;
	three(f);
	DONE("{'op':'entry.move','entry':'aa','after':'bb'}"); /* 4 */
	DONE("{'op':'setting.set','key':'model','value':'x'}"); /* 5 */
	DONE("{'op':'setting.set','key':'model','value':'y'}");
	GIVES(REFUSED, "{'op':'revert','seq':4}");
	assert_non_null(strstr(f->result.error.text, "step 4, which moved an entry. To undo it and "
			       "everything after it: retake jump 3"));
	GIVES(REFUSED, "{'op':'revert','seq':5}");
	assert_non_null(strstr(f->result.error.text, "the setting model was changed again since"));
	DONE("{'op':'discussion.new','name':'other'}");
	GIVES(REFUSED, "{'op':'revert','seq':4}"); /* a jump in view would not take it back */
	assert_non_null(strstr(f->result.error.text, "retake -d d1 jump 3"));
}

ROW(c17_texts_that_are_the_same)
{
	F;
	DONE("{'op':'entry.append','id':'aa','content':'one'}"); /* 1 */
	DONE("{'op':'entry.append','id':'bb','content':''}");
	DONE("{'op':'entry.merge','entry':'aa'}");
	ENTRY_HAS(0, "edited", "-");
	DONE("{'op':'revert','seq':1}"); /* its text is what it was */
	IDS("");
	DONE("{'op':'undo'}");
	DONE("{'op':'entry.edit','entry':'aa','content':'two'}"); /* 6 */
	DONE("{'op':'purge','entry':'aa'}");
	UNCHANGED("{'op':'revert','seq':6}"); /* both texts are purged */
	DONE("{'op':'entry.append','id':'cc','content':''}");
	DONE("{'op':'entry.merge','entry':'aa'}");
	ENTRY_HAS(0, "purged", "true");
	DONE("{'op':'entry.append','id':'dd','content':'more'}");
	DONE("{'op':'entry.merge','entry':'aa'}");
	ENTRY_HAS(0, "purged", "-");
	CONTENTS("more");
}

ROW(c17_revert_in_another_discussion)
{
	F;
	DONE("{'op':'entry.append','id':'aa','content':'one'}");
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'entry.append','id':'oo','content':'x'}");
	assert_int_equal(f->result.undo_disc, 2);
	DONE("{'op':'revert','seq':1}");
	assert_int_equal(f->result.undo_disc, 1); /* undo in view would take back another step */
	assert_string_equal(rt_text_str(f->result.note).ptr, "That changed discussion \"main\".");
	IDS("oo");
	DONE("{'op':'undo','discussion':'d1'}");
	DONE("{'op':'discussion.switch','discussion':'main'}");
	assert_int_equal(f->result.undo_disc, 0); /* in any */
	IDS("aa");
	DONE("{'op':'revert','seq':1}");
	assert_null(f->result.note);
}

ROW(c18_counts_and_jump_targets)
{
	F;
	char line[100];
	uint64_t first, undo;

	three(f);
	first = f->result.seq - 2;
	DONE("{'op':'undo','count':99}");
	assert_int_equal(f->result.steps, 3);
	assert_string_equal(rt_text_str(f->result.note).ptr,
			    "3 of 99 steps: there is nothing more to undo.");
	undo = f->result.seq;
	GIVES(REFUSED, "{'op':'undo'}");
	DONE("{'op':'redo','count':99}");
	assert_int_equal(f->result.steps, 3);
	GIVES(REFUSED, "{'op':'redo'}");
	GIVES(USAGE, "{'op':'undo','count':0}");
	GIVES(USAGE, "{'op':'redo','count':-1}");
	snprintf(line, sizeof(line), "{'op':'jump','to':%llu}", (unsigned long long)first);
	DONE(line);
	IDS("aa");
	snprintf(line, sizeof(line), "{'op':'jump','to':%llu}", (unsigned long long)undo);
	DONE(line); /* the state right after the undo */
	IDS("");
	UNCHANGED(line);
	DONE("{'op':'redo'}");
	GIVES(NOT_FOUND, "{'op':'jump','to':9999}");
	GIVES(USAGE, "{'op':'jump','to':1,'scope':'all'}");
	DONE("{'op':'jump','to':0}");
	IDS("");
}

/* Is a document (0: the project) now what it was right after a row? */
static bool
is_as_at(fixture *f, int disc, uint64_t seq)
{
	const rt_project *value = rt_engine_value(f->engine), *past = NULL;
	rt_error err = {0};
	char *now, *then;
	bool same;

	assert_int_equal(rt_engine_value_at(f->engine, seq, &past, &err), RT_OK);
	now = canonical_of(f, value, disc);
	then = canonical_of(f, past, disc);
	same = strcmp(now, then) == 0;
	free(now);
	free(then);
	rt_object_unref(past);
	rt_object_unref(value);
	return same;
}

ROW(c18_jump_to_any_row_is_what_at_op_shows)
{
	F;
	static const char *const lines[] = {
		"{'op':'setting.set','key':'model','value':'foo'}",
		"{'op':'entry.append','id':'dd','content':'four'}",
		"{'op':'undo','count':2}",
		"{'op':'entry.edit','entry':'aa','content':'another branch'}",
		"{'op':'discussion.new','name':'other'}",
		"{'op':'entry.append','id':'x','content':'elsewhere'}",
		"{'op':'entry.move','discussion':'main','entry':'aa','after':'bb'}",
		"{'op':'entry.view','entry':'x','collapsed':true}",
		"{'op':'undo','discussion':'main','take':'main'}",
		"{'op':'take.branch','discussion':'main','at':'aa','name':'t'}",
		"{'op':'setting.set','key':'model','value':'bar'}",
		"{'op':'discussion.delete','discussion':'main'}",
		"{'op':'undo','scope':'project'}",
		"{'op':'jump','to':4}",
		"{'op':'redo','count':2}"};
	char line[100];
	uint64_t to, last;
	size_t i;

	three(f);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		DONE(lines[i]);
	last = f->result.seq;
	/* up and down, so that every jump crosses branches */
	for (i = 0; i < 2 * last; i++) {
		const rt_project *value = rt_engine_value(f->engine);
		int in_view = (int)value->active, other = in_view == 1 ? 2 : 1;
		uint64_t before = value->seq;

		rt_object_unref(value);
		to = i % 2 == 0 ? last - i / 2 : i / 2 + 1;
		snprintf(line, sizeof(line), "{'op':'jump','to':%llu}", (unsigned long long)to);
		GIVES(OK, line);
		assert_true(is_as_at(f, 0, to));
		assert_true(is_as_at(f, in_view, to));
		value = rt_engine_value(f->engine);
		if ((int)value->active == other)
			assert_true(is_as_at(f, other, to));
		else
			assert_true(is_as_at(f, other, to) || is_as_at(f, other, before));
		rt_object_unref(value);
		UNCHANGED(line);
	}
}

ROW(c18_jump_leaves_other_discussions)
{
	F;
	DONE("{'op':'entry.append','id':'aa','content':'one'}");
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'entry.append','id':'xx','content':'x'}"); /* 3, in other */
	DONE("{'op':'discussion.switch','discussion':'main'}"); /* 4 */
	DONE("{'op':'entry.append','id':'bb','content':'two'}"); /* 5 */
	DONE("{'op':'entry.append','discussion':'other','id':'yy','content':'y'}"); /* 6 */
	DONE("{'op':'setting.set','key':'model','value':'foo'}"); /* 7 */
	DONE("{'op':'jump','to':4}");
	assert_null(f->result.note);
	IDS("aa");
	assert_true(is_as_at(f, 0, 4));
	assert_true(is_as_at(f, 1, 4));
	assert_true(is_as_at(f, 2, 7));
	COLUMN(HISTORY, "undone", "true true - - -");
	/* 3 was written in the other one, which is active again: it goes along, and main does */
	DONE("{'op':'jump','to':3}");
	SHOWS("discussion", "'other'");
	IDS("xx");
	assert_true(is_as_at(f, 1, 3));
	/* made since: it leaves the catalogue, keeps what it holds, and comes back with it */
	DONE("{'op':'jump','to':7}");
	DONE("{'op':'jump','to':1}");
	DISCUSSIONS_ARE("main");
	assert_true(is_as_at(f, 2, 7));
	DONE("{'op':'redo'}");
	DISCUSSIONS_ARE("main other");
	IDS("xx yy");
}

ROW(c18_jump_with_a_scope)
{
	F;
	three(f);
	DONE("{'op':'setting.set','key':'model','value':'foo'}");
	DONE("{'op':'entry.append','id':'dd','content':'four'}");
	DONE("{'op':'jump','to':2,'scope':'discussion'}");
	IDS("aa bb");
	EXPORT_HAS("'model':'foo'");
	DONE("{'op':'jump','to':5}");
	DONE("{'op':'jump','to':3,'scope':'project'}");
	IDS("aa bb cc dd");
	EXPORT_LACKS("'model'");
}

ROW(c18_jump_says_which_other_discussions_it_changed)
{
	F;
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'discussion.new','name':'third'}");
	DONE("{'op':'entry.append','id':'aa','content':'one'}");
	DONE("{'op':'entry.append','discussion':'other','id':'xx','content':'x'}"); /* 4 */
	DONE("{'op':'entry.append','discussion':'main','id':'mm','content':'m'}");
	UNCHANGED("{'op':'jump','to':3}");
	DONE("{'op':'entry.append','discussion':'other','id':'yy','content':'y'}"); /* 6 */
	DONE("{'op':'jump','to':4}"); /* a step of the other discussion */
	assert_string_equal(rt_text_str(f->result.note).ptr, "Discussion \"other\" changed, too.");
	assert_true(is_as_at(f, 2, 4));
	assert_true(is_as_at(f, 1, 6));
}

ROW(c38_current_after_a_jump)
{
	F;
	three(f);
	DONE("{'op':'entry.append','id':'dd','content':'four'}");
	DONE("{'op':'setting.set','key':'model','value':'foo'}");
	DONE("{'op':'entry.append','id':'ee','content':'five'}");
	DONE("{'op':'jump','to':2}");
	COLUMN(HISTORY, "current", "- - - - true -");
	COLUMN(HISTORY, "undone", "true true true true - -");
	DONE("{'op':'jump','to':5}");
	COLUMN(HISTORY, "current", "- true - - - -");
	COLUMN(HISTORY, "undone", "true - - - - -");
	IDS("aa bb cc dd");
}

ROW(c18_redo_after_a_jump_over_several_documents)
{
	F;
	char line[100];

	three(f);
	DONE("{'op':'discussion.extract','entry':'bb','name':'apart'}");
	snprintf(line, sizeof(line), "{'op':'jump','to':%llu}", (unsigned long long)f->result.seq);
	DONE("{'op':'role.add','role':'First'}");
	DONE("{'op':'entry.append','id':'dd','content':'second'}");
	DONE("{'op':'role.add','role':'Third'}");
	DONE(line);
	EXPORT_LACKS("'First'");
	IDS("aa bb");
	DONE("{'op':'redo'}"); /* as they came, whichever document they are in */
	EXPORT_HAS("'First'");
	IDS("aa bb");
	DONE("{'op':'redo'}");
	IDS("aa bb dd");
	EXPORT_LACKS("'Third'");
	DONE("{'op':'redo'}");
	EXPORT_HAS("'Third'");
}

ROW(c19_a_stale_second_delete)
{
	F;
	three(f);
	DONE("{'op':'entry.delete','entry':'bb'}");
	UNCHANGED("{'op':'entry.delete','entry':'bb'}");
	GIVES(NOT_FOUND, "{'op':'entry.delete','entry':'b'}");
	GIVES(NOT_FOUND, "{'op':'entry.delete','entry':'never'}");
	GIVES(NOT_FOUND, "{'op':'entry.edit','entry':'bb','content':'x'}");
	GIVES(NOT_FOUND, "{'op':'head.move','entry':'bb'}");
	GIVES(NOT_FOUND, "{'op':'label.set','entry':'bb','label':'x'}");
	GIVES(NOT_FOUND, "{'op':'take.branch','at':'bb'}");
	DONE("{'op':'take.branch','at':'aa'}");
	GIVES(NOT_FOUND, "{'op':'entry.delete','entry':'cc'}"); /* another take has it */
}

ROW(c20_codes)
{
	F;
	rt_buf out;

	three(f);
	GIVES(USAGE, "{'op':'entry.append'");
	GIVES(USAGE, "{'op':'entry.edit','entry':'aa'}");
	GIVES(USAGE, "{'op':'entry.edit','entry':5,'content':'x'}");
	GIVES(USAGE, "{'op':'entry.delete','from':'cc','to':'aa'}");
	GIVES(REFUSED, "{'op':'take.delete','take':'main'}");
	GIVES(REFUSED, "{'op':'discussion.delete','discussion':'main'}");
	GIVES(NOT_FOUND, "{'op':'take.switch','take':'nope'}");
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_result_add_json(&out, &f->result);
	assert_non_null(strstr(out.ptr, "\"error\""));
	assert_non_null(strstr(out.ptr, "\"code\":\"not_found\""));
	rt_buf_deinit(&out);
}

ROW(c21_given_ids)
{
	F;
	char line[400] = "{'op':'entry.append','id':'";
	size_t i, n = strlen(line);

	DONE("{'op':'entry.append','id':'A.z_0~-','content':'x'}");
	GIVES(USAGE, "{'op':'entry.append','id':''}");
	GIVES(USAGE, "{'op':'entry.append','id':'a b'}");
	GIVES(USAGE, "{'op':'entry.append','id':'\xc3\xa9'}");
	for (i = 0; i < 128; i++)
		line[n + i] = 'x';
	snprintf(line + n + 128, 8, "'}");
	DONE(line);
	line[n + 128] = 'x';
	snprintf(line + n + 129, 8, "'}");
	GIVES(USAGE, line);
	GIVES(REFUSED, "{'op':'entry.append','id':'A.z_0~-'}");
	DONE("{'op':'entry.delete','entry':'A.z_0~-'}");
	GIVES(REFUSED, "{'op':'entry.append','id':'A.z_0~-'}");
	DONE("{'op':'entry.append','id':'undone','content':'xy'}");
	DONE("{'op':'undo'}");
	GIVES(REFUSED, "{'op':'entry.append','id':'undone'}");
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'entry.append','id':'undone','content':'xy'}");
	DONE("{'op':'entry.split','entry':'undone','at':1,'id':'half'}");
	DONE("{'op':'prompt.update','text':'p'}");
	GIVES(REFUSED, "{'op':'prompt.notify','id':'half'}");
	DONE("{'op':'prompt.notify','id':'notice'}");
	IDS("undone half notice");
}

ROW(c24_purge)
{
	F;
	DONE("{'op':'entry.append','id':'aa','role':'AI','content':'the first','usage':{'n':1}}");
	DONE("{'op':'entry.edit','entry':'aa','content':'the secret'}");
	DONE("{'op':'entry.edit','entry':'aa','content':'the third'}");
	DONE("{'op':'entry.append','id':'bb','content':'x'}");
	DONE("{'op':'purge','entry':'aa'}");
	ENTRY_HAS(0, "content", "''");
	ENTRY_HAS(0, "purged", "true");
	ENTRY_HAS(0, "usage", "-");
	ENTRY_HAS(0, "role", "'AI'");
	DONE("{'op':'undo','count':2}"); /* purging is no step: this is bb and the last edit */
	ENTRY_HAS(0, "content", "''");
	EXPORT_LACKS("secret");
}

ROW(c24_purge_by_text)
{
	F;
	DONE("{'op':'entry.append','id':'aa','content':'a secret here'}");
	DONE("{'op':'entry.append','id':'bb','content':'nothing'}");
	DONE("{'op':'entry.edit','entry':'aa','content':'clean'}");
	DONE("{'op':'purge','text':'secret'}");
	CONTENTS("clean nothing");
	DONE("{'op':'undo'}");
	CONTENTS(" nothing");
	GIVES(USAGE, "{'op':'purge'}");
}

ROW(c25_settings_and_files)
{
	F;
	DONE("{'op':'setting.set','key':'temperature','value':0.70}");
	DONE("{'op':'setting.set','key':'anything at all','value':{'b':[1,null]}}");
	EXPORT_HAS("'settings':{'temperature':0.70}");
	EXPORT_HAS("'settings':{'anything at all':{'b':[1,null]}}");
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'setting.set','key':'temperature','value':1}");
	DONE("{'op':'setting.set','key':'temperature','value':null}");
	EXPORT_HAS("0.70");
	GIVES(USAGE, "{'op':'setting.set','key':'x'}");
	DONE("{'op':'files.set','which':'files','items':['a']}");
	DONE("{'op':'files.set','which':'context_files','items':['b']}");
	DONE("{'op':'files.set','which':'screenshots','items':['c']}");
	EXPORT_HAS("'files':{'context_files':['b'],'files':['a'],'screenshots':['c']}");
	GIVES(USAGE, "{'op':'files.set','which':'else','items':[]}");
	GIVES(USAGE, "{'op':'files.set','which':'files','items':'a'}");
}

ROW(c17_several_deletions_in_one_step)
{
	F;
	static const char *const lines[] = {"{'op':'entry.delete','entry':'aa'}",
					    "{'op':'entry.delete','entry':'cc'}"};
	char line[100];

	three(f);
	DONE("{'op':'entry.append','id':'dd','content':'four'}");
	one_step(f, lines, 2);
	IDS("bb dd");
	DONE("{'op':'role.add','role':'Tool'}");
	snprintf(line, sizeof(line), "{'op':'revert','seq':%llu}",
		 (unsigned long long)f->result.seq - 1);
	DONE(line); /* each behind what stood before it */
	IDS("aa bb cc dd");
}

ROW(c27_an_atomic_step_that_changes_nothing)
{
	F;
	static const char *const role[] = {"{'op':'entry.role','entry':'aa','role':'X'}",
					   "{'op':'entry.role','entry':'aa','role':'User'}"};
	static const char *const moves[] = {"{'op':'entry.move','entry':'aa','after':'bb'}",
					    "{'op':'head.move','entry':'aa'}",
					    "{'op':'entry.move','entry':'aa','before':'bb'}",
					    "{'op':'head.move','entry':'cc'}"};
	static const char *const made[] = {"{'op':'entry.append','id':'dd','content':'x'}",
					   "{'op':'take.branch','at':'aa','name':'t'}",
					   "{'op':'take.delete','take':'t'}",
					   "{'op':'entry.delete','take':'main','entry':'dd'}",
					   "{'op':'discussion.new','name':'d'}",
					   "{'op':'discussion.delete','discussion':'d'}"};
	static const char *const folds[] = {"{'op':'entry.view','entry':'aa','collapsed':true}",
					   "{'op':'entry.view','entry':'aa','collapsed':false}"};
	static const char *const roles[] = {"{'op':'role.add','role':'X'}",
					    "{'op':'role.remove','role':'X'}"};
	static const char *const again[] = {"{'op':'entry.edit','entry':'bb','content':'x'}",
					    "{'op':'entry.edit','entry':'bb','content':'new'}"};
	static const char *const labels[] = {"{'op':'label.set','entry':'aa','label':null}",
					     "{'op':'label.set','entry':'bb','label':'l'}"};
	static const struct {
		const char *const *lines;
		size_t count;
	} groups[] = {{role, 2}, {moves, 4}, {made, 6}, {folds, 2}, {roles, 2}, {again, 2}};
	rt_result results[80];
	uint64_t seq;
	size_t i, k;

	three(f);
	DONE("{'op':'label.set','entry':'aa','label':'l'}");
	DONE("{'op':'entry.edit','entry':'bb','content':'new'}");
	seq = f->result.seq;
	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		assert_int_equal(run_atomic(f, groups[i].lines, groups[i].count, results), RT_OK);
		for (k = 0; k < groups[i].count; k++) {
			assert_true(results[k].unchanged);
			assert_int_equal(results[k].seq, seq);
			rt_result_deinit(&results[k]);
		}
	}
	IDS("aa bb cc");
	DONE("{'op':'entry.append','id':'dd','content':'x'}"); /* the id was not used */
	DONE("{'op':'undo','count':2}");
	CONTENTS("one two three");
	assert_int_equal(run_atomic(f, labels, 2, results), RT_OK);
	assert_false(results[0].unchanged);
	/* the first edit of an entry leaves its mark, so that is no way back */
	assert_int_equal(run_atomic(f, again, 2, results), RT_OK);
	assert_false(results[0].unchanged);
}

ROW(c27_an_atomic_step_can_use_what_it_made)
{
	F;
	static const char *const graft[] = {
		"{'op':'entry.append','id':'dd','content':'four','extra':1}",
		"{'op':'take.graft','from':'main','entries':['dd'],'before':'aa'}"};
	static const char *const extract[] = {
		"{'op':'entry.append','id':'ee','role':'User','content':'five'}",
		"{'op':'discussion.extract','entry':'ee','name':'apart'}"};

	three(f);
	one_step(f, graft, 2);
	CONTENTS("four one two three four");
	one_step(f, extract, 2);
	CONTENTS("four one two three four"); /* the question was handed back */
	SHOWS("discussion", "'apart'");
}

ROW(c27_atomic)
{
	F;
	static const char *const good[] = {"{'op':'entry.append','id':'a','content':'x'}",
					   "{'op':'entry.append','id':'b','content':'y'}",
					   "{'op':'entry.edit','entry':'a','content':'z'}"};
	static const char *const bad[] = {"{'op':'entry.append','id':'c','content':'x'}",
					  "{'op':'entry.edit','entry':'nope','content':'z'}",
					  "{'op':'entry.append','id':'d','content':'x'}"};
	static const char *const undo[] = {"{'op':'entry.append','id':'e','content':'x'}",
					   "{'op':'undo'}"};
	rt_result results[3];
	size_t i;

	assert_int_equal(run_atomic(f, good, 3, results), RT_OK);
	for (i = 0; i < 3; i++)
		rt_result_deinit(&results[i]);
	CONTENTS("z y");
	assert_int_equal(run_atomic(f, bad, 3, results), RT_NOT_FOUND);
	for (i = 0; i < 3; i++) {
		assert_int_not_equal(results[i].status, RT_OK);
		rt_result_deinit(&results[i]);
	}
	CONTENTS("z y");
	assert_int_equal(run_atomic(f, undo, 2, results), RT_REFUSED);
	for (i = 0; i < 2; i++)
		rt_result_deinit(&results[i]);
	CONTENTS("z y");
	DONE("{'op':'entry.append','id':'c','content':'the id was not used up'}");
	DONE("{'op':'undo'}");
	DONE("{'op':'undo'}");
	assert_int_equal(f->result.steps, 1);
	IDS("");
}

ROW(c28_keys_of_results)
{
	F;
	rt_buf out;

	three(f);
	assert_string_equal(f->result.entry, "cc");
	DONE("{'op':'head.move','entry':'aa'}");
	DONE("{'op':'entry.append','id':'dd','content':'x'}");
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_result_add_json(&out, &f->result);
	assert_non_null(strstr(out.ptr, "\"entry\":\"dd\""));
	assert_non_null(strstr(out.ptr, "\"take\":\"main_take_1\""));
	assert_non_null(strstr(out.ptr, "\"seq\":"));
	assert_null(strstr(out.ptr, "\"unchanged\""));
	assert_null(strstr(out.ptr, "\"discussion\""));
	rt_buf_clear(&out);
	DONE("{'op':'undo','count':2}");
	rt_result_add_json(&out, &f->result);
	assert_non_null(strstr(out.ptr, "\"steps\":2"));
	rt_buf_clear(&out);
	UNCHANGED("{'op':'take.switch','take':'main'}");
	rt_result_add_json(&out, &f->result);
	assert_non_null(strstr(out.ptr, "\"unchanged\":true"));
	rt_buf_deinit(&out);
	DONE("{'op':'discussion.new','name':'other'}");
	assert_string_equal(f->result.discussion, "other");
}

ROW(c29_names_and_ids_of_places)
{
	F;
	char line[200], id[32];
	rt_json_doc *doc;

	three(f);
	DONE("{'op':'discussion.new','name':'other'}");
	GIVES(NOT_FOUND, "{'op':'entry.append','discussion':'oth','content':'x'}");
	DONE("{'op':'entry.append','id':'xx','discussion':'main','take':'main','content':'x'}");
	GIVES(NOT_FOUND, "{'op':'entry.append','take':'mai','discussion':'main','content':'x'}");
	doc = look_at(f, DISCUSSIONS);
	snprintf(id, sizeof(id), "%.*s",
		 RT_STR_ARG(rt_json_str(rt_json_get(yyjson_arr_get(rt_json_root(doc), 0), "id"))));
	rt_json_free(doc);
	snprintf(line, sizeof(line), "{'op':'discussion.switch','discussion':'%s'}", id);
	DONE(line);
	IDS("aa bb cc xx");
	DONE("{'op':'discussion.switch','discussion':'other'}");
	DONE("{'op':'project.reset'}");
	snprintf(line, sizeof(line), "{'op':'entry.edit','entry':'aa','content':'y','discussion':'%s'}",
		 id);
	DONE(line); /* out of the catalogue, and still named */
	DONE("{'op':'undo','scope':'project'}");
	DONE("{'op':'discussion.switch','discussion':'main'}");
	ENTRY_HAS(0, "content", "'y'");
}

ROW(c29_a_deleted_take_is_not_written_to)
{
	F;
	three(f);
	DONE("{'op':'take.branch','at':'bb','name':'side'}");
	DONE("{'op':'take.delete','take':'side'}");
	GIVES(NOT_FOUND, "{'op':'entry.append','take':'t2','content':'nobody would see it'}");
	GIVES(NOT_FOUND, "{'op':'take.truncate','take':'t2','pairs':0}");
	TAKES_ARE("main");
	DONE("{'op':'undo','discussion':'main','take':'t2'}"); /* who deleted it undoes that */
	TAKES_ARE("main side");
}

ROW(c30_redo_after_a_new_step)
{
	F;
	char line[100];
	uint64_t undone;

	three(f);
	undone = f->result.seq;
	DONE("{'op':'undo'}");
	DONE("{'op':'role.add','role':'Tool'}"); /* in the project */
	GIVES(REFUSED, "{'op':'redo'}");
	GIVES(REFUSED, "{'op':'redo','scope':'discussion'}");
	snprintf(line, sizeof(line), "{'op':'jump','to':%llu}", (unsigned long long)undone);
	DONE(line); /* reachable nevertheless */
	IDS("aa bb cc");
	snprintf(line, sizeof(line), "{'op':'jump','to':%llu}", (unsigned long long)undone - 2);
	DONE(line);
	IDS("aa");
	DONE("{'op':'redo'}"); /* towards where one came from */
	IDS("aa bb");
	DONE("{'op':'redo'}");
	IDS("aa bb cc");
}

ROW(c30_undo_and_redo_after_a_jump)
{
	F;
	three(f); /* 1, 2, 3 */
	DONE("{'op':'undo'}");
	DONE("{'op':'setting.set','key':'model','value':'foo'}");
	DONE("{'op':'entry.append','id':'dd','content':'four'}");
	DONE("{'op':'jump','to':3}"); /* sideways: it takes two back, and brings one forth */
	IDS("aa bb cc");
	EXPORT_LACKS("'model'");
	DONE("{'op':'redo'}"); /* the settings went back only, the discussion changed its branch */
	EXPORT_HAS("'model':'foo'");
	IDS("aa bb cc");
	GIVES(REFUSED, "{'op':'redo'}");
	DONE("{'op':'jump','to':3}");
	DONE("{'op':'undo'}"); /* the newest step in effect there; the jump was none */
	IDS("aa bb");
	DONE("{'op':'redo'}");
	IDS("aa bb cc");
	DONE("{'op':'jump','to':6}"); /* the row before the first jump is the way back */
	IDS("aa bb dd");
	EXPORT_HAS("'model':'foo'");
}

ROW(c30_drafts_keep_redo)
{
	F;
	size_t i;

	three(f);
	DONE("{'op':'undo'}");
	DONE("{'op':'undo'}");
	IDS("aa");
	DONE("{'op':'setting.set','key':'draft','value':'h'}");
	DONE("{'op':'setting.set','key':'draft','value':'hello'}");
	EXPORT_HAS("'draft':'hello'");
	/* A draft is a step like any other for undo, */
	DONE("{'op':'undo'}");
	EXPORT_HAS("'draft':'h'");
	DONE("{'op':'redo'}");
	EXPORT_HAS("'draft':'hello'");
	IDS("aa");
	/* and what was undone before it comes back as it was. */
	for (i = 0; i < 2; i++) {
		DONE("{'op':'redo'}");
		IDS("aa bb");
		EXPORT_LACKS("'draft'");
		DONE("{'op':'undo'}");
		IDS("aa");
	}
	DONE("{'op':'redo','count':2}");
	assert_int_equal(f->result.steps, 2);
	IDS("aa bb cc");
	GIVES(REFUSED, "{'op':'redo'}");
	/* Where it comes with something else, it is not the draft that ends redo. */
	DONE("{'op':'undo'}");
	DONE("{'op':'setting.set','key':'draft','value':'x'}");
	DONE("{'op':'setting.set','key':'temperature','value':1}");
	GIVES(REFUSED, "{'op':'redo'}");
	DONE("{'op':'undo','count':2}");
	DONE("{'op':'redo'}");
	EXPORT_HAS("'draft':'x'");
	IDS("aa bb");
}

ROW(c30_the_way_back_from_a_jump)
{
	F;
	DONE("{'op':'entry.append','id':'aa','content':'one'}");
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'entry.append','id':'xx','content':'x'}");
	DONE("{'op':'discussion.new','name':'third'}"); /* 4 */
	DONE("{'op':'entry.edit','discussion':'main','entry':'aa','content':'two'}");
	DONE("{'op':'entry.append','discussion':'other','id':'yy','content':'y'}"); /* 6 */
	DONE("{'op':'jump','discussion':'main','to':3}"); /* moves main, and other: it was active */
	SHOWS("discussion", "'other'");
	DONE("{'op':'jump','to':6}"); /* without naming main */
	assert_true(is_as_at(f, WHOLE, 6));
	DONE("{'op':'jump','to':1}"); /* a step of main, in view of third */
	DONE("{'op':'jump','to':8}");
	assert_true(is_as_at(f, WHOLE, 8));
	DONE("{'op':'jump','to':9}"); /* and there again */
	assert_true(is_as_at(f, WHOLE, 9));
}

ROW(c31_what_is_a_step)
{
	F;
	static const char *const steps[] = {"{'op':'head.move','entry':'aa'}",
					    "{'op':'take.switch','take':'side'}",
					    "{'op':'discussion.switch','discussion':'other'}",
					    "{'op':'label.set','entry':'aa','label':'l'}",
					    "{'op':'files.set','which':'files','items':['a']}",
					    "{'op':'prompt.update','text':'p'}"};
	size_t i;

	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'discussion.switch','discussion':'main'}");
	three(f);
	DONE("{'op':'take.branch','at':'aa','name':'side'}");
	DONE("{'op':'take.switch','take':'main'}");
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		char *before = canonical(f), *after;

		DONE(steps[i]);
		DONE("{'op':'undo'}");
		assert_int_equal(f->result.steps, 1);
		after = canonical(f);
		assert_string_equal(before, after);
		free(before);
		free(after);
	}
}

ROW(c32_the_first_by_the_bytes_of_its_name)
{
	F;
	three(f);
	DONE("{'op':'take.branch','at':'aa','name':'\xc3\xa4'}");
	DONE("{'op':'take.branch','at':'aa','name':'Zed'}");
	DONE("{'op':'take.branch','at':'aa','name':'abc'}");
	DONE("{'op':'take.delete','take':'abc'}");
	SHOWS("take", "'Zed'");
	DONE("{'op':'discussion.new','name':'Old'}");
	DONE("{'op':'discussion.new','name':'new'}");
	DONE("{'op':'discussion.delete','discussion':'new'}");
	SHOWS("discussion", "'Old'");
}

ROW(c33_text_is_kept)
{
	F;
	GIVES(USAGE, "{'op':'entry.append','content':'\\ud800'}");
	GIVES(USAGE, "{'op':'entry.append','content':'\xff'}");
	GIVES(USAGE, "{'op':'entry.append','content':'\xed\xa0\x80'}");
	DONE("{'op':'entry.append','content':' a\\u0000b\\r\\n e\xcc\x81 \\ud83d\\ude00 '}");
	ENTRY_HAS(0, "content", "' a\\u0000b\\r\\n e\xcc\x81 \xf0\x9f\x98\x80 '");
	DONE("{'op':'entry.split','entry':':1','at':3}");
	ENTRY_HAS(0, "content", "' a\\u0000'");
}

ROW(c34_content)
{
	F;
	DONE("{'op':'entry.append'}");
	ENTRY_HAS(0, "content", "''");
	DONE("{'op':'entry.append','content':[{'type':'text','text':'x','n':1.10}]}");
	ENTRY_HAS(1, "content", "[{'type':'text','text':'x','n':1.10}]");
	GIVES(USAGE, "{'op':'entry.append','content':1}");
	GIVES(USAGE, "{'op':'entry.append','content':{}}");
	GIVES(USAGE, "{'op':'entry.append','content':null}");
	GIVES(USAGE, "{'op':'entry.edit','entry':':1','content':null}");
	/* a string is the whole content, unless the blocks are to be kept */
	DONE("{'op':'entry.append','content':[{'type':'thinking','signature':'s'},"
	     "{'type':'text','text':'x','n':1},{'type':'toolCall','name':'read'}]}");
	DONE("{'op':'entry.edit','entry':':3','content':'y','keep_blocks':true}");
	ENTRY_HAS(2, "content",
		  "[{'type':'thinking','signature':'s'},{'type':'text','text':'y','n':1},"
		  "{'type':'toolCall','name':'read'}]");
	GIVES(USAGE, "{'op':'entry.edit','entry':':3','content':['y'],'keep_blocks':true}");
	DONE("{'op':'entry.edit','entry':':3','content':'y'}");
	ENTRY_HAS(2, "content", "'y'");
	DONE("{'op':'entry.edit','entry':':3','content':'z','keep_blocks':true}");
	ENTRY_HAS(2, "content", "'z'");
}

ROW(c35_unknown_fields)
{
	F;
	DONE("{'op':'entry.append','id':'aa','content':'x','usage':{'n':12345678901234567890123},'x':1.10}");
	ENTRY_HAS(0, "usage", "{'n':12345678901234567890123}");
	EXPORT_HAS("'x':1.10");
	DONE("{'op':'entry.insert','before':'aa','content':'y','own':null}");
	ENTRY_HAS(0, "own", "null");
	DONE("{'op':'entry.edit','entry':'aa','content':'z','why':'reason'}");
	ENTRY_HAS(1, "why", "-");
	ENTRY_HAS(1, "x", "1.10"); /* and an edit keeps them */
	EXPORT_LACKS("reason");
	/* what one operation knows is a field of the entry for one that does not know it */
	DONE("{'op':'entry.append','content':'q','fork':true,'flight':'reply/no'}");
	ENTRY_HAS(2, "fork", "true");
	ENTRY_HAS(2, "flight", "'reply/no'");
	DONE("{'op':'entry.reply','after':':3','content':'a','fork':false,'before':7}");
	ENTRY_HAS(3, "role", "'AI'");
	ENTRY_HAS(3, "fork", "-");
	ENTRY_HAS(3, "after", "-");
	ENTRY_HAS(3, "before", "7");
	DONE("{'op':'entry.append','content':'q','after':8,'join':1}");
	ENTRY_HAS(4, "role", "'User'");
	ENTRY_HAS(4, "join", "1");
	/* more of a reply, behind what it says then */
	DONE("{'op':'entry.edit','entry':':4','content':'A'}");
	DONE("{'op':'entry.reply','into':':4','join':true,'content':'b'}");
	ENTRY_HAS(3, "content", "'Ab'");
	ENTRY_HAS(3, "before", "7");
	DONE("{'op':'entry.reply','into':':4','join':true,'content':[{'type':'toolCall','id':'1'}]}");
	ENTRY_HAS(3, "content", "[{'type':'text','text':'Ab'},{'type':'toolCall','id':'1'}]");
	DONE("{'op':'entry.reply','into':':4','content':'c'}");
	ENTRY_HAS(3, "content", "'c'");
	ENTRY_HAS(3, "join", "-");
	GIVES(USAGE, "{'op':'entry.reply','after':':3','join':true,'content':'d'}");
	ENTRY_HAS(4, "after", "8");
}

ROW(c36_thinking_is_not_parsed)
{
	F;
	DONE("{'op':'entry.append','role':'AI','content':'<thinking>hm</thinking>yes'}");
	ENTRY_HAS(0, "content", "'<thinking>hm</thinking>yes'");
	ENTRY_HAS(0, "thinking_segments", "-");
}

ROW(c37_times)
{
	F;
	DONE("{'op':'entry.append','id':'aa','content':'x','ts':'2026-01-01T01:00:00+01:00'}");
	ENTRY_HAS(0, "ts", "'2026-01-01T00:00:00Z'");
	DONE("{'op':'entry.append','content':'x','ts':1767225600}");
	ENTRY_HAS(1, "ts", "'2026-01-01T00:00:00Z'");
	DONE("{'op':'entry.append','content':'x'}");
	ENTRY_HAS(2, "ts", "'2026-02-03T04:05:06Z'");
	GIVES(USAGE, "{'op':'entry.append','content':'x','ts':'soon'}");
	DONE("{'op':'entry.edit','entry':'aa','content':'longer'}");
	DONE("{'op':'entry.role','entry':'aa','role':'AI'}");
	DONE("{'op':'entry.mute','entry':'aa'}");
	DONE("{'op':'entry.move','entry':'aa','after':':2'}");
	DONE("{'op':'entry.split','entry':'aa','at':2}");
	DONE("{'op':'undo'}");
	ENTRY_HAS(1, "ts", "'2026-01-01T00:00:00Z'");
}

ROW(c38_history)
{
	F;
	rt_json_doc *doc;
	uint64_t seq = 0, parent = 0;

	COLUMN(HISTORY, "seq", "");
	three(f);
	DONE("{'op':'role.add','role':'Tool'}");
	DONE("{'op':'undo','count':2}");
	COLUMN(HISTORY, "op", "role.add entry.append entry.append entry.append");
	COLUMN(HISTORY, "current", "- - true -");
	DONE("{'op':'entry.append','id':'dd','content':'x'}");
	COLUMN(HISTORY, "current", "true - - - -");
	doc = look_at(f, HISTORY);
	rt_json_u64(rt_json_get(yyjson_arr_get(rt_json_root(doc), 3), "seq"), &seq);
	rt_json_u64(rt_json_get(yyjson_arr_get(rt_json_root(doc), 0), "parent"), &parent);
	rt_json_free(doc);
	assert_int_equal(seq, parent);
	DONE("{'op':'undo','count':3}");
	COLUMN(HISTORY, "current", "- - - - -");
}

ROW(c39_show_in_mid_take)
{
	F;
	three(f);
	DONE("{'op':'head.move','entry':'aa'}");
	IDS("aa bb cc");
	SHOWS("head", "'aa'");
	SHOWS("discussion", "'main'");
	SHOWS("take", "'main'");
	DONE("{'op':'head.move','entry':null}");
	SHOWS("head", "null");
	IDS("aa bb cc");
}

ROW(c40_tree)
{
	F;
	rt_json_doc *doc;

	three(f);
	DONE("{'op':'take.branch','at':'bb'}");
	DONE("{'op':'entry.append','id':'dd','content':'x'}");
	DONE("{'op':'entry.edit','entry':'aa','content':'another one'}"); /* parts nothing */
	COLUMN(TREE, "id", "aa bb cc dd");
	COLUMN(TREE, "parent", "- aa bb bb");
	doc = look_at(f, TREE);
	assert_int_equal(2, yyjson_arr_size(rt_json_get(yyjson_arr_get(rt_json_root(doc), 0), "variants")));
	assert_null(rt_json_get(yyjson_arr_get(rt_json_root(doc), 1), "variants"));
	assert_int_equal(2, yyjson_arr_size(rt_json_get(yyjson_arr_get(rt_json_root(doc), 0), "takes")));
	rt_json_free(doc);
	/* in another order the takes part at the root */
	DONE("{'op':'entry.move','entry':'aa','after':'bb'}");
	COLUMN(TREE, "id", "aa bb cc bb aa dd");
	COLUMN(TREE, "parent", "- aa bb - bb aa");
	DONE("{'op':'take.delete','take':'main'}");
	COLUMN(TREE, "id", "bb aa dd");
}

ROW(c41_active_row)
{
	F;
	three(f);
	DONE("{'op':'take.branch','at':'bb'}");
	COLUMN(TREE, "active", "- true -");
	DONE("{'op':'head.move','entry':null}");
	COLUMN(TREE, "active", "- - -");
}

ROW(c42_per_take)
{
	F;
	three(f);
	DONE("{'op':'take.branch','at':'bb','name':'side'}");
	DONE("{'op':'entry.edit','entry':'aa','content':'here'}");
	DONE("{'op':'entry.role','entry':'aa','role':'Tool'}");
	DONE("{'op':'entry.mute','entry':'aa'}");
	DONE("{'op':'take.branch','at':'aa','name':'copy'}");
	ENTRY_HAS(0, "content", "'here'");
	ENTRY_HAS(0, "role", "'Tool'");
	ENTRY_HAS(0, "muted", "true");
	DONE("{'op':'take.switch','take':'main'}");
	ENTRY_HAS(0, "content", "'one'");
	ENTRY_HAS(0, "role", "'User'");
	DONE("{'op':'entry.edit','entry':'aa','content':'everywhere','everywhere':true}");
	DONE("{'op':'take.switch','take':'side'}");
	ENTRY_HAS(0, "content", "'everywhere'");
	ENTRY_HAS(0, "role", "'Tool'");
}

ROW(c42_edited)
{
	F;
	three(f);
	DONE("{'op':'entry.append','id':'dd','content':'four','edited':'noon'}");
	COLUMN(SHOW, "edited", "- - - noon");
	COLUMN(TREE, "edited", "- - - -");
	DONE("{'op':'entry.edit','entry':'aa','content':'here'}");
	DONE("{'op':'entry.edit','entry':'dd','content':'4'}");
	UNCHANGED("{'op':'entry.edit','entry':'bb','content':'two'}");
	COLUMN(SHOW, "edited", "true - - noon"); /* a field of its own stands where it stood */
	COLUMN(TREE, "edited", "true - - true");
	DONE("{'op':'undo'}");
	DONE("{'op':'entry.delete','entry':'dd'}");
	DONE("{'op':'take.branch','at':'aa','name':'copy'}");
	COLUMN(SHOW, "edited", "true");
	DONE("{'op':'entry.edit','entry':'aa','content':'one'}");
	COLUMN(SHOW, "edited", "true");
	DONE("{'op':'entry.append','id':'ee','content':'new'}");
	DONE("{'op':'entry.reply','into':'ee','content':'er','join':true}");
	DONE("{'op':'entry.split','entry':'ee','at':3,'id':'ff'}");
	COLUMN(SHOW, "edited", "true true -");
	EXPORT_LACKS("edited");
}

ROW(c43_roles)
{
	F;
	DONE("{'op':'entry.append','id':'aa','content':'x'}");
	ENTRY_HAS(0, "role", "'User'");
	GIVES(USAGE, "{'op':'entry.append','role':''}");
	DONE("{'op':'entry.append','role':'not in the list'}");
	DONE("{'op':'role.add','role':'  Tool  '}");
	EXPORT_HAS("'Tool'");
	UNCHANGED("{'op':'role.add','role':'Tool'}");
	DONE("{'op':'role.remove','role':'User'}");
	ENTRY_HAS(0, "role", "'User'");
	DONE("{'op':'entry.append','content':'x'}");
	ENTRY_HAS(2, "role", "'AI'");
	GIVES(NOT_FOUND, "{'op':'role.remove','role':'User'}");
	DONE("{'op':'role.remove','role':'AI'}");
	DONE("{'op':'role.remove','role':'Vendor API'}");
	DONE("{'op':'role.remove','role':'System'}");
	DONE("{'op':'role.remove','role':'Tool'}");
	DONE("{'op':'entry.append','content':'x'}");
	ENTRY_HAS(3, "role", "'User'");
}

ROW(c44_labels)
{
	F;
	three(f);
	DONE("{'op':'label.set','entry':'bb','label':'l'}");
	COLUMN(TREE, "label", "- l -");
	DONE("{'op':'take.branch','at':'bb'}");
	DONE("{'op':'entry.delete','entry':'bb'}");
	EXPORT_HAS("'labels':{'bb':'l'}"); /* the other take has it */
	DONE("{'op':'entry.delete','entry':'bb','take':'main'}");
	EXPORT_LACKS("labels");
	DONE("{'op':'undo'}");
	EXPORT_HAS("'labels':{'bb':'l'}");
	DONE("{'op':'label.set','entry':'bb','label':''}");
	EXPORT_LACKS("labels");
}

ROW(c45_prompt_notice)
{
	F;
	three(f);
	DONE("{'op':'prompt.update','text':'first'}");
	DONE("{'op':'prompt.notify'}");
	ENTRY_HAS(3, "role", "'system'");
	ENTRY_HAS(3, "kind", "'prompt_notice'");
	ENTRY_HAS(3, "content", "'[user edited prompt to: \\\"first\\\"]'");
	UNCHANGED("{'op':'prompt.notify'}");
	DONE("{'op':'prompt.update','text':'a \\\"b\\\"'}");
	DONE("{'op':'prompt.update','text':'first'}"); /* there and back: edited */
	DONE("{'op':'head.move','entry':'aa'}");
	DONE("{'op':'prompt.notify'}");
	assert_string_equal(f->result.take, "main_take_1");
	DONE("{'op':'prompt.update','text':'a \\\"b\\\"'}");
	DONE("{'op':'take.clear'}");
	EXPORT_HAS("'prompt':{'edited':true,'text':'a \\\"b\\\"'}");
	DONE("{'op':'prompt.notify'}");
	ENTRY_HAS(0, "content", "'[user edited prompt to: \\\"a \\\"b\\\"\\\"]'");
	EXPORT_LACKS("'edited'");
}

ROW(c46_the_model_sets_the_prompt)
{
	F;
	DONE("{'op':'prompt.update','text':'mine'}");
	DONE("{'op':'entry.append','role':'assistant','content':'x','prompt':'theirs'}");
	EXPORT_HAS("'prompt':{'text':'theirs'}");
	ENTRY_HAS(0, "prompt", "-");
	UNCHANGED("{'op':'prompt.notify'}");
	DONE("{'op':'undo'}");
	IDS("");
	EXPORT_HAS("'prompt':{'edited':true,'text':'mine'}");
}

ROW(c47_canonical)
{
	F;
	char *before, *after;

	three(f);
	DONE("{'op':'take.branch','at':'aa'}");
	DONE("{'op':'discussion.new','name':'other'}");
	EXPORT_HAS("'active':'other'");
	EXPORT_LACKS("'seq'");
	EXPORT_HAS("{'content':'one','id':'aa','role':'User','ts':'2026-01-01T00:00:00Z'}");
	before = canonical(f);
	DONE("{'op':'undo','count':99}");
	DONE("{'op':'redo','count':99}");
	after = canonical(f);
	assert_string_equal(before, after);
	free(before);
	free(after);
}

ROW(c48_discussions)
{
	F;
	DONE("{'op':'discussion.new','name':'other'}");
	SHOWS("discussion", "'other'");
	GIVES(REFUSED, "{'op':'discussion.new','name':'main'}");
	GIVES(REFUSED, "{'op':'discussion.rename','discussion':'other','name':'main'}");
	UNCHANGED("{'op':'discussion.rename','discussion':'other','name':'other'}");
	DONE("{'op':'discussion.delete','discussion':'other'}");
	DONE("{'op':'discussion.new','name':'other'}"); /* free again */
	DONE("{'op':'discussion.delete','discussion':'other'}");
	GIVES(REFUSED, "{'op':'discussion.delete','discussion':'main'}");
}

ROW(c49_jump_in_another_discussion)
{
	F;
	three(f);
	DONE("{'op':'discussion.new','name':'other'}"); /* 4 */
	DONE("{'op':'jump','discussion':'main','to':2,'scope':'discussion'}");
	SHOWS("discussion", "'other'");
	DONE("{'op':'discussion.switch','discussion':'main'}");
	IDS("aa bb");
	DONE("{'op':'discussion.switch','discussion':'other'}");
	DONE("{'op':'discussion.delete','discussion':'main'}");
	DONE("{'op':'jump','discussion':'d1','to':3,'scope':'discussion'}");
	SHOWS("discussion", "'other'"); /* out of the catalogue, and changed there */
	DONE("{'op':'undo','scope':'project'}");
	DONE("{'op':'discussion.switch','discussion':'main'}");
	IDS("aa bb cc");
	/* without a scope: with the project, and so with what was active then */
	DONE("{'op':'jump','to':2}");
	assert_null(f->result.note);
	SHOWS("discussion", "'main'");
	DISCUSSIONS_ARE("main");
	IDS("aa bb");
}

ROW(c50_extract)
{
	F;
	three(f);
	DONE("{'op':'label.set','entry':'aa','label':'l'}");
	DONE("{'op':'discussion.extract','entry':'bb','name':'path'}");
	assert_string_equal(f->result.discussion, "path");
	assert_null(f->result.editor);
	SHOWS("discussion", "'path'");
	IDS("aa bb");
	EXPORT_HAS("'link':");
	DONE("{'op':'entry.edit','entry':'l','content':'by its label'}");
	DONE("{'op':'discussion.switch','discussion':'main'}");
	CONTENTS("one two three");
	DONE("{'op':'discussion.extract','entry':'cc'}");
	assert_non_null(f->result.editor);
	assert_true(rt_str_is(rt_text_str(f->result.editor), "three"));
	IDS("aa bb");
}

ROW(c51_graft)
{
	F;
	three(f);
	DONE("{'op':'take.branch','at':'aa','name':'side'}");
	DONE("{'op':'take.graft','entries':['bb','cc'],'from':'main','after':'aa'}");
	IDS("aa bb cc");
	DONE("{'op':'undo'}");
	IDS("aa");
	DONE("{'op':'take.graft','entries':['aa','bb'],'from':'main','before':'aa'}");
	CONTENTS("one two one");
	ENTRY_HAS(1, "id", "'bb'");
	ENTRY_HAS(2, "id", "'aa'");
	assert_int_equal(f->result.status, RT_OK);
}

ROW(c52_compaction_entries)
{
	F;
	three(f);
	DONE("{'op':'entry.append','id':'k','kind':'compaction','role':'system','content':'summary',"
	     "'first_kept':'cc','tokens_before':1234,'details':{'files':[]}}");
	ENTRY_HAS(3, "kind", "'compaction'");
	ENTRY_HAS(3, "first_kept", "'cc'");
	ENTRY_HAS(3, "tokens_before", "1234");
	CONTENTS("one two three summary");
	DONE("{'op':'undo'}");
	IDS("aa bb cc");
}

ROW(c53_tracks_and_presets)
{
	F;
	DONE("{'op':'track.set','track':'t-1'}");
	EXPORT_HAS("'track':'t-1'");
	UNCHANGED("{'op':'track.set','track':'t-1'}");
	DONE("{'op':'track.set','track':null}");
	EXPORT_LACKS("'track'");
	DONE("{'op':'files.set','which':'files','items':['a']}");
	DONE("{'op':'files.set','which':'screenshots','items':['s']}");
	DONE("{'op':'preset.save','name':'p'}");
	EXPORT_HAS("'presets':{'p':");
	DONE("{'op':'files.set','which':'files','items':[]}");
	DONE("{'op':'files.set','which':'screenshots','items':[]}");
	DONE("{'op':'preset.load','name':'p'}");
	EXPORT_HAS("'files':['a']");
	EXPORT_HAS("'screenshots':['s']");
	DONE("{'op':'undo'}");
	GIVES(NOT_FOUND, "{'op':'preset.load','name':'q'}");
	DONE("{'op':'preset.delete','name':'p'}");
	EXPORT_LACKS("'presets'");
	GIVES(NOT_FOUND, "{'op':'preset.delete','name':'p'}");
}

ROW(c58_capacity_of_undo)
{
	F;
	DONE("{'op':'setting.set','key':'undo_capacity','value':3}");
	three(f);
	DONE("{'op':'entry.append','id':'dd','content':'four'}");
	DONE("{'op':'undo','count':2}");
	assert_int_equal(f->result.steps, 2);
	DONE("{'op':'undo','count':5}");
	assert_int_equal(f->result.steps, 1);
	IDS("aa");
	GIVES(REFUSED, "{'op':'undo'}");
	assert_non_null(strstr(f->result.error.text, "undo_capacity"));
	assert_non_null(strstr(f->result.error.text, "jump"));
	GIVES(REFUSED, "{'op':'undo','scope':'discussion'}");
	/* room again, one for one */
	DONE("{'op':'redo'}");
	assert_int_equal(f->result.steps, 1);
	DONE("{'op':'undo'}");
	GIVES(REFUSED, "{'op':'undo'}");
	/* all of it is there */
	DONE("{'op':'redo','count':9}");
	assert_int_equal(f->result.steps, 3);
	IDS("aa bb cc dd");
	DONE("{'op':'jump','to':0}");
	IDS("");
	GIVES(REFUSED, "{'op':'undo'}");
	DONE("{'op':'redo','count':4}");
	IDS("aa bb cc dd");
	GIVES(USAGE, "{'op':'setting.set','key':'undo_capacity','value':'few'}");
	GIVES(USAGE, "{'op':'setting.set','key':'undo_capacity','value':-1}");
	GIVES(USAGE, "{'op':'setting.set','key':'undo_capacity','value':1.5}");
	GIVES(USAGE, "{'op':'setting.set','key':'undo_capacity','value':true}");
	/* without it, as far as there is */
	DONE("{'op':'setting.set','key':'undo_capacity','value':null}");
	DONE("{'op':'undo','count':9}");
	assert_int_equal(f->result.steps, 6);
}

ROW(c58_the_setting_counts_as_it_is_when_undo_is_asked_for)
{
	F;
	three(f);
	DONE("{'op':'setting.set','key':'undo_capacity','value':2}");
	DONE("{'op':'undo','count':5}"); /* the setting itself goes first */
	assert_int_equal(f->result.steps, 2);
	assert_string_equal(rt_text_str(f->result.note).ptr,
			    "2 of 5 steps: undo_capacity was 2 when undo began.");
	DONE("{'op':'undo'}");
	IDS("aa");
	DONE("{'op':'redo','count':9}");
	DONE("{'op':'entry.append','id':'dd','content':'four'}");
	DONE("{'op':'entry.append','id':'ee','content':'five'}");
	DONE("{'op':'undo','count':5}");
	assert_string_equal(rt_text_str(f->result.note).ptr,
			    "2 of 5 steps: the setting undo_capacity lets undo go no further.");
}

ROW(c58_capacity_when_undo_comes_through_into_another_discussion)
{
	F;
	DONE("{'op':'entry.append','id':'aa','content':'one'}");
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'entry.append','id':'oo','content':'x'}");
	DONE("{'op':'setting.set','key':'undo_capacity','value':3}");
	DONE("{'op':'undo','count':9}");
	assert_int_equal(f->result.steps, 3);
	assert_string_equal(rt_text_str(f->result.note).ptr,
			    "3 of 9 steps: undo_capacity was 3 when undo began.");
	SHOWS("discussion", "'main'");
	IDS("aa");
}

ROW(c58_capacity_counts_what_redo_would_bring_back)
{
	F;
	three(f);
	DONE("{'op':'setting.set','key':'undo_capacity','value':2}");
	DONE("{'op':'entry.append','id':'dd','content':'four'}");
	DONE("{'op':'undo'}");
	/* a new step is a new newest state */
	DONE("{'op':'entry.append','id':'ee','content':'five'}");
	DONE("{'op':'label.set','entry':'aa','label':'l'}");
	DONE("{'op':'undo','count':9}");
	assert_int_equal(f->result.steps, 2);
	GIVES(REFUSED, "{'op':'undo'}");
	GIVES(REFUSED, "{'op':'undo','scope':'project'}");
	/* it counts in the discussion in view and the project, as undo does */
	DONE("{'op':'redo','count':2}");
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'entry.append','id':'oo','content':'x'}");
	DONE("{'op':'undo'}");
	DONE("{'op':'undo'}"); /* that is main again: 1 of 2 */
	DONE("{'op':'undo','count':9}");
	assert_int_equal(f->result.steps, 1);
	GIVES(REFUSED, "{'op':'undo'}");
	DONE("{'op':'redo','count':3}");
	assert_int_equal(f->result.steps, 3);
	/* none at all */
	DONE("{'op':'setting.set','key':'undo_capacity','value':0}");
	GIVES(REFUSED, "{'op':'undo'}");
	DONE("{'op':'setting.set','key':'undo_capacity','value':null}");
	DONE("{'op':'undo'}"); /* and so 0 again */
	GIVES(REFUSED, "{'op':'undo'}");
}

ROW(c54_settings_are_kept)
{
	F;
	DONE("{'op':'setting.set','key':'use_default_base_prompt','value':false}");
	DONE("{'op':'setting.set','key':'max_tokens','value':100}");
	DONE("{'op':'setting.set','key':'draft','value':'unsent'}");
	EXPORT_HAS("'use_default_base_prompt':false");
	EXPORT_HAS("'settings':{'draft':'unsent','max_tokens':100}");
}

ROW(c57_clear_all)
{
	F;
	three(f);
	DONE("{'op':'prompt.update','text':'p'}");
	DONE("{'op':'take.clear','all':true}");
	IDS("");
	EXPORT_LACKS("prompt");
	UNCHANGED("{'op':'take.clear','all':true}");
	DONE("{'op':'undo'}");
	IDS("aa bb cc");
	EXPORT_HAS("'prompt':{'edited':true,'text':'p'}");
	DONE("{'op':'take.clear'}");
	EXPORT_HAS("'prompt':{'edited':true,'text':'p'}");
}

ROW(c60_an_id_stands_once_in_a_take)
{
	F;
	three(f);
	DONE("{'op':'take.branch','at':'cc','name':'side'}");
	DONE("{'op':'take.graft','entries':['aa'],'from':'main','after':'cc'}");
	CONTENTS("one two three one");
	GIVES(OK, "{'op':'entry.edit','entry':':4','content':'copy'}");
	CONTENTS("one two three copy");
	assert_string_not_equal(f->result.entry, "aa");
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(c0_op_names_the_operation),
		TEST(c1_undo_takes_the_newest_of_discussion_and_project),
		TEST(c1_the_steps_of_other_discussions_are_left_alone),
		TEST(c1_a_pinned_client_is_not_moved_by_switches),
		TEST(c1_switches_elsewhere_stay_when_a_pinned_client_undoes),
		TEST(c1_a_pinned_client_passes_over_switches),
		TEST(c1_switches_in_the_catalogue_do_not_split_a_step),
		TEST(c2_a_step_over_several_documents_is_undone_where_it_is_current),
		TEST(c2_a_step_over_many_documents),
		TEST(c2a_seq_counts_what_changed),
		TEST(c3_what_changes_nothing),
		TEST(c4_an_unknown_operation_is_refused),
		TEST(c5_an_id_that_another_take_holds),
		TEST(c6_precedence_of_addresses),
		TEST(c6_prefixes_go_over_all_takes),
		TEST(c7_names_of_takes),
		TEST(c9_a_shared_entry_and_an_append_in_mid_take),
		TEST(c10_the_head_after_edits),
		TEST(c10_a_switch_to_the_active_take_leaves_the_head),
		TEST(c10_the_head_inside_an_atomic_step),
		TEST(c11_view_flags_stand_beside_history),
		TEST(c12_promote),
		TEST(c13_truncate_keeps_the_last_pairs),
		TEST(c14_split_and_merge),
		TEST(c15_reset),
		TEST(c16_a_fresh_store),
		TEST(c17_revert),
		TEST(c17_several_deletions_in_one_step),
		TEST(c17_the_model_is_told_of_a_prompt_that_a_revert_brings_back),
		TEST(c17_lists_are_reverted_item_by_item),
		TEST(c17_refusals_say_what_the_step_did),
		TEST(c17_texts_that_are_the_same),
		TEST(c17_revert_in_another_discussion),
		TEST(c18_counts_and_jump_targets),
		TEST(c38_current_after_a_jump),
		TEST(c18_jump_says_which_other_discussions_it_changed),
		TEST(c18_jump_with_a_scope),
		TEST(c18_jump_leaves_other_discussions),
		TEST(c18_jump_to_any_row_is_what_at_op_shows),
		TEST(c18_redo_after_a_jump_over_several_documents),
		TEST(c19_a_stale_second_delete),
		TEST(c20_codes),
		TEST(c21_given_ids),
		TEST(c24_purge),
		TEST(c24_purge_by_text),
		TEST(c25_settings_and_files),
		TEST(c27_atomic),
		TEST(c27_an_atomic_step_that_changes_nothing),
		TEST(c27_an_atomic_step_can_use_what_it_made),
		TEST(c28_keys_of_results),
		TEST(c29_names_and_ids_of_places),
		TEST(c29_a_deleted_take_is_not_written_to),
		TEST(c30_redo_after_a_new_step),
		TEST(c30_undo_and_redo_after_a_jump),
		TEST(c30_drafts_keep_redo),
		TEST(c30_the_way_back_from_a_jump),
		TEST(c31_what_is_a_step),
		TEST(c32_the_first_by_the_bytes_of_its_name),
		TEST(c33_text_is_kept),
		TEST(c34_content),
		TEST(c35_unknown_fields),
		TEST(c36_thinking_is_not_parsed),
		TEST(c37_times),
		TEST(c38_history),
		TEST(c39_show_in_mid_take),
		TEST(c40_tree),
		TEST(c41_active_row),
		TEST(c42_per_take),
		TEST(c42_edited),
		TEST(c43_roles),
		TEST(c44_labels),
		TEST(c45_prompt_notice),
		TEST(c46_the_model_sets_the_prompt),
		TEST(c47_canonical),
		TEST(c48_discussions),
		TEST(c49_jump_in_another_discussion),
		TEST(c50_extract),
		TEST(c51_graft),
		TEST(c52_compaction_entries),
		TEST(c53_tracks_and_presets),
		TEST(c54_settings_are_kept),
		TEST(c57_clear_all),
		TEST(c58_capacity_of_undo),
		TEST(c58_the_setting_counts_as_it_is_when_undo_is_asked_for),
		TEST(c58_capacity_when_undo_comes_through_into_another_discussion),
		TEST(c58_capacity_counts_what_redo_would_bring_back),
		TEST(c60_an_id_stands_once_in_a_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
