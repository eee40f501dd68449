/* SPDX-License-Identifier: MIT
 *
 * Attachments: their place and form in a request, their tokens, and their contents in the store. */
#include <stdio.h>

#include "base/failing_testing.h"
#include "chat/context.h"
#include "chat/last_request.h"
#include "log/bare_testing.h"
#include "log/collect.h"
#include "log/engine_impl.h"
#include "llm/provider.h"
#include "store/store_memory.h"

static int
set_up(void **state)
{
	rt_store *store;

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &store, NULL), RT_OK);
	return bare_set_up(state, store);
}

static rt_attachment
file_of(const char *name, const char *language, const char *text)
{
	rt_attachment file = {.name = rt_str_of(name),
			      .language = rt_str_of(language),
			      .bytes = rt_str_of(text)};
	rt_sha256 sha;

	rt_sha256_init(&sha);
	rt_sha256_add(&sha, file.bytes.ptr, file.bytes.size);
	rt_sha256_end_hex(&sha, file.sha256);
	return file;
}

static rt_attachment
image_of(const char *name, const char *bytes)
{
	rt_attachment file = file_of(name, "", bytes);

	file.mime = RT_STR("image/png");
	return file;
}

static const char *
request(bare *f, const char *provider, const rt_context_options *options)
{
	const rt_project *project = rt_engine_value(f->engine);
	rt_error err = {0};

	rt_buf_clear(&f->out);
	if (rt_view_context(f->engine, project, (rt_place){1, 1},
			    rt_provider_named(rt_str_of(provider)), options, &f->out, &err) != RT_OK)
		fail_msg("%s: %s", provider, err.text);
	rt_object_unref(project);
	return f->out.ptr;
}

static void
has(bare *f, const char *provider, const rt_attachments *files, const char *part)
{
	rt_context_options options = {.files = files};
	const char *body = request(f, provider, &options);

	if (strstr(body, part) == NULL)
		fail_msg("%s: no %s in %s", provider, part, body);
}

static void
files_come_after_system_entries_and_before_all_else(void **state)
{
	bare *f = *state;
	rt_attachment items[] = {file_of("a.c", "c", "int a;\n"), image_of("s.png", "PNG"),
				 file_of("b", "", "no line end")};
	rt_attachments files = {items, 3}, texts = {items, 1}, none = {items, 0};

	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"System\",\"content\":\"Be brief.\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"Why?\"}");
	has(f, "openai", &texts,
	    "{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"File "
	    "`a.c`:\\n\\n```c\\nint a;\\n```\\n\\n\"},{\"role\":\"user\",\"content\":\"Why?\"}");
	has(f, "openai", &files,
	    "Image `s.png`:\\n\\n\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;"
	    "base64,UE5H\"}},{\"type\":\"text\",\"text\":\"File `b`:\\n\\n```\\nno line "
	    "end\\n```\\n\\n\"}]},{\"role\":\"user\",\"content\":\"Why?\"}");
	has(f, "anthropic", &texts, "\"system\":\"Be brief.\"");
	has(f, "anthropic", &texts, "```\\n\\n\"},{\"type\":\"text\",\"text\":\"Why?\"}]}");
	has(f, "anthropic", &files, "\"media_type\":\"image/png\",\"data\":\"UE5H\"");
	has(f, "gemini", &files, "\"data\":\"UE5H\"");
	has(f, "ollama", &files, "\"images\":[\"UE5H\"]");
	has(f, "openai", &none,
	    "[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"Why?\"}]");
}

static void
a_fence_is_longer_than_the_backticks_in_a_text(void **state)
{
	rt_attachment file = file_of("a.md", "markdown", "````\nx\n````\n"), name = file_of("n", "", "");
	rt_buf out;

	(void)state;
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_attachment_add_text(&out, &file);
	assert_string_equal(out.ptr, "File `a.md`:\n\n`````markdown\n````\nx\n````\n`````\n\n");
	rt_buf_clear(&out);
	rt_attachment_add_text(&out, &name);
	assert_string_equal(out.ptr, "File `n`:\n\n```\n```\n\n");
	rt_buf_clear(&out);
	name.name_only = true;
	rt_attachment_add_text(&out, &name);
	assert_string_equal(out.ptr, "File `n` (without its content)\n\n");
	rt_buf_clear(&out);
	name.name = RT_STR("a`b``c");
	rt_attachment_add_text(&out, &name);
	assert_string_equal(out.ptr, "File ```a`b``c``` (without its content)\n\n");
	rt_buf_clear(&out);
	name.name = RT_STR("`a");
	rt_attachment_add_text(&out, &name);
	assert_string_equal(out.ptr, "File `` `a `` (without its content)\n\n");
	rt_buf_deinit(&out);
}

static void
files_count_and_are_never_left_out(void **state)
{
	bare *f = *state;
	rt_attachment items[] = {file_of("a.c", "c", "int a;\nint b;\nint c;\n"), image_of("s.png", "PNG")};
	rt_attachments files = {items, 2};
	size_t tokens[2] = {0, 0};
	rt_context_totals totals = {0}, without = {0};
	rt_context_options options = {.totals = &without};

	for (int i = 0; i < 20; i++)
		bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"some words\"}");
	(void)request(f, "openai", &options);
	assert_int_equal(without.file_tokens, 0);
	options = (rt_context_options){.files = &files, .file_tokens = tokens, .totals = &totals};
	(void)request(f, "openai", &options);
	assert_int_equal(totals.file_tokens, tokens[0] + tokens[1]);
	assert_true(tokens[1] > RT_TOKENS_PER_IMAGE);
	assert_int_equal(totals.tokens, without.tokens + totals.file_tokens);
	options.budget_tokens = totals.file_tokens + 10; /* one entry, and all files */
	const char *body = request(f, "openai", &options);
	assert_non_null(strstr(body, "int c;"));
	assert_non_null(strstr(body, "UE5H"));
	assert_int_equal(totals.entries, 1);
	assert_int_equal(totals.left_out, 19);
}

static void
images_are_refused_where_there_are_none(void **state)
{
	rt_attachment items[] = {file_of("a.c", "c", "x"), image_of("s.png", "PNG")};
	rt_attachments files = {items, 2}, texts = {items, 1};
	rt_model none = {.provider = &rt_provider_builtin_text, .name = RT_STR("text")};
	rt_model some = {.provider = &rt_provider_openai, .name = RT_STR("m")};
	rt_error err = {0};
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	rt_attachments_check(&s, &texts, &none);
	rt_attachments_check(&s, &files, &some);
	assert_true(rt_ok(&s));
	rt_attachments_check(&s, &files, &none);
	assert_int_equal(rt_scope_end(&s, &err), RT_REFUSED);
	assert_non_null(strstr(err.text, "builtin/text does not"));
	assert_non_null(strstr(err.text, "s.png"));
	assert_null(strstr(err.text, "a.c"));
}

/* ---- in the store ---- */

static bool
count_row(void *ctx, const rt_store_row *row)
{
	(void)row;
	++*(size_t *)ctx;
	return true;
}

static size_t
kept(bare *f)
{
	size_t count = 0;

	assert_int_equal(f->store->ops->read(f->store, rt_rows_prefixed(1, RT_STR("file/")), count_row,
					     &count, NULL),
			 RT_OK);
	return count;
}

/* Keeps files as those of the last request of a discussion. */
static rt_status
keep(bare *f, uint32_t disc, const rt_attachments *files, const char *log)
{
	rt_scope s;

	rt_scope_init(&s, f->engine->alloc);
	rt_buf *row = rt_scope_buf(&s);
	rt_json_open(row, NULL, '{');
	rt_attachments_put(row, files);
	rt_json_close(row, '}');
	rt_str text = rt_scope_str(&s, row);
	RT_TRY(&s, rt_engine_keep_last_request(f->engine, disc, text, files, rt_str_of(log), &s.error));
	return rt_scope_end(&s, NULL);
}

/* The record's member, and the texts that are read by it, joined. */
static void
read_back(bare *f, const rt_attachments *files, rt_buf *out)
{
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	rt_buf *json = rt_scope_buf(&s);
	rt_json_open(json, NULL, '{');
	rt_attachments_put(json, files);
	rt_json_close(json, '}');
	yyjson_val *record = rt_json_parse(&s, rt_scope_str(&s, json));
	rt_attachments read = rt_attachments_read(&s, f->engine, rt_json_get(record, "files"));
	rt_buf_clear(out);
	rt_buf_add_c(out, "");
	for (size_t i = 0; i < read.count; i++)
		rt_buf_add_f(out, "%.*s %.*s %.*s %d %.*s|", RT_STR_ARG(read.items[i].name),
			     RT_STR_ARG(read.items[i].language), RT_STR_ARG(read.items[i].mime),
			     read.items[i].name_only, RT_STR_ARG(read.items[i].bytes));
	assert_int_equal(rt_scope_end(&s, NULL), RT_OK);
}

static bool
note_finding(void *ctx, const rt_finding *finding)
{
	assert_string_equal(finding->id, "file-differs");
	++*(size_t *)ctx;
	return true;
}

static rt_status
log_with_b(void *ctx, rt_str key, rt_collect *collect, rt_error *err)
{
	const rt_attachments *files = ctx;

	(void)err;
	if (!rt_str_is(key, "ours"))
		return RT_NOT_FOUND;
	if (files != NULL)
		rt_collect_mark(collect, rt_str_of(files->items[0].sha256));
	return RT_OK;
}

static void
contents_go_with_the_last_request_that_needs_them(void **state)
{
	bare *f = *state;
	rt_attachment a = file_of("a.c", "c", "int a;\n"), b = file_of("b.c", "c", "int b;\n"),
		      both[] = {a, b};
	rt_attachments only_a = {&a, 1}, only_b = {&b, 1}, all = {both, 2}, none = {&a, 0};

	assert_int_equal(keep(f, 1, &all, ""), RT_OK);
	assert_int_equal(keep(f, 2, &only_a, ""), RT_OK);
	assert_int_equal(kept(f), 2);
	assert_int_equal(keep(f, 1, &none, ""), RT_OK); /* discussion 2 needs a */
	assert_int_equal(kept(f), 1);
	assert_int_equal(keep(f, 2, &only_b, ""), RT_OK);
	assert_int_equal(kept(f), 1);
	assert_int_equal(keep(f, 2, &none, ""), RT_OK);
	assert_int_equal(kept(f), 0);
}

static void
lines_without_a_body_need_contents(void **state)
{
	bare *f = *state;
	rt_attachment a = file_of("a.c", "c", "int a;\n"), b = file_of("b.c", "c", "int b;\n");
	rt_attachments only_a = {&a, 1}, only_b = {&b, 1}, none = {&a, 0};
	rt_collected out;

	assert_int_equal(keep(f, 1, &only_a, "ours"), RT_OK);
	assert_int_equal(keep(f, 1, &only_b, ""), RT_OK);
	assert_int_equal(keep(f, 1, &none, ""), RT_OK);
	assert_int_equal(kept(f), 2); /* without the log, nothing tells which files it needs */
	assert_int_equal(rt_engine_collect(f->engine, NULL, NULL, &out, NULL), RT_OK);
	assert_int_equal(kept(f), 2);
	assert_int_equal(rt_engine_collect(f->engine, log_with_b, &only_b, &out, NULL), RT_OK);
	assert_int_equal(out.removed, 1);
	assert_int_equal(kept(f), 1);
	assert_int_equal(keep(f, 1, &only_a, "another"), RT_OK);
	assert_int_equal(rt_engine_collect(f->engine, log_with_b, NULL, &out, NULL), RT_OK);
	assert_int_equal(out.removed, 0); /* the other log cannot be read */
	assert_int_equal(kept(f), 2);
}

static void
contents_are_kept_once_and_purged(void **state)
{
	bare *f = *state;
	rt_attachment items[] = {file_of("a.c", "c", "secret\n"), file_of("copy.c", "c", "secret\n"),
				 image_of("s.png", "PNG"), file_of("empty", "", ""),
				 file_of("name", "", "")};
	rt_attachments files = {items, 5};
	size_t findings = 0;
	char name[80];
	rt_buf out;

	items[4].name_only = true;
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"x\"}");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(keep(f, 1, &files, ""), RT_OK);
		assert_int_equal(kept(f), 2);
	}
	read_back(f, &files, &out);
	assert_string_equal(out.ptr, "a.c c  0 secret\n|copy.c c  0 secret\n|s.png  image/png 0 PNG|"
				     "empty   0 |name   1 |");
	assert_int_equal(rt_engine_fsck_files(f->engine, note_finding, &findings, NULL), RT_OK);
	assert_int_equal(findings, 0);
	bare_apply(f, "{\"op\":\"purge\",\"text\":\"secret\"}");
	assert_int_equal(kept(f), 1);
	read_back(f, &files, &out);
	assert_string_equal(out.ptr, "a.c c  0 [purged]|copy.c c  0 [purged]|s.png  image/png 0 PNG|"
				     "empty   0 |name   1 |");
	(void)snprintf(name, sizeof(name), "file/%s", items[2].sha256);
	assert_int_equal(f->store->ops->write(f->store,
					      rt_rows_named(RT_STORE_SIDE, 1, rt_str_of(name)),
					      RT_STR("other"), NULL),
			 RT_OK);
	assert_int_equal(rt_engine_fsck_files(f->engine, note_finding, &findings, NULL), RT_OK);
	assert_int_equal(findings, 1);
	rt_buf_deinit(&out);
}

static void
without_memory_nothing_is_left_half_done(void **state)
{
	bare *f = *state;
	rt_attachment items[] = {file_of("a.c", "c", "int a;\n"), image_of("s.png", "PNG")};
	rt_attachment old = file_of("b.c", "c", "int b;\n");
	rt_attachments files = {items, 2}, other = {&old, 1};
	const rt_alloc *usual = f->engine->alloc;

	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"x\"}");
	for (long n = 0;; n++) {
		failing memory = {.left = n};
		rt_alloc alloc = {failing_resize, failing_release, &memory};
		rt_scope s;

		rt_scope_init(&s, &alloc);
		rt_model_request *r = rt_request_new(&s, &rt_provider_anthropic);
		rt_request_settings settings = {0};
		rt_buf *body = rt_scope_buf(&s);

		f->engine->alloc = &alloc;
		RT_TRY(&s, keep(f, 1, &other, ""));
		RT_TRY(&s, keep(f, 1, &files, ""));
		f->engine->alloc = usual;
		if (r != NULL) {
			rt_attachments_send(&files, r);
			rt_request_finish(r, &settings, body);
		}
		rt_str sent = rt_scope_str(&s, body);
		bool whole = rt_ok(&s) && rt_str_find(sent, RT_STR("UE5H"), 0) != SIZE_MAX;
		rt_status st = rt_scope_end(&s, NULL);

		assert_int_equal(atomic_load(&memory.live), 0);
		assert_int_equal(st, atomic_load(&memory.failed) ? RT_NOMEM : RT_OK);
		if (!atomic_load(&memory.failed)) {
			assert_true(whole);
			assert_int_equal(kept(f), 2);
			return;
		}
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, bare_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_come_after_system_entries_and_before_all_else),
		TEST(a_fence_is_longer_than_the_backticks_in_a_text),
		TEST(files_count_and_are_never_left_out),
		TEST(images_are_refused_where_there_are_none),
		TEST(contents_are_kept_once_and_purged),
		TEST(contents_go_with_the_last_request_that_needs_them),
		TEST(lines_without_a_body_need_contents),
		TEST(without_memory_nothing_is_left_half_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
