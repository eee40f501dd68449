/* SPDX-License-Identifier: MIT
 *
 * The inlines of paragraphs, headings and cells. */
#include "markup/markup_impl.h"

#include "codec/json.h"
#include "markup/entity.h"

void
rt_markup_attribute(rt_markup_writer *w, const MD_ATTRIBUTE *attribute)
{
	char room[RT_ENTITY_ROOM];

	rt_buf_clear(&w->url);
	if (attribute->size == 0)
		return;
	for (size_t i = 0; attribute->substr_offsets[i] < attribute->size; i++) {
		MD_OFFSET from = attribute->substr_offsets[i],
			  to = attribute->substr_offsets[i + 1];
		rt_str part = rt_str_at(attribute->text + from, to - from);
		size_t size = attribute->substr_types[i] == MD_TEXT_ENTITY
				      ? rt_entity_decode(part, room)
				      : 0;

		if (memchr(part.ptr, '[', part.size) != NULL)
			w->has_bracket = true;
		if (attribute->substr_types[i] == MD_TEXT_NULLCHAR)
			rt_buf_add_byte(&w->url, 0);
		else if (size > 0)
			rt_buf_add(&w->url, room, size);
		else
			rt_buf_add_str(&w->url, part);
	}
	if (w->url.status != RT_OK && w->status == RT_OK)
		w->status = w->url.status;
}

/* An object of this kind, open. */
static void
begin_object(rt_markup_writer *w, const char *type)
{
	rt_texts_end(&w->texts);
	rt_json_add_comma(w->buf);
	rt_buf_add_f(w->buf, "{\"t\":\"%s\"", type);
}

/* The math in progress ends, complete or not. */
static void
end_mask(rt_markup_writer *w)
{
	if (w->mask == NULL)
		return;
	w->mask = NULL;
	rt_texts_end(&w->texts);
	rt_buf_add_c(w->buf, "]}");
}

static void
add_title(rt_markup_writer *w, const MD_ATTRIBUTE *title)
{
	rt_markup_attribute(w, title);
	if (w->url.size == 0)
		return;
	rt_buf_add_c(w->buf, ",\"title\":[");
	rt_texts_add(&w->texts, rt_buf_str(&w->url));
	rt_texts_end(&w->texts);
	rt_buf_add_byte(w->buf, ']');
}

/* A link or an image; false: its url may not be followed. */
static bool
begin_link(rt_markup_writer *w, bool is_image, const MD_ATTRIBUTE *url, const MD_ATTRIBUTE *title)
{
	size_t before = w->buf->size, open;
	bool was_open = w->texts.is_open, is_fine;

	rt_markup_attribute(w, url);
	begin_object(w, is_image ? "img" : "a");
	rt_buf_add_c(w->buf, is_image ? ",\"src\":\"" : ",\"href\":\"");
	open = w->buf->size;
	is_fine = rt_link_add(w->buf, &w->scratch, rt_buf_str(&w->url), is_image);
	if (!is_fine) {
		if (w->buf->status == RT_OK)
			w->buf->size = before;
		w->texts.is_open = was_open;
		return false;
	}
	RT_ASSERT(w->buf->size >= open);
	rt_buf_add_byte(w->buf, '"');
	add_title(w, title);
	rt_buf_add_c(w->buf, is_image ? ",\"alt\":[" : ",\"c\":[");
	return true;
}

/* The url of a link or an image, and its title; NULL: neither. */
static const MD_ATTRIBUTE *
url_of(MD_SPANTYPE type, const void *detail, const MD_ATTRIBUTE **out_title)
{
	const MD_SPAN_A_DETAIL *a = detail;
	const MD_SPAN_IMG_DETAIL *img = detail;

	if (detail == NULL || (type != MD_SPAN_A && type != MD_SPAN_IMG))
		return NULL;
	*out_title = type == MD_SPAN_A ? &a->title : &img->title;
	return type == MD_SPAN_A ? &a->href : &img->src;
}

static bool
begin_span(rt_markup_writer *w, MD_SPANTYPE type, const MD_ATTRIBUTE *url,
	   const MD_ATTRIBUTE *title)
{
	const char *name = type == MD_SPAN_EM       ? "em"
			   : type == MD_SPAN_STRONG ? "strong"
			   : type == MD_SPAN_DEL    ? "del"
			   : type == MD_SPAN_CODE   ? "code"
						    : NULL;

	if (w->images > (type == MD_SPAN_IMG ? 1u : 0u))
		return false;
	if (url != NULL)
		return begin_link(w, type == MD_SPAN_IMG, url, title);
	if (name == NULL)
		return false;
	begin_object(w, name);
	rt_buf_add_c(w->buf, ",\"c\":[");
	return true;
}

int
rt_markup_enter_span(MD_SPANTYPE type, void *detail, void *ctx)
{
	rt_markup_writer *w = ctx;
	const MD_ATTRIBUTE *title = NULL, *url = url_of(type, detail, &title);
	rt_markup_span *span;

	if (rt_markup_step(w) != 0 || w->is_muted)
		return w->status == RT_OK ? 0 : -1;
	rt_markup_need_leaf(w);
	end_mask(w);
	if (url != NULL)
		rt_markup_attribute(w, url);
	if (w->spans_skipped > 0 || w->span_depth == RT_MARKUP_DEPTH_MAX) {
		w->spans_skipped++;
		return 0;
	}
	w->images += type == MD_SPAN_IMG;
	span = &w->spans[w->span_depth++];
	*span = (rt_markup_span){.type = (uint8_t)type};
	if (type == MD_SPAN_A) {
		span->url_ptr = url->text;
		span->url_size = url->size;
	}
	span->is_written = begin_span(w, type, url, title);
	return 0;
}

/* Ends the innermost span; detail: from md4c, or NULL if md4c did not end it. */
static void
end_span(rt_markup_writer *w, void *detail)
{
	const rt_markup_span *span = &w->spans[--w->span_depth];
	const MD_ATTRIBUTE *title, *url = url_of((MD_SPANTYPE)span->type, detail, &title);

	w->images -= span->type == MD_SPAN_IMG;
	if (span->is_written) {
		rt_texts_end(&w->texts);
		rt_buf_add_c(w->buf, "]}");
		return;
	}
	if (url == NULL || url->size == 0 || span->is_url)
		return;
	rt_markup_attribute(w, url);
	rt_texts_add(&w->texts, RT_STR(" ("));
	rt_texts_add(&w->texts, rt_buf_str(&w->url));
	rt_texts_add(&w->texts, RT_STR(")"));
}

void
rt_markup_end_spans(rt_markup_writer *w)
{
	end_mask(w);
	while (w->span_depth > 0)
		end_span(w, NULL);
	w->spans_skipped = 0;
	rt_texts_end(&w->texts);
}

/* md4c 0.4.8 sometimes lets emphasis cross a link ("*a [b *c](d*)"): inner spans end
 * with the outer one, and their own ends are ignored. */
int
rt_markup_leave_span(MD_SPANTYPE type, void *detail, void *ctx)
{
	rt_markup_writer *w = ctx;
	size_t found;

	if (rt_markup_step(w) != 0 || w->is_muted)
		return w->status == RT_OK ? 0 : -1;
	if (w->spans_skipped > 0) {
		w->spans_skipped--;
		return 0;
	}
	for (found = w->span_depth; found > 0 && w->spans[found - 1].type != type;)
		found--;
	if (found == 0)
		return 0;
	end_mask(w);
	while (w->span_depth > found)
		end_span(w, NULL);
	end_span(w, detail);
	return 0;
}

/* Is there a link, an image or code around? */
static bool
may_link(const rt_markup_writer *w)
{
	size_t i;

	if (w->spans_skipped > 0 || w->images > 0 || w->leaf == MD_BLOCK_CODE)
		return false;
	for (i = 0; i < w->span_depth; i++)
		if (w->spans[i].type == MD_SPAN_A || w->spans[i].type == MD_SPAN_CODE)
			return false;
	return true;
}

/* Text with its bare urls as links. */
static void
add_linking(rt_markup_writer *w, rt_str text)
{
	size_t done = 0, at = 0, end;

	while ((at = rt_str_find(text, RT_STR("://"), at)) != SIZE_MAX) {
		size_t from = at;

		while (from > done && from + 5 > at && text.ptr[from - 1] != ' ' &&
		       ((text.ptr[from - 1] | 0x20) >= 'a' && (text.ptr[from - 1] | 0x20) <= 'z'))
			from--;
		at += 3;
		end = rt_link_bare_end(text, from);
		if (end == from)
			continue;
		rt_texts_add(&w->texts, rt_str_at(text.ptr + done, from - done));
		rt_buf_clear(&w->url);
		if (rt_link_add(&w->url, &w->scratch, rt_str_at(text.ptr + from, end - from),
				false)) {
			begin_object(w, "a");
			rt_json_add_key(w->buf, "href");
			rt_json_add_string(w->buf, rt_buf_str(&w->url));
			rt_buf_add_c(w->buf, ",\"c\":[");
			rt_texts_add(&w->texts, rt_str_at(text.ptr + from, end - from));
			rt_texts_end(&w->texts);
			rt_buf_add_c(w->buf, "]}");
		} else {
			rt_texts_add(&w->texts, rt_str_at(text.ptr + from, end - from));
		}
		done = at = end;
	}
	rt_texts_add(&w->texts, rt_str_at(text.ptr + done, text.size - done));
}

/* Is the text the url of the link around it? */
static void
note_url(rt_markup_writer *w, rt_str text)
{
	rt_markup_span *span;

	if (w->span_depth == 0)
		return;
	span = &w->spans[w->span_depth - 1];
	if (span->type == MD_SPAN_A && span->url_ptr == text.ptr && span->url_size == text.size)
		span->is_url = true;
}

/* Math, of which text is the beginning or all; or a footnote's label. */
static void
begin_mask(rt_markup_writer *w, const rt_mask *mask)
{
	rt_str all = rt_str_at(w->original.ptr + mask->begin, mask->to - mask->begin);

	if (mask->kind == RT_MASK_MATH || mask->kind == RT_MASK_DISPLAY) {
		begin_object(w, "math");
		rt_buf_add_c(w->buf, mask->kind == RT_MASK_DISPLAY ? ",\"display\":true,\"c\":[" : ",\"c\":[");
	} else {
		bool is_note = mask->kind == RT_MASK_NOTE;

		begin_object(w, is_note ? "note" : "ref");
		rt_json_add_key(w->buf, "id");
		rt_json_add_string(w->buf, rt_str_at(all.ptr + 2, all.size - 3 - is_note));
		rt_buf_add_c(w->buf, ",\"c\":[");
		rt_texts_add(&w->texts, all);
	}
	w->mask = mask;
}

/* A text of a paragraph as md4c reports it, from the byte `at` of the source. */
static void
add_normal(rt_markup_writer *w, rt_str text, size_t at)
{
	while (text.size > 0) {
		const rt_mask *mask = w->images > 0 ? NULL : rt_masks_at(&w->masks, at);
		size_t size = mask == NULL || mask->from >= at + text.size ? text.size
			      : mask->from > at ? mask->from - at
			      : mask->to - at < text.size ? mask->to - at : text.size;
		rt_str part = rt_str_at(w->original.ptr + at, size);

		if (mask != NULL && mask->from == at)
			begin_mask(w, mask);
		if (w->mask != NULL && w->mask == mask) {
			if (mask->kind == RT_MASK_MATH || mask->kind == RT_MASK_DISPLAY)
				rt_texts_add(&w->texts, part);
			if (at + size == mask->to)
				end_mask(w);
		} else {
			end_mask(w);
			if (memchr(part.ptr, '[', part.size) != NULL)
				w->has_bracket = true;
			if (may_link(w))
				add_linking(w, part);
			else
				rt_texts_add(&w->texts, part);
		}
		at += size;
		text = rt_str_at(text.ptr + size, text.size - size);
	}
}

/* Where in the source a text is that md4c reports; SIZE_MAX: it is not part of the source. */
static size_t
place_of(const rt_markup_writer *w, rt_str text)
{
	uintptr_t begin = (uintptr_t)w->source.ptr, at = (uintptr_t)text.ptr;

	return at < begin || at - begin >= w->original.size || text.size > w->original.size - (at - begin)
		       ? SIZE_MAX
		       : at - begin;
}

int
rt_markup_text(MD_TEXTTYPE type, const MD_CHAR *ptr, MD_SIZE size, void *ctx)
{
	rt_markup_writer *w = ctx;
	rt_str text = rt_str_at(ptr, size);
	char room[RT_ENTITY_ROOM];
	size_t decoded, at = w->masks.count > 0 ? place_of(w, text) : SIZE_MAX;

	if (rt_markup_step(w) != 0 || w->is_muted)
		return w->status == RT_OK ? 0 : -1;
	rt_markup_need_leaf(w);
	switch (type) {
	case MD_TEXT_NULLCHAR: rt_texts_add(&w->texts, rt_str_at("\0", 1)); break;
	case MD_TEXT_BR:
		if (w->images > 0) {
			rt_texts_add(&w->texts, RT_STR("\n"));
			break;
		}
		end_mask(w);
		begin_object(w, "br");
		rt_buf_add_byte(w->buf, '}');
		break;
	case MD_TEXT_SOFTBR: rt_texts_add(&w->texts, RT_STR("\n")); break;
	case MD_TEXT_ENTITY:
		decoded = rt_entity_decode(text, room);
		rt_texts_add(&w->texts, decoded > 0 ? rt_str_at(room, decoded) : text);
		break;
	case MD_TEXT_CODE:
	case MD_TEXT_HTML:
	case MD_TEXT_LATEXMATH:
		/* md4c has reported this NUL already, and repeats it before the following text. */
		if (at != SIZE_MAX)
			text.ptr = w->original.ptr + at;
		if (size > 0 && *ptr == 0)
			text = rt_str_at(text.ptr + 1, size - 1);
		rt_texts_add(&w->texts, text);
		break;
	case MD_TEXT_NORMAL:
		if (at != SIZE_MAX) {
			note_url(w, text);
			add_normal(w, text, at);
			break;
		}
		if (memchr(ptr, '[', size) != NULL)
			w->has_bracket = true;
		note_url(w, text);
		if (may_link(w))
			add_linking(w, text);
		else
			rt_texts_add(&w->texts, text);
		break;
	}
	return 0;
}
