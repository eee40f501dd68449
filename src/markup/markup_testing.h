/* SPDX-License-Identifier: MIT
 *
 * For tests: does the result have the form that markup.h documents? Shares no code with the
 * writer. */
#ifndef RT_MARKUP_MARKUP_TESTING_H
#define RT_MARKUP_MARKUP_TESTING_H

#include "codec/json.h"
#include "markup/markup.h"

static inline bool
markup_among(rt_str word, const char *words)
{
	char room[32];

	if (word.size == 0 || word.size + 3 > sizeof(room))
		return false;
	room[0] = ' ';
	memcpy(room + 1, word.ptr, word.size);
	room[word.size + 1] = ' ';
	room[word.size + 2] = 0;
	return strstr(words, room) != NULL;
}

/* A url that may be followed: spelled out, so that the rules are easy to check. */
static inline void
markup_check_url(rt_str url, bool is_image)
{
	static const char fine[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789-._~:/?#[]@!$&()*+,;=%";
	bool http = rt_str_starts(url, RT_STR("http://")) || rt_str_starts(url, RT_STR("https://"));
	size_t i;

	if (is_image)
		RT_ASSERT(http);
	RT_ASSERT(http || rt_str_starts(url, RT_STR("mailto:")) || rt_str_starts(url, RT_STR("#")));
	for (i = 0; i < url.size; i++)
		RT_ASSERT(url.ptr[i] != 0 && strchr(fine, url.ptr[i]) != NULL);
}

/* A string: no hidden characters in it. The codes as bytes: U+202A is E2 80 AA, and so on. */
static inline void
markup_check_text(rt_str text)
{
	size_t i;

	RT_ASSERT(text.size > 0 && rt_utf8_valid_size(text) == text.size);
	for (i = 0; i < text.size; i++) {
		const unsigned char *p = (const unsigned char *)text.ptr + i;
		size_t left = text.size - i;

		RT_ASSERT(p[0] >= 0x20 || p[0] == '\n' || p[0] == '\t');
		RT_ASSERT(p[0] != 0x7f);
		RT_ASSERT(!(left > 1 && p[0] == 0xc2 && p[1] < 0xa0));
		RT_ASSERT(!(left > 2 && p[0] == 0xe2 && p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae));
		RT_ASSERT(!(left > 2 && p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xaf));
		RT_ASSERT(!(left > 3 && p[0] == 0xf3 && p[1] == 0xa0 && p[2] <= 0x81));
	}
}

/* The content of an array, depending on its container. */
typedef struct markup_place {
	yyjson_val *array;
	char kind; /* b: blocks, l: items, i: inlines, t: texts, r: rows, c: cells */
	bool is_top;
	size_t blocks, inlines; /* how deep */
} markup_place;

typedef struct markup_walk {
	markup_place *places;
	size_t count, room;
} markup_walk;

static inline void
markup_later(markup_walk *walk, yyjson_val *array, char kind, const markup_place *in)
{
	RT_ASSERT(yyjson_is_arr(array));
	if (walk->count == walk->room) {
		walk->room = walk->room == 0 ? 64 : walk->room * 2;
		walk->places = rt_resize(rt_alloc_libc(), walk->places,
					 walk->room * sizeof(*walk->places));
		RT_ASSERT(walk->places != NULL);
	}
	walk->places[walk->count] = *in;
	walk->places[walk->count].array = array;
	walk->places[walk->count].kind = kind;
	walk->places[walk->count].is_top = false;
	walk->places[walk->count].blocks += kind == 'b' || kind == 'l' || kind == 'r';
	walk->places[walk->count++].inlines += kind == 'i';
}

static inline void
markup_check_inline(markup_walk *walk, yyjson_val *node, const markup_place *in)
{
	rt_str type = rt_json_str(rt_json_get(node, "t"));
	bool is_image = rt_str_is(type, "img");

	if (yyjson_is_str(node)) {
		markup_check_text(rt_json_str(node));
		return;
	}
	RT_ASSERT(markup_among(type, in->kind == 't' ? " ctl " : " ctl em strong del code a img br math ref note "));
	if (rt_str_is(type, "ctl"))
		RT_ASSERT(rt_json_str(rt_json_get(node, "cp")).size >= 4);
	if (rt_str_is(type, "a") || is_image)
		markup_check_url(rt_json_str(rt_json_get(node, is_image ? "src" : "href")), is_image);
	if (rt_json_get(node, "title") != NULL)
		markup_later(walk, rt_json_get(node, "title"), 't', in);
	if (markup_among(type, " ref note ")) {
		rt_str id = rt_json_str(rt_json_get(node, "id"));

		RT_ASSERT(id.size > 0 && id.size <= RT_MARKUP_LABEL_MAX);
		for (size_t i = 0; i < id.size; i++)
			RT_ASSERT(strchr("-_", id.ptr[i]) != NULL || (id.ptr[i] >= '0' && id.ptr[i] <= '9') ||
				  ((id.ptr[i] | 0x20) >= 'a' && (id.ptr[i] | 0x20) <= 'z'));
	}
	if (is_image || markup_among(type, " code math ref note "))
		markup_later(walk, rt_json_get(node, is_image ? "alt" : "c"), 't', in);
	else if (markup_among(type, " em strong del a "))
		markup_later(walk, rt_json_get(node, "c"), 'i', in);
}

static inline void
markup_check_block(markup_walk *walk, yyjson_val *node, const markup_place *in)
{
	rt_str type = rt_json_str(rt_json_get(node, "t"));
	yyjson_val *c = rt_json_get(node, "c");

	RT_ASSERT(markup_among(type, in->kind == 'l' ? " li " : " p h pre quote ul ol table hr "));
	RT_ASSERT((rt_json_get(node, "at") != NULL) == in->is_top);
	if (rt_str_is(type, "p") || rt_str_is(type, "h"))
		markup_later(walk, c, 'i', in);
	else if (rt_str_is(type, "pre"))
		markup_later(walk, c, 't', in);
	else if (rt_str_is(type, "quote") || rt_str_is(type, "li"))
		markup_later(walk, c, 'b', in);
	else if (rt_str_is(type, "ul") || rt_str_is(type, "ol"))
		markup_later(walk, c, 'l', in);
	else if (rt_str_is(type, "table")) {
		markup_later(walk, rt_json_get(node, "head"), 'c', in);
		markup_later(walk, rt_json_get(node, "rows"), 'r', in);
		RT_ASSERT(yyjson_arr_size(rt_json_get(node, "head")) ==
			  yyjson_arr_size(rt_json_get(node, "align")));
	}
}

static inline void
markup_check_place(yyjson_val *node, uint64_t *before, size_t size)
{
	yyjson_val *at = rt_json_get(node, "at");
	uint64_t from = 0, to = 0;

	RT_ASSERT(yyjson_arr_size(at) == 2 && rt_json_u64(yyjson_arr_get(at, 0), &from) &&
		  rt_json_u64(yyjson_arr_get(at, 1), &to));
	RT_ASSERT(from >= *before && from < to && to <= size);
	*before = from;
}

/* json: blocks of a source of that many bytes. Ends the program if they are invalid. */
static inline void
markup_check(rt_str json, size_t size)
{
	markup_walk walk = {0};
	markup_place in = {.is_top = true}, none = {0};
	rt_json_doc *doc = NULL;
	yyjson_val *node;
	uint64_t before = 0;
	size_t i, count;

	RT_ASSERT(rt_json_read(rt_alloc_libc(), json, &doc, NULL) == RT_OK);
	markup_later(&walk, rt_json_root(doc), 'b', &none);
	walk.places[0].is_top = true;
	while (walk.count > 0) {
		in = walk.places[--walk.count];
		/* The leaf, and its container. */
		RT_ASSERT(in.blocks <= RT_MARKUP_DEPTH_MAX + 1);
		RT_ASSERT(in.inlines <= RT_MARKUP_DEPTH_MAX + 1);
		yyjson_arr_foreach(in.array, i, count, node)
		{
			if (in.kind == 'r')
				markup_later(&walk, node, 'c', &in);
			else if (in.kind == 'c')
				markup_later(&walk, node, 'i', &in);
			else if (in.kind == 'i' || in.kind == 't')
				markup_check_inline(&walk, node, &in);
			else
				markup_check_block(&walk, node, &in);
			if (in.is_top)
				markup_check_place(node, &before, size);
		}
	}
	rt_free(rt_alloc_libc(), walk.places);
	rt_json_free(doc);
}

#endif
