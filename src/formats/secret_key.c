/* SPDX-License-Identifier: MIT
 *
 * Secrets with a recognisable form: keys with a prefix, which are rows of a table, JWTs, webhooks
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
	const char *set; /* of the characters that follow the prefix */
	size_t min;      /* of them */
	size_t run;      /* letters and digits in a row, so that words with hyphens do not match
	                    ("sk-learn-2-…") */
	rt_secret_kind kind;
	unsigned flags;
	const char *prefixes[11];
} pattern;

/* At the start of a word. The first that matches counts, so longer prefixes come first. */
static const pattern keys[] = {
	{WORDS, 16, 0, RT_SECRET_API_KEY, 0,
	 {"sk-ant-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-"}},
	{WORDS, 20, 10, RT_SECRET_API_KEY, HAS_DIGIT,
	 {"sk-", "tvly-", "dckr_pat_", "glrt-", "tskey-"}},
	{ALNUM, 16, 0, RT_SECRET_API_KEY, 0, {"sk_live_", "sk_test_", "rk_live_", "rk_test_"}},
	{ALNUM, 24, 0, RT_SECRET_API_KEY, 0, {"whsec_"}},
	{WORDS, 30, 0, RT_SECRET_API_KEY, 0, {"AIza"}},
	{WORDS, 24, 0, RT_SECRET_API_KEY, 0, {"ya29."}},
	{WORDS, 20, 0, RT_SECRET_API_KEY, 0, {"GOCSPX-", "glpat-"}},
	{ALNUM, 32, 0, RT_SECRET_API_KEY, HAS_DIGIT,
	 {"gsk_", "xai-", "pplx-", "csk-", "npm_", "lin_api_", "ntn_"}},
	{WORDS, 32, 10, RT_SECRET_API_KEY, HAS_DIGIT, {"nvapi-", "HRKU-", "vercel_blob_rw_"}},
	{ALNUM, 22, 0, RT_SECRET_API_KEY, HAS_DIGIT, {"fw_"}},
	{WORDS, 24, 10, RT_SECRET_API_KEY, HAS_DIGIT, {"tgp_v1_", "lsv2_", "glsa_", "hvs."}},
	{ALNUM, 30, 0, RT_SECRET_API_KEY, 0, {"hf_"}},
	{ALNUM, 30, 0, RT_SECRET_API_KEY, HAS_DIGIT, {"r8_"}},
	{DOTTED, 40, 0, RT_SECRET_API_KEY, HAS_DIGIT, {"SG.", "ATATT3"}},
	{WORDS, 40, 10, RT_SECRET_API_KEY, HAS_DIGIT, {"pypi-"}},
	{HEX, 40, 0, RT_SECRET_API_KEY, HAS_DIGIT, {"dop_v1_", "sbp_"}},
	{HEX, 32, 0, RT_SECRET_API_KEY, HAS_DIGIT, {"shpat_", "key-"}},
	{ALNUM, 40, 0, RT_SECRET_API_KEY, HAS_DIGIT, {"secret_"}},
	{WORDS, 30, 10, RT_SECRET_API_KEY, HAS_DIGIT, {"1//0"}},
	{ALNUM, 40, 0, RT_SECRET_PRIVATE_KEY, 0, {"AGE-SECRET-KEY-1"}},
	{ALNUM, 30, 0, RT_SECRET_GITHUB, 0, {"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}},
	{WORDS, 30, 0, RT_SECRET_GITHUB, 0, {"github_pat_"}},
	{CAPITALS, 16, 0, RT_SECRET_AWS, SHORT, {"AKIA", "ASIA", "ABIA", "ACCA"}},
	{ALNUM, 60, 0, RT_SECRET_AWS, HAS_DIGIT, {"ABSK"}},
	{WORDS, 16, 10, RT_SECRET_SLACK, HAS_DIGIT,
	 {"xoxb-", "xoxp-", "xoxa-", "xoxo-", "xoxr-", "xoxs-", "xoxe-", "xoxc-", "xoxd-",
	  "xapp-"}},
	{DOTTED, 16, 0, RT_SECRET_SLACK, HAS_DIGIT, {"xoxe."}},
};

static const char first_letters[] = "1AGHSacdfghklnprstvwxy"; /* of their prefixes */

/* Anywhere; the secret is what follows. */
static const pattern hooks[] = {
	{"/" WORDS, 20, 0, RT_SECRET_SLACK, HAS_DIGIT,
	 {"hooks.slack.com/services/", "hooks.slack.com/workflows/"}},
	{"/" WORDS, 20, 0, RT_SECRET_API_KEY, HAS_DIGIT,
	 {"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}},
};

/* Does the pattern match after a prefix that ends at `from`? *out_to: the end. */
static bool
matches(rt_str text, size_t from, const pattern *p, size_t *out_to)
{
	size_t to = span(cut(text, from), from, p->set);
	rt_secret_mix m = rt_secret_mix_of(slice(text, from, to));

	if (to - from < p->min || m.run < p->run || m.distinct < DISTINCT_MIN ||
	    ((p->flags & HAS_DIGIT) != 0 && !m.has_digit) ||
	    ((p->flags & SHORT) != 0 && to - from > SHORT_MAX))
		return false;
	*out_to = span(text, to, p->set);
	return true;
}

/* The first pattern that matches at `at`: the secret is what follows its prefix. */
static bool
match_prefix(rt_str text, size_t at, const pattern *patterns, size_t count, rt_secret *out)
{
	for (const pattern *p = patterns; p < patterns + count; p++)
		for (const char *const *prefix = p->prefixes; *prefix != NULL; prefix++) {
			if ((*prefix)[0] != text.ptr[at] || !starts(text, at, *prefix))
				continue;
			*out = (rt_secret){at + strlen(*prefix), 0, p->kind};
			if (matches(text, out->from, p, &out->to))
				return true;
		}
	return false;
}

static bool
match_key(rt_str text, size_t at, rt_secret *out)
{
	if ((at > 0 && is(text.ptr[at - 1], ALNUM)) || !is(text.ptr[at], first_letters) ||
	    !match_prefix(text, at, keys, sizeof(keys) / sizeof(keys[0]), out))
		return false;
	out->from = at;
	while (is(text.ptr[out->to - 1], ".-"))
		out->to--;
	return true;
}

/* https://hooks.slack.com/services/T0/B0/secret and the like */
bool
rt_secret_is_hook(rt_str text, size_t at, rt_secret *out)
{
	return match_prefix(text, at, hooks, sizeof(hooks) / sizeof(hooks[0]), out);
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
		return end; /* other text follows on the line */
	for (at = end + line_end(text, end); at < limit && line_end(text, at) == 0; at++) {
		bool blank = (unsigned char)text.ptr[at] <= ' ';

		words += !blank && is_blank;
		is_blank = blank;
	}
	return words == 1 || words == 2 ? at : end;
}

/* The end of the body of a key without a frame at its end: it continues while its lines contain
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
 * colours, quoting. If it was cut off, as much as exists of it. */
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
