/* SPDX-License-Identifier: MIT
 *
 * How secrets look. One pass: at each place those are tried that begin with its byte.
 * What is looked at before it is clear that there is one is bounded, so that a text made
 * of beginnings costs no more than its size times that bound. */
#include "formats/secret_impl.h"

enum {
	LOOK_MAX = 512, /* bytes looked at before it is a secret */
	NAME_MAX_SIZE = 64,
	DISTINCT_MIN = 5, /* different bytes in it; "xxxxxxxxxxxx" has one */
	KEY_MAX_SIZE = 64 << 10, /* of a private key, between its first line and its last */
	KEY_RUN_MIN = 16,        /* letters in a row that are some of a key */
	KEY_GAP_MAX = 1024       /* bytes without such */
};

typedef enum key_letters {
	ALNUM,
	WORDS, /* and _ - */
	DOTTED, /* and _ - . */
	HEX,
	UPPER
} key_letters;

/* A key by its beginning, and by what must follow: so many letters of a kind. */
typedef struct look {
	const char *begin;
	key_letters letters;
	size_t min;
	bool has_digit; /* a digit among them, as random ones have */
	rt_secret_kind kind;
} look;

static const look looks[] = {
	{"sk-ant-", WORDS, 16, false, RT_SECRET_API_KEY},
	{"sk-proj-", WORDS, 16, false, RT_SECRET_API_KEY},
	{"sk-svcacct-", WORDS, 16, false, RT_SECRET_API_KEY},
	{"sk-admin-", WORDS, 16, false, RT_SECRET_API_KEY},
	{"sk-or-v1-", WORDS, 16, false, RT_SECRET_API_KEY},
	{"sk-", WORDS, 20, true, RT_SECRET_API_KEY},
	{"sk_live_", ALNUM, 16, false, RT_SECRET_API_KEY},
	{"sk_test_", ALNUM, 16, false, RT_SECRET_API_KEY},
	{"rk_live_", ALNUM, 16, false, RT_SECRET_API_KEY},
	{"rk_test_", ALNUM, 16, false, RT_SECRET_API_KEY},
	{"whsec_", ALNUM, 24, false, RT_SECRET_API_KEY},
	{"AIza", WORDS, 30, false, RT_SECRET_API_KEY},
	{"ya29.", WORDS, 24, false, RT_SECRET_API_KEY},
	{"GOCSPX-", WORDS, 20, false, RT_SECRET_API_KEY},
	{"gsk_", ALNUM, 32, true, RT_SECRET_API_KEY},
	{"xai-", ALNUM, 32, true, RT_SECRET_API_KEY},
	{"pplx-", ALNUM, 32, true, RT_SECRET_API_KEY},
	{"nvapi-", WORDS, 32, true, RT_SECRET_API_KEY},
	{"csk-", ALNUM, 32, true, RT_SECRET_API_KEY},
	{"fw_", ALNUM, 22, true, RT_SECRET_API_KEY},
	{"tgp_v1_", WORDS, 24, true, RT_SECRET_API_KEY},
	{"hf_", ALNUM, 30, false, RT_SECRET_API_KEY},
	{"r8_", ALNUM, 30, true, RT_SECRET_API_KEY},
	{"tvly-", WORDS, 20, true, RT_SECRET_API_KEY},
	{"lsv2_", WORDS, 24, true, RT_SECRET_API_KEY},
	{"SG.", DOTTED, 40, true, RT_SECRET_API_KEY},
	{"npm_", ALNUM, 32, true, RT_SECRET_API_KEY},
	{"pypi-", WORDS, 40, true, RT_SECRET_API_KEY},
	{"dop_v1_", HEX, 40, true, RT_SECRET_API_KEY},
	{"shpat_", HEX, 32, true, RT_SECRET_API_KEY},
	{"lin_api_", ALNUM, 32, true, RT_SECRET_API_KEY},
	{"ATATT3", DOTTED, 40, true, RT_SECRET_API_KEY},
	{"dckr_pat_", WORDS, 20, true, RT_SECRET_API_KEY},
	{"glsa_", WORDS, 24, true, RT_SECRET_API_KEY},
	{"hvs.", WORDS, 24, true, RT_SECRET_API_KEY},
	{"glpat-", WORDS, 20, false, RT_SECRET_API_KEY},
	{"glrt-", WORDS, 20, true, RT_SECRET_API_KEY},
	{"sbp_", HEX, 40, true, RT_SECRET_API_KEY},
	{"HRKU-", WORDS, 32, true, RT_SECRET_API_KEY},
	{"secret_", ALNUM, 40, true, RT_SECRET_API_KEY},
	{"vercel_blob_rw_", WORDS, 32, true, RT_SECRET_API_KEY},
	{"key-", HEX, 32, true, RT_SECRET_API_KEY},
	{"1//0", WORDS, 30, true, RT_SECRET_API_KEY},
	{"tskey-", WORDS, 20, true, RT_SECRET_API_KEY},
	{"ntn_", ALNUM, 32, true, RT_SECRET_API_KEY},
	{"AGE-SECRET-KEY-1", ALNUM, 40, false, RT_SECRET_PRIVATE_KEY},
	{"ghp_", ALNUM, 30, false, RT_SECRET_GITHUB},
	{"gho_", ALNUM, 30, false, RT_SECRET_GITHUB},
	{"ghu_", ALNUM, 30, false, RT_SECRET_GITHUB},
	{"ghs_", ALNUM, 30, false, RT_SECRET_GITHUB},
	{"ghr_", ALNUM, 30, false, RT_SECRET_GITHUB},
	{"github_pat_", WORDS, 30, false, RT_SECRET_GITHUB},
	{"AKIA", UPPER, 16, false, RT_SECRET_AWS},
	{"ASIA", UPPER, 16, false, RT_SECRET_AWS},
	{"ABIA", UPPER, 16, false, RT_SECRET_AWS},
	{"ACCA", UPPER, 16, false, RT_SECRET_AWS},
	{"ABSK", ALNUM, 60, true, RT_SECRET_AWS},
	{"xoxb-", WORDS, 16, true, RT_SECRET_SLACK},
	{"xoxp-", WORDS, 16, true, RT_SECRET_SLACK},
	{"xoxa-", WORDS, 16, true, RT_SECRET_SLACK},
	{"xoxo-", WORDS, 16, true, RT_SECRET_SLACK},
	{"xoxr-", WORDS, 16, true, RT_SECRET_SLACK},
	{"xoxs-", WORDS, 16, true, RT_SECRET_SLACK},
	{"xoxe-", WORDS, 16, true, RT_SECRET_SLACK},
	{"xoxe.", DOTTED, 16, true, RT_SECRET_SLACK},
	{"xoxc-", WORDS, 16, true, RT_SECRET_SLACK},
	{"xoxd-", WORDS, 16, true, RT_SECRET_SLACK},
	{"xapp-", WORDS, 16, true, RT_SECRET_SLACK},
};

static const char first_letters[] = "1AGHSacdfghklnprstvwxy"; /* of looks */

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool
is_alnum(char c)
{
	return is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z');
}

static bool
is_one_of(char c, key_letters letters)
{
	switch (letters) {
	case ALNUM: return is_alnum(c);
	case WORDS: return is_alnum(c) || c == '_' || c == '-';
	case DOTTED: return is_alnum(c) || c == '_' || c == '-' || c == '.';
	case HEX: return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
	case UPPER: return is_digit(c) || is_upper(c);
	}
	return false;
}

/* Of base64, and of what tokens in headers are made of. */
static bool
is_token(char c)
{
	return is_one_of(c, DOTTED) || c == '+' || c == '/' || c == '=' || c == '~';
}

static bool
starts_nocase(rt_str text, size_t at, const char *word)
{
	size_t size = strlen(word);

	return text.size - at >= size &&
	       rt_str_eq_nocase(rt_str_at(text.ptr + at, size), rt_str_of(word));
}

static bool
starts(rt_str text, size_t at, const char *word)
{
	size_t size = strlen(word);

	return text.size - at >= size && memcmp(text.ptr + at, word, size) == 0;
}

/* What the bytes of a value are like. */
typedef struct mix {
	bool has_digit, has_upper, has_letter, has_sign;
	size_t distinct, run; /* the longest run of letters and digits */
} mix;

static mix
mix_of(rt_str s)
{
	bool seen[256] = {false};
	size_t i, run = 0;
	mix m = {0};

	for (i = 0; i < s.size && i < LOOK_MAX; i++) {
		unsigned char c = (unsigned char)s.ptr[i];

		m.distinct += !seen[c];
		seen[c] = true;
		run = is_alnum((char)c) ? run + 1 : 0;
		if (run > m.run)
			m.run = run;
		m.has_upper = m.has_upper || is_upper((char)c);
		if (is_digit((char)c))
			m.has_digit = true;
		else if (is_alnum((char)c))
			m.has_letter = true;
		else if (strchr("!@#$%^&*+?", c) != NULL && c != '\0')
			m.has_sign = true;
	}
	return m;
}

/* ---- keys by their beginnings ---- */

static bool
look_key(rt_str text, size_t at, rt_secret *out)
{
	size_t i;

	if (at > 0 && is_alnum(text.ptr[at - 1]))
		return false;
	for (i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		const look *l = &looks[i];
		size_t from = at + strlen(l->begin), to = from;
		mix m;

		if (l->begin[0] != text.ptr[at] || !starts(text, at, l->begin))
			continue;
		while (to < text.size && to - from < LOOK_MAX && is_one_of(text.ptr[to], l->letters))
			to++;
		m = mix_of(rt_str_at(text.ptr + from, to - from));
		/* of words with hyphens ("sk-learn-2-…") none is that long */
		if (to - from < l->min || m.distinct < DISTINCT_MIN || (l->has_digit && !m.has_digit) ||
		    (l->has_digit && l->letters == WORDS && m.run < 10) ||
		    (l->letters == UPPER && to - from > 20))
			continue;
		while (to < text.size && is_one_of(text.ptr[to], l->letters))
			to++;
		while (to > from && (text.ptr[to - 1] == '.' || text.ptr[to - 1] == '-'))
			to--;
		*out = (rt_secret){at, to, l->kind};
		return true;
	}
	return false;
}

/* https://hooks.slack.com/services/T0/B0/secret, and what is like it */
static bool
look_hook(rt_str text, size_t at, rt_secret *out)
{
	static const struct {
		const char *begin;
		rt_secret_kind kind;
	} hooks[] = {
		{"hooks.slack.com/services/", RT_SECRET_SLACK},
		{"hooks.slack.com/workflows/", RT_SECRET_SLACK},
		{"discord.com/api/webhooks/", RT_SECRET_API_KEY},
		{"discordapp.com/api/webhooks/", RT_SECRET_API_KEY},
	};
	size_t i;

	for (i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		size_t from = at + strlen(hooks[i].begin), to = from;
		mix m;

		if (!starts(text, at, hooks[i].begin))
			continue;
		while (to < text.size && (is_one_of(text.ptr[to], WORDS) || text.ptr[to] == '/'))
			to++;
		m = mix_of(rt_str_at(text.ptr + from, to - from));
		if (to - from < 20 || m.distinct < DISTINCT_MIN || !m.has_digit)
			continue;
		*out = (rt_secret){from, to, hooks[i].kind};
		return true;
	}
	return false;
}

/* ---- private keys ---- */

/* "-----BEGIN RSA PRIVATE KEY-----" and "---- END SSH2 ENCRYPTED PRIVATE KEY ----": a line
 * that begins or ends one, at the first of its dashes. *to: behind it. */
static bool
is_frame(rt_str text, size_t at, const char *word, size_t *to)
{
	size_t from = at, name;

	if (at > 0 && text.ptr[at - 1] == '-')
		return false;
	while (at < text.size && text.ptr[at] == '-')
		at++;
	if (at - from < 4)
		return false;
	if (at < text.size && text.ptr[at] == ' ')
		at++;
	if (!starts(text, at, word))
		return false;
	name = at + strlen(word);
	for (at = name; at < text.size && at - name < NAME_MAX_SIZE &&
			(is_one_of(text.ptr[at], UPPER) || text.ptr[at] == ' ');)
		at++;
	*to = at;
	while (*to < text.size && text.ptr[*to] == '-')
		++*to;
	return rt_str_find(rt_str_at(text.ptr + name, at - name), RT_STR("PRIVATE KEY"), 0) !=
		       SIZE_MAX &&
	       *to - at >= 4;
}

/* A line's end, as it stands or as \n. */
static bool
is_line_end(rt_str text, size_t at)
{
	return text.ptr[at] == '\n' ||
	       (text.ptr[at] == '\\' && at + 1 < text.size && text.ptr[at + 1] == 'n');
}

/* The last, short line of a body without an end: one word, a number or a sign before it. */
static size_t
tail_end(rt_str text, size_t at, size_t limit)
{
	size_t end = at, words = 0;
	bool is_blank = true;

	while (at < limit && !is_line_end(text, at))
		at++;
	if (at > end || at >= limit)
		return end; /* something else behind it in its line */
	for (at += text.ptr[at] == '\n' ? 1 : 2; at < limit && !is_line_end(text, at); at++) {
		bool blank = (unsigned char)text.ptr[at] <= ' ';

		words += !blank && is_blank;
		is_blank = blank;
	}
	return words == 1 || words == 2 ? at : end;
}

/* How far the letters of a key without an end go: as long as its lines hold runs of base64.
 * Headers may come first, and something that was left out may stand between. at: there are
 * none. */
static size_t
body_end(rt_str text, size_t at, size_t limit)
{
	size_t end = at, lines = 0, i, to;
	size_t from = at; /* where the last run ended */
	bool is_first = true;

	for (i = at; i < limit && i - from < KEY_GAP_MAX && lines <= (is_first ? 10u : 2u); i = to) {
		mix m;

		for (to = i; to < limit && (is_alnum(text.ptr[to]) || text.ptr[to] == '+' ||
					    text.ptr[to] == '/' || text.ptr[to] == '=');)
			to++;
		if (to == i) {
			lines += is_line_end(text, i);
			/* the letter of \n is none of the run behind it */
			to += text.ptr[i] == '\\' && i + 1 < limit ? 2 : 1;
			continue;
		}
		m = mix_of(rt_str_at(text.ptr + i, to - i));
		if (to - i >= KEY_RUN_MIN && m.distinct >= DISTINCT_MIN &&
		    (m.has_digit || m.has_upper)) {
			end = from = to;
			lines = 0;
			is_first = false;
		}
	}
	return is_first ? at : tail_end(text, end, limit);
}

/* A key from its first line through its last, whatever lies between: headers, numbers of
 * lines, colours, quoting. Of one that was cut, the letters that are there. */
static bool
look_private_key(rt_str text, size_t at, rt_secret *out)
{
	size_t from = at, limit, to, next;

	if (starts(text, at, "Private-Lines: ")) /* of PuTTY */
		at += 15;
	else if (!is_frame(text, at, "BEGIN ", &at))
		return false;
	limit = text.size - at > KEY_MAX_SIZE ? at + KEY_MAX_SIZE : text.size;
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

/* eyJ….eyJ….…; the last part may be empty (alg none) or the middle one encrypted */
static bool
look_jwt(rt_str text, size_t at, rt_secret *out)
{
	size_t from = at, dots = 0, part = at;

	if ((at > 0 && (is_one_of(text.ptr[at - 1], WORDS) || text.ptr[at - 1] == '.')) ||
	    !starts(text, at, "eyJ"))
		return false;
	for (; at < text.size; at++) {
		if (dots == 0 && at - from > LOOK_MAX)
			return false;
		if (is_one_of(text.ptr[at], WORDS))
			continue;
		if (text.ptr[at] != '.' || dots == 4 || at - part < 10)
			break;
		dots++;
		part = at + 1;
	}
	if (dots < 2 && !(dots == 1 && at - part >= 10))
		return false;
	while (at > from && text.ptr[at - 1] == '.')
		at--;
	*out = (rt_secret){from, at, RT_SECRET_JWT};
	return true;
}

/* ---- by where they stand ---- */

/* $NAME, $name, $name->x, $name[, $env:NAME, ${…, $(…; "$ecret123" may be a password. */
static bool
is_variable(rt_str value)
{
	bool has_lower = false, has_digit = false;
	size_t at;

	if (value.size < 2 || value.ptr[0] != '$')
		return false;
	if (value.ptr[1] == '{' || value.ptr[1] == '(' || starts_nocase(value, 0, "$env:"))
		return true;
	for (at = 1; at < value.size && (is_alnum(value.ptr[at]) || value.ptr[at] == '_'); at++) {
		has_digit |= is_digit(value.ptr[at]);
		has_lower |= is_alnum(value.ptr[at]) && !is_digit(value.ptr[at]) &&
			     !is_upper(value.ptr[at]);
	}
	if (at == 1 || is_digit(value.ptr[1]))
		return false;
	if (at == value.size)
		return !has_lower || !has_digit;
	return value.ptr[at] == '[' || starts(value, at, "->") || starts(value, at, "::") ||
	       (value.ptr[at] == '-' && at + 1 == value.size);
}

static bool
is_within(rt_str value, const char *open, const char *close)
{
	return value.size > strlen(open) + strlen(close) && rt_str_starts(value, rt_str_of(open)) &&
	       starts(value, value.size - strlen(close), close);
}

/* What stands for one: a variable, a blank to fill in, stars, a mark of ours. */
static bool
is_stand_in(rt_str value)
{
	return value.size == 0 || is_variable(value) || is_within(value, "%", "%") ||
	       is_within(value, "<", ">") || is_within(value, "{", "}") ||
	       is_within(value, "[", "]") || rt_str_starts(value, RT_STR("{{")) ||
	       rt_str_starts(value, RT_STR("%(")) || rt_str_starts(value, RT_STR("[redacted:")) ||
	       rt_str_find(value, RT_STR("***"), 0) != SIZE_MAX ||
	       rt_str_find(value, RT_STR("..."), 0) != SIZE_MAX ||
	       rt_str_find(value, RT_STR("\xE2\x80\xA6"), 0) != SIZE_MAX ||
	       rt_str_find(value, RT_STR("${"), 0) != SIZE_MAX;
}

/* scheme://user:password@host and scheme://token@host: the part behind "://". */
static bool
look_url(rt_str text, size_t at, rt_secret *out)
{
	size_t from, colon = SIZE_MAX, last = SIZE_MAX, end;
	rt_str value;
	mix m;

	if (!starts(text, at, "://") || at == 0 || !is_alnum(text.ptr[at - 1]))
		return false;
	from = at + 3;
	for (end = from; end < text.size && end - from < LOOK_MAX; end++) {
		char c = text.ptr[end];

		if ((unsigned char)c <= ' ' || strchr("/?#\"'<>\\`|", c) != NULL)
			break;
		if (c == ':' && colon == SIZE_MAX && last == SIZE_MAX)
			colon = end;
		if (c == '@')
			last = end; /* "p@ss@host": the last one counts */
	}
	if (last == SIZE_MAX)
		return false;
	value = colon != SIZE_MAX && colon < last
			? rt_str_at(text.ptr + colon + 1, last - colon - 1)
			: rt_str_at(text.ptr + from, last - from);
	m = mix_of(value);
	if (is_stand_in(value) ||
	    ((colon == SIZE_MAX || colon > last) &&
	     (value.size < 20 || !m.has_digit || m.distinct < DISTINCT_MIN)))
		return false;
	out->from = (size_t)(value.ptr - text.ptr);
	out->to = out->from + value.size;
	out->kind = RT_SECRET_PASSWORD;
	return true;
}

static bool
ends_nocase(rt_str name, const char *end)
{
	size_t size = strlen(end);

	return name.size >= size && rt_str_eq_nocase(rt_str_at(name.ptr + name.size - size, size),
						     rt_str_of(end));
}

/* What a name asks for. */
typedef struct asked {
	rt_secret_kind kind;
	bool is_weak; /* "…_key": many are none, only what looks random is one */
} asked;

static bool
is_cookie(rt_str name)
{
	return rt_str_eq_nocase(name, RT_STR("cookie")) ||
	       rt_str_eq_nocase(name, RT_STR("set-cookie"));
}

/* MISTRAL_KEY, but no public_key and no sort_key. */
static bool
is_weak_name(rt_str name)
{
	static const char *const others[] = {"public", "primary", "foreign", "sort", "partition",
					     "cache", "object", "host", NULL};
	size_t i;

	if (!ends_nocase(name, "_key") && !ends_nocase(name, "-key"))
		return false;
	for (i = 0; others[i] != NULL; i++)
		if (ends_nocase(rt_str_at(name.ptr, name.size - 4), others[i]))
			return false;
	return true;
}

/* Does a name say that a secret comes? */
static bool
is_name(rt_str name, asked *out)
{
	static const char *const passwords[] = {"password", "passwd", "passphrase", "pwd",
						"passcode", "_pass", "-pass", ".pass", NULL};
	static const char *const secrets[] = {
		"api_key", "apikey", "api-key", "secret", "secret_key", "secret-key", "secretkey",
		"access_key", "access-key", "accesskey", "access_key_id", "token", "private_key",
		"private-key", "privatekey", "credential", "credentials", "authorization",
		"x-amz-signature", "session_key", "encryption_key", "signing_key", "account_key",
		"accountkey", "sharedaccesskey", "auth_key", "authkey", "x-goog-api-key", NULL};
	size_t i;

	*out = (asked){RT_SECRET_PASSWORD, false};
	for (i = 0; passwords[i] != NULL; i++)
		if (ends_nocase(name, passwords[i]))
			return true;
	if (rt_str_eq_nocase(name, RT_STR("pass")) || rt_str_eq_nocase(name, RT_STR("dbpass")) ||
	    (name.size > 4 && starts(name, name.size - 4, "Pass")))
		return true;
	out->kind = RT_SECRET_ASSIGNED;
	for (i = 0; secrets[i] != NULL; i++)
		if (ends_nocase(name, secrets[i]))
			return true;
	out->is_weak = is_weak_name(name);
	return out->is_weak || is_cookie(name) || rt_str_eq_nocase(name, RT_STR("sig"));
}

/* config.db.password, os.environ: a name of a program, not a value. */
static bool
is_path_of_names(rt_str value)
{
	size_t i;
	bool has_dot = false;

	for (i = 0; i < value.size; i++) {
		bool begins = i == 0 || value.ptr[i - 1] == '.';

		if (value.ptr[i] == '.' && !begins && i + 1 < value.size)
			has_dot = true;
		else if ((!is_alnum(value.ptr[i]) && value.ptr[i] != '_') ||
			 (begins && is_digit(value.ptr[i])))
			return false;
	}
	return has_dot && mix_of(value).run < 16;
}

/* is_quoted: it stands between quotes, so that it is no name of a program. */
static bool
is_value(rt_str value, asked how, bool is_quoted)
{
	mix m = mix_of(value);

	if (is_stand_in(value) || (!is_quoted && is_path_of_names(value)))
		return false;
	if (how.kind == RT_SECRET_BEARER)
		return value.size >= 16 && m.has_digit && m.distinct >= DISTINCT_MIN;
	if (!m.has_letter)
		return how.kind == RT_SECRET_PASSWORD && m.has_digit && m.has_sign &&
		       value.size >= 6;
	if (how.kind == RT_SECRET_PASSWORD)
		return value.size >= 6 && (m.has_digit || m.has_sign) && m.distinct >= 4;
	if (how.is_weak)
		return value.size >= 20 && m.has_digit && m.distinct >= 10 && m.run >= 16;
	return value.size >= 12 && m.has_digit && m.distinct >= 6;
}

/* What was found by where it stands, by its own look where it has one. */
static void
name_better(rt_str text, rt_secret *secret)
{
	rt_str cut = rt_str_at(text.ptr, secret->to);
	rt_secret better;

	if (secret->kind >= RT_SECRET_PASSWORD && secret->kind <= RT_SECRET_ASSIGNED &&
	    (look_key(cut, secret->from, &better) || look_jwt(cut, secret->from, &better)))
		secret->kind = better.kind;
}

bool
rt_secret_is_value(rt_str name, rt_str value, rt_secret_kind *kind)
{
	rt_secret whole = {0, value.size, RT_SECRET_ASSIGNED};
	asked how;
	size_t i;

	if (value.size > LOOK_MAX * 8 || !is_name(name, &how))
		return false;
	for (i = 0; i < value.size; i++)
		if (value.ptr[i] == '\n' || (value.ptr[i] == ' ' && !is_cookie(name)))
			return false;
	if (!is_value(value, how, true))
		return false;
	whole.kind = how.kind;
	name_better(value, &whole);
	*kind = whole.kind;
	return true;
}

static bool
is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

static size_t
skip_blank(rt_str text, size_t at)
{
	while (at < text.size && (text.ptr[at] == ' ' || text.ptr[at] == '\t'))
		at++;
	return at;
}

/* get_token(…): the name of a function, then what it is given. */
static bool
is_call(rt_str value)
{
	size_t at = 0;

	while (at < value.size &&
	       (is_alnum(value.ptr[at]) || strchr("_.:$>-[]", value.ptr[at]) != NULL))
		at++;
	return at > 0 && at < value.size && value.ptr[at] == '(';
}

/* Cookie: session=HERE; other=HERE, all of it; of Set-Cookie what comes before ";". */
static bool
take_cookie(rt_str text, size_t at, bool is_set, rt_secret *out)
{
	size_t from, to;
	rt_str value;
	mix m;

	at = skip_blank(text, at);
	while (at < text.size && (text.ptr[at] == '\\' || is_quote(text.ptr[at])))
		at++;
	from = at;
	for (to = from; to < text.size && to - from < LOOK_MAX * 8; to++) {
		char c = text.ptr[to];

		if ((unsigned char)c < ' ' || is_quote(c) || c == '\\' || (is_set && c == ';'))
			break;
	}
	value = rt_str_at(text.ptr + from, to - from);
	m = mix_of(value);
	at = rt_str_find(value, RT_STR("="), 0);
	if (at == SIZE_MAX || at == 0 || value.size < 12 || !m.has_digit ||
	    rt_str_find(rt_str_at(value.ptr, at), RT_STR(" "), 0) != SIZE_MAX ||
	    is_stand_in(rt_str_at(value.ptr + at + 1, value.size - at - 1)))
		return false;
	*out = (rt_secret){from, to, RT_SECRET_ASSIGNED};
	return true;
}

/* "API key: ": a key of which the word before says what it opens. */
static bool
is_key_of_words(rt_str text, size_t from, rt_str name)
{
	static const char *const words[] = {"api ", "secret ", "access ", "private ", "auth ",
					    "account ", "signing ", "encryption ", "license ", NULL};
	size_t i;

	if (!rt_str_eq_nocase(name, RT_STR("key")))
		return false;
	for (i = 0; words[i] != NULL; i++)
		if (ends_nocase(rt_str_at(text.ptr, from), words[i]))
			return true;
	return false;
}

/* The value at at, of a name that asks for one. */
static bool
take_value(rt_str text, size_t at, asked how, rt_secret *out)
{
	static const char *const schemes[] = {"bearer ", "basic ", "token ", "digest ", NULL};
	char quote = '\0';
	size_t from, i;
	rt_str value;

	if (starts(text, at, "** "))
		at += 2; /* "**Password:** HERE" */
	at = skip_blank(text, at);
	if (starts(text, at, "&quot;"))
		at += 6;
	while (at < text.size && (text.ptr[at] == '\\' || is_quote(text.ptr[at]))) {
		if (text.ptr[at] != '\\')
			quote = text.ptr[at];
		at++;
	}
	for (i = 0; schemes[i] != NULL; i++)
		if (starts_nocase(text, at, schemes[i])) {
			at = skip_blank(text, at + strlen(schemes[i]));
			how.kind = RT_SECRET_BEARER;
			break;
		}
	for (from = at; at < text.size && at - from < LOOK_MAX * 8; at++) {
		char c = text.ptr[at];

		if ((unsigned char)c <= ' ' || (quote != '\0' && c == quote) ||
		    (quote == '\0' && strchr("\"'`,;)}]&<>\\", c) != NULL))
			break;
	}
	value = rt_str_at(text.ptr + from, at - from);
	if (quote == '\0') {
		if (is_call(value))
			return false;
		if (value.size > 0 && at < text.size &&
		    ((value.ptr[0] == '[' && text.ptr[at] == ']') ||
		     (value.ptr[0] == '{' && text.ptr[at] == '}')))
			return false; /* a blank to fill in */
	} else if (at >= text.size || text.ptr[at] != quote) {
		return false; /* a sentence */
	}
	while (quote == '\0' && value.size > 0 && strchr(".:!?", value.ptr[value.size - 1]) != NULL)
		value.size--; /* of the sentence around it */
	if (quote != '\0' && value.size > 0 && value.ptr[value.size - 1] == '\\')
		value.size--;
	if (!is_value(value, how, quote != '\0'))
		return false;
	*out = (rt_secret){from, from + value.size, how.kind};
	return true;
}

/* login NAME password HERE, on one line or on two: a .netrc */
static bool
is_netrc(rt_str text, size_t from, rt_str name)
{
	size_t first = from > 128 ? from - 128 : 0;
	rt_str before = rt_str_at(text.ptr + first, from - first);

	return rt_str_is(name, "password") && rt_str_find(before, RT_STR("login "), 0) != SIZE_MAX;
}

/* Does what stands at at, behind a name at from, say that its value comes? */
static bool
is_sign(rt_str text, size_t at, size_t from, rt_str name)
{
	switch (text.ptr[at]) {
	case ' ': return rt_str_starts(name, RT_STR("--")) || is_netrc(text, from, name);
	case '>': /* <password>HERE */
		return from > 0 && text.ptr[from - 1] == '<' && at + 1 < text.size &&
		       (unsigned char)text.ptr[at + 1] > ' ';
	case '|': /* | password | HERE | */
		while (from > 0 && (text.ptr[from - 1] == ' ' || text.ptr[from - 1] == '*'))
			from--;
		return from > 0 && text.ptr[from - 1] == '|';
	default: return true;
	}
}

/* What flags of programs are given: curl -u NAME:HERE, mysql -pHERE, sshpass -p HERE. */
static bool
look_flag(rt_str text, size_t at, rt_secret *out)
{
	static const struct {
		const char *program, *flag;
		bool has_name;
	} flags[] = {
		{"curl ", "-u", true},	    {"curl ", "--user", true}, {"mysql ", "-p", false},
		{"mysqldump ", "-p", false}, {"sshpass ", "-p", false},
	};
	size_t line = at, i, from, to;
	rt_str before;

	if (at == 0 || text.ptr[at - 1] != ' ' ||
	    !(starts(text, at, "-u") || starts(text, at, "-p") || starts(text, at, "--user ")))
		return false;
	while (line > 0 && at - line < LOOK_MAX / 2 && text.ptr[line - 1] != '\n')
		line--;
	before = rt_str_at(text.ptr + line, at - line);
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (!starts(text, at, flags[i].flag) ||
		    rt_str_find(before, rt_str_of(flags[i].program), 0) == SIZE_MAX)
			continue;
		from = at + strlen(flags[i].flag);
		if (flags[i].has_name || flags[i].program[0] == 's')
			from = skip_blank(text, from);
		if (from < text.size && is_quote(text.ptr[from]))
			from++;
		for (; flags[i].has_name && from < text.size && is_one_of(text.ptr[from], DOTTED);)
			from++;
		if (flags[i].has_name && (from >= text.size || text.ptr[from++] != ':'))
			continue;
		for (to = from; to < text.size && to - from < LOOK_MAX &&
				(unsigned char)text.ptr[to] > ' ' && !is_quote(text.ptr[to]) &&
				text.ptr[to] != '\\';)
			to++;
		if (to - from < 4 || is_stand_in(rt_str_at(text.ptr + from, to - from)))
			continue;
		*out = (rt_secret){from, to, RT_SECRET_PASSWORD};
		return true;
	}
	return false;
}

/* NAME=value, NAME: value, "NAME": "value" at the sign, and --NAME value at the space. */
static bool
look_assigned(rt_str text, size_t at, rt_secret *out)
{
	asked how;
	size_t end = at, from, after = at + 1;
	rt_str name;

	while (end > 0 && at - end < 4 && (text.ptr[end - 1] == ' ' || text.ptr[end - 1] == '\\' ||
					   text.ptr[end - 1] == '*' || is_quote(text.ptr[end - 1])))
		end--;
	if (end == at && end >= 6 && starts(text, end - 6, "&quot;"))
		end -= 6;
	if ((text.ptr[at] == ' ' || text.ptr[at] == '>') && end != at)
		return false;
	for (from = end; from > 0 && end - from < NAME_MAX_SIZE && is_one_of(text.ptr[from - 1], DOTTED);)
		from--;
	name = rt_str_at(text.ptr + from, end - from);
	if (name.size < 3 || !is_sign(text, at, from, name) ||
	    (!is_name(name, &how) && !is_key_of_words(text, from, name)))
		return false;
	if (text.ptr[at] == ':' && is_cookie(name))
		return take_cookie(text, after, name.size > 6, out);
	while (after < text.size && (text.ptr[after] == '=' || text.ptr[after] == '>' ||
				     text.ptr[after] == ':'))
		after++; /* ==, =>, :=, :: */
	return take_value(text, after, how, out);
}

/* Bearer TOKEN; Basic BASE64 of user:password */
static bool
look_bearer(rt_str text, size_t at, rt_secret *out)
{
	bool is_basic = starts_nocase(text, at, "basic ");
	size_t from, to;
	mix m;

	if ((at > 0 && is_alnum(text.ptr[at - 1])) || (!is_basic && !starts_nocase(text, at, "bearer ")))
		return false;
	from = skip_blank(text, at + 6);
	for (to = from; to < text.size && is_token(text.ptr[to]);)
		to++;
	while (to > from && text.ptr[to - 1] == '.')
		to--;
	m = mix_of(rt_str_at(text.ptr + from, to - from));
	if (to - from < 16 || !m.has_digit || !m.has_letter || m.distinct < DISTINCT_MIN ||
	    (is_basic && m.run < 12) || is_stand_in(rt_str_at(text.ptr + from, to - from)))
		return false;
	*out = (rt_secret){from, to, RT_SECRET_BEARER};
	return true;
}

/* ---- people ---- */

static bool
is_file(rt_str name)
{
	static const char *const ends[] = {".html", ".htm", ".php", ".js", ".css", ".aspx", ".jsp",
					   ".json", ".md", ".tsx", ".ts", NULL};
	size_t i;

	for (i = 0; ends[i] != NULL; i++)
		if (ends_nocase(name, ends[i]))
			return true;
	return false;
}

/* /home/NAME, /Users/NAME, C:\Users\NAME, and as names of folders: -home-NAME- */
static bool
look_home(rt_str text, size_t at, rt_secret *out)
{
	static const char *const shared[] = {"Shared", "Public", "Default", "All", "linuxbrew", NULL};
	char sign = text.ptr[at], before = at > 0 ? text.ptr[at - 1] : ' ';
	size_t from, to, i;
	bool is_users, is_doubled;
	rt_str name;

	/* of "\\\\" only the first is tried: all of them would cost their square */
	if (at + 1 >= text.size || (sign == '\\' && before == '\\'))
		return false;
	for (from = at + 1; sign == '\\' && from < text.size && text.ptr[from] == '\\';)
		from++;
	is_doubled = from - at > 1;
	is_users = starts(text, from, "Users");
	if (!is_users && !(sign != '\\' && starts(text, from, "home")))
		return false;
	from += is_users ? 5 : 4;
	if (from >= text.size || text.ptr[from] != sign)
		return false;
	for (; from < text.size && text.ptr[from] == sign; from++)
		if (sign != '\\' && text.ptr[from] == sign && from + 1 < text.size &&
		    text.ptr[from + 1] == sign)
			return false;
	if (sign == '-') { /* only where a folder's name begins */
		if (at > 0 && strchr("-/\"' \n\\", before) == NULL)
			return false;
	} else if (sign == '/' && (is_alnum(before) || strchr("._-~)", before) != NULL)) {
		/* example.org/home/about; but C:/Users and /c/Users */
		if (!(is_users && at > 0 && is_alnum(before) &&
		      (at == 1 || !is_alnum(text.ptr[at - 2]))))
			return false;
	} else if (sign == '/' && before == '/' && !(at >= 7 && starts(text, at - 7, "file://"))) {
		return false;
	} else if (sign == '\\' && before != ':' && !is_doubled) {
		return false;
	}
	for (to = from; to < text.size; to++) {
		char c = text.ptr[to];

		if (!is_alnum(c) && c != '_' && (unsigned char)c < 0x80 &&
		    (sign == '-' || (c != '-' && c != '.')))
			break;
	}
	while (to > from && text.ptr[to - 1] == '.')
		to--;
	name = rt_str_at(text.ptr + from, to - from);
	if (name.size < 2 || name.size > NAME_MAX_SIZE || is_file(name) || !mix_of(name).has_letter)
		return false;
	for (i = 0; shared[i] != NULL; i++)
		if (rt_str_is(name, shared[i]))
			return false;
	*out = (rt_secret){at, to, RT_SECRET_HOME};
	return true;
}

/* name@example.org, at the @ */
static bool
look_email(rt_str text, size_t at, rt_secret *out)
{
	size_t from = at, to = at + 1, dot = 0;

	while (from > 0 && at - from < NAME_MAX_SIZE &&
	       (is_one_of(text.ptr[from - 1], DOTTED) || text.ptr[from - 1] == '+'))
		from--;
	while (from < at && text.ptr[from] == '.')
		from++;
	for (; to < text.size && to - at < 254; to++) {
		if (text.ptr[to] == '.')
			dot = to;
		else if (!is_alnum(text.ptr[to]) && text.ptr[to] != '-')
			break;
	}
	while (to > at + 1 && (text.ptr[to - 1] == '.' || text.ptr[to - 1] == '-'))
		to--;
	if (dot >= to)
		for (dot = to - 1; dot > at && text.ptr[dot] != '.';)
			dot--;
	if (from == at || dot <= at + 1 || to - dot < 3 || is_digit(text.ptr[dot + 1]))
		return false;
	*out = (rt_secret){from, to, RT_SECRET_EMAIL};
	return true;
}

/* ---- all of them ---- */

/* One of those that were given, or the home directory, wherever it lies. */
static bool
look_given(rt_str text, size_t at, const rt_secret_options *options, rt_secret *out)
{
	size_t i;

	for (i = 0; i < options->given_count; i++) {
		rt_str s = options->given[i];

		if (s.size >= RT_SECRET_GIVEN_MIN && text.size - at >= s.size &&
		    memcmp(text.ptr + at, s.ptr, s.size) == 0) {
			*out = (rt_secret){at, at + s.size, RT_SECRET_GIVEN};
			return true;
		}
	}
	if (options->home.size < RT_SECRET_GIVEN_MIN || text.size - at < options->home.size ||
	    memcmp(text.ptr + at, options->home.ptr, options->home.size) != 0 ||
	    (at + options->home.size < text.size &&
	     is_one_of(text.ptr[at + options->home.size], DOTTED)))
		return false;
	*out = (rt_secret){at, at + options->home.size, RT_SECRET_HOME};
	return true;
}

bool
rt_secret_next(rt_str text, const rt_secret_options *options, size_t *at, rt_secret *out)
{
	size_t i;

	for (i = *at; i < text.size; i++) {
		bool found = false;

		if (options != NULL && (options->given_count > 0 || options->home.size > 0))
			found = look_given(text, i, options, out);
		if (!found)
			switch (text.ptr[i]) {
			case '-':
				found = look_private_key(text, i, out) || look_flag(text, i, out) ||
					look_home(text, i, out);
				break;
			case 'P': found = look_private_key(text, i, out); break;
			case 'e': found = look_jwt(text, i, out); break;
			case 'b':
			case 'B': found = look_bearer(text, i, out); break;
			case ':':
				found = look_url(text, i, out) || look_assigned(text, i, out);
				break;
			case '=':
			case '>':
			case '|':
			case ' ': found = look_assigned(text, i, out); break;
			case '/':
			case '\\': found = look_home(text, i, out); break;
			case '@':
				found = options != NULL && options->has_emails &&
					look_email(text, i, out);
				break;
			case 'd':
			case 'h': found = look_hook(text, i, out); break;
			default: break;
			}
		if (!found && strchr(first_letters, text.ptr[i]) != NULL && text.ptr[i] != '\0')
			found = look_key(text, i, out);
		if (found) {
			name_better(text, out);
			*at = out->to > i ? out->to : i + 1;
			return true;
		}
	}
	*at = text.size;
	return false;
}
