// Access to the database file as another program has it.

import CPageChecksums
import CSQLite

/// A separate connection, as an operator's `sqlite3` has.
///
/// It stamps the pages that it writes unless `stampsPages` is false.
@safe final class RawDatabase {
    // SAFETY: valid from init to deinit, used by one test, and never passed out of this type.
    private let handle: OpaquePointer

    struct Failure: Error {
        let sql: String
        let message: String
    }

    init(_ path: String, stampsPages: Bool = true) throws {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        guard page_checksums_register() == SQLITE_OK,
            unsafe sqlite3_open_v2(path, &opened, flags, stampsPages ? PAGE_CHECKSUMS_VFS : nil) == SQLITE_OK,
            let opened = unsafe opened
        else {
            throw Failure(sql: "open", message: path)
        }
        unsafe handle = opened
        unsafe sqlite3_busy_timeout(opened, 5_000)
    }

    deinit {
        unsafe sqlite3_close(handle)
    }

    func execute(_ sql: String) throws {
        guard unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw Failure(sql: sql, message: unsafe String(cString: sqlite3_errmsg(handle)))
        }
    }

    /// The first column of the first row as text.
    func text(_ sql: String) throws -> String? {
        var statement: OpaquePointer?
        guard unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
            throw Failure(sql: sql, message: unsafe String(cString: sqlite3_errmsg(handle)))
        }
        defer { unsafe sqlite3_finalize(statement) }
        guard unsafe sqlite3_step(statement) == SQLITE_ROW, let text = unsafe sqlite3_column_text(statement, 0) else {
            return nil
        }
        return unsafe String(cString: text)
    }
}

extension RawDatabase {
    /// The first page with rows of a table; the table must have more than one page.
    func firstLeaf(of table: String) throws -> Int? {
        try text("SELECT min(pageno) FROM dbstat WHERE name = '\(table)' AND pagetype = 'leaf'").flatMap { Int($0) }
    }

    /// Converts the database to layout 9, which cannot be a copy of a cluster's data.
    func goBackToLayout9() throws {
        try execute("DROP TABLE replica; PRAGMA user_version = 9")
    }

    /// Converts the database to layout 8, in which entries have no callers and sessions no owners.
    func goBackToLayout8() throws {
        try goBackToLayout9()
        try execute("DROP INDEX session_owner; DROP TABLE usage; ALTER TABLE log DROP COLUMN caller")
        try execute("ALTER TABLE session DROP COLUMN owner; ALTER TABLE session DROP COLUMN bytes")
        try execute("PRAGMA user_version = 8")
    }

    /// Converts the database to layout 6, in which entries name no earlier entries and epochs are not renewed.
    func goBackToLayout6() throws {
        try goBackToLayout8()
        try execute(
            "DROP TABLE renewal; ALTER TABLE log DROP COLUMN earlier_sid; ALTER TABLE log DROP COLUMN earlier_v"
        )
        try execute("PRAGMA user_version = 6")
    }

    /// Converts the database to layout 5, in which deletions leave their text in the file.
    func goBackToLayout5() throws {
        try goBackToLayout6()
        try execute("DROP TABLE erasing; DROP TABLE secured")
        try execute("PRAGMA user_version = 5")
    }

    /// Converts the database to layout 4, which has no snapshots of older schemas.
    func goBackToLayout4() throws {
        try goBackToLayout5()
        try execute("DROP TABLE older_snapshot; PRAGMA user_version = 4")
    }

    /// Converts the database to layout 3, in which SQLite maintains the index of the log.
    func goBackToLayout3() throws {
        try goBackToLayout4()
        try execute("DROP TABLE log_index; DROP TABLE log_indexed")
        try execute("CREATE UNIQUE INDEX log_sid_v ON log(sid, v)")
        try execute("PRAGMA user_version = 3")
    }

    /// Converts the database to layout 2, which has no items of stores.
    func goBackToLayout2() throws {
        try goBackToLayout3()
        try execute("DROP TABLE item; DROP TABLE collection")
        try execute("PRAGMA user_version = 2")
    }

    /// Converts the database to layout 1, which has no idempotency records, and an index over the log's commands.
    func goBackToLayout1() throws {
        try goBackToLayout2()
        try execute("DROP TABLE answer")
        try execute("CREATE INDEX log_sid_cmd ON log(sid, cmd) WHERE cmd IS NOT NULL")
        try execute("PRAGMA user_version = 1")
    }
}
