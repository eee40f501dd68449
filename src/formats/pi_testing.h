/* SPDX-License-Identifier: MIT
 *
 * Session files for tests, a line at a time. Parents are P("id") or ROOT; every line ends
 * with its line end. */
#ifndef RT_FORMATS_PI_TESTING_H
#define RT_FORMATS_PI_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "codec/body.h"
#include "codec/json.h"
#include "formats/formats.h"
#include "formats/pi_context_testing.h"
#include "formats/pi_impl.h"

#define P(id) "\"" id "\""
#define ROOT "null"
#define HEADER \
	"{\"type\":\"session\",\"version\":3,\"id\":\"s1\"," \
	"\"timestamp\":\"2026-11-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n"
/* second is two digits */
#define ENTRY(type, id, parent, second, more) \
	"{\"type\":\"" type "\",\"id\":\"" id "\",\"parentId\":" parent \
	",\"timestamp\":\"2026-11-01T00:00:" second ".000Z\"" more "}\n"
#define MESSAGE(role, id, parent, second, content) \
	ENTRY("message", id, parent, second, \
	      ",\"message\":{\"role\":\"" role "\",\"content\":" content ",\"timestamp\":7}")
#define USER(id, parent, second) MESSAGE("user", id, parent, second, "\"text " id "\"")
#define BOT(id, parent, second) \
	ENTRY("message", id, parent, second, \
	      ",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\"," \
	      "\"text\":\"text " id "\"}],\"api\":\"x\",\"provider\":\"prov-" id "\"," \
	      "\"model\":\"mod-" id "\",\"usage\":{},\"stopReason\":\"stop\",\"timestamp\":7}")
#define COMPACTION(id, parent, second, kept) \
	ENTRY("compaction", id, parent, second, \
	      ",\"summary\":\"sum " id "\",\"firstKeptEntryId\":\"" kept "\",\"tokensBefore\":99")
#define LABEL(id, parent, second, target, more) \
	ENTRY("label", id, parent, second, ",\"targetId\":\"" target "\"" more)
#define SYSTEM(id, parent, second, text) MESSAGE("system", id, parent, second, "\"" text "\"")
#define CHAIN_3 USER("a", ROOT, "01") USER("b", P("a"), "02") USER("c", P("b"), "03")
#define EDIT(id, parent, second, target, replacement) \
	ENTRY("context_edit", id, parent, second, \
	      ",\"targetId\":\"" target "\",\"replacement\":" replacement)

static inline rt_status
read_session(const char *text, rt_pi_session *out, rt_report *report, rt_error *err)
{
	return rt_pi_session_read(rt_alloc_libc(), rt_str_of(text), NULL, out, report, err);
}

static inline void
session_of(const char *text, rt_pi_session *out)
{
	rt_error err = {.text = ""};

	if (read_session(text, out, NULL, &err) != RT_OK)
		fail_msg("%s", err.text);
	rt_pi_session_check(out);
}

static inline void
assert_str(rt_str is, const char *wanted)
{
	if (!rt_str_is(is, wanted))
		fail_msg("is \"%.*s\", should be \"%s\"", RT_STR_ARG(is), wanted);
}

static inline void
outlines_of(rt_str text, rt_outlines *out)
{
	rt_error err = {.text = ""};

	if (rt_format_pi.read(rt_alloc_libc(), text, out, NULL, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static inline void
write_to(const rt_outlines *in, const rt_export_options *options, rt_buf *out)
{
	rt_error err = {.text = ""};

	rt_buf_init(out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (rt_format_pi.write(rt_alloc_libc(), in, options, out, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static inline void
assert_written(const rt_outlines *in, const rt_export_options *options, const char *wanted)
{
	rt_buf out;

	write_to(in, options, &out);
	assert_string_equal(out.ptr, wanted);
	rt_buf_deinit(&out);
}

static inline void
assert_same(rt_str text)
{
	rt_outlines o;
	rt_buf out;

	outlines_of(text, &o);
	write_to(&o, NULL, &out);
	if (!rt_str_eq(rt_buf_str(&out), text))
		fail_msg("was\n%.*s\nis\n%.*s", RT_STR_ARG(text), RT_STR_ARG(rt_buf_str(&out)));
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
}

/* An entry made in Retake; a second later than its parent's number. */
static inline rt_node
text_node(const char *id, int64_t parent, const char *role, const char *text)
{
	rt_node node;

	memset(&node, 0, sizeof(node));
	node.id = rt_str_of(id);
	node.parent = parent;
	node.role = rt_str_of(role);
	node.body_format = RT_BODY_TEXT;
	node.body = rt_str_of(text);
	node.has_ts = true;
	node.ts.us = 1793491200000000 + parent * 1000000;
	return node;
}

#endif
