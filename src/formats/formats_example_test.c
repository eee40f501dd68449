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

/* From the beginning of an input: is it in this format? */
static int
talk_sniff(rt_str head)
{
	return rt_sniff_members(head, "title turns") ? 60 : 0;
}

static void
read_talk(rt_build *b, yyjson_val *talk)
{
	rt_outline *outline = rt_build_discussion(b);
	rt_node node = {.parent = -1};

	if (outline == NULL)
		return;
	outline->name = rt_build_copy(b, rt_json_text(talk, "title"));
	for (rt_json_iter turn = rt_json_each(rt_json_get(talk, "turns")); rt_json_next(&turn);) {
		node.role = rt_json_text(turn.value, "who");
		rt_build_body_open_value(b, rt_json_get(turn.value, "says"));
		node.parent = (int64_t)rt_build_node(b, &node);
	}
}

static rt_status
talk_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	rt_error *err)
{
	rt_reader r;
	yyjson_val *talk;

	rt_reader_init(&r, alloc, in, to, report);
	while ((talk = rt_reader_record(&r)) != NULL) {
		if (yyjson_is_obj(talk)) {
			read_talk(&r.b, talk);
			rt_reader_next(&r);
		} else {
			rt_reader_skipped(&r, "a record that is no talk is passed over");
		}
	}
	if (rt_reader_count(&r) == 0)
		rt_reader_refuse(&r, 0, "no record is a talk");
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
	assert_string_equal(err.text, "no record is a talk");
	assert_int_equal(rt_format_talk.read(rt_alloc_libc(), rt_str_of(text), &o, NULL, NULL),
			 RT_OK);
	check_round_trip(&rt_format_talk, &o, NULL, &out);
	assert_string_equal(out.ptr, text);
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
}

/* The same records as lines, as an array and alone, with broken ones skipped. */
static void
test_records(void **state)
{
	static const struct {
		const char *text;
		size_t count, skipped, line;
	} rows[] = {
		{"{\"title\":\"a\",\"turns\":[]}\n\n{\"title\":\"b\",\"turns\":[]}", 2, 0, 0},
		{"\xEF\xBB\xBF[{\"title\":\"a\",\"turns\":[]},\n{\"title\":}, 5,\n{}]", 2, 2, 2},
		{" {\"title\":\"a\",\n\"turns\":[]}\n", 1, 0, 0},
		{"{\"title\":\"a\"}\n{\"title\":\n{}\n", 2, 1, 2},
		{"[{\"title\":\"a\"}, {\"title\":", 1, 1, 1},
		{"{\"title\":\"a\",\"turns\":[]}\n5", 1, 1, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		rt_report report;
		rt_outlines o;

		rt_report_init(&report, rt_alloc_libc());
		assert_int_equal(rt_format_talk.read(rt_alloc_libc(), rt_str_of(rows[i].text), &o,
						     &report, NULL),
				 RT_OK);
		assert_int_equal(o.count, rows[i].count);
		assert_int_equal(report.skipped, rows[i].skipped);
		if (rows[i].line > 0)
			assert_int_equal(report.remarks[0].line, rows[i].line);
		rt_report_deinit(&report);
		rt_outlines_deinit(&o);
	}
	assert_int_equal(talk_sniff(RT_STR(" [{\"title\":\"a\",\"turns\":[{\"wh")), 60);
	assert_int_equal(talk_sniff(RT_STR("{\"title\":\"a\",\"tu")), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_example),
					   cmocka_unit_test(test_records)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
