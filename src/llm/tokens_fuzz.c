/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a text: pieces cover it without a gap, a piece is never more tokens than
 * bytes. Then the bytes as rank data, which are refused or give a valid table. The first byte
 * chooses the encoding. */
#include "llm/tokens.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* a b c aa aaaa ab " a" e-acute, a line end, and "'s" */
static const char ranks[] = "YQ== 0\nYg== 1\nYw== 2\nYWE= 3\nYWFhYQ== 5\nYWI= 4\nIGE= 7\n"
			    "w6k= 6\nCg== 8\nJ3M= 9\n";

static void
count_text(const rt_tokens *tokens, rt_str text)
{
	rt_token_cut cut = rt_tokens_encoding(tokens)->cut;
	size_t whole = 0, message = 0, at = 0, end;

	RT_ASSERT(rt_tokens_count(tokens, text, &whole) == RT_OK);
	RT_ASSERT(whole <= text.size);
	while (at < text.size) {
		end = rt_token_piece_end(cut, text, at);
		RT_ASSERT(end > at && end <= text.size);
		at = end;
	}
	RT_ASSERT(rt_tokens_count_message(tokens, RT_STR("a"), RT_STR(""), text, &message) ==
		  RT_OK);
	RT_ASSERT(message == whole + RT_TOKENS_MESSAGE + 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const rt_token_encoding *encoding;
	rt_tokens *tokens = NULL;
	rt_str text;
	rt_error err;

	if (size == 0)
		return 0;
	encoding = rt_token_encoding_named((data[0] & 1) != 0 ? RT_STR("o200k_base")
							      : RT_STR("cl100k_base"));
	text = rt_str_at((const char *)data + 1, size - 1);
	RT_ASSERT(rt_tokens_new(rt_alloc_libc(), encoding, rt_str_of(ranks), &tokens, &err) ==
		  RT_OK);
	count_text(tokens, text);
	rt_tokens_free(tokens);
	if (rt_tokens_new(rt_alloc_libc(), encoding, text, &tokens, &err) == RT_OK) {
		rt_tokens_check(tokens);
		count_text(tokens, RT_STR("a ab'ab aaaaaaa\n"));
		rt_tokens_free(tokens);
	}
	return 0;
}
