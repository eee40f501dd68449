/* SPDX-License-Identifier: MIT
 *
 * SillyTavern: chat files.
 *
 *   {"user_name","character_name","chat_metadata":{"integrity",…}}         the first line
 *   {"name","is_user","is_system","send_date","mes","swipes":[…],"swipe_id","swipe_info":[…],
 *    "extra":{"model","reasoning",…}}
 *
 * Messages follow each other. Swipes are other texts of a message: siblings, of which the chosen one
 * continues; its text is "mes". Newer versions write "unused" for both names; chats of groups may
 * have no such line. */
#include "formats/formats.h"
#include "importers/graph.h"

/* ---- times ---- */

/* The numbers in a text; returns how many. */
static size_t
find_numbers(rt_str text, unsigned *out, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < text.size && count < room; i++) {
		unsigned number = 0;

		if (text.ptr[i] < '0' || text.ptr[i] > '9')
			continue;
		for (; i < text.size && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
			number = number < 100000 ? number * 10 + (unsigned)(text.ptr[i] - '0') : number;
		out[count++] = number;
	}
	return count;
}

/* 1 … 12; 0: the text does not begin with a month. */
static unsigned
month_of(rt_str text)
{
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

	for (unsigned i = 0; i < 12; i++)
		if (rt_str_starts(text, rt_str_of(months[i])))
			return i + 1;
	return 0;
}

/* An ISO text or a number, "2023-6-2 @21h 09m 51s 363ms", or "June 19, 2023 2:20pm". */
static bool
read_time(rt_graph *g, yyjson_val *value, rt_moment *out)
{
	rt_str text = yyjson_is_str(value) ? rt_json_str(value) : rt_str_at("", 0);
	unsigned n[7] = {0}, month = month_of(text);
	size_t count;

	if (rt_build_moment(value, out))
		return true;
	count = find_numbers(text, n, 7);
	if (month > 0 && count >= 4) { /* day, year, hour, minute */
		bool is_pm = rt_str_find(text, RT_STR("pm"), 0) != SIZE_MAX;
		unsigned day = n[0], year = n[1], hour = n[2] % 12 + (is_pm ? 12 : 0), minute = n[3];

		n[0] = year;
		n[1] = month;
		n[2] = day;
		n[3] = hour;
		n[4] = minute;
		n[5] = n[6] = 0;
	} else if (count < 6 || rt_str_find(text, RT_STR("@"), 0) == SIZE_MAX) {
		return false;
	}
	rt_buf_clear(g->b->scratch);
	rt_buf_add_f(g->b->scratch, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", n[0], n[1], n[2], n[3],
		     n[4], n[5], n[6] % 1000);
	return rt_build_moment_str(rt_scope_str(&g->b->s, g->b->scratch), false, out);
}

/* ---- messages ---- */

/* Adds a text of a message after tip: extra and date are its own, record is the kept one. */
static int64_t
add_text(rt_graph *g, rt_node n, rt_str text, yyjson_val *extra, yyjson_val *date,
	 yyjson_val *record, const char *without)
{
	rt_parts_begin(&g->parts);
	rt_parts_thinking(&g->parts, rt_graph_text(extra, "reasoning"));
	rt_parts_text(&g->parts, text);
	rt_parts_end(&g->parts);
	n.has_ts = read_time(g, date, &n.ts);
	rt_graph_keep(g, "model", rt_json_get(extra, "model"));
	rt_graph_raw(g, record, without);
	return rt_graph_add(g, &n, RT_STR(""));
}

static rt_str
swipe_text(yyjson_val *swipe)
{
	return yyjson_is_str(swipe) ? rt_json_str(swipe) : rt_graph_text(swipe, "message mes");
}

/* Returns the node that continues. */
static int64_t
read_message(rt_graph *g, yyjson_val *record, int64_t tip)
{
	yyjson_val *swipes = rt_json_get(record, "swipes"), *info = rt_json_get(record, "swipe_info");
	bool is_user = yyjson_is_true(rt_json_get(record, "is_user"));
	bool is_system = yyjson_is_true(rt_json_get(record, "is_system"));
	rt_str text = rt_graph_text(record, "mes");
	rt_node n = {.parent = tip,
		     .role = is_user	 ? RT_STR("user")
			     : is_system ? RT_STR("system")
					 : RT_STR("assistant"),
		     .muted = is_system};
	uint64_t chosen = 0;
	yyjson_val *own;
	int64_t at;

	(void)rt_json_u64(rt_json_get(record, "swipe_id"), &chosen);
	own = yyjson_arr_get(swipes, (size_t)chosen);
	/* the other texts are siblings; the chosen one is kept if "mes" was edited since */
	at = add_text(g, n, text, rt_json_get(record, "extra"), rt_json_get(record, "send_date"), record,
		      own != NULL && rt_str_eq(swipe_text(own), text) ? "mes swipes" : "mes");
	rt_graph_rank(g, at, own != NULL ? (uint32_t)chosen : UINT32_MAX);
	for (rt_json_iter m = rt_json_items(swipes); rt_ok(&g->b->s) && rt_json_next(&m);) {
		yyjson_val *about = yyjson_arr_get(info, m.index);

		if (m.index == chosen)
			continue;
		rt_graph_rank(g,
			      add_text(g, n, swipe_text(m.value), rt_json_get(about, "extra"),
				       rt_json_get(about, "send_date"), about, ""),
			      (uint32_t)m.index);
	}
	return at >= 0 ? at : tip;
}

static void
begin_chat(rt_graph *g, yyjson_val *header)
{
	rt_str name = rt_graph_text(header, "character_name");

	rt_graph_begin(g, rt_str_is(name, "unused") ? RT_STR("") : name,
		       rt_graph_text(rt_json_get(header, "chat_metadata"), "integrity"));
	rt_graph_fields(g, header, "");
}

static rt_status
sillytavern_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to,
	       rt_report *report, rt_error *err)
{
	rt_reader r;
	rt_graph g;
	yyjson_val *record;
	int64_t tip = -1;

	rt_reader_init(&r, alloc, in, to, report);
	rt_graph_init(&g, &r, "sillytavern");
	while ((record = rt_graph_record(&g)) != NULL) {
		bool is_message = yyjson_is_str(rt_json_get(record, "mes"));

		if (rt_reader_count(&r) == 0 && !is_message && rt_json_get(record, "user_name") != NULL)
			begin_chat(&g, record);
		else if (is_message && rt_reader_count(&r) == 0 && rt_json_get(record, "is_user") == NULL)
			break;
		else if (is_message) {
			if (rt_reader_count(&r) == 0)
				begin_chat(&g, NULL);
			tip = read_message(&g, record, tip);
		} else
			rt_reader_skipped(&r, "skipped a line that is not a message");
	}
	if (rt_reader_count(&r) == 0)
		rt_reader_refuse(&r, 0, "the first line is neither the header nor a message of a SillyTavern chat");
	rt_graph_end(&g, tip);
	return rt_reader_end(&r, err);
}
RT_READER_FUNCTIONS(sillytavern, sillytavern_to)

static int
sillytavern_sniff(rt_str head)
{
	head = rt_scan_unmark(head);
	if (rt_graph_member(head, "mes").size > 0 && rt_graph_member(head, "is_user").size > 0)
		return 80; /* a group */
	return rt_graph_member(head, "user_name").size > 0 &&
			       (rt_graph_member(head, "character_name").size > 0 ||
				rt_graph_member(head, "chat_metadata").size > 0)
		       ? 85
		       : 0;
}

const rt_format rt_format_sillytavern = {
	.name = "sillytavern",
	.extension = ".jsonl",
	.about = "SillyTavern: chat files",
	.sniff = sillytavern_sniff,
	.read = sillytavern_read,
	.stream = sillytavern_stream,
};
