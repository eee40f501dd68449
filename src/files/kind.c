/* SPDX-License-Identifier: MIT
 *
 * The type of a file: an image by its content, a language by its name. */
#include "files/files_impl.h"
#include "log/blob.h"

rt_str
rt_file_image_type(rt_str bytes)
{
	const char *type = rt_blob_image_type(bytes);

	return type != NULL ? rt_str_of(type) : RT_STR("");
}

typedef struct language {
	const char *name;       /* in the terms of fences and highlighters */
	const char *extensions; /* each between spaces */
	const char *names;      /* of whole files, each between spaces; NULL: none */
} language;

static const language languages[] = {
	{"bash", " sh bash zsh ksh ", " .bashrc .profile .zshrc PKGBUILD "},
	{"c", " c h ", NULL},
	{"clojure", " clj cljs cljc edn ", NULL},
	{"cmake", " cmake ", " CMakeLists.txt "},
	{"cpp", " cc cpp cxx hh hpp hxx ipp tpp ", NULL},
	{"csharp", " cs ", NULL},
	{"css", " css ", NULL},
	{"csv", " csv ", NULL},
	{"d", " d ", NULL},
	{"dart", " dart ", NULL},
	{"diff", " diff patch ", NULL},
	{"dockerfile", " dockerfile ", " Dockerfile Containerfile "},
	{"elixir", " ex exs ", NULL},
	{"erlang", " erl hrl ", NULL},
	{"fsharp", " fs fsi fsx ", NULL},
	{"glsl", " glsl vert frag comp geom ", NULL},
	{"go", " go ", NULL},
	{"graphql", " graphql gql ", NULL},
	{"groovy", " groovy gradle ", " Jenkinsfile "},
	{"haskell", " hs lhs ", NULL},
	{"hcl", " hcl tf ", NULL},
	{"html", " html htm xhtml ", NULL},
	{"ini", " ini cfg conf ", " .editorconfig .gitconfig "},
	{"java", " java ", NULL},
	{"javascript", " js mjs cjs ", NULL},
	{"json", " json jsonl ipynb webmanifest ", NULL},
	{"jsx", " jsx ", NULL},
	{"julia", " jl ", NULL},
	{"kotlin", " kt kts ", NULL},
	{"latex", " tex sty cls ", NULL},
	{"lisp", " lisp lsp cl el ", NULL},
	{"lua", " lua ", NULL},
	{"makefile", " mk mak ", " Makefile GNUmakefile makefile "},
	{"markdown", " md markdown ", NULL},
	{"meson", NULL, " meson.build meson_options.txt meson.options "},
	{"nim", " nim ", NULL},
	{"nix", " nix ", NULL},
	{"objectivec", " m mm ", NULL},
	{"ocaml", " ml mli ", NULL},
	{"odin", " odin ", NULL},
	{"perl", " pl pm ", NULL},
	{"php", " php ", NULL},
	{"powershell", " ps1 psm1 ", NULL},
	{"protobuf", " proto ", NULL},
	{"python", " py pyi pyw ", " SConstruct SConscript "},
	{"r", " r ", NULL},
	{"ruby", " rb rake gemspec ", " Gemfile Rakefile "},
	{"rust", " rs ", NULL},
	{"scala", " scala sc ", NULL},
	{"scheme", " scm ss rkt ", NULL},
	{"scss", " scss sass ", NULL},
	{"sql", " sql ", NULL},
	{"svelte", " svelte ", NULL},
	{"swift", " swift ", NULL},
	{"toml", " toml ", " Cargo.lock poetry.lock "},
	{"tsx", " tsx ", NULL},
	{"typescript", " ts mts cts ", NULL},
	{"vb", " vb ", NULL},
	{"verilog", " v sv ", NULL},
	{"vhdl", " vhd vhdl ", NULL},
	{"vim", " vim ", " .vimrc "},
	{"vue", " vue ", NULL},
	{"xml", " xml svg xsd xsl plist ", NULL},
	{"yaml", " yaml yml ", NULL},
	{"zig", " zig ", NULL},
};

/* True if a word is in a list of words between spaces; the case of ASCII letters is ignored. */
static bool
has_word(const char *list, rt_str word)
{
	rt_str rest = rt_str_of(list), each;

	while (rt_str_split(&rest, ' ', &each))
		if (each.size > 0 && rt_str_eq_nocase(each, word))
			return true;
	return false;
}

rt_str
rt_file_language(rt_str path)
{
	size_t count = sizeof(languages) / sizeof(languages[0]), dot, i;
	rt_str name = path;

	for (i = path.size; i > 0 && path.ptr[i - 1] != '/'; i--)
		;
	name = rt_str_skip(path, i);
	for (i = 0; i < count; i++)
		if (has_word(languages[i].names, name))
			return rt_str_of(languages[i].name);
	for (dot = name.size; dot > 0 && name.ptr[dot - 1] != '.'; dot--)
		;
	for (i = 0; dot > 0 && i < count; i++)
		if (has_word(languages[i].extensions, rt_str_skip(name, dot)))
			return rt_str_of(languages[i].name);
	return RT_STR("");
}
