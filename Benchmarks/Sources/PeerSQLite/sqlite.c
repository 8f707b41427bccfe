// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "PeerSQLite.h"

static sqlite3 *database;
static sqlite3_stmt *statement;
static char path[512];

static void drop(void) {
  char name[600];
  const char *const ends[] = {"", "-wal", "-shm"};
  sqlite3_finalize(statement);
  sqlite3_close(database);
  for (int index = 0; index < 3; index++) {
    snprintf(name, sizeof name, "%s%s", path, ends[index]);
    unlink(name);
  }
}

static int begin(void) {
  const char *folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/forward-bench-%d.sqlite", folder ? folder : "/tmp", (int)getpid());
  if (sqlite3_open(path, &database) != SQLITE_OK) return 0;
  atexit(drop);
  return sqlite3_exec(database, "PRAGMA journal_mode=WAL", NULL, NULL, NULL) == SQLITE_OK &&
         sqlite3_exec(database, "PRAGMA synchronous=FULL", NULL, NULL, NULL) == SQLITE_OK &&
         sqlite3_exec(database, "CREATE TABLE calls (number INTEGER PRIMARY KEY, bytes BLOB)", NULL, NULL,
                      NULL) == SQLITE_OK &&
         sqlite3_prepare_v2(database, "INSERT INTO calls (bytes) VALUES (?)", -1, &statement, NULL) ==
             SQLITE_OK;
}

int peer_sqlite_insert(long count) {
  static char bytes[49];
  if (!statement && !begin()) return 0;
  memset(bytes, 7, sizeof bytes);
  for (long index = 0; index < count; index++) {
    sqlite3_bind_blob(statement, 1, bytes, sizeof bytes, SQLITE_STATIC);
    if (sqlite3_step(statement) != SQLITE_DONE) return 0;
    sqlite3_reset(statement);
  }
  return 1;
}
