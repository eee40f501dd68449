/* SPDX-License-Identifier: MIT
 *
 * The contract, rule by rule, as far as the engine alone can show it: entries, texts and
 * settings. The files contract_*_test.c beside it have takes, history, jump and revert. Each
 * test is named after its rule. */
#include "contract_testing.h"

ROW(c0_op_names_the_operation)
{
	F;
	DONE("{'op':'entry.append','kind':'custom','content':'x'}");
	EXPORT_HAS("'kind':'custom'");
	GIVES(USAGE, "{'kind':'entry.append','content':'x'}");
}

ROW(c4_an_unknown_operation_is_refused)
{
	F;
	GIVES(USAGE, "{'op':'entry.explode'}");
	assert_true(f->result.error.text[0] != '\0');
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
	/* only in another take */
	GIVES(NOT_FOUND, "{'op':'entry.edit','entry':'b','content':'x'}");
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
	/* an array is split in its one text; the blocks after that go to the second half */
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
	DONE("{'op':'undo','count':2}"); /* a purge is not a step: this undoes bb and the last
					  * edit */
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
	GIVES(USAGE, "{'op':'setting.set','key':'context_files','value':['zz.c']}");
	EXPORT_LACKS("zz.c"); /* nothing would read it */
	UNCHANGED("{'op':'setting.set','key':'context_files','value':null}");
	DONE("{'op':'files.set','which':'files','items':['a']}");
	DONE("{'op':'files.set','which':'context_files','items':['b']}");
	DONE("{'op':'files.set','which':'screenshots','items':['c']}");
	EXPORT_HAS("'files':{'context_files':['b'],'files':['a'],'screenshots':['c']}");
	GIVES(USAGE, "{'op':'files.set','which':'else','items':[]}");
	GIVES(USAGE, "{'op':'files.set','which':'files','items':'a'}");
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
	/* a string replaces the whole content, unless the blocks are to be kept */
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
	/* a field of one operation is an unknown field of the entry for another operation */
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
	/* more of a reply, after its current text */
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
	EXPORT_HAS("'labels':{'bb':'l'}"); /* another take has it */
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
	DONE("{'op':'prompt.update','text':'first'}"); /* edited and edited back: marked as
						        * edited */
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

ROW(c54_settings_are_kept)
{
	F;
	DONE("{'op':'setting.set','key':'use_default_base_prompt','value':false}");
	DONE("{'op':'setting.set','key':'max_tokens','value':100}");
	DONE("{'op':'setting.set','key':'draft','value':'unsent'}");
	EXPORT_HAS("'use_default_base_prompt':false");
	EXPORT_HAS("'settings':{'draft':'unsent','max_tokens':100}");
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(c0_op_names_the_operation),
		TEST(c4_an_unknown_operation_is_refused),
		TEST(c6_precedence_of_addresses),
		TEST(c6_prefixes_go_over_all_takes),
		TEST(c11_view_flags_stand_beside_history),
		TEST(c14_split_and_merge),
		TEST(c20_codes),
		TEST(c21_given_ids),
		TEST(c24_purge),
		TEST(c24_purge_by_text),
		TEST(c25_settings_and_files),
		TEST(c28_keys_of_results),
		TEST(c33_text_is_kept),
		TEST(c34_content),
		TEST(c35_unknown_fields),
		TEST(c36_thinking_is_not_parsed),
		TEST(c37_times),
		TEST(c43_roles),
		TEST(c44_labels),
		TEST(c45_prompt_notice),
		TEST(c46_the_model_sets_the_prompt),
		TEST(c47_canonical),
		TEST(c52_compaction_entries),
		TEST(c53_tracks_and_presets),
		TEST(c54_settings_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
