/* SPDX-License-Identifier: MIT
 *
 * Config: the user's configuration as text (models_host.h finds the file), and the provider and
 * model that a name stands for.
 *
 *   model = "ollama/qwen3:8b"          # PROVIDER/MODEL, if none is given
 *   title_model = "ollama/small"       # generates titles of discussions without a chosen name
 *   embedding_model = "ollama/embed"   # computes embeddings for the search by meaning
 *   comms_texts = false                # the log of requests has references only
 *
 *   [provider.local]                   # a name of the user's choice, or that of a kind
 *   kind = "openai"                    # which kind of server; left out: the name itself
 *   url = "http://127.0.0.1:8080/v1"   # left out: the kind's
 *   key_env = "LOCAL_KEY"              # or key_file = "~/.keys/local"
 *                                      # or key_cmd = ["pass", "show", "local"]
 *   headers = { "x-org" = "me" }       # further headers of each request
 *   timeout_s = 600                    # how long a server may be silent
 *   context_tokens = 128000            # of its models, if the server does not report it
 *   ca_file = "/etc/my/ca.pem"         # certificates to trust instead of the system's
 *   allow_plain_http = true            # send its key unencrypted to another machine
 *   models = ["big", "small"]          # in addition to those its server lists
 *
 *   [prices]                           # of a million tokens; cached left out: as input
 *   "local/big" = { input = 1.25, output = 10, cached = 0.125 }
 *
 *   [defaults]                         # settings of new projects, and their list of roles
 *   temperature = 0.2
 *   roles = ["User", "AI"]
 *
 *   [tui]                              # of the terminal UI
 *   mouse = false                      # leave the mouse to the terminal
 *   theme = "light"                    # or "dark"; default: "auto", by the background
 *
 *   [[hook]]                           # JSON for src/hooks
 *
 * A key itself is never in the file. Unknown keys are warnings; a known key with a wrong value
 * is an error with its line.
 *
 * Threads: immutable once read. */
#ifndef RT_LLM_CONFIG_H
#define RT_LLM_CONFIG_H

#include "base/scope.h"
#include "chat/send.h"
#include "llm/transport.h"

enum {
	RT_CONFIG_SIZE_MAX = 1 << 20, /* bytes of the text */
	RT_CONFIG_TIMEOUT_MAX_S = 24 * 60 * 60
};

typedef struct rt_config_provider {
	rt_str name;
	const rt_provider *kind;
	rt_str url;      /* empty: the environment's or the kind's */
	rt_str key_env, key_file; /* at most one of these and key_cmd is set */
	rt_str *key_cmd; /* a program and its arguments, each NUL-terminated */
	size_t key_cmd_count;
	rt_header *headers;
	size_t header_count;
	size_t timeout_s;         /* 0: not set */
	size_t context_tokens;    /* 0: not set */
	rt_str ca_file;
	bool allow_plain_http;
	rt_str *models;           /* in addition to those listed by its server */
	size_t model_count;
} rt_config_provider;

/* The price of a million tokens of a model. */
typedef struct rt_config_price {
	rt_str model; /* "openai/gpt-5", also with a date after it */
	rt_price price;
} rt_config_price;

typedef struct rt_config_warning {
	uint64_t line, column; /* 0: unknown */
	rt_str words;
} rt_config_warning;

/* Read only. */
typedef struct rt_config {
	rt_str model; /* empty: not set */
	rt_str title_model; /* empty: no titles are generated */
	rt_str embedding_model; /* empty: no search by meaning */
	bool comms_texts;
	rt_config_provider *providers;
	size_t provider_count;
	rt_config_price *prices;
	size_t price_count;
	rt_str defaults; /* [defaults] as a JSON object, in the form of rt_engine_options; or
			  * empty */
	rt_str hooks;    /* a JSON array of objects; "[]" */
	struct {
		bool mouse; /* default: true */
		rt_str theme; /* "auto", "dark", "light"; empty: not set */
	} tui;
	rt_config_warning *warnings;
	size_t warning_count;
	rt_scope scope; /* private: its memory */
} rt_config;

/* text may be empty. RT_USAGE: not TOML, or a value is wrong; err has line and position, and
 * its message begins with "line L, column C: " (a syntax error has them within). RT_REFUSED: a
 * key is in the file, or this build cannot read TOML. RT_LIMIT, RT_NOMEM. No message quotes a
 * value. */
RT_CHECKED rt_status rt_config_read(const rt_alloc *alloc, rt_str text, rt_config **out,
				    rt_error *err);
void rt_config_free(rt_config *config);

/* By name; NULL: unknown. */
const rt_config_provider *rt_config_provider_named(const rt_config *config, rt_str name);

/* The price of a model by its provider's name for it; NULL: none is configured. config: or NULL. */
const rt_price *rt_config_price_of(const rt_config *config, rt_str service, rt_str model);

/* A server and one of its models. */
typedef struct rt_model_choice {
	const rt_provider *provider;
	const rt_config_provider *config; /* NULL: it is not configured */
	rt_str provider_name;
	rt_str model; /* as the provider calls it */
} rt_model_choice;

/* The provider of this name, configured or not, without a model; false: there is none. config may be
 * NULL, here and below. */
bool rt_models_provider_named(const rt_config *config, rt_str name, rt_model_choice *out);
/* The next of all providers: those of the configuration, then the others, each once and without a
 * model. *at: 0 at first. False: there is none left. */
bool rt_models_next_provider(const rt_config *config, size_t *at, rt_model_choice *out);

/* name: "PROVIDER/MODEL"; or a model alone, of the provider of the configuration's model; or
 * empty: the configuration's model. A name with a slash that begins with no provider's name is
 * a model alone ("meta/llama-3"), unless it looks like a misspelt provider. RT_NOT_FOUND with
 * the names that exist. config may be NULL. The choice borrows from name and config. */
RT_CHECKED rt_status rt_models_choose(const rt_config *config, rt_str name, rt_model_choice *out,
				      rt_error *err);

/* Is this a valid value for the setting "model"? Its provider must exist; a server may get the
 * model later. RT_USAGE: the name is empty. RT_NOT_FOUND: no such provider, or no such built-in
 * model. config may be NULL. */
RT_CHECKED rt_status rt_models_check_setting(const rt_config *config, rt_str name, rt_error *err);

/* Is there a provider of that name, configured or not? RT_NOT_FOUND: err has the existing names,
 * and a similar one. config may be NULL. */
RT_CHECKED rt_status rt_models_check_provider(const rt_config *config, rt_str name, rt_error *err);

#endif
