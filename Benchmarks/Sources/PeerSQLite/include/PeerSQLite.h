// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Inserts `count` rows of 49 bytes into a database with a write-ahead log, each in its own
/// transaction that waits for the disk (`synchronous=FULL`). The file is in a folder that an
/// environment variable names, and is deleted when the process ends. Returns 0 if SQLite reports an
/// error.
int peer_sqlite_insert(long count);
