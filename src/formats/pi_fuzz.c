/* SPDX-License-Identifier: MIT
 *
 * Session files from strangers. Everything that is read must be consistent, give contexts that are
 * JSON, and be written back: a file of the present version byte for byte, any other in a form that
 * is stable from then on; also after changes of labels, parents and the head. */
#include <stdlib.h>

#include "base/hash.h"
#include "codec/body.h"
#include "formats/formats.h"
#include "formats/pi_context_testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SNIFF_SIZE = 64 * 1024 };

static void
use_context(const rt_pi_session *s, int64_t at)
{
	rt_pi_context context;
	rt_json_doc *doc = NULL;
	rt_buf buf;
	rt_status st;
	size_t i;

	RT_ASSERT(rt_pi_context_init(rt_alloc_libc(), s, at, &context) == RT_OK);
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&buf, '[');
	for (i = 0; i < context.item_count; i++) {
		st = rt_pi_context_add(&buf, rt_alloc_libc(), s, &context.items[i], NULL);
		RT_ASSERT(st == RT_OK);
	}
	rt_buf_add_byte(&buf, ']');
	/* one level deeper than the records */
	st = rt_json_read(rt_alloc_libc(), rt_buf_str(&buf), &doc, NULL);
	RT_ASSERT(st == RT_OK || st == RT_LIMIT);
	rt_json_free(doc);
	rt_buf_deinit(&buf);
	rt_pi_context_deinit(&context);
}

static void
use_tree(const rt_pi_session *s)
{
	rt_pi_tree tree;
	size_t count, sum, i;

	RT_ASSERT(rt_pi_tree_init(rt_alloc_libc(), s, true, &tree) == RT_OK);
	(void)rt_pi_tree_children(&tree, -1, &sum);
	for (i = 0; i < s->entry_count; i++) {
		const size_t *children = rt_pi_tree_children(&tree, (int64_t)i, &count);

		sum += count;
		while (count > 0)
			RT_ASSERT(s->entries[children[--count]].parent == (int64_t)i);
	}
	RT_ASSERT(sum == s->entry_count);
	rt_pi_tree_deinit(&tree);
}

/* Every record is a body that the rest of Retake can decode. */
static void
use_bodies(const rt_pi_session *s)
{
	rt_buf bytes;
	rt_body body;
	size_t i;

	rt_buf_init(&bytes, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < s->entry_count; i++) {
		rt_buf_clear(&bytes);
		rt_body_write_pi(&bytes, s->entries[i].line);
		RT_ASSERT(rt_body_read(rt_alloc_libc(), rt_buf_str(&bytes), &body, NULL) == RT_OK);
		rt_body_deinit(&body);
	}
	rt_buf_deinit(&bytes);
}

static void
round_trip(rt_str text, const rt_export_options *options, rt_buf *out)
{
	rt_outlines o;

	rt_buf_init(out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	RT_ASSERT(rt_format_pi.read(rt_alloc_libc(), text, &o, NULL, NULL) == RT_OK);
	RT_ASSERT(rt_format_pi.write(rt_alloc_libc(), &o, options, out, NULL) == RT_OK);
	rt_outlines_deinit(&o);
}

static void
assert_stays(rt_str text, const rt_export_options *options)
{
	rt_buf again;

	round_trip(text, options, &again);
	RT_ASSERT(rt_str_eq(text, rt_buf_str(&again)));
	rt_buf_deinit(&again);
}

/* Makes changes chosen by the hash of the input; then writes, and checks that it can be read. */
static void
edit(rt_str text, const rt_export_options *options)
{
	static const char *const roles[] = {"User", "AI", "Vendor API", "system"};
	uint64_t dice = rt_hash(text.ptr, text.size, 1);
	rt_outlines o;
	rt_outline *x;
	rt_buf out;
	size_t i;

	RT_ASSERT(rt_format_pi.read(rt_alloc_libc(), text, &o, NULL, NULL) == RT_OK);
	x = &o.items[0];
	for (i = 0; i < 8 && x->node_count > 0; i++) {
		rt_node *node;

		dice = rt_hash_u64(dice + i);
		node = &x->nodes[(dice >> 8) % x->node_count];
		switch (dice % 7) {
		case 0: node->label = RT_STR("label"); break;
		case 1: node->label = rt_str_at(NULL, 0); break;
		case 2: node->parent = (int64_t)((dice >> 40) % (x->node_count + 1)) - 1; break;
		case 3: node->muted = !node->muted; break;
		case 4: node->role = rt_str_of(roles[(dice >> 40) % 4]); break;
		case 5: x->head = (int64_t)((dice >> 40) % (x->node_count + 1)) - 1; break;
		default:
			node->body_format = 'T';
			node->body = RT_STR("text");
			break;
		}
	}
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	RT_ASSERT(rt_format_pi.write(rt_alloc_libc(), &o, options, &out, NULL) == RT_OK);
	rt_outlines_deinit(&o);
	assert_stays(rt_buf_str(&out), options);
	rt_buf_deinit(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const rt_export_options whole = {.whole = true};
	const rt_export_options lossless = {.whole = true, .lossless = true};
	const rt_export_options active = {.whole = false};
	rt_str text = rt_str_at((const char *)data, size);
	rt_pi_session s;
	rt_buf first;
	int64_t step, at;
	bool is_present;

	if (rt_pi_session_read(rt_alloc_libc(), text, NULL, &s, NULL, NULL) != RT_OK || size == 0)
		goto done;
	rt_pi_session_check(&s);
	if (size <= SNIFF_SIZE)
		RT_ASSERT(rt_format_pi.sniff(text) > 0);
	use_tree(&s);
	use_bodies(&s);
	step = s.leaf / 4 + 1;
	for (at = s.leaf; at >= 0; at -= step)
		use_context(&s, at);
	is_present = s.version >= RT_PI_VERSION;
	rt_pi_session_deinit(&s);

	round_trip(text, &whole, &first);
	if (is_present)
		RT_ASSERT(rt_str_eq(text, rt_buf_str(&first)));
	assert_stays(rt_buf_str(&first), &whole);
	assert_stays(rt_buf_str(&first), &lossless);
	edit(text, &whole);
	edit(text, &lossless);
	rt_buf_deinit(&first);
	round_trip(text, &active, &first);
	assert_stays(rt_buf_str(&first), &active);
	rt_buf_deinit(&first);
	return 0;
done:
	if (size == 0)
		rt_pi_session_deinit(&s);
	return 0;
}
