#pragma once
/// Inserts rows of 49 bytes into a database with a write-ahead log, `count` times, each in a transaction of its own that
/// waits for the disk (`synchronous=FULL`). The file is in a folder that the environment names, and goes with the
/// process. Returns 0 where SQLite refuses.
int peer_sqlite_insert(long count);
