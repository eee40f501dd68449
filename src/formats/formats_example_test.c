/* SPDX-License-Identifier: MIT
 *
 * A small format as an example: one discussion a line, the active take only.
 *
 *   {"title":"Chess","turns":[{"who":"User","says":"e4"},{"who":"AI","says":"e5"}]}
 *
 * In a real one the first part is talk.c and rt_format_talk has a row in formats.c. */
#include "formats/formats_random.h"
#include "formats/formats_reader.h"
#include "formats/formats_writer.h"

/* From the beginning of an input: is it one? */
static int
talk_sniff(rt_str head)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, head) || m.close != '}')
		return 0;
	while (rt_members_next(&m, &key, &value))
		if (rt_scan_key_is(key, "turns"))
			return 60;
	return 0;
}

static void
read_talk(rt_build *b, yyjson_val *talk)
{
	yyjson_val *turns = rt_json_get(talk, "turns"), *turn;
	rt_outline *outline = rt_build_discussion(b);
	rt_node node = {.parent = -1};
	size_t i, max;

	if (outline == NULL)
		return;
	outline->name = rt_build_copy(b, rt_json_str(rt_json_get(talk, "title")));
	yyjson_arr_foreach(turns, i, max, turn)
	{
		node.role = rt_json_str(rt_json_get(turn, "who"));
		rt_build_body_open_value(b, rt_json_get(turn, "says"));
		node.parent = (int64_t)rt_build_node(b, &node);
	}
}

static rt_status
talk_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	rt_error *err)
{
	rt_reader r;
	rt_str line;

	rt_reader_init(&r, alloc, in, to, report);
	while (rt_reader_ok(&r)) {
		uint64_t number = rt_walk_here(&r.w).line;
		yyjson_val *talk;

		if (rt_walk_line(&r.w, SIZE_MAX, &line) != RT_WALK_WHOLE)
			break;
		rt_reader_hold(&r, line, number);
		talk = rt_build_parse(&r.b, line, NULL, NULL);
		if (yyjson_is_obj(talk)) {
			read_talk(&r.b, talk);
			rt_reader_next(&r);
		} else {
			rt_reader_remark(&r, RT_REMARK_SKIPPED, line.ptr,
					 "a line that is no talk is passed over");
		}
	}
	if (rt_reader_count(&r) == 0)
		rt_reader_refuse(&r, 0, "no line is a talk");
	return rt_reader_end(&r, err);
}
RT_READER_FUNCTIONS(talk, talk_to)

static rt_status
talk_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
	   rt_buf *out, rt_error *err)
{
	rt_writer w;

	rt_writer_init(&w, alloc, in, options, out);
	while (rt_writer_next(&w)) {
		const rt_outline_take *take = rt_writer_take(&w);

		rt_json_open(out, NULL, '{');
		rt_json_put_str(out, "title", w.outline->name);
		rt_json_open(out, "turns", '[');
		for (size_t i = 0; take != NULL && i < take->node_count; i++) {
			const rt_node *node = &w.outline->nodes[take->nodes[i]];
			const rt_body *body = rt_writer_body(&w, node);

			if (body == NULL)
				break;
			rt_json_open(out, NULL, '{');
			rt_json_put_str(out, "who", node->role);
			rt_json_add_key(out, "says");
			rt_body_add_content(out, body);
			rt_json_close(out, '}');
		}
		rt_json_close(out, ']');
		rt_json_close(out, '}');
		rt_buf_add_byte(out, '\n');
	}
	return rt_writer_end(&w, err);
}

static const rt_format rt_format_talk = {
	.name = "talk",
	.extension = ".jsonl",
	.about = "an example",
	.sniff = talk_sniff,
	.read = talk_read,
	.stream = talk_stream,
	.write = talk_write,
};

static void
test_example(void **state)
{
	static const char text[] =
		"{\"title\":\"Chess\",\"turns\":[{\"who\":\"User\",\"says\":\"e4\"},"
		"{\"who\":\"AI\",\"says\":[{\"type\":\"text\",\"text\":\"e5\"}]}]}\n"
		"{\"title\":\"\",\"turns\":[]}\n";
	rt_outlines o;
	rt_report report;
	rt_buf out;
	rt_error err;

	(void)state;
	assert_int_equal(talk_sniff(rt_str_of(text)), 60);
	rt_report_init(&report, rt_alloc_libc());
	assert_int_equal(
		rt_format_talk.read(rt_alloc_libc(), RT_STR("what?\n{}\n"), &o, &report, NULL),
		RT_OK);
	assert_int_equal(o.count, 1);
	assert_int_equal(report.skipped, 1);
	assert_int_equal(report.remarks[0].line, 1);
	rt_report_deinit(&report);
	rt_outlines_deinit(&o);
	assert_int_equal(rt_format_talk.read(rt_alloc_libc(), RT_STR("what?"), &o, NULL, &err),
			 RT_USAGE);
	assert_string_equal(err.text, "no line is a talk");
	assert_int_equal(rt_format_talk.read(rt_alloc_libc(), rt_str_of(text), &o, NULL, NULL),
			 RT_OK);
	check_round_trip(&rt_format_talk, &o, NULL, &out);
	assert_string_equal(out.ptr, text);
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_example)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
