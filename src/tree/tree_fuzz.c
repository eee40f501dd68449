/* SPDX-License-Identifier: MIT
 *
 * Any body as the one entry of a tree, and any query in it: bytes are kind, form, the body, and
 * after the last NUL the query. Rows are shown text of the requested width. */
#include <stdlib.h>

#include "terminal/text.h"
#include "tree/tree_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const kinds[] = {"",
				    "message",
				    "compaction",
				    "branch_summary",
				    "custom",
				    "custom_message",
				    "label",
				    "session_info",
				    "context_edit",
				    "model_change",
				    "thinking_level_change",
				    "news"};
static const char *const roles[] = {"user",   "assistant", "toolResult", "bashExecution",
				    "system", "",          "AI",         "tool"};

typedef struct subject {
	rt_body body;
	rt_tree_speaker speaker;
} subject;

static rt_status
tell(void *ctx, const rt_tree *tree, const uint32_t *nodes, size_t count, bool to_search,
     rt_tree_told_fn fn, void *to, rt_error *err)
{
	const subject *s = ctx;
	rt_tree_told told = {.silent = rt_tree_is_silent(&s->speaker)};
	rt_buf text;

	(void)tree, (void)nodes, (void)err;
	RT_ASSERT(count == 1);
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (to_search) {
		rt_tree_add_hay(&text, &s->speaker, &told.text);
		RT_ASSERT(told.text <= text.size);
		told.hay = rt_buf_str(&text);
	} else {
		rt_tree_add_words(&text, &s->speaker, &told.who);
		RT_ASSERT(told.who <= text.size);
		told.words = rt_buf_str(&text);
	}
	RT_ASSERT(text.status == RT_OK);
	fn(to, 0, &told);
	rt_buf_deinit(&text);
	return RT_OK;
}

static void
keep_call(void *ctx, rt_str id, yyjson_val *call)
{
	subject *s = ctx;

	(void)id;
	s->speaker.call = call;
}

static void
show(subject *s, rt_str label, rt_str query, const rt_tree_options *options)
{
	const rt_tree_source source = {tell, NULL, s};
	rt_tree_entry entry = {.name = 1,
			       .body = 1,
			       .entry = 1,
			       .parent = RT_TREE_NONE,
			       .label = label,
			       .kind = (uint8_t)rt_tree_kind_of(s->speaker.role, s->speaker.kind)};
	rt_tree *tree = NULL;
	rt_scope scope;
	size_t width;

	RT_ASSERT(rt_tree_new(rt_alloc_libc(), &source, options, &tree) == RT_OK);
	rt_tree_set_filter(tree, RT_TREE_ALL);
	RT_ASSERT(rt_tree_set(tree, &entry, 1, 0, NULL) == RT_OK);
	RT_ASSERT(rt_tree_search(tree, query, NULL) == RT_OK);
	rt_tree_check(tree);
	RT_ASSERT(rt_tree_search(tree, RT_STR(""), NULL) == RT_OK);
	rt_scope_init(&scope, rt_alloc_libc());
	for (width = 0; width < 90; width += 11) {
		const rt_tree_line *line =
			rt_tree_draw(tree, &scope, 0, rt_tree_row_count(tree), width);

		RT_ASSERT(line != NULL);
		RT_ASSERT(rt_shown_columns(line->text) <= width);
		RT_ASSERT(rt_utf8_valid_size(line->text) == line->text.size);
	}
	rt_scope_deinit(&scope);
	rt_tree_free(tree);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char forms[] = {RT_BODY_TEXT, RT_BODY_JSON, RT_BODY_PI, RT_BODY_PURGED};
	const rt_tree_options options[] = {{.as_pi = true}, {.ascii = true}};
	rt_str body, query = RT_STR("");
	subject s;
	size_t i;
	char *bytes;

	if (size < 3)
		return 0;
	memset(&s, 0, sizeof(s));
	s.speaker.body = &s.body;
	s.speaker.kind = rt_str_of(kinds[data[0] % (sizeof(kinds) / sizeof(kinds[0]))]);
	s.speaker.role = rt_str_of(roles[data[1] % (sizeof(roles) / sizeof(roles[0]))]);
	s.speaker.home = RT_STR("/home");
	bytes = malloc(size - 2);
	RT_ASSERT(bytes != NULL);
	memcpy(bytes, data + 2, size - 2);
	bytes[0] = forms[data[2] % sizeof(forms)];
	body = rt_str_at(bytes, size - 2);
	for (i = body.size; i > 1; i--)
		if (bytes[i - 1] == '\0') {
			query = rt_str_at(bytes + i, body.size - i);
			body.size = i - 1;
			break;
		}
	if (rt_body_read(rt_alloc_libc(), body, &s.body, NULL) == RT_OK) {
		rt_tree_each_call(&s.body, keep_call, &s);
		(void)rt_tree_call_id(&s.body);
		for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
			s.speaker.as_pi = options[i].as_pi;
			show(&s, query, query, &options[i]);
		}
		rt_body_deinit(&s.body);
	}
	free(bytes);
	return 0;
}
