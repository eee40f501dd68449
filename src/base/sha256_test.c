/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/encode.h"
#include "base/sha256.h"

/* The vectors of FIPS 180-4 and of NIST's byte-oriented examples. */
static void
known_answers(void **state)
{
	static const struct {
		const char *text, *hex;
	} known[] = {
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
		 "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
		 "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
	};
	char hex[RT_SHA256_HEX_ROOM];
	rt_sha256 sha;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		rt_sha256_init(&sha);
		rt_sha256_add(&sha, known[i].text, strlen(known[i].text));
		rt_sha256_end_hex(&sha, hex);
		assert_string_equal(hex, known[i].hex);
	}
}

static void
a_million_in_odd_pieces(void **state)
{
	char hex[RT_SHA256_HEX_ROOM], piece[997];
	size_t left = 1000000;
	rt_sha256 sha;

	(void)state;
	memset(piece, 'a', sizeof(piece));
	rt_sha256_init(&sha);
	while (left > 0) {
		size_t size = left < sizeof(piece) ? left : sizeof(piece);

		rt_sha256_add(&sha, piece, size);
		left -= size;
	}
	rt_sha256_end_hex(&sha, hex);
	assert_string_equal(hex,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* The digest does not depend on how the input is split, around every block boundary. */
static void
cuts_do_not_matter(void **state)
{
	uint8_t text[200], whole[RT_SHA256_SIZE], cut[RT_SHA256_SIZE];
	rt_sha256 sha;
	size_t size, at;

	(void)state;
	for (size = 0; size < sizeof(text); size++)
		text[size] = (uint8_t)(size * 7);
	for (size = 0; size <= sizeof(text); size++) {
		rt_sha256_init(&sha);
		rt_sha256_add(&sha, text, size);
		rt_sha256_end(&sha, whole);
		for (at = 0; at <= size; at += 13) {
			rt_sha256_init(&sha);
			rt_sha256_add(&sha, text, at);
			rt_sha256_add(&sha, text + at, size - at);
			rt_sha256_end(&sha, cut);
			assert_memory_equal(whole, cut, RT_SHA256_SIZE);
		}
	}
}

/* RFC 4231, cases 1, 2 and 6 (a key longer than a block). */
static void
keyed_hashes(void **state)
{
	static char long_key[131], first_key[20];
	const struct {
		rt_str key, text;
		const char *hex;
	} known[] = {
		{{first_key, 20}, RT_STR("Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
		{RT_STR("Jefe"), RT_STR("what do ya want for nothing?"),
		 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
		{{long_key, 131}, RT_STR("Test Using Larger Than Block-Size Key - Hash Key First"),
		 "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
	};

	(void)state;
	memset(long_key, 0xaa, sizeof(long_key));
	memset(first_key, 0x0b, sizeof(first_key));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint8_t raw[RT_SHA256_SIZE];
		char hex[RT_SHA256_HEX_ROOM] = {0};

		rt_hmac_sha256(known[i].key, known[i].text, raw);
		rt_hex(raw, sizeof(raw), hex);
		assert_string_equal(hex, known[i].hex);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(a_million_in_odd_pieces),
		cmocka_unit_test(cuts_do_not_matter),
		cmocka_unit_test(keyed_hashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
