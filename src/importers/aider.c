/* SPDX-License-Identifier: MIT
 *
 * aider: .aider.chat.history.md, the sessions of a directory one after another.
 *
 *   # aider chat started at 2024-08-05 19:33:02
 *   > output of the program and of commands
 *   #### what the user wrote
 *   all other lines: the reply of the model
 *
 * Lines of one kind that follow each other are a message; a blank line belongs to a reply, so it
 * ends one of the others. Other headings that begin with "# " are part of the reply around them;
 * aider's own reader drops them. There are no ids and no branches; every message has the time of its
 * session. */
#include "formats/formats.h"
#include "importers/graph.h"

#define STARTED "# aider chat started at "

typedef enum speaker { REPLY, USER, OUTPUT, SPEAKERS } speaker;

typedef struct history {
	rt_graph g;
	rt_buf *text; /* of the current message */
	rt_buf *mended, *title;
	rt_moment start;
	speaker now;
	bool has_start, is_repaired;
} history;

static rt_str
repaired(history *h, rt_str line)
{
	if (rt_utf8_valid_size(line) == line.size)
		return line;
	if (!h->is_repaired)
		rt_report_add(h->g.r->report, RT_REMARK_REPAIRED, 0,
			      "bytes that are not UTF-8 were replaced with U+FFFD");
	h->is_repaired = true;
	rt_buf_clear(h->mended);
	rt_utf8_repair(h->mended, line);
	return rt_scope_str(&h->g.b->s, h->mended);
}

static void
end_message(history *h)
{
	static const char *const roles[SPEAKERS] = {"assistant", "user", "tool"};
	rt_str text = rt_str_trim(rt_scope_str(&h->g.b->s, h->text));
	rt_node n = {.parent = -1,
		     .role = rt_str_of(roles[h->now]),
		     .ts = h->start,
		     .has_ts = h->has_start};

	if (text.size > 0) {
		if (h->now == USER && h->title->size == 0)
			rt_buf_add_str(h->title, rt_str_trim(rt_graph_title(text)));
		rt_build_body_open(h->g.b, text, false);
		(void)rt_graph_add(&h->g, &n, RT_STR(""));
	}
	rt_buf_clear(h->text);
}

static void
begin_session(history *h, rt_str start)
{
	rt_buf_clear(h->title);
	h->has_start = rt_moment_parse(start, &h->start);
	h->now = REPLY;
	rt_graph_begin(&h->g, RT_STR(""), start);
}

static void
end_session(history *h)
{
	end_message(h);
	if (h->g.outline == NULL)
		return;
	if (h->title->size > 0)
		rt_graph_name(&h->g, rt_scope_str(&h->g.b->s, h->title), RT_STR(""));
	rt_graph_chain(&h->g);
	rt_graph_end(&h->g, RT_GRAPH_LAST);
	h->g.outline = NULL;
}

static void
read_line(history *h, rt_str line)
{
	bool is_output = rt_str_starts(line, RT_STR(">")) && (line.size == 1 || line.ptr[1] == ' ');
	bool is_heading = rt_str_starts(line, RT_STR("# "));
	speaker who = is_output					     ? OUTPUT
		      : rt_str_starts(line, RT_STR("#### ")) ? USER
							     : REPLY;

	if (rt_str_starts(line, RT_STR(STARTED))) {
		end_session(h);
		begin_session(h, rt_str_trim(rt_str_skip(line, strlen(STARTED))));
		return;
	}
	if (h->g.outline == NULL)
		begin_session(h, RT_STR("")); /* before the first heading */
	if (who != h->now && !is_heading) {
		end_message(h);
		h->now = who;
	}
	if (who != REPLY)
		line = rt_str_skip(line, who == USER ? 5 : line.size > 1 ? 2 : 1);
	rt_buf_add_str(h->text, line);
	rt_buf_add_byte(h->text, '\n');
}

static rt_status
aider_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	 rt_error *err)
{
	history h = {0};
	rt_reader r;
	rt_str line;

	rt_reader_init(&r, alloc, in, to, report);
	rt_graph_init(&h.g, &r, "aider");
	h.text = rt_scope_buf(&r.b.s);
	h.mended = rt_scope_buf(&r.b.s);
	h.title = rt_scope_buf(&r.b.s);
	rt_walk_unmark(&r.w);
	while (rt_reader_ok(&r) && rt_walk_line(&r.w, SIZE_MAX, &line) == RT_WALK_WHOLE) {
		if (line.size > 0 && line.ptr[line.size - 1] == '\r')
			line.size--;
		read_line(&h, repaired(&h, line));
	}
	end_session(&h);
	if (rt_reader_has_none(&r))
		rt_reader_refuse(&r, 0, "the file is empty");
	return rt_reader_end(&r, err);
}
RT_READER_FUNCTIONS(aider, aider_to)

static int
aider_sniff(rt_str head)
{
	head = rt_scan_unmark(head);
	return rt_str_starts(head, RT_STR(STARTED)) ||
			       rt_str_find(head, RT_STR("\n" STARTED), 0) != SIZE_MAX
		       ? 95
		       : 0;
}

const rt_format rt_format_aider = {
	.name = "aider",
	.extension = ".md",
	.about = "aider: .aider.chat.history.md",
	.sniff = aider_sniff,
	.read = aider_read,
	.stream = aider_stream,
};
