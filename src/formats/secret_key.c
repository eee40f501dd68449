/* SPDX-License-Identifier: MIT
 *
 * Secrets with a form of their own: keys with a prefix, which are rows of a table, JWTs, webhooks
 * and private keys. */
#include "formats/secret_scan.h"

enum {
	PRIVATE_KEY_MAX = 64 << 10, /* bytes between its first line and its last */
	PRIVATE_KEY_RUN_MIN = 16,   /* characters of base64 in a row that are part of a key */
	PRIVATE_KEY_GAP_MAX = 1024  /* bytes without such a run */
};

rt_secret_mix
rt_secret_mix_of(rt_str s)
{
	bool seen[256] = {false};
	size_t run = 0;
	rt_secret_mix m = {0};

	for (size_t i = 0; i < s.size && i < LOOK_AHEAD_MAX; i++) {
		char c = s.ptr[i];

		m.distinct += !seen[(unsigned char)c];
		seen[(unsigned char)c] = true;
		run = is(c, ALNUM) ? run + 1 : 0;
		if (run > m.run)
			m.run = run;
		m.has_digit |= is(c, DIGITS);
		m.has_upper |= is(c, "A-Z");
		m.has_letter |= is(c, "A-Za-z");
		m.has_sign |= is(c, "!@#$%^&*+?");
	}
	return m;
}

/* ---- keys with a prefix ---- */

enum {
	HAS_DIGIT = 1, /* a digit is required, as random ones have one */
	SHORT = 2,     /* at most SHORT_MAX bytes */
	SHORT_MAX = 20
};

typedef struct pattern {
	const char *prefix;
	const char *set; /* of the characters that follow */
	size_t min;      /* of them */
	size_t run;      /* letters and digits in a row, so that words with hyphens do not match
	                    ("sk-learn-2-…") */
	rt_secret_kind kind;
	unsigned flags;
} pattern;

/* At the start of a word. The first that matches counts, so longer prefixes come first. */
static const pattern keys[] = {
	{"sk-ant-", WORDS, 16, 0, RT_SECRET_API_KEY, 0},
	{"sk-proj-", WORDS, 16, 0, RT_SECRET_API_KEY, 0},
	{"sk-svcacct-", WORDS, 16, 0, RT_SECRET_API_KEY, 0},
	{"sk-admin-", WORDS, 16, 0, RT_SECRET_API_KEY, 0},
	{"sk-or-v1-", WORDS, 16, 0, RT_SECRET_API_KEY, 0},
	{"sk-", WORDS, 20, 10, RT_SECRET_API_KEY, HAS_DIGIT},
	{"sk_live_", ALNUM, 16, 0, RT_SECRET_API_KEY, 0},
	{"sk_test_", ALNUM, 16, 0, RT_SECRET_API_KEY, 0},
	{"rk_live_", ALNUM, 16, 0, RT_SECRET_API_KEY, 0},
	{"rk_test_", ALNUM, 16, 0, RT_SECRET_API_KEY, 0},
	{"whsec_", ALNUM, 24, 0, RT_SECRET_API_KEY, 0},
	{"AIza", WORDS, 30, 0, RT_SECRET_API_KEY, 0},
	{"ya29.", WORDS, 24, 0, RT_SECRET_API_KEY, 0},
	{"GOCSPX-", WORDS, 20, 0, RT_SECRET_API_KEY, 0},
	{"gsk_", ALNUM, 32, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"xai-", ALNUM, 32, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"pplx-", ALNUM, 32, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"nvapi-", WORDS, 32, 10, RT_SECRET_API_KEY, HAS_DIGIT},
	{"csk-", ALNUM, 32, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"fw_", ALNUM, 22, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"tgp_v1_", WORDS, 24, 10, RT_SECRET_API_KEY, HAS_DIGIT},
	{"hf_", ALNUM, 30, 0, RT_SECRET_API_KEY, 0},
	{"r8_", ALNUM, 30, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"tvly-", WORDS, 20, 10, RT_SECRET_API_KEY, HAS_DIGIT},
	{"lsv2_", WORDS, 24, 10, RT_SECRET_API_KEY, HAS_DIGIT},
	{"SG.", DOTTED, 40, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"npm_", ALNUM, 32, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"pypi-", WORDS, 40, 10, RT_SECRET_API_KEY, HAS_DIGIT},
	{"dop_v1_", HEX, 40, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"shpat_", HEX, 32, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"lin_api_", ALNUM, 32, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"ATATT3", DOTTED, 40, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"dckr_pat_", WORDS, 20, 10, RT_SECRET_API_KEY, HAS_DIGIT},
	{"glsa_", WORDS, 24, 10, RT_SECRET_API_KEY, HAS_DIGIT},
	{"hvs.", WORDS, 24, 10, RT_SECRET_API_KEY, HAS_DIGIT},
	{"glpat-", WORDS, 20, 0, RT_SECRET_API_KEY, 0},
	{"glrt-", WORDS, 20, 10, RT_SECRET_API_KEY, HAS_DIGIT},
	{"sbp_", HEX, 40, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"HRKU-", WORDS, 32, 10, RT_SECRET_API_KEY, HAS_DIGIT},
	{"secret_", ALNUM, 40, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"vercel_blob_rw_", WORDS, 32, 10, RT_SECRET_API_KEY, HAS_DIGIT},
	{"key-", HEX, 32, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"1//0", WORDS, 30, 10, RT_SECRET_API_KEY, HAS_DIGIT},
	{"tskey-", WORDS, 20, 10, RT_SECRET_API_KEY, HAS_DIGIT},
	{"ntn_", ALNUM, 32, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"AGE-SECRET-KEY-1", ALNUM, 40, 0, RT_SECRET_PRIVATE_KEY, 0},
	{"ghp_", ALNUM, 30, 0, RT_SECRET_GITHUB, 0},
	{"gho_", ALNUM, 30, 0, RT_SECRET_GITHUB, 0},
	{"ghu_", ALNUM, 30, 0, RT_SECRET_GITHUB, 0},
	{"ghs_", ALNUM, 30, 0, RT_SECRET_GITHUB, 0},
	{"ghr_", ALNUM, 30, 0, RT_SECRET_GITHUB, 0},
	{"github_pat_", WORDS, 30, 0, RT_SECRET_GITHUB, 0},
	{"AKIA", CAPITALS, 16, 0, RT_SECRET_AWS, SHORT},
	{"ASIA", CAPITALS, 16, 0, RT_SECRET_AWS, SHORT},
	{"ABIA", CAPITALS, 16, 0, RT_SECRET_AWS, SHORT},
	{"ACCA", CAPITALS, 16, 0, RT_SECRET_AWS, SHORT},
	{"ABSK", ALNUM, 60, 0, RT_SECRET_AWS, HAS_DIGIT},
	{"xoxb-", WORDS, 16, 10, RT_SECRET_SLACK, HAS_DIGIT},
	{"xoxp-", WORDS, 16, 10, RT_SECRET_SLACK, HAS_DIGIT},
	{"xoxa-", WORDS, 16, 10, RT_SECRET_SLACK, HAS_DIGIT},
	{"xoxo-", WORDS, 16, 10, RT_SECRET_SLACK, HAS_DIGIT},
	{"xoxr-", WORDS, 16, 10, RT_SECRET_SLACK, HAS_DIGIT},
	{"xoxs-", WORDS, 16, 10, RT_SECRET_SLACK, HAS_DIGIT},
	{"xoxe-", WORDS, 16, 10, RT_SECRET_SLACK, HAS_DIGIT},
	{"xoxe.", DOTTED, 16, 0, RT_SECRET_SLACK, HAS_DIGIT},
	{"xoxc-", WORDS, 16, 10, RT_SECRET_SLACK, HAS_DIGIT},
	{"xoxd-", WORDS, 16, 10, RT_SECRET_SLACK, HAS_DIGIT},
	{"xapp-", WORDS, 16, 10, RT_SECRET_SLACK, HAS_DIGIT},
};

static const char first_letters[] = "1AGHSacdfghklnprstvwxy"; /* of their prefixes */

/* Anywhere; the secret is what follows. */
static const pattern hooks[] = {
	{"hooks.slack.com/services/", "/" WORDS, 20, 0, RT_SECRET_SLACK, HAS_DIGIT},
	{"hooks.slack.com/workflows/", "/" WORDS, 20, 0, RT_SECRET_SLACK, HAS_DIGIT},
	{"discord.com/api/webhooks/", "/" WORDS, 20, 0, RT_SECRET_API_KEY, HAS_DIGIT},
	{"discordapp.com/api/webhooks/", "/" WORDS, 20, 0, RT_SECRET_API_KEY, HAS_DIGIT},
};

/* The pattern that matches at `at`, with the end of the match; NULL: none. */
static const pattern *
match_prefix(rt_str text, size_t at, const pattern *patterns, size_t count, size_t *out_to)
{
	for (const pattern *p = patterns; p < patterns + count; p++) {
		if (p->prefix[0] != text.ptr[at] || !starts(text, at, p->prefix))
			continue;
		size_t from = at + strlen(p->prefix), to = span(cut(text, from), from, p->set);
		rt_secret_mix m = rt_secret_mix_of(slice(text, from, to));

		if (to - from >= p->min && m.run >= p->run && m.distinct >= DISTINCT_MIN &&
		    ((p->flags & HAS_DIGIT) == 0 || m.has_digit) &&
		    ((p->flags & SHORT) == 0 || to - from <= SHORT_MAX)) {
			*out_to = span(text, to, p->set);
			return p;
		}
	}
	return NULL;
}

static bool
match_key(rt_str text, size_t at, rt_secret *out)
{
	const pattern *p;
	size_t to;

	if ((at > 0 && is(text.ptr[at - 1], ALNUM)) || !is(text.ptr[at], first_letters))
		return false;
	p = match_prefix(text, at, keys, sizeof(keys) / sizeof(keys[0]), &to);
	if (p == NULL)
		return false;
	while (is(text.ptr[to - 1], ".-"))
		to--;
	*out = (rt_secret){at, to, p->kind};
	return true;
}

/* https://hooks.slack.com/services/T0/B0/secret and the like */
bool
rt_secret_is_hook(rt_str text, size_t at, rt_secret *out)
{
	size_t to;
	const pattern *p = match_prefix(text, at, hooks, sizeof(hooks) / sizeof(hooks[0]), &to);

	if (p == NULL)
		return false;
	*out = (rt_secret){at + strlen(p->prefix), to, p->kind};
	return true;
}

/* Three base64 parts with dots between them. The last may be empty (no signature) or the middle
 * one (encrypted). */
static bool
match_jwt(rt_str text, size_t at, rt_secret *out)
{
	size_t from = at, dots = 0, part = at;

	if (!starts(text, at, "eyJ") || (at > 0 && is(text.ptr[at - 1], DOTTED)))
		return false;
	for (;; at++) {
		at = span(dots == 0 ? cut(text, from) : text, at, WORDS);
		if (at >= text.size || text.ptr[at] != '.' || dots == 4 || at - part < 10)
			break;
		dots++;
		part = at + 1;
	}
	if (dots < 2 && !(dots == 1 && at - part >= 10))
		return false;
	while (text.ptr[at - 1] == '.')
		at--;
	*out = (rt_secret){from, at, RT_SECRET_JWT};
	return true;
}

bool
rt_secret_is_token(rt_str text, size_t at, rt_secret *out)
{
	return match_key(text, at, out) || match_jwt(text, at, out);
}

/* ---- private keys ---- */

/* The first or last line of a key, at the first of its dashes: "-----BEGIN RSA PRIVATE KEY-----",
 * "---- END SSH2 ENCRYPTED PRIVATE KEY ----". *to: its end. */
static bool
is_frame(rt_str text, size_t at, const char *word, size_t *to)
{
	size_t name = span(text, at, "-"), end;

	if ((at > 0 && text.ptr[at - 1] == '-') || name - at < 4)
		return false;
	name += name < text.size && text.ptr[name] == ' ';
	if (!starts(text, name, word))
		return false;
	end = name += strlen(word);
	while (end - name < NAME_MAX_SIZE && is_at(text, end, " " CAPITALS))
		end++;
	*to = span(text, end, "-");
	return has(slice(text, name, end), "PRIVATE KEY") && *to - end >= 4;
}

/* The size of a line end at `at`, itself or as \n; 0: there is none. */
static size_t
line_end(rt_str text, size_t at)
{
	return text.ptr[at] == '\n' ? 1 : starts(text, at, "\\n") ? 2 : 0;
}

/* The last, short line of a body without a frame at its end: one word, perhaps with a number or
 * a sign before it. */
static size_t
tail_end(rt_str text, size_t end, size_t limit)
{
	size_t words = 0, at;
	bool is_blank = true;

	if (end >= limit || line_end(text, end) == 0)
		return end; /* something else follows on the line */
	for (at = end + line_end(text, end); at < limit && line_end(text, at) == 0; at++) {
		bool blank = (unsigned char)text.ptr[at] <= ' ';

		words += !blank && is_blank;
		is_blank = blank;
	}
	return words == 1 || words == 2 ? at : end;
}

/* The end of the body of a key without a frame at its end: it goes on while its lines contain
 * runs of base64. Headers may precede them, and something may be left out between them. `at`:
 * there are none. */
static size_t
body_end(rt_str text, size_t at, size_t limit)
{
	rt_str body = rt_str_at(text.ptr, limit);
	size_t end = at, lines = 0, to; /* end: of the last run */
	bool is_first = true;

	for (size_t i = at;
	     i < limit && i - end < PRIVATE_KEY_GAP_MAX && lines <= (is_first ? 10u : 2u); i = to) {
		to = span(body, i, BASE64);
		if (to == i) {
			lines += line_end(text, i) > 0;
			/* the n of \n does not belong to the run after it */
			to += text.ptr[i] == '\\' && i + 1 < limit ? 2 : 1;
			continue;
		}
		rt_secret_mix m = rt_secret_mix_of(slice(text, i, to));

		if (to - i >= PRIVATE_KEY_RUN_MIN && m.distinct >= DISTINCT_MIN &&
		    (m.has_digit || m.has_upper)) {
			end = to;
			lines = 0;
			is_first = false;
		}
	}
	return is_first ? at : tail_end(text, end, limit);
}

/* A key from its first line through its last, whatever is between: headers, line numbers,
 * colours, quoting. Where it was cut off, as much as there is of it. */
bool
rt_secret_is_private_key(rt_str text, size_t at, rt_secret *out)
{
	size_t from = at, limit, to, next;

	if (starts(text, at, "Private-Lines: ")) /* PuTTY */
		at += 15;
	else if (!is_frame(text, at, "BEGIN ", &at))
		return false;
	limit = text.size - at > PRIVATE_KEY_MAX ? at + PRIVATE_KEY_MAX : text.size;
	*out = (rt_secret){from, at, RT_SECRET_PRIVATE_KEY};
	for (to = at; to < limit && text.ptr[from] == '-'; to++) {
		const char *dash = memchr(text.ptr + to, '-', limit - to);

		if (dash == NULL)
			break;
		to = (size_t)(dash - text.ptr);
		if (is_frame(text, to, "END ", &out->to))
			return true;
		if (is_frame(text, to, "BEGIN ", &next) || starts(text, to, "-----BEGIN "))
			limit = to;
	}
	out->to = body_end(text, at, limit);
	return out->to > at;
}
