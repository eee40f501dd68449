/* SPDX-License-Identifier: MIT
 *
 * Config: the user's configuration, as text (config_host.h finds the file).
 *
 *   model = "ollama/qwen3:8b"          # PROVIDER/MODEL, where none is named
 *
 *   [provider.local]                   # a name of one's own, or that of a family
 *   kind = "openai"                    # which family; left out: the name itself
 *   url = "http://127.0.0.1:8080/v1"   # left out: the family's
 *   key_env = "LOCAL_KEY"              # or key_file = "~/.keys/local"
 *                                      # or key_cmd = ["pass", "show", "local"]
 *   headers = { "x-org" = "me" }       # further headers of each request
 *   timeout_s = 600                    # how long a server may say nothing
 *   context_tokens = 128000            # what its models take, where it does not say
 *   ca_file = "/etc/my/ca.pem"         # certificates to trust instead of the system's
 *   allow_plain_http = true            # its key may go unencrypted to another machine
 *   models = ["big", "small"]          # that it has, beside those that its server lists
 *
 *   [[hook]]                           # JSON for src/hooks
 *
 * A key itself never stands in the file. Keys that are not known are warnings; what is
 * known and wrong is an error with its line.
 *
 * Threads: immutable once read. */
#ifndef RT_LLM_CONFIG_H
#define RT_LLM_CONFIG_H

#include "chat/provider.h"
#include "llm/transport.h"

enum {
	RT_CONFIG_SIZE_MAX = 1 << 20, /* bytes of the text */
	RT_CONFIG_TIMEOUT_MAX_S = 24 * 60 * 60
};

typedef struct rt_config_provider {
	rt_str name;
	const rt_provider *kind;
	rt_str url;      /* empty: the kind's, or the environment's */
	rt_str key_env, key_file; /* at most one of these and key_cmd is set */
	rt_str *key_cmd; /* a program and its arguments, each with a NUL behind it */
	size_t key_cmd_count;
	rt_header *headers;
	size_t header_count;
	unsigned timeout_s;       /* 0: not said */
	size_t context_tokens;    /* 0: not said */
	rt_str ca_file;
	bool allow_plain_http;
	rt_str *models;           /* that it has, whatever its server lists */
	size_t model_count;
} rt_config_provider;

typedef struct rt_config_warning {
	uint64_t line, column; /* 0: not known */
	rt_str words;
} rt_config_warning;

/* Read only. */
typedef struct rt_config {
	rt_str model; /* empty: not said */
	rt_config_provider *providers;
	size_t provider_count;
	rt_str hooks;    /* a JSON array of objects; "[]" */
	rt_config_warning *warnings;
	size_t warning_count;
	/* private */
	const rt_alloc *alloc;
	rt_arena *arena;
} rt_config;

/* text may be empty. RT_USAGE: not TOML, or something in it is wrong; err has line and
 * position, and its words begin with "line L, column C: " (of a mistake in the TOML: have
 * them inside). RT_REFUSED: a key stands in the file, or this build cannot read TOML.
 * RT_LIMIT, RT_NOMEM. No message has a value in it. */
RT_CHECKED rt_status rt_config_read(const rt_alloc *alloc, rt_str text, rt_config **out,
				    rt_error *err);
void rt_config_free(rt_config *config);

/* By name; NULL: there is none. */
const rt_config_provider *rt_config_provider_named(const rt_config *config, rt_str name);

/* Which server and which of its models. */
typedef struct rt_model_choice {
	const rt_provider *provider;
	const rt_config_provider *config; /* NULL: it is not configured */
	rt_str provider_name;
	rt_str model; /* as the provider calls it */
} rt_model_choice;

/* name: "PROVIDER/MODEL"; or a model alone, of the provider of the configuration's model;
 * or empty: the configuration's model. A name with a slash whose beginning is no provider
 * is a model alone ("meta/llama-3"), unless that looks like a slip of the pen.
 * RT_NOT_FOUND, and what there is. config may be NULL. What is chosen borrows from name and
 * config. */
RT_CHECKED rt_status rt_models_choose(const rt_config *config, rt_str name, rt_model_choice *out,
				      rt_error *err);

/* May the setting model be that? Its provider has to be there; a model of a server may come later.
 * RT_USAGE: the name is empty. RT_NOT_FOUND: there is no such provider, or it is the built-in one
 * and has no such model. config may be NULL. */
RT_CHECKED rt_status rt_models_check_setting(const rt_config *config, rt_str name, rt_error *err);

/* Is there a provider of that name, configured or not? RT_NOT_FOUND: err says which there are, and
 * which was perhaps meant. config may be NULL. */
RT_CHECKED rt_status rt_models_check_provider(const rt_config *config, rt_str name, rt_error *err);

/* What OLLAMA_HOST means, as a url: "host", "host:port", ":port" or a url. Appends nothing
 * when it is empty. */
void rt_config_ollama_url(rt_str host, rt_buf *out);

#endif
