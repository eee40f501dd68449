/* SPDX-License-Identifier: MIT
 *
 * The source is cut into pieces (split.h), md4c reads one after the other, and its callbacks write
 * the blocks. If there may be link definitions, which apply to all pieces, each piece is read for
 * the number of its blocks and then all are read together; so the piece of each block is still
 * known. */
#include "markup/markup.h"

#include "codec/json.h"
#include "codec/thinking.h"
#include "markup/markup_impl.h"

int
rt_markup_step(rt_markup_writer *w)
{
	w->calls++;
	if (w->status == RT_OK && (w->calls > w->calls_max || w->buf->size - w->start > w->limit))
		w->status = RT_LIMIT;
	if (w->status == RT_OK)
		w->status = w->buf->status != RT_OK ? w->buf->status : w->scratch.status;
	return w->status == RT_OK ? 0 : -1;
}

/* ---- blocks ---- */

static const struct {
	const char *name; /* in its object; NULL: it has none */
	size_t levels;    /* of a container: itself and the blocks that are always inside it; 0: a
			   * leaf */
} types[] = {
	[MD_BLOCK_QUOTE] = {"quote", 1},
	[MD_BLOCK_UL] = {"ul", 2}, /* and its items */
	[MD_BLOCK_OL] = {"ol", 2},
	[MD_BLOCK_LI] = {"li", 1},
	[MD_BLOCK_HR] = {"hr", 0},
	[MD_BLOCK_H] = {"h", 0},
	[MD_BLOCK_CODE] = {"pre", 0},
	[MD_BLOCK_HTML] = {"p", 0},
	[MD_BLOCK_P] = {"p", 0},
	[MD_BLOCK_TABLE] = {"table", 3}, /* its head or body, and a row */
	[MD_BLOCK_THEAD] = {NULL, 1},
	[MD_BLOCK_TBODY] = {NULL, 1},
	[MD_BLOCK_TR] = {NULL, 1},
	[MD_BLOCK_TH] = {"p", 0},
	[MD_BLOCK_TD] = {"p", 0},
};

static bool
is_container(MD_BLOCKTYPE type)
{
	return types[type].levels > 0;
}

/* One more block at the top level: finds its part of the source. */
static void
next_place(rt_markup_writer *w)
{
	w->blocks++;
	if (w->parts == NULL)
		return;
	while (w->part_at < w->part_count && w->part_blocks == w->parts[w->part_at].blocks) {
		w->part_at++;
		w->part_blocks = 0;
	}
	if (w->part_at < w->part_count) {
		w->part_blocks++;
		w->from = w->parts[w->part_at].from;
		w->to = w->parts[w->part_at].to;
	}
}

static void
begin_block(rt_markup_writer *w, MD_BLOCKTYPE type)
{
	rt_json_add_comma(w->buf);
	rt_buf_add_f(w->buf, "{\"t\":\"%s\"", types[type].name);
	if (w->depth == 0 && w->depth_skipped == 0) {
		next_place(w);
		rt_buf_add_f(w->buf, ",\"at\":[%zu,%zu]", w->from, w->to);
	}
}

void
rt_markup_need_leaf(rt_markup_writer *w)
{
	if (w->in_leaf)
		return;
	begin_block(w, MD_BLOCK_P);
	rt_buf_add_c(w->buf, ",\"c\":[");
	w->in_leaf = w->is_implied = true;
	w->leaf = MD_BLOCK_P;
}

static void
end_leaf(rt_markup_writer *w)
{
	if (!w->in_leaf)
		return;
	rt_markup_end_spans(w);
	rt_buf_add_c(w->buf, "]}");
	w->in_leaf = w->is_implied = false;
}

static void
add_lang(rt_markup_writer *w, const MD_ATTRIBUTE *lang)
{
	rt_markup_attribute(w, lang);
	if (w->url.size == 0 || w->url.size > RT_MARKUP_LANG_MAX)
		return;
	for (size_t i = 0; i < w->url.size; i++) {
		char c = w->url.ptr[i];

		if (!((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')) &&
		    (c == 0 || strchr("_+-.#", c) == NULL))
			return;
	}
	rt_json_add_key(w->buf, "lang");
	rt_json_add_string(w->buf, rt_buf_str(&w->url));
}

/* Are we in a row of a table that is written? */
static bool
in_table(const rt_markup_writer *w)
{
	return w->depth_skipped == 0 && w->depth > 0 && w->containers[w->depth - 1] == MD_BLOCK_TR;
}

static void
begin_leaf(rt_markup_writer *w, MD_BLOCKTYPE type, void *detail)
{
	const MD_BLOCK_TD_DETAIL *cell = detail;

	w->in_leaf = true;
	w->leaf = (uint8_t)type;
	if ((type == MD_BLOCK_TH || type == MD_BLOCK_TD) && in_table(w)) {
		if (type == MD_BLOCK_TH && w->columns < RT_MARKUP_COLUMNS_MAX)
			w->aligns[w->columns] = (uint8_t)cell->align;
		w->columns += type == MD_BLOCK_TH;
		rt_json_add_comma(w->buf);
		rt_buf_add_byte(w->buf, '[');
		return;
	}
	begin_block(w, type);
	if (type == MD_BLOCK_H)
		rt_buf_add_f(w->buf, ",\"n\":%u", ((MD_BLOCK_H_DETAIL *)detail)->level);
	if (type == MD_BLOCK_CODE)
		add_lang(w, &((MD_BLOCK_CODE_DETAIL *)detail)->lang);
	rt_buf_add_c(w->buf, ",\"c\":[");
}

static void
begin_container(rt_markup_writer *w, MD_BLOCKTYPE type, void *detail)
{
	const MD_BLOCK_UL_DETAIL *ul = detail;
	const MD_BLOCK_OL_DETAIL *ol = detail;
	const MD_BLOCK_LI_DETAIL *li = detail;

	if (types[type].name != NULL)
		begin_block(w, type);
	switch (type) {
	case MD_BLOCK_QUOTE: rt_buf_add_c(w->buf, ",\"c\":["); break;
	case MD_BLOCK_UL:
		rt_buf_add_f(w->buf, ",\"tight\":%s,\"c\":[", ul->is_tight ? "true" : "false");
		break;
	case MD_BLOCK_OL:
		rt_buf_add_f(w->buf, ",\"start\":%u,\"tight\":%s,\"c\":[", ol->start,
			     ol->is_tight ? "true" : "false");
		break;
	case MD_BLOCK_LI:
		if (li->is_task)
			rt_buf_add_f(w->buf, ",\"task\":true,\"done\":%s",
				     li->task_mark == ' ' ? "false" : "true");
		rt_buf_add_c(w->buf, ",\"c\":[");
		break;
	case MD_BLOCK_TABLE:
		w->columns = 0;
		w->has_rows = false;
		break;
	case MD_BLOCK_THEAD: rt_buf_add_c(w->buf, ",\"head\":["); break;
	case MD_BLOCK_TBODY:
		rt_buf_add_c(w->buf, ",\"rows\":[");
		w->has_rows = true;
		break;
	case MD_BLOCK_TR:
		if (w->containers[w->depth - 1] == MD_BLOCK_TBODY) {
			rt_json_add_comma(w->buf);
			rt_buf_add_byte(w->buf, '[');
		}
		break;
	default: break;
	}
}

static void
add_aligns(rt_markup_writer *w)
{
	static const char *const names[] = {"null", "\"left\"", "\"center\"", "\"right\""};

	rt_buf_add_c(w->buf, ",\"align\":[");
	for (size_t i = 0; i < w->columns; i++) {
		rt_json_add_comma(w->buf);
		rt_buf_add_c(w->buf, i < RT_MARKUP_COLUMNS_MAX ? names[w->aligns[i]] : "null");
	}
	rt_buf_add_byte(w->buf, ']');
}

/* The container on top of the stack was popped. */
static void
end_container(rt_markup_writer *w, MD_BLOCKTYPE type)
{
	switch (type) {
	case MD_BLOCK_TABLE: rt_buf_add_c(w->buf, w->has_rows ? "}" : ",\"rows\":[]}"); break;
	case MD_BLOCK_THEAD:
		rt_buf_add_byte(w->buf, ']');
		add_aligns(w);
		break;
	case MD_BLOCK_TBODY: rt_buf_add_byte(w->buf, ']'); break;
	case MD_BLOCK_TR:
		if (w->containers[w->depth - 1] == MD_BLOCK_TBODY)
			rt_buf_add_byte(w->buf, ']');
		break;
	default: rt_buf_add_c(w->buf, "]}"); break;
	}
}

static int
enter_block(MD_BLOCKTYPE type, void *detail, void *ctx)
{
	rt_markup_writer *w = ctx;

	if (rt_markup_step(w) != 0)
		return -1;
	if (type == MD_BLOCK_DOC)
		return 0;
	if (w->is_muted) {
		w->blocks += w->depth == 0;
		w->depth += is_container(type);
		return 0;
	}
	end_leaf(w);
	if (type == MD_BLOCK_HR) {
		begin_block(w, type);
		rt_buf_add_byte(w->buf, '}');
	} else if (!is_container(type)) {
		begin_leaf(w, type, detail);
	} else if (w->depth_skipped > 0 || w->depth + types[type].levels > RT_MARKUP_DEPTH_MAX) {
		w->depth_skipped++;
	} else {
		begin_container(w, type, detail);
		w->containers[w->depth++] = (uint8_t)type;
	}
	return 0;
}

static int
leave_block(MD_BLOCKTYPE type, void *detail, void *ctx)
{
	rt_markup_writer *w = ctx;

	(void)detail;
	if (rt_markup_step(w) != 0)
		return -1;
	if (type == MD_BLOCK_DOC || type == MD_BLOCK_HR)
		return 0;
	if (w->is_muted) {
		w->depth -= is_container(type);
		return 0;
	}
	if ((type == MD_BLOCK_TH || type == MD_BLOCK_TD) && in_table(w)) {
		rt_markup_end_spans(w);
		rt_buf_add_byte(w->buf, ']');
		w->in_leaf = false;
		return 0;
	}
	end_leaf(w);
	if (!is_container(type))
		return 0;
	if (w->depth_skipped > 0) {
		w->depth_skipped--;
	} else {
		w->depth--;
		end_container(w, type);
	}
	return 0;
}

/* ---- pieces ---- */

/* md4c 0.4.8 walks all lines of a paragraph for each "](" in it. Is that more work than the size
 * justifies? Blank lines and bullets surely end a paragraph. */
static bool
has_too_many_links(rt_str text)
{
	size_t lines = 0, links = 0, work = 0, indent = 0, i;
	bool is_blank = true;

	for (i = 0; i < text.size; i++) {
		char c = text.ptr[i], next = i + 1 < text.size ? text.ptr[i + 1] : '\n';
		bool is_end = c == '\n' || c == '\r';

		if (c == '\r' && next == '\n')
			continue;
		if (is_blank &&
		    (is_end || (indent < 4 && (c == '-' || c == '+' || c == '*') && next == ' '))) {
			work += lines * links;
			lines = links = 0;
		}
		links += c == ']' && next == '(';
		lines += is_end;
		is_blank = is_end || (is_blank && (c == ' ' || c == '\t'));
		indent = is_end ? 0 : indent + (c == '\t' ? 4 : 1);
	}
	return work + lines * links > RT_MARKUP_LINK_WORK * text.size + RT_MARKUP_LINK_SPARE;
}

/* md4c over these bytes. */
static void
parse(rt_markup_writer *w, rt_str text)
{
	static const MD_PARSER parser = {
		.flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS |
			 MD_FLAG_NOHTML,
		.enter_block = enter_block,
		.leave_block = leave_block,
		.enter_span = rt_markup_enter_span,
		.leave_span = rt_markup_leave_span,
		.text = rt_markup_text,
	};
	int result = 0;

	/* md4c 0.4.8 looks one byte beyond a source that does not end with a line end, and looks
	 * for the end of a line (strcspn) also where the source has ended: a copy with both, and
	 * with the NUL that a buffer has after its bytes. */
	rt_buf_clear(&w->source);
	rt_buf_add_str(&w->source, text);
	if (text.size == 0 || text.ptr[text.size - 1] != '\n')
		rt_buf_add_byte(&w->source, '\n');
	w->original = text;
	text = rt_buf_str(&w->source);
	if (w->source.status == RT_OK)
		rt_masks_find(&w->masks, w->original, w->source.ptr);
	w->mask = NULL;
	w->depth = w->depth_skipped = w->span_depth = w->spans_skipped = w->images = 0;
	w->calls = 0;
	w->calls_max = RT_MARKUP_CALLS * text.size + RT_MARKUP_CALLS_SPARE;
	w->in_leaf = w->is_implied = w->has_bracket = w->texts.is_open = false;
	if (w->status == RT_OK)
		w->status = w->source.status != RT_OK ? w->source.status : w->masks.status;
	if (w->status == RT_OK && has_too_many_links(text))
		w->status = RT_LIMIT;
	if (w->status == RT_OK)
		result = md_parse(text.ptr, (MD_SIZE)text.size, &parser, w);
	if (w->status == RT_OK && result != 0)
		w->status = RT_NOMEM;
	if (w->status == RT_OK)
		(void)rt_markup_step(w);
}

static rt_str
bytes_of(rt_str text, rt_split_piece piece)
{
	return rt_str_at(text.ptr + piece.from, piece.to - piece.from);
}

static bool
may_define(rt_str text, rt_split_piece piece)
{
	return !piece.is_code && rt_str_find(bytes_of(text, piece), RT_STR("]:"), 0) != SIZE_MAX;
}

/* Piece by piece. Returns the end of the stable ones. */
static size_t
write_pieces(rt_markup_writer *w, rt_str text, size_t from)
{
	rt_split split = {text, from};
	bool is_stable = true;
	rt_split_piece piece;

	while (w->status == RT_OK && rt_split_next(&split, &piece)) {
		w->from = piece.from;
		w->to = piece.to;
		parse(w, bytes_of(text, piece));
		is_stable = is_stable && piece.is_closed && !w->has_bracket;
		if (is_stable)
			from = piece.to;
	}
	return from;
}

/* The stable pieces, and then the others together, whose blocks were counted before. Returns the
 * end of the stable ones. */
static size_t
write_together(rt_markup_writer *w, rt_str text, size_t from)
{
	rt_split split = {text, from};
	size_t room = 0, total = 0, start = w->buf->size;
	rt_markup_part *parts = NULL;
	bool is_stable = true;
	rt_split_piece piece;

	w->part_count = 0;
	while (w->status == RT_OK && rt_split_next(&split, &piece)) {
		is_stable = is_stable && piece.is_closed && !may_define(text, piece);
		w->is_muted = !is_stable;
		w->blocks = 0;
		w->from = piece.from;
		w->to = piece.to;
		parse(w, bytes_of(text, piece));
		is_stable = is_stable && !w->has_bracket;
		if (is_stable) {
			/* No definition can change it: it is written permanently. */
			from = piece.to;
			start = w->buf->size;
			continue;
		}
		w->buf->size = start;
		if (rt_array_add(w->buf->alloc, &parts, &w->part_count, &room, sizeof(*parts)) ==
		    NULL) {
			w->status = RT_NOMEM;
			break;
		}
		parts[w->part_count - 1] = (rt_markup_part){piece.from, piece.to, w->blocks};
		total += w->blocks;
	}
	w->is_muted = false;
	w->blocks = 0;
	w->parts = parts;
	w->part_at = w->part_blocks = 0;
	if (w->status == RT_OK && from < text.size)
		parse(w, rt_str_at(text.ptr + from, text.size - from));
	w->parts = NULL;
	if (w->status == RT_OK && w->blocks != total) {
		/* md4c found other blocks in the whole than in its pieces: then it is one piece. */
		w->buf->size = start;
		w->from = from;
		w->to = text.size;
		parse(w, rt_str_at(text.ptr + from, text.size - from));
	}
	rt_free(w->buf->alloc, parts);
	return from;
}

static bool
any_defines(rt_str text, size_t from)
{
	rt_split split = {text, from};
	rt_split_piece piece;

	if (rt_str_find(text, RT_STR("]:"), from) == SIZE_MAX)
		return false;
	while (rt_split_next(&split, &piece))
		if (may_define(text, piece))
			return true;
	return false;
}

rt_status
rt_markup_blocks(rt_buf *buf, rt_str text, const rt_markup_options *options, size_t *out_stable,
		 rt_error *err)
{
	static const rt_markup_options usual = {0};
	rt_markup_writer w = {.buf = buf, .texts = {buf, false}, .start = buf->size};
	size_t stable;

	if (options == NULL)
		options = &usual;
	RT_ASSERT(options->from <= text.size);
	if (text.size > RT_MARKUP_TEXT_MAX)
		return rt_fail(err, RT_LIMIT, "the text is too long to render");
	w.masks.alloc = buf->alloc;
	stable = w.from = options->from;
	w.to = text.size;
	w.limit = options->limit > 0
			  ? options->limit
			  : (text.size - options->from) * RT_MARKUP_GROWTH + RT_MARKUP_SPARE;
	w.status = buf->status;
	rt_buf_init(&w.url, buf->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&w.scratch, buf->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&w.source, buf->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(buf, '[');
	if (options->is_whole)
		parse(&w, rt_str_at(text.ptr + w.from, w.to - w.from));
	else if (any_defines(text, options->from))
		stable = write_together(&w, text, options->from);
	else
		stable = write_pieces(&w, text, options->from);
	rt_buf_add_byte(buf, ']');
	if (w.status == RT_OK)
		w.status = buf->status;
	if (w.status != RT_OK)
		buf->size = w.start;
	else if (out_stable != NULL)
		*out_stable = stable;
	rt_buf_deinit(&w.url);
	rt_buf_deinit(&w.scratch);
	rt_buf_deinit(&w.source);
	rt_free(buf->alloc, w.masks.items);
	if (w.status == RT_LIMIT)
		return rt_fail(err, RT_LIMIT, "the rendered text is too large");
	return w.status == RT_OK ? RT_OK : rt_fail(err, w.status, "out of memory");
}

rt_status
rt_markup_parts(rt_buf *buf, rt_str text, bool is_cut, rt_error *err)
{
	rt_thinking t = {.is_open_end = is_cut};
	rt_texts texts = {buf, false};
	size_t start = buf->size;
	rt_str rest = text;
	rt_thinking_part part;
	rt_status st = RT_OK;

	rt_buf_add_byte(buf, '[');
	while (st == RT_OK && rt_thinking_next(&t, &rest, &part)) {
		size_t end = (size_t)(rest.ptr - text.ptr), last = buf->size;
		rt_markup_options options = {.from = end - part.raw.size};

		if (buf->status == RT_OK && last > 0 && buf->ptr[last - 1] != '[')
			rt_buf_add_byte(buf, ',');
		if (part.tag > 0) {
			rt_buf_add_f(buf, "{\"t\":\"thinking\",\"at\":[%zu,%zu],\"c\":[",
				     options.from, end);
			rt_texts_add(&texts, rt_str_trim(part.text));
			rt_texts_end(&texts);
			rt_buf_add_c(buf, "]}");
			continue;
		}
		size_t at = buf->size;
		st = rt_markup_blocks(buf, rt_str_at(text.ptr, end), &options, NULL, err);
		if (st != RT_OK || buf->status != RT_OK)
			continue;
		/* its items, without the brackets; if empty, also without the comma */
		size_t size = buf->size - at - 2;

		memmove(buf->ptr + at, buf->ptr + at + 1, size);
		buf->size = size > 0 ? at + size : last;
	}
	rt_buf_add_byte(buf, ']');
	if (st == RT_OK && buf->status != RT_OK)
		st = rt_fail(err, buf->status, "out of memory");
	if (st != RT_OK)
		buf->size = start;
	return st;
}

void
rt_markup_plain(rt_buf *buf, rt_str text)
{
	rt_texts texts = {buf, false};

	rt_buf_add_byte(buf, '[');
	if (text.size > 0) {
		rt_buf_add_f(buf, "{\"t\":\"pre\",\"at\":[0,%zu],\"c\":[", text.size);
		rt_texts_add(&texts, text);
		rt_texts_end(&texts);
		rt_buf_add_c(buf, "]}");
	}
	rt_buf_add_byte(buf, ']');
}
