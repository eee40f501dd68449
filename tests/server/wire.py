# SPDX-License-Identifier: MIT
"""Malformed requests of every class on which HTTP parsers are known to disagree: line endings,
end of the request, end of a header name, numbers. rows() gives (class, name, bytes); H in a
row stands for the Host, A for a valid Authorization header."""

NEXT = b"GET /retake/v1/health HTTP/1.1\r\nHost: H\r\nA\r\n\r\n"
POST = b"POST /retake/v1/prompt/x HTTP/1.1\r\nHost: H\r\nA\r\nContent-Type: application/json\r\n"


def get(line=b"GET /retake/v1/health HTTP/1.1", headers=b"", host=b"Host: H\r\n", end=b"\r\n"):
    return line + b"\r\n" + host + b"A\r\n" + headers + end


def post(headers, body=b"{}", line=b"POST /retake/v1/ops/nothing HTTP/1.1"):
    return (line + b"\r\nHost: H\r\nA\r\nContent-Type: application/json\r\n" + headers + b"\r\n"
            + body)


def request_lines():
    path = b"/retake/v1/health"
    lines = {
        "no version": b"GET " + path,
        "HTTP/0.9": b"GET " + path + b" HTTP/0.9",
        "HTTP/1.2": b"GET " + path + b" HTTP/1.2",
        "HTTP/2.0": b"GET " + path + b" HTTP/2.0",
        "HTTP/1": b"GET " + path + b" HTTP/1",
        "HTTP/1.": b"GET " + path + b" HTTP/1.",
        "HTTP/01.1": b"GET " + path + b" HTTP/01.1",
        "HTTP/1.10": b"GET " + path + b" HTTP/1.10",
        "HTTP/1.1x": b"GET " + path + b" HTTP/1.1x",
        "http/1.1": b"GET " + path + b" http/1.1",
        "HTTPS/1.1": b"GET " + path + b" HTTPS/1.1",
        "blank behind version": b"GET " + path + b" HTTP/1.1 ",
        "blank before method": b" GET " + path + b" HTTP/1.1",
        "two blanks before target": b"GET  " + path + b" HTTP/1.1",
        "two blanks before version": b"GET " + path + b"  HTTP/1.1",
        "tab before target": b"GET\t" + path + b" HTTP/1.1",
        "tab before version": b"GET " + path + b"\tHTTP/1.1",
        "form feed before version": b"GET " + path + b"\x0cHTTP/1.1",
        "vertical tab before version": b"GET " + path + b"\x0bHTTP/1.1",
        "method in small letters": b"get " + path + b" HTTP/1.1",
        "method unknown": b"FROB " + path + b" HTTP/1.1",
        "method with colon": b"GE:T " + path + b" HTTP/1.1",
        "method with NUL": b"GE\0T " + path + b" HTTP/1.1",
        "method empty": b" " + path + b" HTTP/1.1",
        "method of 8-bit": b"G\xc3\x84T " + path + b" HTTP/1.1",
        "target empty": b"GET  HTTP/1.1",
        "target without slash": b"GET retake/v1/health HTTP/1.1",
        "target star": b"GET * HTTP/1.1",
        "OPTIONS star": b"OPTIONS * HTTP/1.1",
        "target absolute": b"GET http://H" + path + b" HTTP/1.1",
        "target absolute elsewhere": b"GET http://evil.com" + path + b" HTTP/1.1",
        "target authority": b"GET H HTTP/1.1",
        "CONNECT": b"CONNECT evil.com:443 HTTP/1.1",
        "TRACE": b"TRACE " + path + b" HTTP/1.1",
        "target with NUL": b"GET /retake\0/v1/health HTTP/1.1",
        "target with 0x01": b"GET /retake\x01/v1/health HTTP/1.1",
        "target with DEL": b"GET /retake\x7f/v1/health HTTP/1.1",
        "target of 8-bit": b"GET /retake\xff/v1/health HTTP/1.1",
        "target with fragment": b"GET " + path + b"#x HTTP/1.1",
        "target with backslash": b"GET /retake\\v1/health HTTP/1.1",
        "target with quote": b"GET " + path + b"?\"x\" HTTP/1.1",
        "target with bare CR": b"GET /retake\r/v1/health HTTP/1.1",
        "target with bare LF": b"GET /retake\n/v1/health HTTP/1.1",
        "escape cut off": b"GET /retake/v1/discussions/% HTTP/1.1",
        "escape half": b"GET /retake/v1/discussions/%4 HTTP/1.1",
        "escape of NUL": b"GET /retake/v1/discussions/%00 HTTP/1.1",
        "escape of no UTF-8": b"GET /retake/v1/discussions/%ff HTTP/1.1",
        "dot segments": b"GET /retake/v1/../v1/health HTTP/1.1",
        "escaped slash": b"GET /retake%2Fv1%2Fhealth HTTP/1.1",
        "two slashes": b"GET //retake/v1/health HTTP/1.1",
    }
    for name, line in lines.items():
        yield "request line", name, get(line)
    yield "request line", "empty line before", b"\r\n" + get()
    yield "request line", "bare LF before", b"\n" + get()
    yield "request line", "five empty lines before", b"\r\n" * 5 + get()
    yield "request line", "only a blank", b" \r\n\r\n"
    yield "request line", "only NULs", b"\0" * 16 + b"\r\n\r\n"
    yield "request line", "TLS hello", b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + b"\0" * 32
    yield "request line", "HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def header_names():
    rows = {
        "blank before colon": b"X : 1\r\n",
        "tab before colon": b"X\t: 1\r\n",
        "no colon": b"X\r\n",
        "no name": b": 1\r\n",
        "blank in name": b"X Y: 1\r\n",
        "NUL in name": b"X\0Y: 1\r\n",
        "0x01 in name": b"X\x01: 1\r\n",
        "DEL in name": b"X\x7f: 1\r\n",
        "8-bit in name": b"X\xff: 1\r\n",
        "parenthesis in name": b"X(Y): 1\r\n",
        "slash in name": b"X/Y: 1\r\n",
        "at in name": b"X@Y: 1\r\n",
        "quote in name": b"\"X\": 1\r\n",
        "bracket in name": b"X[0]: 1\r\n",
        "brace in name": b"X{0}: 1\r\n",
        "comma in name": b"X,Y: 1\r\n",
        "semicolon in name": b"X;Y: 1\r\n",
        "equals in name": b"X=Y: 1\r\n",
        "question mark in name": b"X?: 1\r\n",
        "backslash in name": b"X\\Y: 1\r\n",
        "bare CR in name": b"X\rY: 1\r\n",
        "Content-Length with blank before colon": b"Content-Length : 0\r\n",
        "Transfer-Encoding with blank before colon": b"Transfer-Encoding : chunked\r\n",
        "blank before name": b" X: 1\r\n",
        "tab before name": b"\tX: 1\r\n",
        "folded": b"X: 1\r\n 2\r\n",
        "folded by a tab": b"X: 1\r\n\t2\r\n",
        "folded blank line": b"X: 1\r\n \r\n",
        "folded Transfer-Encoding": b"Transfer-Encoding:\r\n chunked\r\n",
        "folded Content-Length": b"Content-Length:\r\n 0\r\n",
    }
    for name, headers in rows.items():
        yield "header name", name, get(headers=headers)
    yield "header name", "blank before the first", \
        b"GET /retake/v1/health HTTP/1.1\r\n Host: H\r\nA\r\n\r\n"


def header_values():
    rows = {
        "NUL": b"X: a\0b\r\n",
        "0x01": b"X: a\x01b\r\n",
        "0x0b": b"X: a\x0bb\r\n",
        "0x1f": b"X: a\x1fb\r\n",
        "DEL": b"X: a\x7fb\r\n",
        "bare CR": b"X: a\rb\r\n",
        "bare CR at the end": b"X: a\r\r\n",
        "bare CR and a header": b"X: a\rY: b\r\n",
        "escape": b"X: \x1b[2J\r\n",
        "backspace": b"X: a\x08b\r\n",
    }
    for name, headers in rows.items():
        yield "header value", name, get(headers=headers)


def line_ends():
    crlf = get()
    yield "line end", "LF after the request line", crlf.replace(b"1.1\r\n", b"1.1\n", 1)
    yield "line end", "LF after Host", crlf.replace(b"H\r\nA", b"H\nA", 1)
    yield "line end", "LF at the end of headers", crlf[:-2] + b"\n"
    yield "line end", "LF everywhere", crlf.replace(b"\r\n", b"\n")
    yield "line end", "CR everywhere", crlf.replace(b"\r\n", b"\r")
    yield "line end", "CR CR LF", crlf.replace(b"H\r\n", b"H\r\r\n", 1)
    yield "line end", "CR LF LF", crlf[:-4] + b"\r\n\n"
    yield "line end", "LF CR", crlf.replace(b"H\r\nA", b"H\n\rA", 1)
    yield "line end", "LF hides a header", get(headers=b"X: 1\nTransfer-Encoding: chunked\r\n")
    yield "line end", "LF hides a length", \
        post(b"X: 1\nContent-Length: 40\r\nContent-Length: 2\r\n")


def lengths():
    values = {
        "twice the same": b"Content-Length: 2\r\nContent-Length: 2\r\n",
        "twice, small first": b"Content-Length: 0\r\nContent-Length: 2\r\n",
        "twice, large first": b"Content-Length: 2\r\nContent-Length: 0\r\n",
        "list of the same": b"Content-Length: 2, 2\r\n",
        "list": b"Content-Length: 2, 3\r\n",
        "plus": b"Content-Length: +2\r\n",
        "minus": b"Content-Length: -2\r\n",
        "minus zero": b"Content-Length: -0\r\n",
        "hexadecimal": b"Content-Length: 0x2\r\n",
        "octal by look": b"Content-Length: 002\r\n",
        "fraction": b"Content-Length: 2.0\r\n",
        "exponent": b"Content-Length: 2e0\r\n",
        "word": b"Content-Length: two\r\n",
        "empty": b"Content-Length:\r\n",
        "blank": b"Content-Length:  \r\n",
        "blank within": b"Content-Length: 0 2\r\n",
        "quoted": b"Content-Length: \"2\"\r\n",
        "underscore": b"Content-Length: 0_2\r\n",
        "semicolon": b"Content-Length: 2;\r\n",
        "NUL behind": b"Content-Length: 2\0\r\n",
        "vertical tab before": b"Content-Length: \x0b2\r\n",
        "form feed before": b"Content-Length: \x0c2\r\n",
        "no-break space": b"Content-Length: \xa02\r\n",
        "arabic digit": b"Content-Length: \xd9\xa2\r\n",
        "2^64": b"Content-Length: 18446744073709551616\r\n",
        "2^64 + 2": b"Content-Length: 18446744073709551618\r\n",
        "2^63": b"Content-Length: 9223372036854775808\r\n",
        "forty nines": b"Content-Length: " + b"9" * 40 + b"\r\n",
        "other letters": b"content-length: 2\r\nCONTENT-LENGTH: 0\r\n",
        "of GET": None,
    }
    for name, headers in values.items():
        if headers is None:
            yield "length", name, get(headers=b"Content-Length: 2\r\n") + b"{}"
        else:
            yield "length", name, post(headers)


def codings():
    chunked = b"2\r\n{}\r\n0\r\n\r\n"
    values = {
        "with a length": b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "before a length": b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
        "with a length of zero": b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
        "twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "list": b"Transfer-Encoding: chunked, chunked\r\n",
        "identity": b"Transfer-Encoding: identity\r\n",
        "identity and chunked": b"Transfer-Encoding: identity, chunked\r\n",
        "chunked and identity": b"Transfer-Encoding: chunked, identity\r\n",
        "gzip": b"Transfer-Encoding: gzip\r\n",
        "gzip, chunked": b"Transfer-Encoding: gzip, chunked\r\n",
        "unknown": b"Transfer-Encoding: xchunked\r\n",
        "prefix": b"Transfer-Encoding: chunke\r\n",
        "parameter": b"Transfer-Encoding: chunked;q=1\r\n",
        "quoted": b"Transfer-Encoding: \"chunked\"\r\n",
        "empty": b"Transfer-Encoding:\r\n",
        "comma": b"Transfer-Encoding: ,chunked\r\n",
        "vertical tab": b"Transfer-Encoding: \x0bchunked\r\n",
        "NUL": b"Transfer-Encoding: chunked\0\r\n",
    }
    for name, headers in values.items():
        yield "coding", name, post(headers, chunked if "Content-Length: 2" not in
                                   headers.decode("latin1") else b"{}" + chunked)
    yield "coding", "of HTTP/1.0", post(b"Transfer-Encoding: chunked\r\n", chunked,
                                        b"POST /retake/v1/ops/nothing HTTP/1.0")
    yield "coding", "of GET", get(headers=b"Transfer-Encoding: chunked\r\n") + chunked


def chunks():
    rows = {
        "size empty": b"\r\n{}\r\n0\r\n\r\n",
        "size minus": b"-2\r\n{}\r\n0\r\n\r\n",
        "size plus": b"+2\r\n{}\r\n0\r\n\r\n",
        "size 0x": b"0x2\r\n{}\r\n0\r\n\r\n",
        "size word": b"zz\r\n{}\r\n0\r\n\r\n",
        "size of 2^64": b"10000000000000002\r\n{}\r\n0\r\n\r\n",
        "size of 17 digits": b"00000000000000002\r\n{}\r\n0\r\n\r\n",
        "blank before size": b" 2\r\n{}\r\n0\r\n\r\n",
        "blank behind size": b"2 \r\n{}\r\n0\r\n\r\n",
        "tab behind size": b"2\t\r\n{}\r\n0\r\n\r\n",
        "size ends by LF": b"2\n{}\r\n0\r\n\r\n",
        "size ends by CR": b"2\r{}\r\n0\r\n\r\n",
        "size ends by LF CR": b"2\n\r{}\r\n0\r\n\r\n",
        "chunk ends by LF": b"2\r\n{}\n0\r\n\r\n",
        "chunk ends by CR": b"2\r\n{}\r0\r\n\r\n",
        "chunk ends by other bytes": b"2\r\n{}XX0\r\n\r\n",
        "chunk without end": b"2\r\n{}0\r\n\r\n",
        "chunk longer than its size": b"2\r\n{ }\r\n0\r\n\r\n",
        "last ends by LF": b"2\r\n{}\r\n0\n\r\n",
        "end ends by LF": b"2\r\n{}\r\n0\r\n\n",
        "extension": b"2;a=b\r\n{}\r\n0\r\n\r\n",
        "extension with LF": b"2;a\nb\r\n{}\r\n0\r\n\r\n",
        "extension with CR": b"2;a\rb\r\n{}\r\n0\r\n\r\n",
        "extension with NUL": b"2;a\0b\r\n{}\r\n0\r\n\r\n",
        "extension quoted with CRLF": b"2;a=\"\r\n\"\r\n{}\r\n0\r\n\r\n",
        "extension of 16 KiB": b"2;" + b"a" * 16384 + b"\r\n{}\r\n0\r\n\r\n",
        "semicolon alone": b"2;\r\n{}\r\n0\r\n\r\n",
        "trailer": b"2\r\n{}\r\n0\r\nX: 1\r\n\r\n",
        "trailer Content-Length": b"2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n",
        "trailer Host": b"2\r\n{}\r\n0\r\nHost: evil.com\r\n\r\n",
        "trailer Authorization": b"2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\n\r\n",
        "trailer without colon": b"2\r\n{}\r\n0\r\nX\r\n\r\n",
        "trailer with control": b"2\r\n{}\r\n0\r\nX: \x01\r\n\r\n",
        "last of several zeros": b"2\r\n{}\r\n000\r\n\r\n",
        "last with extension": b"2\r\n{}\r\n0;a=b\r\n\r\n",
    }
    for name, body in rows.items():
        yield "chunk", name, post(b"Transfer-Encoding: chunked\r\n", body)


def hosts():
    line = b"GET /retake/v1/health HTTP/1.1"
    rows = {
        "absent": b"",
        "empty": b"Host:\r\n",
        "blank": b"Host:  \r\n",
        "twice the same": b"Host: H\r\nHost: H\r\n",
        "twice, evil second": b"Host: H\r\nHost: evil.com\r\n",
        "twice, evil first": b"Host: evil.com\r\nHost: H\r\n",
        "list": b"Host: H, evil.com\r\n",
        "evil": b"Host: evil.com\r\n",
        "userinfo": b"Host: a@H\r\n",
        "blank within": b"Host: H evil.com\r\n",
        "path behind": b"Host: H/evil\r\n",
        "folded": b"Host: H\r\n evil.com\r\n",
        "NUL": b"Host: H\0evil.com\r\n",
        "port of letters": b"Host: 127.0.0.1:http\r\n",
        "trailing dot": b"Host: localhost.\r\n",
    }
    for name, host in rows.items():
        yield "host", name, get(line, host=host)
    yield "host", "HTTP/1.0 without", b"GET /retake/v1/health HTTP/1.0\r\nA\r\n\r\n"


def smuggled():
    """A second request that some parsers take for the body of the first."""
    inner = b"GET /retake/v1/openapi.json HTTP/1.1\r\nHost: H\r\nA\r\n\r\n"
    yield "smuggled", "CL.TE", post(b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n",
                                    b"0\r\n\r\nG" + inner)
    yield "smuggled", "TE.CL", post(b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
                                    b"5c\r\n" + inner + b"\r\n0\r\n\r\n")
    yield "smuggled", "TE.TE", post(b"Transfer-Encoding: chunked\r\nTransfer-encoding: cow\r\n",
                                    b"0\r\n\r\n" + inner)
    yield "smuggled", "CL.CL", post(b"Content-Length: 2\r\nContent-Length: 90\r\n", b"{}" + inner)
    yield "smuggled", "GET with a body", get(headers=b"Content-Length: %d\r\n" % len(inner)) + inner
    yield "smuggled", "blank before colon", post(b"Content-Length : 90\r\nContent-Length: 2\r\n",
                                                 b"{}" + inner)
    yield "smuggled", "LF between headers", post(b"X: y\nContent-Length: 90\r\n"
                                                 b"Content-Length: 2\r\n", b"{}" + inner)
    yield "smuggled", "Expect", post(b"Expect: 200-ok\r\nContent-Length: 2\r\n", b"{}" + inner)
    yield "smuggled", "Upgrade", get(headers=b"Connection: Upgrade\r\nUpgrade: h2c\r\n"
                                     b"HTTP2-Settings: AAMAAABkAAQAAP__\r\n") + inner
    yield "smuggled", "WebSocket", get(headers=b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                       b"Sec-WebSocket-Key: AAAA\r\nSec-WebSocket-Version: 13\r\n")
    yield "smuggled", "Connection names Content-Length", \
        post(b"Connection: Content-Length\r\nContent-Length: 2\r\n", b"{}")


def rows():
    for part in (request_lines, header_names, header_values, line_ends, lengths, codings, chunks,
                 hosts, smuggled):
        yield from part()


def fine():
    """Requests that both must accept: (name, bytes, number of requests)."""
    yield "plain", get(), 1
    yield "two in one", get() + get(), 2
    yield "ten in one", get() * 10, 10
    yield "blanks around a value", get(headers=b"X:   1  \r\n"), 1
    yield "8-bit in a value", get(headers=b"X: \xc3\xa4\r\n"), 1
    yield "tab in a value", get(headers=b"X: a\tb\r\n"), 1
    yield "body, then another", post(b"Content-Length: 2\r\n") + get(), 2
    yield "chunks, then another", \
        post(b"Transfer-Encoding: chunked\r\n", b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n") + get(), 2
    yield "chunk size in capitals", \
        post(b"Transfer-Encoding: chunked\r\n", b"B\r\n{" + b" " * 9 + b"}\r\n0\r\n\r\n"), 1
