/* SPDX-License-Identifier: MIT
 *
 * Outlines and reports: what importers fill, checked once for all of them. */
#include <stdarg.h>
#include <stdio.h> /* vsnprintf only */

#include "codec/json.h"
#include "ops/format.h"

void
rt_report_init(rt_report *report, const rt_alloc *alloc)
{
	memset(report, 0, sizeof(*report));
	report->alloc = alloc;
}

void
rt_report_deinit(rt_report *report)
{
	rt_free(report->alloc, report->remarks);
	report->remarks = NULL;
	report->remark_count = 0;
}

const char *
rt_remark_word(rt_remark_level level)
{
	static const char *const words[] = {[RT_REMARK_NOTE] = "note",
					    [RT_REMARK_REPAIRED] = "repaired",
					    [RT_REMARK_SKIPPED] = "skipped"};

	return words[level];
}

void
rt_report_put(rt_buf *out, const rt_report *report)
{
	rt_json_put_u64(out, "repaired", report->repaired);
	rt_json_put_u64(out, "skipped", report->skipped);
	rt_json_put_u64(out, "noted", report->noted);
	rt_json_put_u64(out, "empty", report->empty);
}

void
rt_report_put_remarks(rt_buf *out, const rt_report *report)
{
	rt_json_open(out, "remarks", '[');
	for (size_t i = 0; i < report->remark_count; i++) {
		rt_str text = rt_str_of(report->remarks[i].text);

		rt_json_open(out, NULL, '{');
		rt_json_put_c(out, "level", rt_remark_word(report->remarks[i].level));
		rt_json_put_u64(out, "line", report->remarks[i].line);
		rt_json_put_str(out, "text", rt_str_at(text.ptr, rt_utf8_valid_size(text)));
		rt_json_close(out, '}');
	}
	rt_json_close(out, ']');
}

void
rt_report_add(rt_report *report, rt_remark_level level, uint64_t line, const char *format, ...)
{
	rt_remark *remark;
	va_list ap;

	if (report == NULL)
		return;
	switch (level) {
	case RT_REMARK_NOTE: report->noted++; break;
	case RT_REMARK_REPAIRED: report->repaired++; break;
	case RT_REMARK_SKIPPED: report->skipped++; break;
	}
	if (report->remark_count == RT_REPORT_MAX)
		return;
	if (report->remarks == NULL)
		report->remarks = rt_new_array(report->alloc, RT_REPORT_MAX, sizeof(*remark));
	if (report->remarks == NULL)
		return; /* benign: it is counted anyway */
	remark = &report->remarks[report->remark_count++];
	remark->level = level;
	remark->line = line;
	va_start(ap, format);
	vsnprintf(remark->text, sizeof(remark->text), format, ap);
	va_end(ap);
}

void
rt_outlines_init(rt_outlines *outlines)
{
	memset(outlines, 0, sizeof(*outlines));
}

void
rt_outlines_deinit(rt_outlines *outlines)
{
	rt_arena_free(outlines->arena);
	memset(outlines, 0, sizeof(*outlines));
}

rt_status
rt_outline_repair(const rt_alloc *alloc, rt_outline *outline, size_t *order, rt_report *report)
{
	/* state: 0 not seen, 1 on the walk under way, 2 done */
	unsigned char *state;
	size_t *walk, i, done = 0;

	if (outline->node_count == 0)
		return RT_OK;
	state = rt_new_array(alloc, outline->node_count, 1);
	walk = rt_new_array(alloc, outline->node_count, sizeof(*walk));
	if (state == NULL || walk == NULL) {
		rt_free(alloc, state);
		rt_free(alloc, walk);
		return RT_NOMEM;
	}
	memset(state, 0, outline->node_count);
	for (i = 0; i < outline->node_count; i++) {
		size_t at = i, depth = 0;

		while (state[at] == 0) {
			rt_node *node = &outline->nodes[at];

			state[at] = 1;
			walk[depth++] = at;
			if (node->parent >= (int64_t)outline->node_count || node->parent < -1) {
				rt_report_add(
					report, RT_REMARK_REPAIRED, 0,
					"the parent of entry %zu does not exist; made the entry a root",
					at + 1);
				node->parent = -1;
			}
			if (node->parent < 0)
				break;
			if (state[node->parent] == 1) {
				/* a cycle: cut it at the node that was visited first */
				rt_node *first = &outline->nodes[node->parent];

				rt_report_add(report, RT_REMARK_REPAIRED, 0,
					      "entry %.*s is its own ancestor; made a root",
					      RT_STR_ARG(first->id));
				first->parent = -1;
				break;
			}
			at = (size_t)node->parent;
		}
		while (depth > 0) {
			at = walk[--depth];
			state[at] = 2;
			if (order != NULL)
				order[done++] = at;
		}
	}
	rt_free(alloc, state);
	rt_free(alloc, walk);
	return RT_OK;
}
