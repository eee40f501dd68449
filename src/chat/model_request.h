/* SPDX-License-Identifier: MIT
 *
 * Request: builder for the body of a request to a model.
 *
 *   context.c, context_entry.c   choose the messages and what is in them
 *   context_write.c              begins and ends messages and joins them
 *   a writer (llm/)              has the JSON of texts, images, calls and results
 *
 *     rt_request_begin(r, RT_SPEAKER_USER);
 *     rt_request_text(r, RT_STR("What is this?"));     writer->text
 *     rt_request_image(r, mime, base64);               writer->image
 *     rt_request_end(r);                               writer->plain, or an array of parts
 *     …
 *     rt_request_finish(r, &settings, body);           writer->body
 *
 * One thread at a time. Failures of memory are kept in the buffers; finish passes them to the
 * scope. */
#ifndef RT_CHAT_MODEL_REQUEST_H
#define RT_CHAT_MODEL_REQUEST_H

#include "base/scope.h"
#include "chat/provider.h"
#include "log/engine.h"

typedef enum rt_speaker {
	RT_SPEAKER_NOBODY,
	RT_SPEAKER_SYSTEM,
	RT_SPEAKER_USER,
	RT_SPEAKER_ASSISTANT
} rt_speaker;

/* Texts and images of a message, or of a tool's result. */
typedef struct rt_blocks {
	rt_buf parts; /* in the provider's form, with commas */
	size_t count;
	rt_buf text; /* the texts alone, joined by line ends */
	size_t text_count;
	size_t last_at;   /* where the last part begins, if it is a text; else SIZE_MAX */
	size_t last_size; /* of that text, at the end of the texts */
} rt_blocks;

enum { RT_MODEL_REQUEST_UNSENT_MAX = 8 };

typedef struct rt_model_request {
	const rt_provider *provider;
	const struct rt_provider_writer *writer; /* the provider's */
	rt_engine *engine; /* has the files attached to entries; set by the caller; NULL: none */
	rt_str service; /* as rt_model has it; set by the caller */
	rt_scope *scope;
	rt_scope *entry; /* temporary texts of the entry that is being sent; scope unless set */
	rt_buf top; /* the system prompt, and system entries before the first message */
	rt_buf messages;
	size_t message_count;
	/* the message that is open */
	rt_speaker speaker; /* RT_SPEAKER_NOBODY: no open message */
	bool is_signed;     /* signatures in it are valid for this provider */
	rt_blocks blocks;
	rt_buf images; /* next to the content, for writers that put them here */
	rt_buf calls;  /* next to the content, unless the writer has calls_inside */
	/* the tool result that is open */
	bool in_result;
	rt_blocks result;
	rt_str result_id, result_name; /* borrowed until rt_request_result_end */
	bool result_failed;
	rt_buf trimmed; /* by finish: the blanks at the very end that are not sent (no_blanks) */
	/* Blocks of the current entry that are not in the request, counted by type; the reader
	 * resets the count. Types are borrowed from the entry. */
	struct {
		rt_str type;
		size_t count;
	} unsent[RT_MODEL_REQUEST_UNSENT_MAX];
	size_t unsent_count;
} rt_model_request;

typedef struct rt_request_call_data {
	rt_str id, name;
	rt_str arguments; /* JSON text; sent as {} unless it is an object */
	rt_str signature; /* of the provider that made it; or empty */
} rt_request_call_data;

/* Where images can be: bits. */
enum {
	RT_IMAGE_BY_USER = 1 << 0,
	RT_IMAGE_BY_MODEL = 1 << 1,
	RT_IMAGE_IN_RESULT = 1 << 2
};

/* The JSON of one provider's requests. A shape is JSON text with these values:
 *
 *   $t text   $i id   $n name   $s signature   $u url     as JSON strings
 *   $m $b     media type and base64 of an image or file; $M $B: the same within a string
 *   $a        arguments of a call, an object; $A: as a string with that text
 *   $c        content of a result: a string, or an array of parts where it has images
 *   $x        the same, its texts alone */
struct rt_provider_writer {
	const char *assistant; /* the role of the model's messages */
	const char *content;   /* the member with the content of a message */
	const char *alias;     /* another name that other programs have for the provider, or NULL */
	bool texts_only;       /* a content is one text; images are separate */
	bool calls_inside;     /* calls and results are parts of messages, not separate */
	bool no_blanks;        /* it refuses a text of blanks alone, and a request that ends with
				  blanks of the model */
	unsigned image_places;

	const char *plain;         /* the content of a message that is one text */
	const char *text;          /* a part that is a text */
	const char *image;         /* a part, or (texts_only) an item of "images" */
	const char *image_url;     /* or NULL: images by address are not accepted */
	const char *file;          /* a part with a PDF, named $n; or NULL: not accepted */
	const char *call;          /* a part, or an item of "tool_calls" */
	const char *signed_call;   /* with a signature; NULL: calls are not signed */
	const char *result;        /* a part, or a message */
	const char *failed_result; /* NULL: as result */
	/* A part with the model's reasoning. redacted: the record of reasoning that may not be
	 * read, else NULL. NULL: reasoning is never sent back. */
	void (*thinking)(rt_str text, rt_str signature, yyjson_val *redacted, rt_buf *out);
	/* The members of the body, from the model to the last option. */
	void (*body)(const rt_model_request *r, const rt_request_settings *s, rt_buf *out);
};

/* NULL: the scope has failed. */
rt_model_request *rt_request_new(rt_scope *scope, const rt_provider *provider);
/* Adds a part of the system prompt, before all messages; empty: nothing. */
void rt_request_prompt(rt_model_request *r, rt_str text);
/* A system entry: as such if the provider allows it, else as a user's text with a tag.
 * may_lead: before the first message it joins the system prompt there. */
void rt_request_system(rt_model_request *r, rt_str text, bool may_lead);
/* A message of a user or an assistant; empty ones are not sent. Consecutive messages of a speaker
 * are joined if the provider requires alternation. */
void rt_request_begin(rt_model_request *r, rt_speaker speaker);
void rt_request_text(rt_model_request *r, rt_str text);
void rt_request_image(rt_model_request *r, rt_str mime, rt_str base64);
/* A file that is neither text nor an image; a placeholder text where the provider accepts none. */
void rt_request_file(rt_model_request *r, rt_str name, rt_str mime, rt_str base64);
void rt_request_image_url(rt_model_request *r, rt_str url); /* data: URLs are taken apart */
/* Reasoning sent back. Skipped if the provider does not accept it, or unless r->is_signed confirms
 * that this provider signed exactly this text. */
void rt_request_thinking(rt_model_request *r, rt_str text, rt_str signature, yyjson_val *redacted);
/* A call within an assistant's message. */
void rt_request_call(rt_model_request *r, const rt_request_call_data *call);
void rt_request_end(rt_model_request *r);
/* A block of this type has no place in the request. Beyond RT_MODEL_REQUEST_UNSENT_MAX types the
 * rest is counted with the last one. */
void rt_request_unsent(rt_model_request *r, rt_str type);
/* A tool's result; texts and images between the two calls. A separate message, or a block. */
void rt_request_result_begin(rt_model_request *r, rt_str id, rt_str name, bool failed);
void rt_request_result_end(rt_model_request *r);
/* The whole body. Failures are in the scope. */
void rt_request_finish(rt_model_request *r, const rt_request_settings *settings, rt_buf *out);

/* ---- for writers ---- */

/* "key":"text" */
void rt_request_add_member(rt_buf *out, const char *key, rt_str text);
/* "key":json, or nothing if json is unset. */
void rt_request_add_json(rt_buf *out, const char *key, rt_str json);
/* How many tokens an effort of reasoning may take, for providers that want a number; 0: none, or
 * it is unset. */
size_t rt_request_thinking_tokens(const rt_request_settings *s);
/* "model":"…" as the provider calls it; nothing if unset. */
void rt_request_add_model(const rt_model_request *r, const rt_request_settings *s, rt_buf *out);
/* "key":[…]; the system prompt is the first where the provider does not take turns. */
void rt_request_add_messages(const rt_model_request *r, const char *key, rt_buf *out);
/* "key":{…} with temperature and the provider's names of the others; nothing if none is set. more:
 * further members as JSON text, or NULL. */
void rt_request_add_options(const rt_request_settings *s, const char *key, const char *top_p,
			    const char *max_tokens, const char *more, rt_buf *out);
/* The JSON schema of a reply with s->prompt_json. */
#define RT_REQUEST_PROMPT_SCHEMA \
	"{\"type\":\"object\",\"properties\":{\"content\":{\"type\":\"string\"}," \
	"\"prompt\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"content\",\"prompt\"]," \
	"\"additionalProperties\":false}"

#endif
