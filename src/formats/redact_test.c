/* SPDX-License-Identifier: MIT */
#include "formats/redact.h"

#include "formats/formats.h"
#include "formats/formats_random.h"

/* ---- made keys: none of them opens anything ---- */

static const char *const secrets[] = {
	"sk-ant-api03-Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1Iu-AA",
	"AIzaSyZx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1Iu",
	"ghp_Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1IuZx8Q",
	"AKIAZX8QW2LM4NB6VC0K",
	"xoxb-123456789012-Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.Zx8Qw2Lm4Nb6Vc0Kj9Hg",
	"-----BEGIN RSA PRIVATE KEY-----\nMIIEowZx8Qw2Lm4Nb6Vc0K\n-----END RSA PRIVATE KEY-----",
};

/* Texts that must not be in any byte of a file, of each kind. */
static const char *const needles[] = {
	"Zx8Qw2Lm4Nb6Vc0K", "ZX8QW2LM4NB6VC0K", "eyJhbGciOiJIUzI1NiJ9", "123456789012-",
};

static void
assert_gone(rt_str bytes, const char *what)
{
	size_t i;

	for (i = 0; i < sizeof(needles) / sizeof(needles[0]); i++) {
		size_t at = rt_str_find(bytes, rt_str_of(needles[i]), 0);

		if (at != SIZE_MAX)
			fail_msg("%s: %s at byte %zu: %.*s", what, needles[i], at, 80,
				 bytes.ptr + (at < 30 ? 0 : at - 30));
	}
}

static void
add_field(rt_build *b, const char *name, rt_str text)
{
	rt_buf json;

	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&json, '[');
	rt_json_add_string(&json, text);
	rt_buf_add_c(&json, ",{");
	rt_json_add_key_str(&json, text);
	rt_json_add_string(&json, text);
	rt_buf_add_c(&json, "}]");
	rt_build_field(b, rt_str_of(name), rt_build_copy(b, rt_buf_str(&json)));
	rt_buf_deinit(&json);
}

/* A project with a text in every place for text: in bodies of all three kinds, too. */
static void
plant(rt_str text, rt_outlines *out)
{
	rt_error err = {.text = ""};
	rt_build b;
	rt_buf json, bytes;
	rt_node node;
	rt_outline *o;
	int64_t path[4];
	rt_str copy;
	size_t i;

	rt_build_init(&b, rt_alloc_libc(), NULL);
	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&bytes, rt_alloc_libc(), RT_BUF_UNLIMITED);
	copy = rt_build_copy(&b, text);
	o = rt_build_discussion(&b);
	o->name = copy;
	o->called = copy;
	o->source = copy;
	o->sent_take = o->sent_markdown = o->sent_system_prompt = copy;
	memset(&node, 0, sizeof(node));
	node.parent = -1;
	node.id = node.role = node.kind = node.label = copy;
	rt_build_body_open(&b, copy, false);
	rt_json_add_string(rt_build_body_field(&b, RT_STR("model")), copy);
	rt_json_add_string(rt_build_body_field(&b, copy), copy);
	path[0] = (int64_t)rt_build_node(&b, &node);
	rt_buf_add_c(&json, "[{\"type\":\"text\",\"text\":");
	rt_json_add_string(&json, copy);
	rt_buf_add_c(&json, "},{\"type\":\"toolCall\",\"name\":");
	rt_json_add_string(&json, copy);
	rt_buf_add_c(&json, ",\"arguments\":{\"password\":\"Zx8Qw2Lm4Nb6Vc0K\",\"command\":");
	rt_json_add_string(&json, copy);
	rt_buf_add_c(&json, ",\"argv\":[\"--token\",\"Zx8Qw2Lm4Nb6Vc0K\"],\"inner\":");
	rt_json_add_string(&bytes, copy); /* arguments as a text of JSON */
	rt_json_add_string(&json, rt_buf_str(&bytes));
	rt_buf_add_c(&json, "}}]");
	node.id = RT_STR("second");
	node.parent = path[0];
	rt_build_body_open(&b, rt_buf_str(&json), true);
	path[1] = (int64_t)rt_build_node(&b, &node);
	node.id = RT_STR("third");
	node.role = RT_STR("User");
	node.kind = node.label = rt_str_at("", 0);
	node.parent = path[1];
	rt_build_body_open(&b, copy, false);
	path[2] = (int64_t)rt_build_node(&b, &node);
	node.id = RT_STR("fourth");
	node.role = RT_STR("AI");
	node.before_format = RT_BODY_TEXT; /* it was edited */
	node.before = copy;
	node.parent = path[2];
	rt_build_body_open(&b, RT_STR("nothing"), false);
	path[3] = (int64_t)rt_build_node(&b, &node);
	rt_build_take(&b, copy, copy, path, 4);
	rt_build_take(&b, RT_STR("other"), rt_str_at("", 0), path, 2);
	for (i = 0; i < 3; i++) {
		static const char *const names[] = {"files", "presets", "toml.extra"};

		add_field(&b, names[i], copy);
	}
	rt_buf_clear(&json);
	rt_json_add_string(&json, copy);
	rt_build_field(&b, RT_STR("prompt"), rt_build_copy(&b, rt_buf_str(&json)));
	rt_build_field(&b, RT_STR("setting.project_system_prompt"), rt_build_copy(&b, rt_buf_str(&json)));
	rt_build_field(&b, RT_STR("source"), rt_build_copy(&b, rt_buf_str(&json)));
	assert_int_equal(rt_build_finish(&b, out, &err), RT_OK);
	rt_build_deinit(&b);
	rt_buf_deinit(&json);
	rt_buf_deinit(&bytes);
}

static void
write_as(const rt_format *format, const rt_outlines *in, rt_buf *out)
{
	rt_export_options options = {.whole = true, .lossless = true};
	rt_error err = {.text = ""};

	rt_buf_clear(out);
	if (format->write(rt_alloc_libc(), in, &options, out, &err) != RT_OK)
		fail_msg("%s: %s", format->name, err.text);
}

static void
redact(rt_outlines *io, rt_redaction *out)
{
	rt_error err = {.text = ""};

	rt_redaction_init(out, rt_alloc_libc());
	if (rt_redact(rt_alloc_libc(), io, NULL, out, &err) != RT_OK)
		fail_msg("%s", err.text);
}

/* Each of them in every place, in every format. */
static void
test_everywhere(void **state)
{
	rt_redaction found;
	rt_outlines io;
	rt_buf bytes;
	size_t i, k;

	(void)state;
	rt_buf_init(&bytes, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
		plant(rt_str_of(secrets[i]), &io);
		write_as(&rt_format_canonical, &io, &bytes);
		assert_true(bytes.size > 1000);
		redact(&io, &found);
		assert_int_equal(found.entries, 4);
		assert_true(found.places > 25);
		for (k = 0; rt_formats[k] != NULL; k++) {
			if (rt_formats[k]->write == NULL)
				continue;
			write_as(rt_formats[k], &io, &bytes);
			assert_gone(rt_buf_str(&bytes), rt_formats[k]->name);
			assert_true(rt_str_find(rt_buf_str(&bytes), RT_STR("[redacted: "), 0) != SIZE_MAX ||
				    rt_str_find(rt_buf_str(&bytes), RT_STR("redacted: "), 0) != SIZE_MAX);
		}
		rt_buf_clear(&bytes);
		rt_redaction_add_json(&bytes, &found);
		assert_gone(rt_buf_str(&bytes), "the list of what was found");
		rt_redaction_deinit(&found);
		rt_outlines_deinit(&io);
	}
	rt_buf_deinit(&bytes);
}

/* A conversation without secrets is unchanged byte for byte, except for the note that it was
 * searched. */
static void
test_nothing(void **state)
{
	rt_redaction found;
	rt_outlines io;
	rt_buf before, after;

	(void)state;
	rt_buf_init(&before, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&after, rt_alloc_libc(), RT_BUF_UNLIMITED);
	plant(RT_STR("sk-learn, 550e8400-e29b-41d4-a716-446655440000, \"x\\u0041\\n\" 100%"), &io);
	write_as(&rt_format_markdown, &io, &before);
	redact(&io, &found);
	assert_int_equal(found.places, 2); /* those that have names of secrets */
	assert_int_equal(found.entries, 1);
	assert_int_equal(io.items[0].source.size, 0);
	rt_redaction_deinit(&found);
	rt_outlines_deinit(&io);

	plant(RT_STR("plain"), &io);
	io.items[0].nodes[1].body = RT_STR("{\"content\":[ {\"type\":\"text\" , \"text\":\"\\u0041\"}]}");
	write_as(&rt_format_pi, &io, &before);
	redact(&io, &found);
	assert_int_equal(found.places, 0);
	write_as(&rt_format_pi, &io, &after);
	assert_string_equal(io.items[0].nodes[1].body.ptr,
			    "{\"content\":[ {\"type\":\"text\" , \"text\":\"\\u0041\"}]}");
	rt_buf_clear(&after);
	rt_redaction_add_words(&after, &found);
	assert_string_equal(after.ptr, "nothing that looks like a secret");
	rt_redaction_deinit(&found);
	rt_outlines_deinit(&io);
	rt_buf_deinit(&before);
	rt_buf_deinit(&after);
}

/* A redacted page is read back unchanged, including the note. */
static void
test_again(void **state)
{
	rt_redaction found, second;
	rt_error err = {.text = ""};
	rt_outlines io, again;
	rt_buf page, first, words;
	size_t at;

	(void)state;
	rt_buf_init(&page, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&first, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&words, rt_alloc_libc(), RT_BUF_UNLIMITED);
	plant(rt_str_of(secrets[0]), &io);
	redact(&io, &found);
	write_as(&rt_format_html, &io, &page);
	write_as(&rt_format_canonical, &io, &first);
	assert_int_equal(rt_format_html.read(rt_alloc_libc(), rt_buf_str(&page), &again, NULL, &err),
			 RT_OK);
	write_as(&rt_format_canonical, &again, &words);
	assert_true(rt_str_eq(rt_buf_str(&first), rt_buf_str(&words)));
	at = rt_str_find(rt_buf_str(&first), RT_STR("\"redacted\":{\"entries\":4,"), 0);
	assert_true(at != SIZE_MAX);
	assert_true(rt_str_find(rt_buf_str(&page), RT_STR("Redacted: 4 entries"), 0) != SIZE_MAX);
	redact(&again, &second); /* marks are no secrets */
	assert_int_equal(second.places, 0);
	rt_buf_clear(&words);
	rt_redaction_add_words(&words, &found);
	assert_memory_equal(words.ptr, "4 entries redacted: ", 20);
	rt_redaction_deinit(&found);
	rt_redaction_deinit(&second);
	rt_outlines_deinit(&io);
	rt_outlines_deinit(&again);
	rt_buf_deinit(&page);
	rt_buf_deinit(&first);
	rt_buf_deinit(&words);
}

/* Two names that were different are still different, equal ones are equal. */
static void
test_names(void **state)
{
	rt_redaction found;
	rt_outlines io;
	rt_outline *o;

	(void)state;
	plant(rt_str_of(secrets[0]), &io);
	o = &io.items[0];
	o->nodes[1].id = rt_str_of(secrets[1]);
	o->nodes[2].id = rt_str_of(secrets[0]);
	o->takes[1].name = rt_str_of(secrets[2]);
	redact(&io, &found);
	assert_true(rt_str_eq(o->nodes[0].id, o->nodes[2].id));
	assert_false(rt_str_eq(o->nodes[0].id, o->nodes[1].id));
	assert_false(rt_str_eq(o->takes[0].name, o->takes[1].name));
	rt_redaction_deinit(&found);
	rt_outlines_deinit(&io);
}

/* The same for names of members, and of fields: an import would lose one of two equal ones. */
static void
test_members(void **state)
{
	rt_outline_field fields[2];
	rt_redaction found;
	rt_outlines io;
	rt_node *node;
	rt_buf json;
	size_t i;

	(void)state;
	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	plant(RT_STR("plain"), &io);
	rt_buf_add_f(&json,
		     "{\"content\":[],\"x\":[{\"%s\":1,\"%s\" : 2,\"%s\":3},{\"%s\":4},\"%s\"]}",
		     secrets[0], secrets[1], secrets[2], secrets[1], secrets[1]);
	node = &io.items[0].nodes[1];
	node->body = rt_buf_str(&json);
	for (i = 0; i < 2; i++)
		fields[i] = (rt_outline_field){rt_str_of(secrets[i]), RT_STR("1")};
	io.items[0].fields = fields;
	io.items[0].field_count = 2;
	redact(&io, &found);
	assert_string_equal(node->body.ptr,
			    "{\"content\":[],\"x\":[{\"[redacted: api key]\":1,\"[redacted: api key] 2\" : 2,"
			    "\"[redacted: github token] 3\":3},{\"[redacted: api key] 2\":4},"
			    "\"[redacted: api key]\"]}");
	assert_string_equal(io.items[0].fields[0].name.ptr, "[redacted: api key]");
	assert_string_equal(io.items[0].fields[1].name.ptr, "[redacted: api key] 2");
	rt_redaction_deinit(&found);
	rt_outlines_deinit(&io);
	rt_buf_deinit(&json);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everywhere),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
