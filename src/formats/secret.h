/* SPDX-License-Identifier: MIT
 *
 * Secret: what in a text is none of a stranger's business, found by how it looks.
 *
 * Known are the kinds below: keys by the beginnings that their makers give them, private
 * keys by their frame, tokens by their three parts, passwords by where they stand (in a
 * url, behind "password="), home directories by the name in them. What merely looks random
 * (a hash, a UUID, an image) is none, nor is what stands for a secret ("$API_KEY",
 * "<your key>", "sk-...").
 *
 * A secret is found as it stands, behind JSON escapes and %XX (several times over), and in
 * base64, which then goes as a whole. O(n) for one text, with a factor of a few hundred at
 * worst. Reads no environment; keys that are known are given to it. */
#ifndef RT_FORMATS_SECRET_H
#define RT_FORMATS_SECRET_H

#include "base/text.h"

typedef enum rt_secret_kind { /* where two overlap, the first of them names it */
	RT_SECRET_PRIVATE_KEY, /* -----BEGIN … PRIVATE KEY----- … */
	RT_SECRET_API_KEY,     /* sk-…, AIza…, hf_… and others with a beginning of their own */
	RT_SECRET_GITHUB,      /* ghp_…, github_pat_… */
	RT_SECRET_AWS,         /* AKIA… */
	RT_SECRET_SLACK,       /* xoxb-…, hooks.slack.com/services/… */
	RT_SECRET_GIVEN,       /* one of those that were given */
	RT_SECRET_JWT,         /* eyJ….eyJ….… */
	RT_SECRET_PASSWORD,    /* scheme://user:HERE@host, password=HERE */
	RT_SECRET_BEARER,      /* Authorization: Bearer HERE, Basic HERE */
	RT_SECRET_ASSIGNED,    /* api_key=HERE, "client_secret":"HERE" */
	RT_SECRET_HOME,        /* /home/NAME, /Users/NAME, C:\Users\NAME */
	RT_SECRET_EMAIL,       /* only where it is asked for */
	RT_SECRET_KIND_COUNT
} rt_secret_kind;

/* "api key": what a mark says, in words. */
const char *rt_secret_word(rt_secret_kind kind);

typedef struct rt_secret_options {
	bool has_emails;     /* addresses of mail too */
	const rt_str *given; /* keys that are known, and what must not get out in any case */
	size_t given_count;
	rt_str home;         /* a home directory wherever it lies; empty: by its look alone */
} rt_secret_options;

enum {
	RT_SECRET_GIVEN_MIN = 6 /* bytes; what is shorter is not looked for */
};

typedef struct rt_secret {
	size_t from, to; /* bytes of the text */
	rt_secret_kind kind;
} rt_secret;

/* A list of them: in their order, none touching another. One thread at a time. */
typedef struct rt_secrets {
	const rt_alloc *alloc;
	rt_secret *items;
	size_t count, room;
} rt_secrets;

void rt_secrets_init(rt_secrets *list, const rt_alloc *alloc);
void rt_secrets_deinit(rt_secrets *list);

/* All in a text; what the list had is gone. is_json: the text is what stands between the
 * quotes of a JSON string; no secret then begins or ends within an escape. options may be
 * NULL. RT_NOMEM. */
RT_CHECKED rt_status rt_secrets_find(rt_secrets *list, rt_str text, bool is_json,
				     const rt_secret_options *options);

/* The first secret at or after *at in a text without escapes; *at becomes the place to continue
 * from. False: none. */
bool rt_secret_next(rt_str text, const rt_secret_options *options, size_t *at, rt_secret *out);

/* Is this, as it stands, what a name like "api_key" or "password" is given? kind: which.
 * For a value that stands apart from its name. */
bool rt_secret_is_value(rt_str name, rt_str value, rt_secret_kind *kind);

#endif
