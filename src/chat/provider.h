/* SPDX-License-Identifier: MIT
 *
 * Provider: the protocol of one kind of model server, as data and a few pure functions:
 * messages in, the body of a request out (model_request.h); the JSON of an answer in, a reply out.
 * llm/protocol.h has the code that all share, llm/provider.h the list; llm/transport.h sends. A
 * new provider is one file in llm/ and one row in llm/provider.h. */
#ifndef RT_CHAT_PROVIDER_H
#define RT_CHAT_PROVIDER_H

#include "chat/reply.h"

typedef struct rt_provider rt_provider;
struct rt_provider_writer; /* chat/model_request.h */

/* How a stream is divided into pieces of JSON. */
typedef enum rt_framing {
	RT_FRAMING_SSE,  /* "data:" lines (WHATWG HTML, server-sent events) */
	RT_FRAMING_LINES /* one JSON text a line */
} rt_framing;

/* JSON texts from the settings; ptr NULL: unset. */
typedef struct rt_request_settings {
	rt_str model; /* a JSON string; may name the provider: "openai/gpt-4o" */
	rt_str temperature, top_p, max_tokens;
	rt_str effort; /* of reasoning, a word: "high"; empty: unset */
	bool stream;  /* ask for a stream */
	bool prompt_json; /* ask for a reply as a JSON object {"content","prompt"} */
} rt_request_settings;

/* A header of a request: name and value without line end. */
typedef void (*rt_header_fn)(void *ctx, rt_str name, rt_str value);
/* A model of a server: its name, and the size of its context in tokens, 0: unknown. */
typedef void (*rt_model_fn)(void *ctx, rt_str name, size_t context_tokens);

struct rt_provider {
	const char *name;    /* "openai" */
	const char *title;   /* displayed: "OpenAI and compatible servers" */
	const char *url;     /* of the usual server; NULL: needs no network */
	const char *key_env; /* the usual environment variable of the key; NULL: needs none */
	const char *url_env; /* the usual environment variable of another url, or NULL */
	/* Append the url that a value of that variable stands for; NULL: the value itself. */
	void (*add_url)(rt_str value, rt_buf *out);
	const char *model_prefixes[8]; /* prefixes of its models' names; NULL ends them */
	const char *model_infix; /* part of its models' names, less certain than a prefix; or NULL */
	bool key_needed;     /* at the usual url */
	bool no_images;      /* it accepts none */
	bool no_image_urls;  /* it accepts none by address */
	bool cache_apart;    /* its count of input tokens is without cached ones */
	bool takes_turns;    /* user first, then in turns: neighbours are merged */

	/* --- requests --- */
	const struct rt_provider_writer *writer; /* of the body (model_request.h) */
	const char *path; /* after the base url: "/chat/completions" */
	/* Instead of path, if it contains the model. model: without quotes. */
	rt_status (*add_path)(rt_str model, bool stream, rt_buf *out, rt_error *err);
	const char *key_header, *key_prefix; /* "Authorization", "Bearer "; a prefix may be NULL */
	const char *header[2];               /* another header's name and value, or NULL */

	/* --- answers --- */
	rt_framing framing;
	const char *end_mark; /* data that ends a stream and is not JSON: "[DONE]"; or NULL */
	/* One piece of a stream, or (whole) the body of an unstreamed response. Unknown members are
	 * ignored. A stream is complete when reply->ended is set, or when it ends after a stop is
	 * set; otherwise it was cut off. Usage may follow a stop. NULL: needs no network. */
	void (*read)(rt_reply *reply, yyjson_val *root, bool whole);

	/* --- its list of models --- */
	const char *models_path; /* GET; NULL: there is no list */
	const char *models_list; /* the member with the list */
	const char *models_name; /* the member of an item with the name */

	/* --- embeddings --- */
	const char *embeddings_path; /* POST, in the form of OpenAI; NULL: there are none */
};

/* The provider's name for a model: without the provider as a prefix, as users write it
 * ("openai/gpt-4o"). Borrows from model. */
rt_str rt_provider_model(const rt_provider *provider, rt_str model);

#endif
