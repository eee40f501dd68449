/* SPDX-License-Identifier: MIT
 *
 * Secret: finds keys, passwords and personal data in a text by their form.
 *
 * Known are the kinds below: keys by the prefixes that their issuers give them, private keys by
 * their frame, tokens by their three parts, passwords by their context (in a URL, after
 * "password="), home directories by the name in them. Data that merely looks random (a hash, a
 * UUID, an image) does not count, nor does a placeholder ("$API_KEY", "<your key>", "sk-...").
 *
 * A secret is found in plain form, after JSON escapes and %XX (several levels of them), and in
 * base64, which then counts as a whole. O(n) for a text, with a factor of a few hundred at worst.
 * Reads no environment; known keys are parameters.
 *
 *   secret.c        the encodings of secrets
 *   secret_key.c    secrets with a recognisable form: a table of prefixes
 *   secret_value.c  secrets by their context */
#ifndef RT_FORMATS_SECRET_H
#define RT_FORMATS_SECRET_H

#include "formats/formats_list.h"

typedef enum rt_secret_kind { /* if two overlap, the first counts */
	RT_SECRET_PRIVATE_KEY, /* -----BEGIN … PRIVATE KEY----- … */
	RT_SECRET_API_KEY,     /* sk-…, AIza…, hf_… and others with a prefix */
	RT_SECRET_GITHUB,      /* ghp_…, github_pat_… */
	RT_SECRET_AWS,         /* AKIA… */
	RT_SECRET_SLACK,       /* xoxb-…, hooks.slack.com/services/… */
	RT_SECRET_GIVEN,       /* one of rt_secret_options.given */
	RT_SECRET_JWT,         /* eyJ….eyJ….… */
	RT_SECRET_PASSWORD,    /* scheme://user:HERE@host, password=HERE */
	RT_SECRET_BEARER,      /* Authorization: Bearer HERE, Basic HERE */
	RT_SECRET_ASSIGNED,    /* api_key=HERE, "client_secret":"HERE" */
	RT_SECRET_HOME,        /* /home/NAME, /Users/NAME, C:\Users\NAME */
	RT_SECRET_EMAIL,       /* only with rt_secret_options.has_emails */
	RT_SECRET_KIND_COUNT
} rt_secret_kind;

/* "api key": the kind in words, as in a mark. */
const char *rt_secret_word(rt_secret_kind kind);

typedef struct rt_secret_options {
	bool has_emails;     /* find email addresses too */
	const rt_str *given; /* known keys and other texts to find */
	size_t given_count;
	rt_str home;         /* a home directory, found in any place; empty: none */
} rt_secret_options;

enum {
	RT_SECRET_GIVEN_MIN = 6 /* bytes; shorter ones are ignored */
};

typedef struct rt_secret {
	size_t from, to; /* bytes of the text */
	rt_secret_kind kind;
} rt_secret;

/* Replace a list of rt_secret by the secrets of a text, in their order; no two overlap. is_json:
 * the text is the inside of a JSON string; no secret then begins or ends within an escape. options
 * may be NULL. */
void rt_secrets_find(rt_scope *s, rt_items *list, rt_str text, bool is_json,
		     const rt_secret_options *options);

/* The first secret at or after *at in a text without escapes; *at becomes the place to continue
 * from. False: none. */
bool rt_secret_next(rt_str text, const rt_secret_options *options, size_t *at, rt_secret *out);

/* Is the whole value a secret, given a name like "api_key" or "password" for it? For values that
 * are separate from their names. *kind: its kind. */
bool rt_secret_is_value(rt_str name, rt_str value, rt_secret_kind *kind);

#endif
