/* SPDX-License-Identifier: MIT
 *
 * A take as text and back: nothing gets lost, and the requests from a changed file turn the old
 * take into exactly the new one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/takefile.h"

enum { ROUNDS = 3000, ENTRIES = 9 };

static unsigned
chance(unsigned below)
{
	return (unsigned)rand() % below;
}

static void
add(rt_cli_items *items, const char *id, const char *role, rt_str content)
{
	rt_cli_item item = {.id = rt_str_of(id), .role = rt_str_of(role), .content = content};

	rt_cli_items_add(items, &item);
	assert_true(rt_ok(items->s));
}

/* The scope of a test, or of a round; ended by end_items. */
static rt_scope scope;

static rt_cli_items
new_items(void)
{
	if (scope.alloc == NULL)
		rt_scope_init(&scope, rt_alloc_libc());
	return (rt_cli_items){.s = &scope};
}

static void
end_items(void)
{
	rt_scope_deinit(&scope);
	rt_scope_init(&scope, rt_alloc_libc());
}

static void
write_to(rt_buf *buf, const rt_cli_items *items)
{
	rt_buf_init(buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_cli_takefile_write(buf, items, RT_STR("A title"));
	assert_int_equal(buf->status, RT_OK);
}

static void
read_from(rt_str text, rt_cli_items *items)
{
	*items = rt_cli_takefile_read(new_items().s, text);
	if (!rt_ok(items->s))
		print_error("%s\n%.*s\n", items->s->error.text, (int)text.size, text.ptr);
	assert_true(rt_ok(items->s));
}

static void
same(const rt_cli_items *a, const rt_cli_items *b)
{
	size_t i;

	assert_int_equal(a->count, b->count);
	for (i = 0; i < a->count; i++) {
		const rt_cli_item *x = &a->items[i], *y = &b->items[i];

		if (!rt_str_eq(x->content, y->content))
			print_error("entry %zu: \"%.*s\" and \"%.*s\"\n", i, RT_STR_ARG(x->content),
				    RT_STR_ARG(y->content));
		assert_true(rt_str_eq(x->content, y->content));
		assert_true(rt_str_eq(x->role, y->role));
		assert_true(x->id.size == 0 || y->id.size == 0 || rt_str_eq(x->id, y->id));
		assert_int_equal(x->muted, y->muted);
	}
}

/* --- example --- */

static void
test_form(void **state)
{
	static const char wanted[] = "=== :step 42\n"
				     "=== a1 User\n"
				     "Hello\n\n"
				     "=== b2 AI\n"
				     "\\=== this looks like a frame\n"
				     "==== this does not\n\n\n"
				     "=== c3 \" odd\"\n\n\n"
				     "=== :end\n";
	rt_cli_items items, again;
	rt_buf buf;

	(void)state;
	items = new_items();
	items.step = 42;
	add(&items, "a1", "User", RT_STR("Hello"));
	add(&items, "b2", "AI", RT_STR("=== this looks like a frame\n==== this does not\n"));
	add(&items, "c3", " odd", RT_STR(""));
	write_to(&buf, &items);
	assert_non_null(strstr(buf.ptr, wanted));
	read_from(rt_buf_str(&buf), &again);
	assert_true(again.has_step);
	assert_int_equal(again.step, 42);
	same(&items, &again);
	end_items();
	rt_buf_deinit(&buf);
}

/* --- errors name the line --- */

static void
refused(const char *text, unsigned line, const char *words)
{
	const char *message = scope.error.text;

	rt_cli_takefile_read(new_items().s, rt_str_of(text));
	assert_int_equal(scope.status, RT_USAGE);
	if (strstr(message, words) == NULL)
		print_error("%s\n", message);
	assert_non_null(strstr(message, words));
	if (line > 0) {
		char start[32];

		snprintf(start, sizeof(start), "line %u:", line);
		assert_int_equal(strncmp(message, start, strlen(start)), 0);
	}
	end_items();
}

static void
test_errors(void **state)
{
	(void)state;
	refused("", 1, "last line of the file is missing");
	refused("=== a User\ntext\n", 3, "last line of the file is missing");
	refused("=== a\ntext\n=== :end\n", 1, "role is missing");
	refused("=== a b!c User\n", 0, "");
	refused("title\n=== a+loud User\ntext\n=== :end\n", 2, "an entry can only be +muted or +locked");
	refused("=== a User\n=== a AI\n=== :end\n", 2, "a second time");
	refused("=== \xFF User\n=== :end\n", 0, "not UTF-8");
	refused("=== a!b User\n=== :end\n", 1, "not an id");
	refused("=== a \"User\n=== :end\n", 1, "JSON string");
	refused("=== a+locked AI\nchanged\n=== :end\n", 1, "cannot be edited");
	refused("=== :step x\n=== :end\n", 1, "must be a number");
}

/* An editor for another system ended every line with CR LF. */
static void
test_crlf(void **state)
{
	rt_cli_items items;

	(void)state;
	read_from(RT_STR("=== :step 1\r\n=== a User\r\none\r\ntwo\r\n\r\n=== :end\r\n"), &items);
	assert_int_equal(items.count, 1);
	assert_true(rt_str_is(items.items[0].content, "one\ntwo"));
	assert_true(rt_str_is(items.items[0].role, "User"));
	end_items();
}

/* --- random takes --- */

static void
random_content(rt_buf *buf)
{
	static const char *const pieces[] = {
		"\n",   "=== ",     "\\",     "===",      "a",  " ",    "=== x User",
		"\r\n", "=== :end", "\\=== ", "\xC3\xBC", "\t", "\n\n", "+"};
	unsigned count = chance(8);

	rt_buf_clear(buf);
	rt_buf_add(buf, "", 0);
	while (count-- > 0)
		rt_buf_add_c(buf, pieces[chance(sizeof(pieces) / sizeof(pieces[0]))]);
}

static const char *
random_role(void)
{
	static const char *const roles[] = {"User",  "AI",         "Vendor API", " led by a space",
					    "ends ", "\"quoted\"", "two\nlines", "",
					    "+ x",   "a=== b"};

	return roles[chance(sizeof(roles) / sizeof(roles[0]))];
}

static void
random_take(rt_cli_items *items)
{
	unsigned count = chance(ENTRIES), i;
	char id[16];
	rt_buf buf;

	*items = new_items();
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < count; i++) {
		snprintf(id, sizeof(id), "e%u", i);
		random_content(&buf);
		add(items, id, random_role(), rt_buf_str(&buf));
		items->items[i].muted = chance(4) == 0;
	}
	rt_buf_deinit(&buf);
}

static void
test_unchanged_stays(void **state)
{
	rt_cli_items items, again;
	rt_cli_requests requests;
	rt_buf buf;
	int round;

	(void)state;
	srand(11);
	for (round = 0; round < ROUNDS; round++) {
		random_take(&items);
		write_to(&buf, &items);
		read_from(rt_buf_str(&buf), &again);
		same(&items, &again);
		requests = (rt_cli_requests){0};
		rt_cli_takefile_diff(&items, &again, &requests);
		assert_true(rt_ok(&scope));
		assert_int_equal(requests.count, 0);
		end_items();
		rt_buf_deinit(&buf);
	}
}

/* --- the difference, against a plain list --- */

typedef struct model {
	rt_cli_item items[64];
	size_t count;
} model;

static size_t
model_find(const model *m, rt_str id)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		if (rt_str_eq(m->items[i].id, id))
			return i;
	fail_msg("no entry %.*s", RT_STR_ARG(id));
	return 0;
}

static rt_cli_item
model_take(model *m, size_t at)
{
	rt_cli_item item = m->items[at];

	memmove(&m->items[at], &m->items[at + 1], (m->count - at - 1) * sizeof(item));
	m->count--;
	return item;
}

static void
model_put(model *m, size_t at, rt_cli_item item)
{
	assert_true(m->count < 64);
	memmove(&m->items[at + 1], &m->items[at], (m->count - at) * sizeof(item));
	m->items[at] = item;
	m->count++;
}

static size_t
model_place(const model *m, const rt_request *r)
{
	if (r->before.ptr != NULL)
		return model_find(m, r->before);
	return model_find(m, r->after) + 1;
}

static void
model_apply(model *m, const rt_request *r)
{
	if (r->op == RT_OP_ENTRY_MOVE) {
		rt_cli_item item = model_take(m, model_find(m, r->entry));

		model_put(m, model_place(m, r), item);
	} else if (r->op == RT_OP_ENTRY_DELETE) {
		(void)model_take(m, model_find(m, r->entry));
	} else if (r->op == RT_OP_ENTRY_INSERT || r->op == RT_OP_ENTRY_APPEND) {
		rt_cli_item item = {
			.role = r->role,
			.content = r->content.text,
			.muted = r->muted == RT_YES,
		};

		model_put(m, r->op == RT_OP_ENTRY_APPEND ? m->count : model_place(m, r), item);
	} else {
		rt_cli_item *item = &m->items[model_find(m, r->entry)];

		if (r->op == RT_OP_ENTRY_EDIT)
			item->content = r->content.text;
		else if (r->op == RT_OP_ENTRY_ROLE)
			item->role = r->role;
		else if (r->op == RT_OP_ENTRY_MUTE)
			item->muted = r->muted == RT_YES;
		else
			fail_msg("an unexpected operation: %d", (int)r->op);
	}
}

/* Another take made of the same entries: some removed, moved, changed, some new. */
static void
change_take(const rt_cli_items *was, rt_cli_items *now)
{
	size_t order[64], count = 0, i;
	rt_buf buf;

	*now = new_items();
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < was->count; i++)
		if (chance(4) != 0)
			order[count++] = i;
	for (i = 0; i < count && chance(2) == 0; i++) {
		size_t a = chance((unsigned)count), b = chance((unsigned)count), kept = order[a];

		order[a] = order[b];
		order[b] = kept;
	}
	for (i = 0; i <= count; i++) {
		while (chance(4) == 0 && now->count < 40) {
			random_content(&buf);
			add(now, "", "User", rt_buf_str(&buf));
		}
		if (i < count) {
			rt_cli_item item = was->items[order[i]];

			if (chance(3) == 0) {
				random_content(&buf);
				item.content = rt_buf_str(&buf);
			}
			if (chance(5) == 0)
				item.role = RT_STR("Changed");
			if (chance(5) == 0)
				item.muted = !item.muted;
			rt_cli_items_add(now, &item);
		}
	}
	rt_buf_deinit(&buf);
}

static void
test_difference(void **state)
{
	rt_cli_items was, now, result;
	rt_cli_requests requests;
	int round;

	(void)state;
	srand(13);
	for (round = 0; round < ROUNDS; round++) {
		model m = {.count = 0};
		size_t i;

		random_take(&was);
		change_take(&was, &now);
		requests = (rt_cli_requests){0};
		rt_cli_takefile_diff(&was, &now, &requests);
		rt_cli_takefile_check(&was, &now, &was);
		assert_true(rt_ok(&scope));
		for (i = 0; i < was.count; i++)
			m.items[m.count++] = was.items[i];
		for (i = 0; i < requests.count; i++)
			model_apply(&m, &requests.items[i]);
		result = (rt_cli_items){.items = m.items, .count = m.count};
		same(&now, &result);
		end_items();
	}
}

/* Changes by others in the meantime. */
static void
test_conflicts(void **state)
{
	rt_cli_items was, now, current;

	(void)state;
	was = now = current = new_items();
	add(&was, "a", "User", RT_STR("one"));
	add(&was, "b", "AI", RT_STR("two"));
	add(&now, "a", "User", RT_STR("ONE"));
	add(&now, "b", "AI", RT_STR("two"));
	add(&current, "a", "User", RT_STR("one"));
	add(&current, "b", "AI", RT_STR("TWO"));
	add(&current, "c", "User", RT_STR("new"));
	/* they changed b, we changed a: both changes are possible */
	rt_cli_takefile_check(&was, &now, &current);
	assert_true(rt_ok(&scope));
	current.items[0].content = RT_STR("Eins");
	rt_cli_takefile_check(&was, &now, &current);
	assert_int_equal(scope.status, RT_CONFLICT);
	assert_non_null(strstr(scope.error.text, "entry a was changed"));
	scope.status = RT_OK;
	current.count = 0;
	rt_cli_takefile_check(&was, &now, &current);
	assert_int_equal(scope.status, RT_CONFLICT);
	assert_non_null(strstr(scope.error.text, "deleted in the meantime"));
	end_items();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_form),       cmocka_unit_test(test_errors),
		cmocka_unit_test(test_crlf),       cmocka_unit_test(test_unchanged_stays),
		cmocka_unit_test(test_difference), cmocka_unit_test(test_conflicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
