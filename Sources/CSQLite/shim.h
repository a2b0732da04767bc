// The system's SQLite, and the few lines of it that only C can say.

#ifndef RIVULET_CSQLITE_SHIM_H
#define RIVULET_CSQLITE_SHIM_H

#include <sqlite3.h>
#include <sys/prctl.h>

#if SQLITE_VERSION_NUMBER < 3037000
#error "Rivulet needs SQLite 3.37.0 or later (STRICT tables): install a newer libsqlite3-dev"
#endif

// SQLITE_TRANSIENT is a cast of -1 to a function pointer, which Swift cannot import.

static inline int rivulet_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    // A null pointer would bind NULL: an empty blob needs an address.
    return sqlite3_bind_blob64(statement, index, count == 0 ? "" : bytes, count, SQLITE_TRANSIENT);
}

static inline int rivulet_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, count == 0 ? "" : text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

// The same without a copy: the bytes must stay where they are until the statement is reset.

static inline int rivulet_sqlite_bind_blob_in_place(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, count == 0 ? "" : bytes, count, SQLITE_STATIC);
}

static inline int rivulet_sqlite_bind_text_in_place(sqlite3_stmt *statement, int index, const void *text, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, count == 0 ? "" : text, count, SQLITE_STATIC, SQLITE_UTF8);
}

// sqlite3_db_config is variadic, which Swift cannot call.

static inline int rivulet_sqlite_forbid_checkpoint_on_close(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// sqlite3_config is variadic too. It is not safe beside other threads that use SQLite.

static inline void rivulet_sqlite_forbid_memory_count(void) {
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// The extended codes are expressions, which Swift cannot import either.

static inline int rivulet_sqlite_is_read_fault(int code) {
    return code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ || code == SQLITE_IOERR_DATA
        || code == SQLITE_IOERR_CORRUPTFS;
}

// prctl is variadic as well. The threads that SQLite works on are named, so that top and gdb can tell them apart.

static inline void rivulet_sqlite_name_this_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

#endif
