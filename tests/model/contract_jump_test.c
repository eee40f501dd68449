/* SPDX-License-Identifier: MIT
 *
 * The contract, rule by rule: jump and revert. */
#include "contract_testing.h"

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
	assert_int_equal(revert_of(f, edit), RT_REFUSED); /* changed since the step */
	assert_int_equal(revert_of(f, removal), RT_REFUSED);
	assert_int_equal(revert_of(f, 9999), RT_NOT_FOUND);
	DONE("{'op':'undo','count':7}"); /* reverts are steps */
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
	DONE("{'op':'prompt.notify','id':'n1'}");  /* 3: notified of b */
	DONE("{'op':'revert','seq':2}");
	EXPORT_HAS("'prompt':{'edited':true,'text':'a'}");
	gives_note(f, "n2");
	UNCHANGED("{'op':'prompt.notify'}");
	DONE("{'op':'revert','seq':1}"); /* notified of a */
	EXPORT_HAS("'prompt':{'edited':true");
	gives_note(f, "n3");
	CONTENTS("[user edited prompt to: \"b\"] [user edited prompt to: \"a\"] "
		 "[user edited prompt to: \"\"]");
	/* no notice about this one */
	DONE("{'op':'prompt.update','text':'c'}");
	snprintf(f->line, sizeof(f->line), "{\"op\":\"revert\",\"seq\":%llu}",
		 (unsigned long long)f->result.seq);
	assert_int_equal(run_raw(f, rt_str_of(f->line)), RT_OK);
	EXPORT_LACKS("'prompt':{");
	UNCHANGED("{'op':'prompt.notify'}");
	/* notified of a, and an equal text since */
	DONE("{'op':'prompt.update','text':'d'}");
	DONE("{'op':'undo'}");
	UNCHANGED("{'op':'prompt.notify'}");
	DONE("{'op':'jump','to':2}"); /* no notice in that state */
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

static void
refuses(fixture *f, uint64_t seq, const char *why)
{
	assert_int_equal(revert_of(f, seq), RT_REFUSED);
	if (strstr(f->result.error.text, why) == NULL)
		fail_msg("%s\n  lacks: %s", f->result.error.text, why);
}

ROW(c17_refusals_name_the_later_step)
{
	F;
	three(f);
	DONE("{'op':'entry.move','entry':'aa','after':'bb'}"); /* 4 */
	DONE("{'op':'setting.set','key':'model','value':'x'}"); /* 5 */
	DONE("{'op':'setting.set','key':'model','value':'y'}");
	DONE("{'op':'entry.move','entry':'aa','after':'cc'}"); /* 7 */
	refuses(f, 4, "step 4: the entry was moved again later (step 7 moved an entry)");
	refuses(f, 5, "the setting model was changed again later (step 6 changed a setting)");
	DONE("{'op':'entry.edit','entry':'cc','content':'x'}"); /* 8 */
	DONE("{'op':'entry.edit','entry':'cc','content':'y'}"); /* 9 */
	DONE("{'op':'entry.role','entry':'cc','role':'Z'}");
	refuses(f, 8, "the text was changed again later (step 9 ");
	DONE("{'op':'undo','count':3}");
	refuses(f, 8, "step 8, which is not in effect");
	IDS("bb cc aa");
}

ROW(c17_entries_that_were_moved_split_or_joined)
{
	F;
	three(f);
	DONE("{'op':'entry.move','entry':'aa','after':'cc'}"); /* 4 */
	DONE("{'op':'entry.edit','entry':'aa','content':'new'}");
	DONE("{'op':'entry.append','id':'dd','content':'four'}");
	IDS("bb cc aa dd");
	assert_int_equal(revert_of(f, 4), RT_OK);
	IDS("aa bb cc dd");
	CONTENTS("new two three four");
	DONE("{'op':'entry.split','entry':'cc','at':2,'id':'ee'}"); /* 8 */
	DONE("{'op':'entry.merge','entry':'aa'}"); /* 9 */
	IDS("aa cc ee dd");
	assert_int_equal(revert_of(f, 8), RT_OK);
	CONTENTS("newtwo three four");
	assert_int_equal(revert_of(f, 9), RT_OK);
	IDS("aa bb cc dd");
	CONTENTS("new two three four");
	DONE("{'op':'entry.split','entry':'cc','at':2,'id':'gg'}"); /* 12 */
	DONE("{'op':'entry.edit','entry':'gg','content':'x'}");
	refuses(f, 12, "the entry was changed later (step 13 edited an entry)");
	DONE("{'op':'take.clear'}"); /* 14 */
	DONE("{'op':'entry.append','id':'hh','content':'after'}");
	assert_int_equal(revert_of(f, 14), RT_OK);
	IDS("aa bb cc gg dd hh");
	DONE("{'op':'entry.role','entry':'dd','role':'Asker'}");
	DONE("{'op':'take.truncate','pairs':1}"); /* 18 */
	assert_int_equal(revert_of(f, 18), RT_OK);
	IDS("aa bb cc gg dd hh");
	assert_int_equal(revert_of(f, 19), RT_OK); /* of a revert */
	assert_int_equal(revert_of(f, 20), RT_OK);
	IDS("aa bb cc gg dd hh");
}

ROW(c17_takes)
{
	F;
	three(f);
	DONE("{'op':'take.branch','at':'bb','name':'b'}"); /* 4 */
	assert_int_equal(revert_of(f, 4), RT_OK);
	TAKES_ARE("main");
	IDS("aa bb cc");
	DONE("{'op':'take.branch','at':'bb','name':'b'}"); /* 6 */
	DONE("{'op':'entry.append','id':'dd','content':'four'}");
	refuses(f, 6, "the take was changed later (step 7 added an entry)");
	DONE("{'op':'take.rename','take':'main','name':'first'}"); /* 8 */
	DONE("{'op':'take.rename','take':'b','name':'main'}"); /* 9 */
	refuses(f, 8, "there is now another take \"main\"");
	assert_int_equal(revert_of(f, 9), RT_OK);
	assert_int_equal(revert_of(f, 8), RT_OK);
	TAKES_ARE("main b");
	DONE("{'op':'take.delete','take':'main'}"); /* 12 */
	DONE("{'op':'entry.append','id':'ee','content':'five'}");
	assert_int_equal(revert_of(f, 12), RT_OK);
	TAKES_ARE("main b");
	IDS("aa bb dd ee");
	DONE("{'op':'take.graft','from':'main','entries':['cc'],'after':'aa'}"); /* 15 */
	DONE("{'op':'entry.mute','entry':'aa'}");
	assert_int_equal(revert_of(f, 15), RT_OK);
	IDS("aa bb dd ee");
	DONE("{'op':'take.promote','take':'main','name':'own'}"); /* 18 */
	TAKES_ARE("b");
	assert_int_equal(revert_of(f, 18), RT_OK);
	TAKES_ARE("main b");
	DISCUSSIONS_ARE("main");
	DONE("{'op':'take.switch','take':'main'}"); /* 20 */
	DONE("{'op':'entry.mute','entry':'aa'}");
	assert_int_equal(revert_of(f, 20), RT_OK);
	IDS("aa bb dd ee");
	refuses(f, 20, "another take became active later (step 22 ");
	DONE("{'op':'head.move','entry':'bb'}"); /* 23 */
	DONE("{'op':'entry.append','id':'ff','content':'fork'}"); /* 24 */
	assert_int_equal(revert_of(f, 24), RT_OK); /* with the take that it created */
	TAKES_ARE("main b");
	SHOWS("head", "'bb'");
	assert_int_equal(revert_of(f, 23), RT_OK);
	SHOWS("head", "'ee'");
}

ROW(c17_discussions)
{
	F;
	three(f);
	DONE("{'op':'discussion.new','name':'other'}"); /* 4 */
	DONE("{'op':'discussion.rename','discussion':'main','name':'first'}"); /* 5 */
	assert_int_equal(revert_of(f, 4), RT_OK);
	DISCUSSIONS_ARE("first");
	assert_int_equal(revert_of(f, 5), RT_OK);
	DISCUSSIONS_ARE("main");
	DONE("{'op':'discussion.extract','entry':'bb','name':'path'}"); /* 8 */
	DONE("{'op':'discussion.delete','discussion':'main'}"); /* 9 */
	DONE("{'op':'entry.append','id':'dd','content':'four'}");
	refuses(f, 8, "the discussion was changed later (step 10 ");
	assert_int_equal(revert_of(f, 9), RT_OK);
	DISCUSSIONS_ARE("main path");
	assert_int_equal(revert_of(f, 10), RT_OK);
	assert_int_equal(revert_of(f, 8), RT_OK);
	DISCUSSIONS_ARE("main");
	IDS("aa bb cc");
	DONE("{'op':'setting.set','key':'model','value':'m/x'}"); /* 14 */
	DONE("{'op':'role.add','role':'Tool'}");
	DONE("{'op':'project.reset'}"); /* 16 */
	refuses(f, 14, "the setting model was changed again later (step 16 reset the project)");
	DONE("{'op':'entry.append','id':'ee','content':'fresh'}"); /* 17 */
	refuses(f, 16, "the discussion was changed later (step 17 ");
	assert_int_equal(revert_of(f, 17), RT_OK);
	assert_int_equal(revert_of(f, 16), RT_OK);
	IDS("aa bb cc");
	EXPORT_HAS("'model':'m/x'");
	EXPORT_HAS("'Tool'");
}

/* A step with several changes is reverted as one. */
ROW(c17_what_several_changes_share)
{
	static const char *const prompts[] = {"{'op':'prompt.update','text':'one'}",
					      "{'op':'prompt.update','text':'two'}"};
	F;

	one_step(f, prompts, 2);
	DONE("{'op':'revert','seq':1}");
	EXPORT_LACKS("'prompt':");
	DONE("{'op':'entry.append','content':'a'}");
	DONE("{'op':'files.set','which':'files','items':['a.c']}"); /* 4 */
	DONE("{'op':'take.branch','at':':1'}");
	DONE("{'op':'revert','seq':4}"); /* only the lists of the take in view */
	EXPORT_HAS("'files':{'files':['a.c']}");
}

ROW(c17_presets_tracks_and_the_prompt_of_a_reply)
{
	F;
	DONE("{'op':'files.set','which':'files','items':['a']}"); /* 1 */
	DONE("{'op':'preset.save','name':'p'}"); /* 2 */
	DONE("{'op':'preset.save','name':'q'}"); /* 3 */
	assert_int_equal(revert_of(f, 2), RT_OK);
	EXPORT_HAS("'presets':{'q':");
	refuses(f, 2, "the presets were changed again later (step 4 reverted a step)");
	DONE("{'op':'files.set','which':'files','items':[]}"); /* 5 */
	DONE("{'op':'preset.load','name':'q'}"); /* 6 */
	EXPORT_HAS("'files':{'files':['a']}");
	assert_int_equal(revert_of(f, 6), RT_OK);
	EXPORT_LACKS("'files':{'files':['a']},'head'");
	DONE("{'op':'preset.delete','name':'q'}"); /* 8 */
	assert_int_equal(revert_of(f, 8), RT_OK);
	EXPORT_HAS("'presets':{'q':");
	DONE("{'op':'entry.append','id':'aa','content':'one','prompt':'given'}"); /* 10 */
	EXPORT_HAS("'prompt':{'text':'given'}");
	assert_int_equal(revert_of(f, 10), RT_OK);
	EXPORT_LACKS("'given'");
	DONE("{'op':'prompt.update','text':'mine'}");
	DONE("{'op':'prompt.notify','id':'nn'}"); /* 13 */
	assert_int_equal(revert_of(f, 13), RT_OK);
	IDS("");
	DONE("{'op':'prompt.notify'}"); /* a new notice is necessary */
}

ROW(c17_texts_that_are_the_same)
{
	F;
	DONE("{'op':'entry.append','id':'aa','content':'one'}"); /* 1 */
	DONE("{'op':'entry.append','id':'bb','content':''}");
	DONE("{'op':'entry.merge','entry':'aa'}");
	ENTRY_HAS(0, "edited", "-");
	DONE("{'op':'revert','seq':1}"); /* its text is the same */
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
	assert_int_equal(f->result.undo_disc, 1); /* undo in view would affect another step */
	assert_string_equal(rt_text_str(f->result.note).ptr, "This changed discussion \"main\".");
	IDS("oo");
	DONE("{'op':'undo','discussion':'d1'}");
	DONE("{'op':'discussion.switch','discussion':'main'}");
	assert_int_equal(f->result.undo_disc, 0); /* in any discussion */
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
			    "3 of 99 steps: there are no more steps to undo.");
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

/* Is the document (0: the project) in the state right after a row? */
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
	/* 3 was made in the other discussion, which becomes active: both move */
	DONE("{'op':'jump','to':3}");
	SHOWS("discussion", "'other'");
	IDS("xx");
	assert_true(is_as_at(f, 1, 3));
	/* made since: it leaves the catalogue with its contents, and comes back with them */
	DONE("{'op':'jump','to':7}");
	DONE("{'op':'jump','to':1}");
	DISCUSSIONS_ARE("main");
	assert_true(is_as_at(f, 2, 7));
	DONE("{'op':'redo'}");
	DISCUSSIONS_ARE("main other");
	IDS("xx yy");
}

/* Two discussions are created, and undone together with their entries. */
ROW(c18_jump_restores_discussions_with_their_content)
{
	F;
	DONE("{'op':'entry.append','id':'aa','content':'one'}");
	DONE("{'op':'discussion.new','name':'other'}");
	DONE("{'op':'entry.append','id':'xx','content':'x'}"); /* 3, in other */
	DONE("{'op':'discussion.extract','entry':'xx','name':'third'}"); /* 4 */
	DONE("{'op':'discussion.switch','discussion':'main'}"); /* 5 */
	DONE("{'op':'undo','count':2}");
	DONE("{'op':'undo','count':2}");
	DISCUSSIONS_ARE("main");
	DONE("{'op':'jump','to':5}");
	DISCUSSIONS_ARE("main other third");
	assert_true(is_as_at(f, WHOLE, 5));
	assert_string_equal(rt_text_str(f->result.note).ptr, "2 other discussions also changed.");
	DONE("{'op':'jump','to':7}"); /* and back */
	assert_true(is_as_at(f, WHOLE, 7));
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
	assert_string_equal(rt_text_str(f->result.note).ptr, "Discussion \"other\" also changed.");
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
	DONE("{'op':'redo'}"); /* in order, whichever document they are in */
	EXPORT_HAS("'First'");
	IDS("aa bb");
	DONE("{'op':'redo'}");
	IDS("aa bb dd");
	EXPORT_LACKS("'Third'");
	DONE("{'op':'redo'}");
	EXPORT_HAS("'Third'");
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
	DONE(line); /* each after its predecessor */
	IDS("aa bb cc dd");
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
	SHOWS("discussion", "'other'"); /* removed from the catalogue, and changed there */
	DONE("{'op':'undo','scope':'project'}");
	DONE("{'op':'discussion.switch','discussion':'main'}");
	IDS("aa bb cc");
	/* without a scope: with the project, and so with the discussion active then */
	DONE("{'op':'jump','to':2}");
	assert_null(f->result.note);
	SHOWS("discussion", "'main'");
	DISCUSSIONS_ARE("main");
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
	DONE("{'op':'jump','discussion':'main','to':3}"); /* moves main, and other, because it
							   * was active */
	SHOWS("discussion", "'other'");
	DONE("{'op':'jump','to':6}"); /* without naming main */
	assert_true(is_as_at(f, WHOLE, 6));
	DONE("{'op':'jump','to':1}"); /* a step of main, in view of third */
	DONE("{'op':'jump','to':8}");
	assert_true(is_as_at(f, WHOLE, 8));
	DONE("{'op':'jump','to':9}"); /* and back again */
	assert_true(is_as_at(f, WHOLE, 9));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(c17_revert),
		TEST(c17_several_deletions_in_one_step),
		TEST(c17_the_model_is_told_of_a_prompt_that_a_revert_brings_back),
		TEST(c17_lists_are_reverted_item_by_item),
		TEST(c17_refusals_name_the_later_step),
		TEST(c17_entries_that_were_moved_split_or_joined),
		TEST(c17_takes),
		TEST(c17_discussions),
		TEST(c17_what_several_changes_share),
		TEST(c17_presets_tracks_and_the_prompt_of_a_reply),
		TEST(c17_texts_that_are_the_same),
		TEST(c17_revert_in_another_discussion),
		TEST(c18_counts_and_jump_targets),
		TEST(c38_current_after_a_jump),
		TEST(c18_jump_says_which_other_discussions_it_changed),
		TEST(c18_jump_restores_discussions_with_their_content),
		TEST(c18_jump_with_a_scope),
		TEST(c18_jump_leaves_other_discussions),
		TEST(c18_jump_to_any_row_is_what_at_op_shows),
		TEST(c18_redo_after_a_jump_over_several_documents),
		TEST(c49_jump_in_another_discussion),
		TEST(c30_the_way_back_from_a_jump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
