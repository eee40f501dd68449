/* SPDX-License-Identifier: MIT
 *
 * Requests for embeddings, in the form of OpenAI:
 *
 *	{"model":"NAME","input":["a passage", …]}   {"data":[{"index":0,"embedding":[0.1, …]}, …]}  */
#include "llm/embed.h"

#include <stdlib.h> /* strtod */

#include "base/vector.h"
#include "codec/json.h"
#include "log/index.h"
#include "log/vectors.h"

enum {
	BODIES = 64,       /* of one step */
	PASSAGES = 64,     /* of one request */
	SHORT_SIZE = 150   /* a shorter text is not cut again if it is refused */
};

struct rt_embedder {
	const rt_alloc *alloc;
	rt_str name; /* in the configuration */
	rt_model *model;
	rt_batch *batch;
	rt_stop_fn stop;
	void *stop_ctx;
};

rt_status
rt_embedder_open(const rt_models_options *options, rt_embedder **out, rt_buf *warnings, rt_error *err)
{
	const rt_alloc *alloc = options->alloc != NULL ? options->alloc : rt_alloc_libc();
	rt_models_options o = *options;
	rt_model_choice choice = {0};
	rt_embedder *e;
	rt_status st;

	if (o.config == NULL || o.config->embedding_model.size == 0)
		return rt_fail(err, RT_REFUSED, "search by meaning requires an embedding_model in config.toml");
	o.name = o.config->embedding_model;
	st = rt_models_choose(o.config, o.name, &choice, err);
	if (st == RT_OK && choice.provider->embeddings_path == NULL)
		st = rt_fail(err, RT_REFUSED, "%s does not offer embeddings, so \"%.*s\" cannot be the embedding_model",
			     choice.provider->title, RT_STR_ARG(o.name));
	if (st != RT_OK)
		return st;
	e = rt_new0(alloc, sizeof(*e));
	if (e == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	e->alloc = alloc;
	e->name = o.name;
	st = rt_models_open(&o, &e->model, NULL, warnings, err);
	if (st == RT_OK && (e->batch = rt_batch_new(alloc)) == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st != RT_OK)
		rt_embedder_close(e);
	else
		*out = e;
	return st;
}

void
rt_embedder_close(rt_embedder *e)
{
	if (e == NULL)
		return;
	if (e->model != NULL)
		e->model->ops->close(e->model);
	rt_batch_free(e->batch);
	rt_free(e->alloc, e);
}

rt_str
rt_embedder_name(const rt_embedder *e)
{
	return e->name;
}

void
rt_embedder_set_stop(rt_embedder *e, rt_stop_fn stop, void *ctx)
{
	e->stop = stop;
	e->stop_ctx = ctx;
}

/* ---- one request ---- */

typedef struct passage {
	rt_passage stored; /* its vector NULL: refused, or without a direction */
	rt_str text;
} passage;

/* The vectors of one request or one step. */
typedef struct embedding {
	rt_embedder *e;
	rt_scope *s;
	size_t dimensions; /* 0: not known yet */
} embedding;

/* The numbers of an answer; NULL: it has no direction. */
static const float *
read_vector(embedding *m, yyjson_val *array)
{
	size_t count = yyjson_arr_size(array);
	float *vector = rt_scope_array(m->s, count, sizeof(*vector));

	if (count == 0 || count > RT_VECTOR_MAX || (m->dimensions != 0 && m->dimensions != count))
		rt_scope_fail(m->s, RT_UPSTREAM, "%s returned vectors of %zu numbers instead of %zu",
			      m->e->model->server.ptr, count, m->dimensions);
	for (rt_json_iter it = rt_json_items(array); rt_ok(m->s) && rt_json_next(&it);) {
		const char *number = yyjson_get_raw(it.value);

		vector[it.index] = (float)strtod(number != NULL ? number : "0", NULL);
	}
	m->dimensions = count;
	return rt_ok(m->s) && rt_vector_normalise(vector, count) ? vector : NULL;
}

static void
read_answer(embedding *m, rt_str json, passage *passages, size_t count)
{
	rt_scope parsing;
	size_t found = 0;

	rt_scope_init(&parsing, m->e->alloc);
	yyjson_val *data = rt_json_get(rt_json_parse(&parsing, json), "data");

	for (rt_json_iter it = rt_json_items(data); rt_ok(m->s) && rt_json_next(&it); found++) {
		uint64_t index = it.index;

		(void)rt_json_u64(rt_json_get(it.value, "index"), &index);
		if (index < count)
			passages[index].stored.vector = read_vector(m, rt_json_get(it.value, "embedding"));
	}
	if (parsing.status == RT_NOMEM)
		rt_scope_nomem(m->s);
	else if (found != count)
		rt_scope_fail(m->s, RT_UPSTREAM, "%s did not return %zu vectors", m->e->model->server.ptr, count);
	rt_scope_deinit(&parsing);
}

static rt_str
write_request(embedding *m, const passage *passages, size_t count)
{
	rt_buf *body = rt_scope_buf(m->s);

	rt_json_open(body, NULL, '{');
	rt_json_put_str(body, "model", m->e->model->name);
	rt_json_open(body, "input", '[');
	for (size_t i = 0; i < count; i++)
		rt_json_put_str(body, NULL, passages[i].text);
	rt_json_close(body, ']');
	rt_json_close(body, '}');
	return rt_scope_str(m->s, body);
}

/* False: the server refused the request. */
static bool
ask(embedding *m, passage *passages, size_t count, rt_error *why)
{
	rt_buf *answer = rt_scope_buf(m->s);
	rt_ask request = {.body = write_request(m, passages, count), .stop = m->e->stop, .ctx = m->e->stop_ctx};
	bool is_refused = false;
	rt_status st;

	if (!rt_ok(m->s))
		return true;
	st = rt_server_embed(m->e->model, &request, answer, &is_refused, why);
	if (st != RT_OK && !is_refused)
		rt_scope_fail_as(m->s, st, why);
	if (st == RT_OK)
		read_answer(m, rt_scope_str(m->s, answer), passages, count);
	rt_buf_deinit(answer);
	return !is_refused;
}

/* One text may be too long for the model: it is looked for, and cut. Recursive, over at most PASSAGES texts. */
static void
embed(embedding *m, passage *passages, size_t count, rt_error *why)
{
	size_t half = count / 2;

	if (!rt_ok(m->s) || ask(m, passages, count, why))
		return;
	if (count > 1) {
		embed(m, passages, half, why);
		embed(m, passages + half, count - half, why);
	} else if (passages->text.size > SHORT_SIZE) {
		passages->text.size = rt_utf8_cut(passages->text, passages->text.size / 2);
		embed(m, passages, 1, why);
	}
}

rt_meaning
rt_embed_text(rt_embedder *e, rt_scope *s, rt_str text)
{
	embedding m = {.e = e, .s = s};
	passage p = {.text = rt_str_at(text.ptr, rt_utf8_cut(text, RT_PASSAGE_SIZE_MAX))};
	rt_error why = {0};

	embed(&m, &p, 1, &why);
	if (rt_ok(s) && why.status != RT_OK)
		rt_scope_fail_as(s, why.status, &why);
	if (rt_ok(s) && p.stored.vector == NULL)
		rt_scope_fail(s, RT_UPSTREAM, "%s returned a vector of zeros", e->model->server.ptr);
	return (rt_meaning){e->name, p.stored.vector, m.dimensions};
}

/* ---- the texts of a project ---- */

/* The next passage of a text, up to the end of a paragraph, a line or a word. */
static rt_str
next_passage(rt_str text)
{
	static const char *const ends[] = {"\n\n", "\n", " "};
	size_t most = rt_utf8_cut(text, RT_PASSAGE_SIZE_MAX);

	if (text.size <= RT_PASSAGE_SIZE_MAX)
		return text;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		for (size_t at = most; at > most / 2; at--)
			if (rt_str_starts(rt_str_skip(text, at), rt_str_of(ends[i])))
				return rt_str_at(text.ptr, at);
	return rt_str_at(text.ptr, most);
}

typedef struct passages {
	passage *items;
	size_t count, room;
} passages;

static void
add_passages(rt_scope *s, passages *to, rt_str all, uint64_t body, uint64_t entry)
{
	rt_str text = all;

	for (size_t i = 0; i < RT_PASSAGES_MAX && text.size > 0; i++) {
		rt_str next = next_passage(text), words = rt_str_trim(next);

		text = rt_str_skip(text, next.size);
		if (words.size == 0)
			continue;
		passage *items = rt_scope_grow(s, to->items, to->count, &to->room, sizeof(*items));

		if (items == NULL)
			return;
		to->items = items;
		items[to->count++] = (passage){
			.stored = {.body = body, .entry = (uint32_t)entry, .at = (uint32_t)(words.ptr - all.ptr)},
			.text = words};
	}
}

static void
embed_all(embedding *m, passages *p)
{
	rt_error why = {0};
	size_t accepted = 0;

	for (size_t i = 0; rt_ok(m->s) && i < p->count; i += PASSAGES)
		embed(m, p->items + i, p->count - i < PASSAGES ? p->count - i : PASSAGES, &why);
	for (size_t i = 0; i < p->count; i++)
		accepted += p->items[i].stored.vector != NULL;
	if (rt_ok(m->s) && accepted == 0 && why.status != RT_OK)
		rt_scope_fail_as(m->s, why.status, &why);
}

static void
store_all(embedding *m, rt_engine *engine, const passages *p, const rt_vectors_state *after, uint64_t mark)
{
	rt_passage *stored = rt_scope_array(m->s, p->count, sizeof(*stored));
	rt_vectors_batch batch = {m->e->name, m->dimensions, *after, mark, stored, 0};
	rt_error why = {0};
	rt_status st;

	for (size_t i = 0; rt_ok(m->s) && i < p->count; i++)
		if (p->items[i].stored.vector != NULL)
			stored[batch.count++] = p->items[i].stored;
	if (!rt_ok(m->s))
		return;
	st = rt_vectors_add(engine, &batch, &why);
	if (st != RT_OK && st != RT_CONFLICT) /* then the same texts may be sent again */
		rt_scope_fail_as(m->s, st, &why);
}

rt_status
rt_embed_state_read(rt_str model, rt_engine *engine, rt_embed_state *out, rt_error *err)
{
	rt_vectors_state state;
	rt_status st = rt_vectors_state_read(engine, model, &state, err);

	*out = (rt_embed_state){state.mark, state.head, state.count};
	return st;
}

rt_status
rt_embed_step(rt_embedder *e, rt_engine *engine, rt_embed_state *out, rt_error *err)
{
	rt_batch *b = e->batch;
	rt_vectors_state state = {0};
	passages list = {0};
	rt_scope s;
	embedding m = {.e = e, .s = &s};

	rt_scope_init(&s, e->alloc);
	RT_TRY(&s, rt_vectors_state_read(engine, e->name, &state, &s.error));
	if (rt_ok(&s) && state.mark < state.head) {
		uint64_t last = state.head - state.mark > BODIES ? state.mark + BODIES : state.head;

		RT_TRY(&s, rt_batch_read(engine, b, state.mark + 1, last, &s.error));
		for (size_t i = 0; rt_ok(&s) && i < b->count; i++)
			add_passages(&s, &list, rt_str_at(b->texts.ptr + b->items[i].at, b->items[i].size),
				     b->items[i].number, b->items[i].entry);
		embed_all(&m, &list);
		store_all(&m, engine, &list, &state, b->last);
	}
	RT_TRY(&s, rt_embed_state_read(e->name, engine, out, &s.error));
	return rt_scope_end(&s, err);
}
