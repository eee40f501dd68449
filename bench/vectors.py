#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Speed of the search by meaning, compared with sqlite-vec.

    bench/vectors.py                     one minute
    bench/vectors.py path/to/vec0.so     compares with the extension, two minutes

Fills a new store with VECTORS (1000000) vectors of DIMENSIONS (384) numbers and searches it 60 times with
vectors-bench (bench/vectors/vectors_bench.c). With the extension, which is not a part of Retake, a table of sqlite-vec
gets the same vectors as signed bytes and as bits, and is searched for the 20 best of them in two ways: by all bytes,
and by all bits with the bytes of the 1000 best. SQLite is the system's libsqlite3.so.0. Prints one line of JSON for
each.
"""
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build/obj")
VECTORS = os.environ.get("VECTORS", "1000000")
DIMENSIONS = os.environ.get("DIMENSIONS", "384")
SEARCHES = 20
TABLE = f"CREATE VIRTUAL TABLE v USING vec0(fine int8[{DIMENSIONS}], coarse bit[{DIMENSIONS}])"
INSERT = "INSERT INTO v(fine, coarse) VALUES(vec_quantize_int8(vec_f32(?1), 'unit'), vec_quantize_binary(vec_f32(?1)))"
BYTES = "SELECT rowid FROM v WHERE fine MATCH vec_quantize_int8(vec_f32(?1), 'unit') AND k = 20"
BITS = ("SELECT rowid FROM (SELECT rowid, fine FROM v WHERE coarse MATCH vec_quantize_binary(vec_f32(?1)) AND k = 1000)"
        " ORDER BY vec_distance_cosine(fine, vec_quantize_int8(vec_f32(?1), 'unit')) LIMIT 20")


class Database:
    def __init__(self, path, extension):
        self.lib, self.db = ctypes.CDLL("libsqlite3.so.0"), ctypes.c_void_p()
        self.must(self.lib.sqlite3_open(path.encode(), ctypes.byref(self.db)))
        self.must(self.lib.sqlite3_enable_load_extension(self.db, 1))
        self.must(self.lib.sqlite3_load_extension(self.db, extension.encode(), None, None))

    def must(self, code):
        if code not in (0, 100, 101):
            self.lib.sqlite3_errmsg.restype = ctypes.c_char_p
            sys.exit(self.lib.sqlite3_errmsg(self.db).decode())
        return code == 100

    def prepare(self, sql):
        stmt = ctypes.c_void_p()
        self.must(self.lib.sqlite3_prepare_v2(self.db, sql.encode(), -1, ctypes.byref(stmt), None))
        return stmt

    def run(self, stmt, blob=None):
        rows = []
        if blob is not None:
            self.lib.sqlite3_bind_blob(stmt, 1, blob, len(blob), ctypes.c_void_p(-1))
        while self.must(self.lib.sqlite3_step(stmt)):
            rows.append(self.lib.sqlite3_column_int64(stmt, 0))
        self.lib.sqlite3_reset(stmt)
        return rows

    def execute(self, sql):
        self.run(self.prepare(sql))


def extension(folder, program, library):
    source = subprocess.Popen([program, "-", VECTORS, DIMENSIONS], stdout=subprocess.PIPE)
    size, path = 4 * int(DIMENSIONS), os.path.join(folder, "vec.db")
    db = Database(path, library)
    begun = time.monotonic()
    db.execute(TABLE)
    insert = db.prepare(INSERT)
    db.execute("BEGIN")
    for _ in range(int(VECTORS)):
        db.run(insert, source.stdout.read(size))
    db.execute("COMMIT")
    filled = time.monotonic() - begun
    wanted = [source.stdout.read(size) for _ in range(SEARCHES)]
    source.stdout.close()
    source.wait()
    for name, sql in (("bytes", BYTES), ("bits, then bytes", BITS)):
        stmt, times = db.prepare(sql), []
        for blob in wanted[:3] + wanted:
            begun = time.monotonic()
            db.run(stmt, blob)
            times.append((time.monotonic() - begun) * 1000)
        times = sorted(times[3:])
        print(json.dumps({"sqlite-vec": name, "filled_s": round(filled, 1), "median_ms": round(times[SEARCHES // 2], 1),
                          "p95_ms": round(times[SEARCHES * 95 // 100], 1),
                          "file_mb": os.path.getsize(path) // 1000000}), flush=True)


def main():
    subprocess.run(["ninja", "-C", BUILD, "bench/vectors-bench"], check=True, stdout=subprocess.DEVNULL)
    program = os.path.join(BUILD, "bench/vectors-bench")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.db")
        found = json.loads(subprocess.run([program, path, VECTORS, DIMENSIONS], check=True, text=True,
                                          stdout=subprocess.PIPE).stdout)
        print(json.dumps({**found, "file_mb": os.path.getsize(path) // 1000000}), flush=True)
        if len(sys.argv) > 1:
            extension(folder, program, sys.argv[1].removesuffix(".so"))


main()
