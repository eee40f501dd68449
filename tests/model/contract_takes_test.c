/* SPDX-License-Identifier: MIT
 *
 * The contract, rule by rule: takes, discussions and the head. */
#include "contract_testing.h"

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
	/* bb: not in the active take, but the tip of main_take_1 */
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
	DONE("{'op':'entry.append','id':'ff','content':'x'}"); /* the head of an empty take is
							        * its tip */
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
	SHOWS("head", "'xx'"); /* the nearest entry before it when it was deleted */
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
	assert_string_equal(rt_text_str(f->result.note).ptr,
			    "The steps of \"side\" and the record of its last request stay in "
			    "\"main\".");
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

ROW(c15_reset)
{
	F;
	char *before;
	char *after;

	three(f);
	DONE("{'op':'role.add','role':'Tool'}");
	DONE("{'op':'setting.set','key':'model','value':'m'}");
	DONE("{'op':'setting.set','key':'global_system_prompt','value':'s'}");
	DONE("{'op':'setting.set','key':'draft','value':'half a message'}");
	DONE("{'op':'files.set','which':'files','items':['a']}");
	DONE("{'op':'files.set','which':'context_files','items':['b']}");
	DONE("{'op':'preset.save','name':'kept'}");
	DONE("{'op':'track.set','track':'t-1'}");
	DONE("{'op':'prompt.update','text':'p'}");
	DONE("{'op':'take.branch','at':'bb'}");
	DONE("{'op':'discussion.new','name':'other'}");
	before = canonical(f);
	DONE("{'op':'project.reset'}");
	DISCUSSIONS_ARE("main");
	TAKES_ARE("main");
	IDS("");
	EXPORT_LACKS("'Tool'");
	EXPORT_LACKS("'settings'");
	EXPORT_LACKS("'prompt'");
	EXPORT_LACKS("half a message");
	EXPORT_LACKS("'files'");
	EXPORT_LACKS("'context_files'");
	EXPORT_LACKS("'presets'");
	EXPORT_LACKS("'track'");
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
	DONE(line); /* not in the catalogue, and still addressed */
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
	DONE("{'op':'undo','discussion':'main','take':'t2'}"); /* the client that deleted it can
							        * undo that */
	TAKES_ARE("main side");
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
	DONE("{'op':'entry.edit','entry':'aa','content':'another one'}"); /* not a divergence */
	COLUMN(TREE, "id", "aa bb cc dd");
	COLUMN(TREE, "parent", "- aa bb bb");
	doc = look_at(f, TREE);
	assert_int_equal(2, yyjson_arr_size(rt_json_get(yyjson_arr_get(rt_json_root(doc), 0), "variants")));
	assert_null(rt_json_get(yyjson_arr_get(rt_json_root(doc), 1), "variants"));
	assert_int_equal(2, yyjson_arr_size(rt_json_get(yyjson_arr_get(rt_json_root(doc), 0), "takes")));
	rt_json_free(doc);
	/* in another order the takes diverge at the root */
	DONE("{'op':'entry.move','entry':'aa','after':'bb'}");
	COLUMN(TREE, "id", "aa bb cc bb aa dd");
	COLUMN(TREE, "parent", "- aa bb - bb aa");
	DONE("{'op':'take.delete','take':'main'}");
	COLUMN(TREE, "id", "bb aa dd");
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
	COLUMN(SHOW, "edited", "true - - noon"); /* a separate field keeps its position */
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

ROW(c48_discussions)
{
	F;
	DONE("{'op':'discussion.new','name':'other'}");
	SHOWS("discussion", "'other'");
	GIVES(REFUSED, "{'op':'discussion.new','name':'main'}");
	GIVES(REFUSED, "{'op':'discussion.rename','discussion':'other','name':'main'}");
	UNCHANGED("{'op':'discussion.rename','discussion':'other','name':'other'}");
	DONE("{'op':'discussion.delete','discussion':'other'}");
	DONE("{'op':'discussion.new','name':'other'}"); /* the name is free again */
	DONE("{'op':'discussion.delete','discussion':'other'}");
	GIVES(REFUSED, "{'op':'discussion.delete','discussion':'main'}");
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
	DONE("{'op':'undo'}");
	DONE("{'op':'take.branch','at':'bb'}");
	DONE("{'op':'take.clear'}");
	IDS("");
	DONE("{'op':'take.switch','take':'main'}"); /* other takes are not cleared */
	IDS("aa bb cc");
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
		TEST(c5_an_id_that_another_take_holds),
		TEST(c7_names_of_takes),
		TEST(c9_a_shared_entry_and_an_append_in_mid_take),
		TEST(c10_the_head_after_edits),
		TEST(c10_a_switch_to_the_active_take_leaves_the_head),
		TEST(c10_the_head_inside_an_atomic_step),
		TEST(c12_promote),
		TEST(c13_truncate_keeps_the_last_pairs),
		TEST(c15_reset),
		TEST(c16_a_fresh_store),
		TEST(c29_names_and_ids_of_places),
		TEST(c29_a_deleted_take_is_not_written_to),
		TEST(c32_the_first_by_the_bytes_of_its_name),
		TEST(c39_show_in_mid_take),
		TEST(c40_tree),
		TEST(c42_per_take),
		TEST(c42_edited),
		TEST(c48_discussions),
		TEST(c50_extract),
		TEST(c51_graft),
		TEST(c57_clear_all),
		TEST(c60_an_id_stands_once_in_a_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
