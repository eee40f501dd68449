/* SPDX-License-Identifier: MIT
 *
 * Secrets by their context: passwords in URLs, values assigned to names like "api_key", arguments
 * of flags, headers, home directories.
 *
 * One pass: at each byte those patterns are tried that start with it. The look-ahead before a
 * match is certain is bounded, so a text made of prefixes costs its size times that bound. */
#include "formats/secret_scan.h"

enum {
	VALUE_MIN = 6,   /* bytes of an assigned value; see is_value */
	VALUE_MAX = 4096
};

/* ---- values: possible secrets ---- */

/* $NAME, $name, $name->x, $name[, $env:NAME, ${…, $(…; "$ecret123" may be a password. */
static bool
is_variable(rt_str value)
{
	size_t end;
	bool has_lower = false, has_digit = false;

	if (value.size < 2 || value.ptr[0] != '$')
		return false;
	if (value.ptr[1] == '{' || value.ptr[1] == '(' || starts_nocase(value, 0, "$env:"))
		return true;
	for (end = 1; is_at(value, end, "_" ALNUM); end++) {
		has_digit |= is(value.ptr[end], DIGITS);
		has_lower |= is(value.ptr[end], "a-z");
	}
	if (end == 1 || is(value.ptr[1], DIGITS))
		return false;
	if (end == value.size)
		return !has_lower || !has_digit;
	return value.ptr[end] == '[' || starts(value, end, "->") || starts(value, end, "::") ||
	       (value.ptr[end] == '-' && end + 1 == value.size);
}

static bool
is_within(rt_str value, char open, char close)
{
	return value.size > 2 && value.ptr[0] == open && value.ptr[value.size - 1] == close;
}

/* A placeholder: a variable, a blank to fill in, stars, one of our own marks. */
static bool
is_placeholder(rt_str value)
{
	return value.size == 0 || is_variable(value) || is_within(value, '%', '%') ||
	       is_within(value, '<', '>') || is_within(value, '{', '}') ||
	       is_within(value, '[', ']') || starts(value, 0, "{{") || starts(value, 0, "%(") ||
	       starts(value, 0, "[redacted:") || has(value, "***") || has(value, "...") ||
	       has(value, "\xE2\x80\xA6") || has(value, "${");
}

/* The kind of value that a name expects. */
typedef struct expected {
	rt_secret_kind kind;
	bool is_weak; /* "…_key": many are not secret; only a random-looking value counts */
} expected;

static bool
is_cookie(rt_str name)
{
	return rt_str_eq_nocase(name, RT_STR("cookie")) ||
	       rt_str_eq_nocase(name, RT_STR("set-cookie"));
}

/* MISTRAL_KEY, but neither public_key nor sort_key. */
static bool
is_weak_name(rt_str name)
{
	return ends_with(name, "_key -key") &&
	       !ends_with(rt_str_at(name.ptr, name.size - 4),
			  "public primary foreign sort partition cache object host");
}

/* Is a secret expected after this name? */
static bool
is_name(rt_str name, expected *out)
{
	*out = (expected){RT_SECRET_PASSWORD, false};
	if (ends_with(name, "password passwd passphrase pwd passcode _pass -pass .pass") ||
	    rt_str_eq_nocase(name, RT_STR("pass")) || rt_str_eq_nocase(name, RT_STR("dbpass")) ||
	    (name.size > 4 && starts(name, name.size - 4, "Pass")))
		return true;
	out->kind = RT_SECRET_ASSIGNED;
	if (ends_with(name,
		      "api_key apikey api-key secret secret_key secret-key secretkey access_key "
		      "access-key accesskey access_key_id token private_key private-key privatekey "
		      "credential credentials authorization x-amz-signature session_key "
		      "encryption_key signing_key account_key accountkey sharedaccesskey auth_key "
		      "authkey x-goog-api-key"))
		return true;
	out->is_weak = is_weak_name(name);
	return out->is_weak || is_cookie(name) || rt_str_eq_nocase(name, RT_STR("sig"));
}

/* "API key: ": a key with a word before it that tells its purpose. */
static bool
is_key_of_words(rt_str text, size_t from, rt_str name)
{
	return rt_str_eq_nocase(name, RT_STR("key")) && from > 0 && text.ptr[from - 1] == ' ' &&
	       ends_with(rt_str_at(text.ptr, from - 1),
			 "api secret access private auth account signing encryption license");
}

/* config.db.password, os.environ: an identifier of a program, not a value. */
static bool
is_identifier_path(rt_str value)
{
	bool has_dot = false;

	for (size_t i = 0; i < value.size; i++) {
		bool begins = i == 0 || value.ptr[i - 1] == '.';

		if (value.ptr[i] == '.' && !begins && i + 1 < value.size)
			has_dot = true;
		else if (!is(value.ptr[i], "_" ALNUM) || (begins && is(value.ptr[i], DIGITS)))
			return false;
	}
	return has_dot && rt_secret_mix_of(value).run < 16;
}

/* is_quoted: the value is in quotes, so it is not an identifier. */
static bool
is_value(rt_str value, expected how, bool is_quoted)
{
	rt_secret_mix m = rt_secret_mix_of(value);

	if (is_placeholder(value) || (!is_quoted && is_identifier_path(value)))
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

/* The kind of a value found by its context, more exactly where it has a known form. */
static void
refine_kind(rt_str text, rt_secret *secret)
{
	rt_str value = rt_str_at(text.ptr, secret->to);
	rt_secret own;

	if (secret->kind >= RT_SECRET_PASSWORD && secret->kind <= RT_SECRET_ASSIGNED &&
	    secret->from < secret->to && rt_secret_is_token(value, secret->from, &own))
		secret->kind = own.kind;
}

bool
rt_secret_is_value(rt_str name, rt_str value, rt_secret_kind *kind)
{
	rt_secret whole = {0, value.size, RT_SECRET_ASSIGNED};
	expected how;

	/* cheap checks come first: most values are texts */
	if (value.size > VALUE_MAX || value.size < VALUE_MIN ||
	    (memchr(value.ptr, ' ', value.size) != NULL && !is_cookie(name)) ||
	    memchr(value.ptr, '\n', value.size) != NULL || !is_name(name, &how) ||
	    !is_value(value, how, true))
		return false;
	whole.kind = how.kind;
	refine_kind(value, &whole);
	*kind = whole.kind;
	return true;
}

/* ---- values by their context ---- */

/* scheme://user:password@host and scheme://token@host, at "://". */
static bool
match_url(rt_str text, size_t at, rt_secret *out)
{
	size_t from = at + 3, end, last, colon;
	bool has_user;
	rt_str value;
	rt_secret_mix m;

	if (!starts(text, at, "://") || at == 0 || !is(text.ptr[at - 1], ALNUM))
		return false;
	end = span_until(text, from, LOOK_AHEAD_MAX, false, "/?#\"'<>\\`|");
	for (last = end; last > from && text.ptr[last - 1] != '@';)
		last--; /* "p@ss@host": the last one counts */
	if (last == from)
		return false;
	last--;
	colon = rt_str_find(rt_str_at(text.ptr, end), RT_STR(":"), from);
	has_user = colon < last && memchr(text.ptr + from, '@', colon - from) == NULL;
	value = slice(text, has_user ? colon + 1 : from, last);
	m = rt_secret_mix_of(value);
	if (is_placeholder(value) ||
	    (!has_user && (value.size < 20 || !m.has_digit || m.distinct < DISTINCT_MIN)))
		return false;
	*out = (rt_secret){last - value.size, last, RT_SECRET_PASSWORD};
	return true;
}

/* get_token(…): a function and its arguments. */
static bool
is_call(rt_str value)
{
	size_t at = span(value, 0, ":$>[]" DOTTED);

	return at > 0 && is_at(value, at, "(");
}

/* Cookie: session=…; other=…, all of it; of Set-Cookie the part before ";". */
static bool
match_cookie(rt_str text, size_t at, bool is_set, rt_secret *out)
{
	size_t equals, to;
	rt_str value;

	at = span(text, span(text, at, BLANKS), "\\" QUOTES);
	to = span_until(text, at, VALUE_MAX, true, is_set ? ";\\" QUOTES : "\\" QUOTES);
	value = slice(text, at, to);
	equals = rt_str_find(value, RT_STR("="), 0);
	if (equals == SIZE_MAX || equals == 0 || value.size < 12 ||
	    !rt_secret_mix_of(value).has_digit || has(rt_str_at(value.ptr, equals), " ") ||
	    is_placeholder(slice(value, equals + 1, value.size)))
		return false;
	*out = (rt_secret){at, to, RT_SECRET_ASSIGNED};
	return true;
}

/* The value at `at`, after a name that expects one. */
static bool
match_value(rt_str text, size_t at, expected how, rt_secret *out)
{
	static const char *const schemes[] = {"bearer ", "basic ", "token ", "digest "};
	char quote[2] = "";
	rt_str value;

	if (starts(text, at, "** "))
		at += 2; /* "**Password:** …" */
	at = span(text, at, BLANKS);
	if (starts(text, at, "&quot;"))
		at += 6;
	for (; is_at(text, at, "\\" QUOTES); at++)
		if (text.ptr[at] != '\\')
			quote[0] = text.ptr[at];
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (starts_nocase(text, at, schemes[i])) {
			at = span(text, at + strlen(schemes[i]), BLANKS);
			how.kind = RT_SECRET_BEARER;
			break;
		}
	size_t to = span_until(text, at, VALUE_MAX, false,
			       quote[0] != '\0' ? quote : "\"'`,;)}]&<>\\");

	value = slice(text, at, to);
	if (quote[0] != '\0') {
		if (to >= text.size || text.ptr[to] != quote[0])
			return false; /* a sentence */
		value.size -= value.size > 0 && value.ptr[value.size - 1] == '\\';
	} else {
		if (is_call(value))
			return false;
		if (value.size > 0 && to < text.size &&
		    ((value.ptr[0] == '[' && text.ptr[to] == ']') ||
		     (value.ptr[0] == '{' && text.ptr[to] == '}')))
			return false; /* a blank to fill in */
		while (value.size > 0 && is(value.ptr[value.size - 1], ".:!?"))
			value.size--; /* punctuation of the sentence */
	}
	*out = (rt_secret){at, at + value.size, how.kind};
	return is_value(value, how, quote[0] != '\0');
}

/* login NAME password …, on one line or two: a .netrc */
static bool
is_netrc(rt_str text, size_t from, rt_str name)
{
	return rt_str_is(name, "password") &&
	       has(slice(text, from > 128 ? from - 128 : 0, from), "login ");
}

/* Does the byte at `at`, after a name that starts at `from`, announce a value? */
static bool
is_assignment(rt_str text, size_t at, size_t from, rt_str name)
{
	switch (text.ptr[at]) {
	case ' ': return starts(name, 0, "--") || is_netrc(text, from, name);
	case '>': /* <password>… */
		return from > 0 && text.ptr[from - 1] == '<' && at + 1 < text.size &&
		       (unsigned char)text.ptr[at + 1] > ' ';
	case '|': /* | password | … | */
		from = span_back(text, from, " *", SIZE_MAX);
		return from > 0 && text.ptr[from - 1] == '|';
	default: return true;
	}
}

/* NAME=value, NAME: value, "NAME": "value" at the sign, and --NAME value at the space. */
static bool
match_assigned(rt_str text, size_t at, rt_secret *out)
{
	size_t end = span_back(text, at, " *\\" QUOTES, 4), from;
	expected how;
	rt_str name;

	if (end == at && end >= 6 && starts(text, end - 6, "&quot;"))
		end -= 6;
	if ((text.ptr[at] == ' ' || text.ptr[at] == '>') && end != at)
		return false;
	from = span_back(text, end, DOTTED, NAME_MAX_SIZE);
	name = slice(text, from, end);
	if (name.size < 3 || !is_assignment(text, at, from, name) ||
	    (!is_name(name, &how) && !is_key_of_words(text, from, name)))
		return false;
	if (text.ptr[at] == ':' && is_cookie(name))
		return match_cookie(text, at + 1, name.size > 6, out);
	return match_value(text, span(text, at + 1, "=>:"), how, out); /* ==, =>, :=, :: */
}

/* Arguments of flags: curl -u NAME:…, mysql -p…, sshpass -p … */
static bool
match_flag(rt_str text, size_t at, rt_secret *out)
{
	static const struct {
		const char *program, *flag;
		bool has_blank, has_name;
	} flags[] = {
		{"curl ", "-u", true, true},     {"curl ", "--user", true, true},
		{"mysql ", "-p", false, false},  {"mysqldump ", "-p", false, false},
		{"sshpass ", "-p", true, false},
	};
	size_t line = at;

	if (at == 0 || text.ptr[at - 1] != ' ' ||
	    !(starts(text, at, "-u") || starts(text, at, "-p") || starts(text, at, "--user ")))
		return false;
	while (line > 0 && at - line < LOOK_AHEAD_MAX / 2 && text.ptr[line - 1] != '\n')
		line--;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		size_t from = at + strlen(flags[i].flag), to;

		if (!starts(text, at, flags[i].flag) ||
		    !has(slice(text, line, at), flags[i].program))
			continue;
		if (flags[i].has_blank)
			from = span(text, from, BLANKS);
		from += is_at(text, from, QUOTES);
		if (flags[i].has_name) {
			from = span(text, from, DOTTED);
			if (from >= text.size || text.ptr[from++] != ':')
				continue;
		}
		to = span_until(text, from, LOOK_AHEAD_MAX, false, "\\" QUOTES);
		if (to - from < 4 || is_placeholder(slice(text, from, to)))
			continue;
		*out = (rt_secret){from, to, RT_SECRET_PASSWORD};
		return true;
	}
	return false;
}

/* Bearer TOKEN; Basic BASE64 of user:password */
static bool
match_bearer(rt_str text, size_t at, rt_secret *out)
{
	bool is_basic = starts_nocase(text, at, "basic ");
	size_t from, to;
	rt_str value;
	rt_secret_mix m;

	if ((at > 0 && is(text.ptr[at - 1], ALNUM)) ||
	    (!is_basic && !starts_nocase(text, at, "bearer ")))
		return false;
	from = span(text, at + 6, BLANKS);
	for (to = span(text, from, TOKEN); to > from && text.ptr[to - 1] == '.';)
		to--;
	value = slice(text, from, to);
	m = rt_secret_mix_of(value);
	*out = (rt_secret){from, to, RT_SECRET_BEARER};
	return value.size >= 16 && m.has_digit && m.has_letter && m.distinct >= DISTINCT_MIN &&
	       m.run >= (is_basic ? 12u : 0u) && !is_placeholder(value);
}

/* ---- people ---- */

/* May a home directory start at `at` with this separator? "\\\\" counts as one. */
static bool
is_path_start(rt_str text, size_t at, bool is_users, bool is_doubled)
{
	char before = at > 0 ? text.ptr[at - 1] : ' ';

	switch (text.ptr[at]) {
	case '-': /* only at the start of a folder's name */
		return at == 0 || before == '\0' || is(before, "/\"' \n\\-");
	case '\\': return before == ':' || is_doubled;
	default:
		if (before == '/')
			return at >= 7 && starts(text, at - 7, "file://");
		if (before != '\0' && !is(before, "~)" DOTTED))
			return true;
		/* example.org/home/about; but C:/Users and /c/Users */
		return is_users && is(before, ALNUM) && (at == 1 || !is(text.ptr[at - 2], ALNUM));
	}
}

/* /home/NAME, /Users/NAME, C:\Users\NAME, and as names of folders: -home-NAME- */
static bool
match_home(rt_str text, size_t at, rt_secret *out)
{
	char separator = text.ptr[at];
	bool is_windows = separator == '\\', is_users;
	size_t from = at + 1, to;
	rt_str name;

	/* only at the first of many "\\": at each of them it would take quadratic time */
	if (is_windows && at > 0 && text.ptr[at - 1] == '\\')
		return false;
	if (is_windows)
		from = span(text, from, "\\");
	is_users = from < text.size && starts(text, from, "Users");
	if (!is_users && (is_windows || from >= text.size || !starts(text, from, "home")))
		return false;
	if (!is_path_start(text, at, is_users, from - at > 1))
		return false;
	from += is_users ? 5 : 4;
	for (to = from; to < text.size && text.ptr[to] == separator;)
		to++;
	if (to == from || (!is_windows && to - from > 1))
		return false;
	for (from = to;
	     to < text.size && ((unsigned char)text.ptr[to] >= 0x80 ||
				is(text.ptr[to], separator == '-' ? "_" ALNUM : DOTTED));)
		to++;
	while (to > from && text.ptr[to - 1] == '.')
		to--;
	name = slice(text, from, to);
	*out = (rt_secret){at, to, RT_SECRET_HOME};
	return name.size >= 2 && name.size <= NAME_MAX_SIZE &&
	       !ends_with(name, ".html .htm .php .js .css .aspx .jsp .json .md .tsx .ts") &&
	       rt_secret_mix_of(name).has_letter &&
	       !rt_is_word(name, "Shared Public Default All linuxbrew");
}

/* name@example.org, at the @ */
static bool
match_email(rt_str text, size_t at, rt_secret *out)
{
	size_t from = span_back(text, at, "+" DOTTED, NAME_MAX_SIZE), to = at + 1, dot;

	from = span(rt_str_at(text.ptr, at), from, ".");
	while (to - at < 254 && is_at(text, to, "." ALNUM "-"))
		to++;
	while (to > at + 1 && is(text.ptr[to - 1], ".-"))
		to--;
	for (dot = to - 1; dot > at && text.ptr[dot] != '.';)
		dot--;
	*out = (rt_secret){from, to, RT_SECRET_EMAIL};
	return from < at && dot > at + 1 && to - dot >= 3 && !is(text.ptr[dot + 1], DIGITS);
}

/* A given secret, or the given home directory. */
static bool
match_given(rt_str text, size_t at, const rt_secret_options *options, rt_secret *out)
{
	rt_str rest = slice(text, at, text.size), home = options->home;

	for (size_t i = 0; i < options->given_count; i++) {
		rt_str s = options->given[i];

		if (s.size >= RT_SECRET_GIVEN_MIN && rt_str_starts(rest, s)) {
			*out = (rt_secret){at, at + s.size, RT_SECRET_GIVEN};
			return true;
		}
	}
	*out = (rt_secret){at, at + home.size, RT_SECRET_HOME};
	return home.size >= RT_SECRET_GIVEN_MIN && rt_str_starts(rest, home) &&
	       !is_at(text, out->to, DOTTED);
}

/* ---- all of them ---- */

static bool
match_context(rt_str text, size_t at, const rt_secret_options *options, rt_secret *out)
{
	switch (text.ptr[at]) {
	case '-':
		return rt_secret_is_private_key(text, at, out) || match_flag(text, at, out) ||
		       match_home(text, at, out);
	case 'P': return rt_secret_is_private_key(text, at, out);
	case 'd':
	case 'h': return rt_secret_is_hook(text, at, out);
	case 'b':
	case 'B': return match_bearer(text, at, out);
	case ':': return match_url(text, at, out) || match_assigned(text, at, out);
	case '=':
	case '>':
	case '|':
	case ' ': return match_assigned(text, at, out);
	case '/':
	case '\\': return match_home(text, at, out);
	case '@': return options != NULL && options->has_emails && match_email(text, at, out);
	default: return false;
	}
}

bool
rt_secret_next(rt_str text, const rt_secret_options *options, size_t *at, rt_secret *out)
{
	for (size_t i = *at; i < text.size; i++) {
		if ((options != NULL && match_given(text, i, options, out)) ||
		    match_context(text, i, options, out) || rt_secret_is_token(text, i, out)) {
			refine_kind(text, out);
			*at = out->to > i ? out->to : i + 1;
			return true;
		}
	}
	*at = text.size;
	return false;
}
