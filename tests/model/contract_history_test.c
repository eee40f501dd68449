/* SPDX-License-Identifier: MIT
 *
 * The contract, rule by rule: steps, undo, redo and atomic steps. */
#include "contract_testing.h"
#include "ops/action.h"

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
	/* the switches are newer, and made by another client */
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
	SHOWS("discussion", "'main'"); /* the other client's switch is unaffected */
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
	/* they come after the step in its discussion and are undone with it, without being
	 * counted */
	DONE("{'op':'undo','discussion':'main','take':'main'}");
	assert_int_equal(f->result.steps, 1);
	EXPORT_LACKS("'dd'");
	DONE("{'op':'redo','discussion':'main','take':'main'}");
	assert_int_equal(f->result.steps, 1);
	after = canonical(f);
	assert_string_equal(before, after);
	free(after);
	/* one redo restores everything that one undo reverted, whichever client requests it */
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
	/* for clients that do not pin a place, a switch is a step */
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

ROW(c1_undo_keeps_a_discussion_that_has_changed_since)
{
	F;
	three(f);
	DONE("{'op':'setting.set','key':'model','value':'m'}");
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'entry.append','id':'xx','content':'x','discussion':'other','take':'other'}");
	/* another client works in "main": its undo reverts the newest step there */
	DONE("{'op':'undo','discussion':'main','take':'main'}");
	DISCUSSIONS_ARE("main other");
	EXPORT_LACKS("'cc'");
	EXPORT_HAS("'xx'");
	DONE("{'op':'redo','discussion':'main','take':'main'}");
	EXPORT_HAS("'cc'");
	/* nor are older changes of the project undone */
	DONE("{'op':'undo','discussion':'main','take':'main','count':100}");
	DISCUSSIONS_ARE("main other");
	EXPORT_LACKS("'aa'");
	EXPORT_HAS("'xx'");
	GIVES(REFUSED, "{'op':'undo','discussion':'main','take':'main'}");
	/* unless it is requested, or the discussion is as it was created */
	DONE("{'op':'undo','scope':'project'}");
	DISCUSSIONS_ARE("main");
	DONE("{'op':'redo','scope':'project'}");
	EXPORT_HAS("'xx'");
	DONE("{'op':'undo','discussion':'other','scope':'discussion'}");
	DONE("{'op':'undo','discussion':'main','take':'main'}");
	DISCUSSIONS_ARE("main");
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
	/* the old discussion has changed: the promotion is undone in the catalogue only */
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

	rt_result both[2] = {0};
	static const char *const away_and_back[] = {"{'op':'take.switch','take':'side'}",
						    "{'op':'take.switch','take':'main'}"};

	three(f);
	DONE("{'op':'take.branch','at':'aa','name':'side'}");
	DONE("{'op':'files.set','which':'files','items':['a']}");
	DONE("{'op':'take.switch','take':'main'}");
	DONE("{'op':'files.set','which':'files','items':['b']}");
	assert_int_equal(run_atomic(f, away_and_back, 2, both), RT_OK);
	assert_true(both[0].unchanged && both[1].unchanged);
	DONE("{'op':'take.delete','take':'side'}");
	DONE("{'op':'files.set','which':'files','items':[]}");
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
	GIVES(NOT_FOUND, "{'op':'entry.delete','entry':'cc'}"); /* only in another take */
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
	DONE("{'op':'entry.append','id':'dd','content':'x'}"); /* the id is still unused */
	DONE("{'op':'undo','count':2}");
	CONTENTS("one two three");
	assert_int_equal(run_atomic(f, labels, 2, results), RT_OK);
	assert_false(results[0].unchanged);
	/* the first edit of an entry marks it, so editing it back is still a change */
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
	CONTENTS("four one two three four"); /* the question was returned to the input */
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
	DONE(line); /* still reachable */
	IDS("aa bb cc");
	snprintf(line, sizeof(line), "{'op':'jump','to':%llu}", (unsigned long long)undone - 2);
	DONE(line);
	IDS("aa");
	DONE("{'op':'redo'}"); /* towards the previous state */
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
	DONE("{'op':'jump','to':3}"); /* to another branch: it undoes two and redoes one */
	IDS("aa bb cc");
	EXPORT_LACKS("'model'");
	DONE("{'op':'redo'}"); /* the settings only went back, the discussion changed its branch */
	EXPORT_HAS("'model':'foo'");
	IDS("aa bb cc");
	GIVES(REFUSED, "{'op':'redo'}");
	DONE("{'op':'jump','to':3}");
	DONE("{'op':'undo'}"); /* the newest step in effect there; the jump is not one */
	IDS("aa bb");
	DONE("{'op':'redo'}");
	IDS("aa bb cc");
	DONE("{'op':'jump','to':6}"); /* a jump to the row before the first jump returns */
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
	/* undo treats a draft like any other step, */
	DONE("{'op':'undo'}");
	EXPORT_HAS("'draft':'h'");
	DONE("{'op':'redo'}");
	EXPORT_HAS("'draft':'hello'");
	IDS("aa");
	/* and earlier undone steps can still be redone */
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
	/* together with another change, a draft does not keep redo */
	DONE("{'op':'undo'}");
	DONE("{'op':'setting.set','key':'draft','value':'x'}");
	DONE("{'op':'setting.set','key':'temperature','value':1}");
	GIVES(REFUSED, "{'op':'redo'}");
	DONE("{'op':'undo','count':2}");
	DONE("{'op':'redo'}");
	EXPORT_HAS("'draft':'x'");
	IDS("aa bb");
}

/* A draft stored by an interactive program. */
static void
type_draft(fixture *f, const char *by, const char *text)
{
	rt_apply_context with = {.by = rt_str_of(by), .coalesce_ms = RT_COALESCE_MS};
	rt_json_doc *doc = NULL;

	assert_int_equal(rt_json_read(rt_alloc_libc(), unquoted(f, text), &doc, NULL), RT_OK);
	rt_request request = {.op = RT_OP_SETTING_SET,
			      .key = RT_STR("draft"),
			      .value = rt_json_root(doc)};
	rt_result_deinit(&f->result);
	assert_int_equal(rt_apply(f->engine, &with, &request, 1, false, RT_STR(""), RT_STR(""),
				  &f->result),
			 RT_OK);
	rt_json_free(doc);
}

static int64_t
three_seconds_later(void *ctx)
{
	return now_us(ctx) + 3000000;
}

ROW(c30_undo_that_keeps_drafts)
{
	F;
	three(f);
	DONE("{'op':'entry.append','id':'dd','content':'four'}");
	type_draft(f, "http", "'h'");
	type_draft(f, "http", "'hello'");
	/* the draft is restored in the same request, and redo is still possible */
	DONE("{'op':'undo','keep_draft':true}");
	assert_int_equal(f->result.steps, 1);
	assert_int_equal(f->result.seq, f->result.move_seq + 1);
	IDS("aa bb cc");
	EXPORT_HAS("'draft':'hello'");
	DONE("{'op':'undo','keep_draft':true,'count':2}");
	assert_int_equal(f->result.steps, 2);
	IDS("aa");
	EXPORT_HAS("'draft':'hello'");
	DONE("{'op':'redo','keep_draft':true}");
	IDS("aa bb");
	EXPORT_HAS("'draft':'hello'");
	type_draft(f, "http", "'hello again'");
	DONE("{'op':'redo','keep_draft':true,'count':2}");
	assert_int_equal(f->result.steps, 2);
	IDS("aa bb cc dd");
	EXPORT_HAS("'draft':'hello again'");
	GIVES(REFUSED, "{'op':'redo','keep_draft':true}");
	/* an emptied draft stays empty */
	type_draft(f, "http", "null");
	DONE("{'op':'undo','keep_draft':true}");
	IDS("aa bb cc");
	EXPORT_LACKS("'draft'");
	/* without it, a draft is a step like any other */
	DONE("{'op':'setting.set','key':'draft','value':'x'}");
	DONE("{'op':'undo'}");
	EXPORT_LACKS("'draft'");
	IDS("aa bb cc");
}

ROW(c30_undo_that_keeps_drafts_has_nothing_else_to_undo)
{
	F;
	DONE("{'op':'setting.set','key':'draft','value':'x'}");
	GIVES(REFUSED, "{'op':'undo','keep_draft':true}");
	EXPORT_HAS("'draft':'x'");
	/* a step of the project below the drafts of a discussion */
	DONE("{'op':'role.add','role':'Tool'}");
	DONE("{'op':'setting.set','key':'draft','value':'xy'}");
	DONE("{'op':'undo','keep_draft':true}");
	EXPORT_LACKS("'Tool'");
	EXPORT_HAS("'draft':'xy'");
}

ROW(c30_the_draft_of_a_discussion_that_undo_removes)
{
	F;
	three(f);
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'setting.set','key':'draft','value':'x'}");
	DONE("{'op':'undo','keep_draft':true}");
	assert_int_equal(f->result.seq, f->result.move_seq); /* nothing to restore it in */
	SHOWS("discussion", "'main'");
	EXPORT_LACKS("'draft'");
	DONE("{'op':'redo','keep_draft':true}");
	SHOWS("discussion", "'other'");
	EXPORT_HAS("'draft':'x'");
}

ROW(c30_undo_of_a_question_restores_its_draft_unless_there_is_another)
{
	F;
	static const char *const sent[] = {"{'op':'setting.set','key':'draft','value':null}",
					   "{'op':'entry.append','id':'qq','content':'question'}"};
	rt_result results[2];

	three(f);
	type_draft(f, "http", "'question'");
	assert_int_equal(run_atomic(f, sent, 2, results), RT_OK);
	DONE("{'op':'undo','keep_draft':true}");
	EXPORT_HAS("'draft':'question'");
	IDS("aa bb cc");
	DONE("{'op':'redo','keep_draft':true}");
	EXPORT_LACKS("'draft'");
	IDS("aa bb cc qq");
	type_draft(f, "http", "'another'");
	DONE("{'op':'undo','keep_draft':true}");
	EXPORT_HAS("'draft':'another'");
	IDS("aa bb cc");
}

ROW(c61_typing_is_one_step)
{
	F;
	size_t i;

	three(f);
	for (i = 0; i < 2; i++) { /* the second time after an undo, whose redo it keeps */
		type_draft(f, "http", "'h'");
		type_draft(f, "http", "'hel'");
		type_draft(f, "http", "'hello'");
		type_draft(f, "http", "'hello'");
		assert_true(f->result.unchanged);
		DONE("{'op':'undo'}");
		assert_int_equal(f->result.steps, 1);
		EXPORT_LACKS("'draft'");
		IDS(i == 0 ? "aa bb cc" : "aa bb");
		DONE("{'op':'redo'}");
		EXPORT_HAS("'draft':'hello'");
		DONE("{'op':'undo','count':2}");
		assert_int_equal(f->result.steps, 2);
		IDS(i == 0 ? "aa bb" : "aa");
	}
	/* the second draft is replaced by the earlier undone steps */
	DONE("{'op':'redo','count':3}");
	IDS("aa bb cc");
	EXPORT_LACKS("'draft'");
	/* a pause, another client or a step in between starts a new step */
	type_draft(f, "http", "'a'");
	type_draft(f, "tui", "'ab'");
	f->env.now_us = three_seconds_later;
	type_draft(f, "tui", "'abc'");
	DONE("{'op':'setting.set','key':'top_p','value':1}");
	type_draft(f, "tui", "'abcd'");
	DONE("{'op':'undo'}");
	EXPORT_HAS("'draft':'abc'");
	DONE("{'op':'undo','count':2}");
	EXPORT_HAS("'draft':'ab'");
	DONE("{'op':'undo'}");
	EXPORT_HAS("'draft':'a'");
	DONE("{'op':'undo'}");
	EXPORT_LACKS("'draft'");
	/* undo and redo in between, too, even if nothing is left to redo */
	type_draft(f, "http", "'b'");
	DONE("{'op':'undo'}");
	DONE("{'op':'redo'}");
	type_draft(f, "http", "'bc'");
	DONE("{'op':'undo'}");
	EXPORT_HAS("'draft':'b'");
	DONE("{'op':'undo'}");
	EXPORT_LACKS("'draft'");
	/* other programs make a step each time */
	DONE("{'op':'setting.set','key':'draft','value':'xy'}");
	DONE("{'op':'setting.set','key':'draft','value':'xyz'}");
	DONE("{'op':'undo'}");
	EXPORT_HAS("'draft':'xy'");
}

ROW(c61_history_lists_it_once_and_revert_takes_all_of_it)
{
	F;

	DONE("{'op':'entry.append','id':'aa','content':'one'}");
	DONE("{'op':'setting.set','key':'draft','value':'before'}");
	type_draft(f, "tui", "'x'");
	type_draft(f, "tui", "'xy'");
	type_draft(f, "tui", "'xyz'");
	COLUMN(HISTORY, "seq", "5 2 1");
	COLUMN(HISTORY, "parent", "2 1 0");
	COLUMN(HISTORY, "current", "true - -");
	DONE("{'op':'revert','seq':5}");
	EXPORT_HAS("'draft':'before'");
	DONE("{'op':'undo'}");
	EXPORT_HAS("'draft':'xyz'");
	DONE("{'op':'undo'}");
	EXPORT_HAS("'draft':'before'");
	COLUMN(HISTORY, "undone", "true true - -");
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

ROW(c41_active_row)
{
	F;
	three(f);
	DONE("{'op':'take.branch','at':'bb'}");
	COLUMN(TREE, "active", "- true -");
	DONE("{'op':'head.move','entry':null}");
	COLUMN(TREE, "active", "- - -");
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
	/* space again, one for one */
	DONE("{'op':'redo'}");
	assert_int_equal(f->result.steps, 1);
	DONE("{'op':'undo'}");
	GIVES(REFUSED, "{'op':'undo'}");
	/* everything is restored */
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
	/* without the setting, as far as the history goes */
	DONE("{'op':'setting.set','key':'undo_capacity','value':null}");
	DONE("{'op':'undo','count':9}");
	assert_int_equal(f->result.steps, 6);
}

ROW(c58_the_setting_counts_as_it_is_when_undo_is_asked_for)
{
	F;
	three(f);
	DONE("{'op':'setting.set','key':'undo_capacity','value':2}");
	DONE("{'op':'undo','count':5}"); /* the setting itself is undone first */
	assert_int_equal(f->result.steps, 2);
	assert_string_equal(rt_text_str(f->result.note).ptr,
			    "2 of 5 steps: undo_capacity was 2 when this undo started.");
	DONE("{'op':'undo'}");
	IDS("aa");
	DONE("{'op':'redo','count':9}");
	DONE("{'op':'entry.append','id':'dd','content':'four'}");
	DONE("{'op':'entry.append','id':'ee','content':'five'}");
	DONE("{'op':'undo','count':5}");
	assert_string_equal(rt_text_str(f->result.note).ptr,
			    "2 of 5 steps: the setting undo_capacity limits undo.");
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
			    "3 of 9 steps: undo_capacity was 3 when this undo started.");
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
	/* a new step is the newest state */
	DONE("{'op':'entry.append','id':'ee','content':'five'}");
	DONE("{'op':'label.set','entry':'aa','label':'l'}");
	DONE("{'op':'undo','count':9}");
	assert_int_equal(f->result.steps, 2);
	GIVES(REFUSED, "{'op':'undo'}");
	GIVES(REFUSED, "{'op':'undo','scope':'project'}");
	/* it counts in the discussion in view and in the project, like undo */
	DONE("{'op':'redo','count':2}");
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'entry.append','id':'oo','content':'x'}");
	DONE("{'op':'undo'}");
	DONE("{'op':'undo'}"); /* main again: 1 of 2 */
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

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(c1_undo_takes_the_newest_of_discussion_and_project),
		TEST(c1_the_steps_of_other_discussions_are_left_alone),
		TEST(c1_a_pinned_client_is_not_moved_by_switches),
		TEST(c1_undo_keeps_a_discussion_that_has_changed_since),
		TEST(c1_switches_elsewhere_stay_when_a_pinned_client_undoes),
		TEST(c1_a_pinned_client_passes_over_switches),
		TEST(c1_switches_in_the_catalogue_do_not_split_a_step),
		TEST(c2_a_step_over_several_documents_is_undone_where_it_is_current),
		TEST(c2_a_step_over_many_documents),
		TEST(c2a_seq_counts_what_changed),
		TEST(c3_what_changes_nothing),
		TEST(c19_a_stale_second_delete),
		TEST(c27_atomic),
		TEST(c27_an_atomic_step_that_changes_nothing),
		TEST(c27_an_atomic_step_can_use_what_it_made),
		TEST(c30_redo_after_a_new_step),
		TEST(c30_undo_and_redo_after_a_jump),
		TEST(c30_drafts_keep_redo),
		TEST(c30_undo_that_keeps_drafts),
		TEST(c30_undo_that_keeps_drafts_has_nothing_else_to_undo),
		TEST(c30_the_draft_of_a_discussion_that_undo_removes),
		TEST(c30_undo_of_a_question_restores_its_draft_unless_there_is_another),
		TEST(c61_typing_is_one_step),
		TEST(c61_history_lists_it_once_and_revert_takes_all_of_it),
		TEST(c31_what_is_a_step),
		TEST(c38_history),
		TEST(c41_active_row),
		TEST(c58_capacity_of_undo),
		TEST(c58_the_setting_counts_as_it_is_when_undo_is_asked_for),
		TEST(c58_capacity_when_undo_comes_through_into_another_discussion),
		TEST(c58_capacity_counts_what_redo_would_bring_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
