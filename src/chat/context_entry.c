/* SPDX-License-Identifier: MIT
 *
 * One entry as a message, and its tokens.
 *
 *   kind              sent as
 *   (none), message   by its role: user, assistant (AI, model), system; other roles
 *                     become a user's text that begins with the role, "[Critic]: …", unless
 *                     the settings' role_map says otherwise
 *   custom_message    user
 *   prompt_notice     system
 *   branch_summary    user, with a sentence around it
 *   compaction        at the position of the plan, with a sentence around it
 *   custom, label, session, session_info, model_change, thinking_level_change, usage,
 *   context_edit      not at all
 *   any other kind    as a message, by its role
 *
 * Blocks are those of pi, Anthropic and OpenAI alike: text, image, image_url, toolCall,
 * tool_use, toolResult, tool_result. A tool's call goes with its result, or both go as text: a
 * provider refuses the one without the other. A block that is none of these and has no text is
 * counted as not sent (rt_request_unsent), so that the caller can say so.
 *
 * Thinking is never sent, whether it is a block or between tags in a text of the model
 * (codec/thinking.h), with one exception: signed reasoning is sent back to its provider
 * unchanged, as long as the entry's content is unchanged. */
#include "base/encode.h"
#include "chat/attachment.h"
#include "chat/context_impl.h"
#include "codec/content.h"
#include "codec/thinking.h"
#include "core/role.h"
#include "log/blob.h"

enum { PDF_BYTES_PER_TEXT = 16 }; /* bytes of a PDF for one of its text, roughly */

#define COMPACTION_BEFORE \
	"The conversation history before this point was compacted into the following " \
	"summary:\n\n<summary>\n"
#define COMPACTION_AFTER "\n</summary>"
#define BRANCH_BEFORE \
	"The following is a summary of a branch that this conversation came back " \
	"from:\n\n<summary>\n"
#define BRANCH_AFTER "</summary>"

/* ---- pairs ---- */

static void
free_strs(void *strs)
{
	rt_strs_free(strs);
}

rt_pairs
rt_pairs_new(rt_scope *s)
{
	rt_pairs pairs = {.scope = s};

	RT_TRY(s, rt_strs_new(s->alloc, NULL, &pairs.ids));
	rt_scope_defer(s, free_strs, pairs.ids);
	return pairs;
}

static void
pairs_call(rt_pairs *p, rt_str id, rt_str name)
{
	rt_pending_call *pending = rt_scope_grow(p->scope, p->pending, p->pending_count,
						 &p->pending_capacity, sizeof(*pending));

	if (pending == NULL)
		return;
	p->pending = pending;
	p->pending[p->pending_count++] =
		(rt_pending_call){rt_scope_copy(p->scope, id), rt_scope_copy(p->scope, name)};
}

static void
pairs_result(rt_pairs *p, rt_str id)
{
	size_t i = 0;
	uint32_t number;

	while (i < p->pending_count && !rt_str_eq(p->pending[i].id, id))
		i++;
	if (i == p->pending_count || RT_TRY(p->scope, rt_strs_intern(p->ids, id, &number,
								     &p->scope->error)) != RT_OK)
		return;
	rt_str *names = rt_scope_grow(p->scope, p->names, number - 1, &p->capacity, sizeof(*names));

	if (names == NULL)
		return;
	p->names = names;
	p->names[number - 1] = p->pending[i].name;
	p->pending[i] = p->pending[--p->pending_count];
}

static bool
pairs_has(rt_pairs *p, rt_str id, rt_str *out_name)
{
	uint32_t number = 0;

	RT_TRY(p->scope, rt_strs_find(p->ids, id, &number, &p->scope->error));
	if (number != 0)
		*out_name = p->names[number - 1];
	return number != 0;
}

/* ---- kinds of entries ---- */

void
rt_context_entry_of(rt_context_entry *e, rt_str role, rt_str kind, const rt_body *body)
{
	memset(e, 0, sizeof(*e));
	e->role = role;
	e->kind = rt_str_is(kind, "message") ? rt_str_at("", 0) : kind;
	e->body = body;
	e->content = body->content;
	e->content_json = body->content_json;
	e->record = body->format == RT_BODY_PI ? body->fields : rt_body_field(body, "pi");
}

yyjson_val *
rt_context_entry_field(const rt_context_entry *e, const char *name, const char *pi_name)
{
	yyjson_val *own = rt_body_field(e->body, name);

	return own != NULL ? own : rt_json_get(e->record, pi_name);
}

/* pi's message inside the record, if it still has this role. */
static yyjson_val *
message_as(const rt_context_entry *e, const char *role)
{
	yyjson_val *message = rt_json_get(e->record, "message");

	return rt_str_is(e->role, role) && rt_str_is(rt_json_str(rt_json_get(message, "role")), role)
		       ? message
		       : NULL;
}

/* The call that an entry as a whole answers; empty: none. */
static rt_str
result_id(const rt_context_entry *e)
{
	yyjson_val *message = message_as(e, "toolResult");

	if (rt_context_kind_is_silent(e->kind) || rt_str_is(e->kind, "custom_message") ||
	    rt_str_is(e->kind, "prompt_notice") || e->role_to.size > 0)
		return rt_str_at("", 0);
	if (message != NULL)
		return rt_json_str(rt_json_get(message, "toolCallId"));
	return rt_str_eq_nocase(e->role, RT_STR("tool"))
		       ? rt_json_str(rt_body_field(e->body, "tool_call_id"))
		       : rt_str_at("", 0);
}

/* The speaker; a tag if it is prepended to the text. */
static rt_speaker
speaker_of(const rt_context_entry *e, rt_str *out_tag)
{
	*out_tag = rt_str_at("", 0);
	if (rt_str_is(e->kind, "custom_message"))
		return RT_SPEAKER_USER;
	if (rt_str_is(e->kind, "prompt_notice"))
		return RT_SPEAKER_SYSTEM;
	if (rt_context_kind_is_silent(e->kind))
		return RT_SPEAKER_NOBODY;
	if (rt_str_eq_nocase(e->role_to, RT_STR("user")))
		return RT_SPEAKER_USER;
	if (rt_str_eq_nocase(e->role_to, RT_STR("assistant")))
		return RT_SPEAKER_ASSISTANT;
	if (rt_str_eq_nocase(e->role_to, RT_STR("system")))
		return RT_SPEAKER_SYSTEM;
	if (e->role.size == 0 || rt_role_is_user(e->role) || message_as(e, "custom") != NULL)
		return RT_SPEAKER_USER;
	if (rt_role_is_assistant(e->role))
		return RT_SPEAKER_ASSISTANT;
	if (rt_str_eq_nocase(e->role, RT_STR("system")))
		return RT_SPEAKER_SYSTEM;
	*out_tag = e->role;
	return RT_SPEAKER_USER;
}

bool
rt_context_entry_may_lead(const rt_context_entry *e)
{
	rt_str tag;

	return rt_context_entry_is_silent(e) || speaker_of(e, &tag) == RT_SPEAKER_SYSTEM;
}

bool
rt_context_entry_is_result(const rt_context_entry *e)
{
	rt_context_result result;
	yyjson_val *item;
	size_t i, max;

	if (result_id(e).size > 0)
		return true;
	yyjson_arr_foreach(e->content_json, i, max, item)
		if (rt_context_result_of(item, &result))
			return true;
	return false;
}

static bool
is_empty(const rt_context_entry *e)
{
	return e->content_json != NULL ? yyjson_arr_size(e->content_json) == 0
				       : e->content.size == 0;
}

/* Can its content include results of tools? */
static bool
takes_results(rt_speaker speaker)
{
	return speaker == RT_SPEAKER_USER || speaker == RT_SPEAKER_ASSISTANT;
}

void
rt_context_entry_pair(const rt_context_entry *e, rt_pairs *p)
{
	yyjson_val *item, *calls = rt_body_field(e->body, "tool_calls");
	rt_str tag, id = result_id(e);
	rt_speaker speaker = speaker_of(e, &tag);
	bool is_assistant = speaker == RT_SPEAKER_ASSISTANT, called = false, answered = id.size > 0;
	size_t i, max;
	rt_context_result result;
	rt_context_call call;

	if (speaker == RT_SPEAKER_NOBODY && !rt_str_is(e->kind, "branch_summary"))
		return; /* not sent, so it does not separate the others */
	if (answered)
		pairs_result(p, id);
	yyjson_arr_foreach(e->content_json, i, max, item)
	{
		if (is_assistant && rt_context_call_of(item, &call)) {
			if (!called)
				p->pending_count = 0;
			called = true;
			pairs_call(p, call.id, call.name);
		} else if (takes_results(speaker) && id.size == 0 &&
			   rt_context_result_of(item, &result)) {
			answered = true;
			pairs_result(p, result.id);
		}
	}
	yyjson_arr_foreach(calls, i, max, item)
	{
		if (!is_assistant || !rt_context_call_of(item, &call))
			continue;
		if (!called)
			p->pending_count = 0;
		called = true;
		pairs_call(p, call.id, call.name);
	}
	if (!called && !answered && !is_empty(e))
		p->pending_count = 0;
}

/* ---- sending ---- */

/* The bytes of a file attached to the entry, or NULL: they were purged. */
static rt_buf *
read_blob(rt_str sha256, rt_model_request *r)
{
	rt_buf *bytes = rt_scope_buf(r->entry);
	rt_status st = r->engine == NULL ? RT_NOT_FOUND
					 : rt_blob_read(r->engine, sha256, bytes, &r->entry->error);

	if (st != RT_NOT_FOUND)
		rt_scope_note(r->entry, st);
	return st == RT_OK ? bytes : NULL;
}

/* A file attached to an entry: in the store, or as an export contains it. Images in exports have
 * the same form as those of other programs. */
static bool
is_attached(yyjson_val *block, rt_str type)
{
	return rt_blob_of(block).size > 0 ||
	       (rt_str_is(type, "file") && yyjson_is_str(rt_json_get(block, "data")));
}

static void
send_attached(yyjson_val *block, rt_model_request *r)
{
	rt_attachment file = {.name = rt_json_str(rt_json_get(block, "name")),
			      .mime = rt_json_str(rt_json_get(block, "mimeType"))};
	rt_str hash = rt_blob_of(block), data = rt_json_str(rt_json_get(block, "data"));
	rt_buf *bytes = hash.size > 0 ? read_blob(hash, r) : rt_scope_buf(r->entry);
	rt_buf *text = rt_scope_buf(r->entry);

	if (bytes == NULL || (hash.size == 0 && !rt_buf_add_base64_decoded(bytes, data))) {
		rt_request_text(r, RT_STR("[purged]"));
		return;
	}
	file.bytes = rt_scope_str(r->entry, bytes);
	if (rt_str_is(file.mime, "text/plain") && rt_utf8_valid_size(file.bytes) == file.bytes.size) {
		file.mime = RT_STR("");
		rt_attachment_add_text(text, &file);
		rt_request_text(r, rt_scope_str(r->entry, text));
		return;
	}
	rt_buf_add_base64(text, file.bytes);
	data = rt_scope_str(r->entry, text);
	if (rt_str_starts(file.mime, RT_STR("image/")))
		rt_request_image(r, file.mime, data);
	else
		rt_request_file(r, file.name, file.mime, data);
}

static void
send_image(yyjson_val *block, rt_model_request *r)
{
	yyjson_val *source = rt_json_get(block, "source"), *url = rt_json_get(block, "image_url");
	rt_str mime = rt_json_str(rt_json_get(block, "mimeType"));
	rt_str data = rt_json_str(rt_json_get(block, "data"));

	if (source != NULL) {
		mime = rt_json_str(rt_json_get(source, "media_type"));
		data = rt_json_str(rt_json_get(source, "data"));
		if (rt_json_get(source, "url") != NULL)
			url = rt_json_get(source, "url");
	}
	if (yyjson_is_obj(url))
		url = rt_json_get(url, "url");
	if (yyjson_is_str(url)) {
		rt_request_image_url(r, rt_json_str(url));
		return;
	}
	rt_buf *whole = rt_scope_buf(r->entry); /* checked as a data: URL, like any other */

	rt_buf_add_c(whole, "data:");
	rt_buf_add_str(whole, mime);
	rt_buf_add_c(whole, ";base64,");
	rt_buf_add_str(whole, data);
	rt_request_image_url(r, rt_scope_str(r->entry, whole));
}

static void
send_call(const rt_context_call *call, rt_pairs *pairs, rt_model_request *r)
{
	rt_buf *json = rt_scope_buf(r->entry), *text = rt_scope_buf(r->entry);
	rt_str name;

	if (yyjson_is_str(call->arguments))
		rt_buf_add_str(json, rt_json_str(call->arguments));
	else if (call->arguments != NULL)
		rt_json_add_value(json, call->arguments);
	rt_str arguments = rt_scope_str(r->entry, json);

	if (pairs_has(pairs, call->id, &name)) {
		rt_request_call(r, &(rt_request_call_data){call->id, call->name, arguments,
							   call->signature});
		return;
	}
	rt_buf_add_c(text, "[called ");
	rt_buf_add_str(text, call->name);
	rt_buf_add_byte(text, '(');
	rt_buf_add_str(text, arguments);
	rt_buf_add_c(text, ")]");
	rt_request_text(r, rt_scope_str(r->entry, text));
}

/* A block of it; pi has redacted thinking in the signature. */
static void
send_thinking(yyjson_val *block, rt_model_request *r)
{
	rt_str type = rt_json_str(rt_json_get(block, "type"));
	rt_str signature = rt_json_str(rt_json_get(block, "thinkingSignature"));
	bool redacted = rt_str_is(type, "redacted_thinking") ||
			yyjson_is_true(rt_json_get(block, "redacted"));

	if (signature.size == 0)
		signature = rt_json_str(rt_json_get(block, "signature"));
	if (signature.size > 0 || redacted)
		rt_request_thinking(r, rt_json_str(rt_json_get(block, "thinking")), signature,
				    redacted ? block : NULL);
}

/* An entry's "thinking_segments" that are signed. */
static void
send_segments(const rt_context_entry *e, rt_model_request *r)
{
	yyjson_val *segment;
	size_t i, max;

	yyjson_arr_foreach(rt_body_field(e->body, "thinking_segments"), i, max, segment)
	{
		rt_str signature = rt_json_str(rt_json_get(segment, "signature"));
		yyjson_val *redacted = rt_json_get(segment, "redacted");

		if (signature.size > 0 || yyjson_is_obj(redacted))
			rt_request_thinking(r, rt_json_str(rt_json_get(segment, "text")), signature,
					    redacted);
	}
}

/* ---- signatures ---- */

/* The name of the provider that the reply is from, or that the request is for. */
static rt_str
service_of(rt_str said, const rt_model_request *r)
{
	return said.size > 0 ? said : rt_str_of(r->provider->name);
}

/* Did this provider write it, and not another one of the same kind? */
static bool
is_from(const rt_context_entry *e, const rt_model_request *r)
{
	yyjson_val *message = rt_json_get(e->record, "message");
	rt_str name = rt_json_str(rt_context_entry_field(e, "provider", "provider"));
	rt_str service = rt_json_str(rt_context_entry_field(e, "service", "service"));

	if (!rt_str_eq(service_of(service, r), service_of(r->service, r)))
		return false;
	if (name.size == 0)
		name = rt_json_str(rt_json_get(message, "provider"));
	return rt_str_eq_nocase(name, rt_str_of(r->provider->name)) ||
	       (r->writer->alias != NULL && rt_str_eq_nocase(name, rt_str_of(r->writer->alias)));
}

/* Is the entry's content unchanged since it arrived? */
static bool
is_as_it_came(const rt_context_entry *e, rt_model_request *r)
{
	rt_str signed_text = rt_json_str(rt_body_field(e->body, "signed_text"));

	if (e->content_json != e->body->content_json || e->content.ptr != e->body->content.ptr)
		return false; /* a context edit */
	if (e->body->format == RT_BODY_PI)
		return true; /* an edit creates another body */
	if (signed_text.size == 0)
		return false;
	rt_buf *now = rt_scope_buf(r->entry);

	rt_reply_add_signed_text(e->content, e->content_json, r->scope->alloc, now);
	return rt_str_eq(rt_scope_str(r->entry, now), signed_text);
}

/* May signed reasoning of an assistant's entry be sent back? Not if one of its calls is sent as
 * text, nor if nothing would follow it. */
static bool
is_signed(const rt_context_entry *e, rt_pairs *pairs, rt_model_request *r)
{
	yyjson_val *block;
	size_t i, max, count = yyjson_arr_size(e->content_json);
	rt_context_call call;
	rt_str name;

	if ((r->writer->thinking == NULL && r->writer->signed_call == NULL) || !is_from(e, r) ||
	    is_empty(e) || !is_as_it_came(e, r))
		return false;
	yyjson_arr_foreach(e->content_json, i, max, block)
	{
		if (rt_context_call_of(block, &call) && !pairs_has(pairs, call.id, &name))
			return false;
	}
	block = count > 0 ? yyjson_arr_get_last(e->content_json) : NULL;
	return !rt_context_is_thinking(rt_json_str(rt_json_get(block, "type")));
}

/* Would its signed reasoning go back to the provider of the request? */
static bool
sends_thinking(const rt_context_entry *e, rt_model_request *r)
{
	return r->writer->thinking != NULL && is_from(e, r) && !is_empty(e) && is_as_it_came(e, r);
}

/* The tag is put before the first text; empty afterwards. */
static void
send_text(rt_model_request *r, rt_str *tag, rt_str text)
{
	if (tag->size == 0) {
		rt_request_text(r, text);
		return;
	}
	if (text.size == 0)
		return;
	rt_buf *tagged = rt_scope_buf(r->entry);

	rt_buf_add_byte(tagged, '[');
	rt_buf_add_str(tagged, *tag);
	rt_buf_add_c(tagged, "]: ");
	rt_buf_add_str(tagged, text);
	rt_request_text(r, rt_scope_str(r->entry, tagged));
	tag->size = 0;
}

static void send_result(const rt_context_result *result, rt_pairs *pairs, rt_model_request *r);

/* A text of the entry: the model's is sent without thinking. */
static rt_str
prose_of(const rt_context_entry *e, rt_str text, rt_model_request *r)
{
	rt_buf *prose;

	if (e == NULL || !rt_body_thinks(e->role) || rt_str_find(text, RT_STR("<"), 0) == SIZE_MAX)
		return text;
	prose = rt_scope_buf(r->entry);
	rt_thinking_add_prose(prose, text, rt_body_is_cut(e->body));
	return rt_scope_str(r->entry, prose);
}

/* Adds a string or blocks to the open message. e: the entry if they are its own content, or
 * NULL. */
static void
send_content(const rt_context_entry *e, rt_str text, yyjson_val *blocks, rt_str tag,
	     rt_speaker speaker, rt_pairs *pairs, rt_model_request *r)
{
	yyjson_val *block;
	size_t i, max;
	rt_context_result result;
	rt_context_call call;

	if (blocks == NULL) {
		send_text(r, &tag, prose_of(e, text, r));
		return;
	}
	yyjson_arr_foreach(blocks, i, max, block)
	{
		rt_str type = rt_json_str(rt_json_get(block, "type"));

		if (yyjson_is_str(block)) {
			send_text(r, &tag, prose_of(e, rt_json_str(block), r));
		} else if (is_attached(block, type)) {
			if (tag.size > 0)
				send_text(r, &tag, RT_STR("a file"));
			send_attached(block, r);
		} else if (rt_context_is_image(type)) {
			if (tag.size > 0)
				send_text(r, &tag, RT_STR("an image"));
			send_image(block, r);
		} else if (speaker == RT_SPEAKER_ASSISTANT && rt_context_call_of(block, &call)) {
			send_call(&call, pairs, r);
		} else if (takes_results(speaker) && rt_context_result_of(block, &result)) {
			send_result(&result, pairs, r);
			rt_request_begin(r, speaker);
		} else if (rt_context_is_thinking(type)) {
			send_thinking(block, r);
		} else if (yyjson_is_str(rt_json_get(block, "text"))) {
			send_text(r, &tag,
				  prose_of(e, rt_json_str(rt_json_get(block, "text")), r));
		} else if (!rt_str_is(type, "reasoning")) {
			rt_request_unsent(r, type);
		}
	}
}

/* A result of a known call; of an unknown one the text, with the name of its tool. */
static void
send_answer(rt_str id, rt_str name, bool failed, rt_str text, yyjson_val *blocks, rt_pairs *pairs,
	    rt_model_request *r)
{
	rt_str called;

	if (pairs_has(pairs, id, &called)) {
		rt_request_result_begin(r, id, name.size > 0 ? name : called, failed);
		send_content(NULL, text, blocks, RT_STR(""), RT_SPEAKER_NOBODY, pairs, r);
		rt_request_result_end(r);
		return;
	}
	rt_buf *tag = rt_scope_buf(r->entry);

	rt_buf_add_c(tag, "result of ");
	rt_buf_add_str(tag, name.size > 0 ? name : RT_STR("a tool"));
	rt_request_begin(r, RT_SPEAKER_USER);
	send_content(NULL, text, blocks, rt_scope_str(r->entry, tag), RT_SPEAKER_NOBODY, pairs, r);
	rt_request_end(r);
}

static void
send_result(const rt_context_result *result, rt_pairs *pairs, rt_model_request *r)
{
	if (result->content == NULL)
		rt_request_unsent(r, RT_STR("tool_result without content"));
	send_answer(result->id, result->name, result->failed, rt_json_str(result->content),
		    yyjson_is_arr(result->content) ? result->content : NULL, pairs, r);
}

/* The text of an entry in the form in which it is sent: a context edit may have changed the
 * content. */
static void
add_prose(rt_buf *buf, const rt_context_entry *e)
{
	rt_body view = *e->body;

	view.content = e->content;
	view.content_json = e->content_json;
	rt_body_add_prose(buf, e->role, &view);
}

/* The texts of a content, joined by line ends; if nothing else is possible there, the rest is not
 * sent. */
static void
add_texts(rt_buf *buf, const rt_context_entry *e, rt_model_request *r)
{
	yyjson_val *block;
	size_t i, max;

	add_prose(buf, e);
	yyjson_arr_foreach(e->content_json, i, max, block)
	{
		rt_str type = rt_json_str(rt_json_get(block, "type"));

		if (!rt_content_is_text(block) && !rt_context_is_thinking(type) &&
		    !rt_str_is(type, "reasoning"))
			rt_request_unsent(r, type);
	}
}

/* A text of the user. */
static void
send_user_text(rt_model_request *r, const rt_buf *text)
{
	rt_request_begin(r, RT_SPEAKER_USER);
	rt_request_text(r, rt_scope_str(r->entry, text));
	rt_request_end(r);
}

static void
send_framed(const rt_context_entry *e, const char *before, const char *after, rt_model_request *r)
{
	rt_buf *text = rt_scope_buf(r->entry);

	rt_buf_add_c(text, before);
	size_t start = text->size;

	add_texts(text, e, r);
	if (text->size == start)
		return;
	rt_buf_add_c(text, after);
	send_user_text(r, text);
}

/* sections: pi's parts of a system prompt, or NULL. */
static void
send_system(const rt_context_entry *e, yyjson_val *sections, rt_model_request *r)
{
	rt_buf *text = rt_scope_buf(r->entry);
	yyjson_val *key, *value;
	size_t i, max;

	add_texts(text, e, r);
	rt_json_foreach(sections, i, max, key, value)
	{
		if (!yyjson_is_str(value) || yyjson_get_len(value) == 0)
			continue;
		if (text->size > 0)
			rt_buf_add_c(text, "\n\n");
		rt_buf_add_str(text, rt_json_str(value));
	}
	rt_request_system(r, rt_scope_str(r->entry, text), true);
}

/* The message that pi makes of a command that its user ran. */
static void
send_bash(const rt_context_entry *e, yyjson_val *message, rt_model_request *r)
{
	yyjson_val *code = rt_json_get(message, "exitCode");
	rt_str path = rt_json_str(rt_json_get(message, "fullOutputPath"));

	if (yyjson_is_true(rt_json_get(message, "excludeFromContext")))
		return;
	rt_buf *text = rt_scope_buf(r->entry);

	rt_buf_add_c(text, "Ran `");
	rt_buf_add_str(text, rt_json_str(rt_json_get(message, "command")));
	rt_buf_add_c(text, "`\n");
	if (is_empty(e)) {
		rt_buf_add_c(text, "(no output)");
	} else {
		rt_buf_add_c(text, "```\n");
		add_texts(text, e, r);
		rt_buf_add_c(text, "\n```");
	}
	if (yyjson_is_true(rt_json_get(message, "cancelled"))) {
		rt_buf_add_c(text, "\n\n(command cancelled)");
	} else if (rt_json_is_number(code) && !rt_str_is(rt_json_str(code), "0")) {
		rt_buf_add_c(text, "\n\nCommand exited with code ");
		rt_buf_add_str(text, rt_json_str(code));
	}
	if (yyjson_is_true(rt_json_get(message, "truncated")) && path.size > 0) {
		rt_buf_add_c(text, "\n\n[Output truncated. Full output: ");
		rt_buf_add_str(text, path);
		rt_buf_add_byte(text, ']');
	}
	send_user_text(r, text);
}

void
rt_context_entry_send(const rt_context_entry *e, rt_pairs *pairs, rt_model_request *r)
{
	yyjson_val *message, *item, *name;
	size_t i, max;
	rt_context_call call;
	rt_speaker speaker;
	rt_str tag, id = result_id(e);

	if (rt_str_is(e->kind, "branch_summary")) {
		send_framed(e, BRANCH_BEFORE, BRANCH_AFTER, r);
		return;
	}
	if (id.size > 0) {
		message = message_as(e, "toolResult");
		name = message != NULL ? rt_json_get(message, "toolName")
				       : rt_body_field(e->body, "name");
		send_answer(id, rt_json_str(name), yyjson_is_true(rt_json_get(message, "isError")),
			    e->content, e->content_json, pairs, r);
		return;
	}
	message = e->kind.size == 0 ? message_as(e, "bashExecution") : NULL;
	if (message != NULL && e->role_to.size == 0) {
		send_bash(e, message, r);
		return;
	}
	speaker = speaker_of(e, &tag);
	if (speaker == RT_SPEAKER_NOBODY)
		return;
	if (speaker == RT_SPEAKER_SYSTEM) {
		message = message_as(e, "system");
		send_system(e, rt_json_get(message, "sections"), r);
		return;
	}
	if (is_empty(e) && rt_body_field(e->body, "tool_calls") == NULL)
		return; /* the text around it stays one message */
	rt_request_begin(r, speaker);
	r->is_signed = speaker == RT_SPEAKER_ASSISTANT && is_signed(e, pairs, r);
	if (r->is_signed)
		send_segments(e, r);
	send_content(e, e->content, e->content_json, tag, speaker, pairs, r);
	r->is_signed = false;
	yyjson_arr_foreach(rt_body_field(e->body, "tool_calls"), i, max, item)
	{
		if (speaker == RT_SPEAKER_ASSISTANT && rt_context_call_of(item, &call))
			send_call(&call, pairs, r);
		else
			rt_request_unsent(r, RT_STR("tool call"));
	}
	rt_request_end(r);
}

void
rt_context_entry_summary(const rt_context_entry *e, rt_model_request *r)
{
	yyjson_val *system = rt_json_get(e->record, "systemMessage");

	if (yyjson_is_obj(system)) { /* pi's prompt of that time */
		yyjson_val *content = rt_json_get(system, "content");
		rt_context_entry prompt = *e;

		prompt.content = rt_json_str(content);
		prompt.content_json = yyjson_is_arr(content) ? content : NULL;
		send_system(&prompt, rt_json_get(system, "sections"), r);
	}
	send_framed(e, COMPACTION_BEFORE, COMPACTION_AFTER, r);
}

/* ---- tokens ---- */

bool
rt_context_entry_is_silent(const rt_context_entry *e)
{
	return (rt_context_kind_is_silent(e->kind) && !rt_str_is(e->kind, "branch_summary")) ||
	       yyjson_is_true(rt_json_get(rt_json_get(e->record, "message"), "excludeFromContext"));
}

/* The text by which an attached file is estimated; of a PDF it is a guess. */
static size_t
file_bytes(yyjson_val *block)
{
	bool is_text = rt_str_is(rt_json_str(rt_json_get(block, "mimeType")), "text/plain");
	uint64_t size = 0;

	(void)rt_json_u64(rt_json_get(block, "size"), &size);
	return (size_t)(is_text ? size : size / PDF_BYTES_PER_TEXT);
}

/* The contents of blocks besides their texts: calls and results as JSON, images by their number,
 * attached files by their size. */
static void
add_others(rt_buf *json, yyjson_val *blocks, bool thinks, size_t *images, size_t *bytes)
{
	rt_context_result result;
	rt_context_call call;
	yyjson_val *block;
	size_t i, max;

	yyjson_arr_foreach(blocks, i, max, block)
	{
		rt_str type = rt_json_str(rt_json_get(block, "type"));
		yyjson_val *inner;
		size_t k, count;

		if (rt_content_is_text(block))
			continue;
		if (rt_context_is_image(type)) {
			++*images;
		} else if (rt_str_is(type, "file")) {
			*bytes += file_bytes(block);
		} else if (rt_context_call_of(block, &call)) {
			rt_json_add_value(json, block);
		} else if (rt_context_is_thinking(type)) {
			if (thinks)
				rt_json_add_value(json, block);
		} else if (rt_context_result_of(block, &result)) {
			rt_buf_add_str(json, rt_json_str(result.content));
			yyjson_arr_foreach(result.content, k, count, inner)
			{
				if (rt_context_is_image(rt_json_str(rt_json_get(inner, "type"))))
					++*images;
				else
					rt_buf_add_str(json,
						       rt_json_str(rt_json_get(inner, "text")));
			}
		} else { /* any other block sends its text, if it has one */
			rt_buf_add_str(json, rt_json_str(rt_json_get(block, "text")));
		}
	}
}

/* Estimated tokens of the parts besides the text. */
static size_t
other_tokens(const rt_context_entry *e, rt_model_request *r)
{
	yyjson_val *calls = rt_body_field(e->body, "tool_calls");
	yyjson_val *segments = rt_body_field(e->body, "thinking_segments");
	yyjson_val *message = rt_json_get(e->record, "message");
	yyjson_val *sections = rt_json_get(message, "sections");
	bool thinks = sends_thinking(e, r);
	rt_buf *json = rt_scope_buf(r->entry);
	size_t images = 0, bytes = 0;

	add_others(json, e->content_json, thinks, &images, &bytes);
	if (calls != NULL)
		rt_json_add_value(json, calls);
	if (thinks && segments != NULL)
		rt_json_add_value(json, segments);
	/* a command that the user of pi ran; the parts of a system prompt of pi's */
	rt_buf_add_str(json, rt_json_str(rt_json_get(message, "command")));
	if (sections != NULL)
		rt_json_add_value(json, sections);
	return rt_tokens_estimate(rt_scope_str(r->entry, json).size + bytes) + images * RT_TOKENS_PER_IMAGE;
}

size_t
rt_context_entry_tokens(const rt_context_entry *e, rt_model_request *r, rt_token_fn count, void *ctx)
{
	rt_buf *buf = rt_scope_buf(r->entry);

	add_prose(buf, e);
	rt_str text = rt_scope_str(r->entry, buf);

	return (count != NULL ? count(ctx, text) : rt_tokens_estimate(text.size)) +
	       other_tokens(e, r) + RT_TOKENS_PER_MESSAGE;
}
