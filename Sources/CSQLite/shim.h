// The import of the system's SQLite, and the few functions around it that Swift cannot express.

#ifndef RIVULET_CSQLITE_SHIM_H
#define RIVULET_CSQLITE_SHIM_H

#include <sqlite3.h>
#include <stddef.h>
#include <sys/prctl.h>

#if SQLITE_VERSION_NUMBER < 3037000
#error "Rivulet needs SQLite 3.37.0 or later (STRICT tables): install a newer libsqlite3-dev"
#endif

// SQLITE_TRANSIENT is a cast of -1 to a function pointer, which Swift cannot import.

static inline int rivulet_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    // A null pointer would bind NULL, so an empty blob needs an address.
    return sqlite3_bind_blob64(statement, index, count == 0 ? "" : bytes, count, SQLITE_TRANSIENT);
}

static inline int rivulet_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, count == 0 ? "" : text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

// The same without a copy: the bytes must stay valid until the statement is reset.

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

// sqlite3_config is variadic too. It is not safe while other threads use SQLite.

static inline void rivulet_sqlite_forbid_memory_count(void) {
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// The extended codes are expressions, which Swift cannot import either.

static inline int rivulet_sqlite_is_read_fault(int code) {
    return code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ || code == SQLITE_IOERR_DATA
        || code == SQLITE_IOERR_CORRUPTFS;
}

// The error code of a page of the database file that fails its checksum.

static inline int rivulet_sqlite_is_page_fault(int code) { return code == SQLITE_IOERR_DATA; }

// Sends the messages of failed system calls to a function. The program calls this before its first connection.

static inline void rivulet_sqlite_send_messages(void (*receive)(void *, int, const char *)) {
    (void)sqlite3_config(SQLITE_CONFIG_LOG, receive, NULL);
}

// Returns the errno of a failed call, or 0 if it was not kept. The connection keeps it for some calls, its files for
// others.

static inline int rivulet_sqlite_cause(sqlite3 *database) {
    int cause = sqlite3_system_errno(database);
    if (cause == 0) (void)sqlite3_file_control(database, NULL, SQLITE_FCNTL_LAST_ERRNO, &cause);
    sqlite3_file *journal = NULL;
    if (cause == 0 && sqlite3_file_control(database, NULL, SQLITE_FCNTL_JOURNAL_POINTER, &journal) == SQLITE_OK
        && journal != NULL && journal->pMethods != NULL) {
        (void)journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &cause);
    }
    return cause;
}

// prctl is variadic as well. The threads that use SQLite have names, so that top and gdb can distinguish them.

static inline void rivulet_sqlite_name_this_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

#endif
