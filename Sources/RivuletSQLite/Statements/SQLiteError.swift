internal import CSQLite
internal import RivuletSessions

/// An error of SQLite or of the engine, before it is mapped to the storage contract.
enum SQLiteError: Error, Hashable {
    /// A call of the library failed; `code` is an extended result code.
    ///
    /// Source: <https://sqlite.org/rescode.html>
    case failed(call: String, code: Int32, message: String, path: String)
    /// A stored row does not hold the data that was written.
    case damaged(detail: String, path: String)
    /// The engine itself refused the call.
    case refused(StorageError)

    private var primaryCode: Int32? {
        guard case .failed(_, let code, _, _) = self else { return nil }
        return code & 0xff
    }

    /// True if there was no space; the failed transaction was rolled back.
    var isFull: Bool { primaryCode == SQLITE_FULL }

    /// True if the file is not an SQLite database.
    var isNoDatabase: Bool { primaryCode == SQLITE_NOTADB }

    /// True if a page of the file is damaged: it fails its checksum, or SQLite cannot interpret it.
    var isPageDamage: Bool {
        isPageFault || primaryCode == SQLITE_CORRUPT
    }

    /// True if a page of the file fails its checksum.
    var isPageFault: Bool {
        guard case .failed(_, let code, _, _) = self else { return false }
        return rivulet_sqlite_is_page_fault(code) != 0
    }

    /// True if the disk failed so that its contents are unknown: any I/O error except a read error.
    var isWriteFault: Bool {
        guard case .failed(_, let code, _, _) = self, code & 0xff == SQLITE_IOERR else { return false }
        return rivulet_sqlite_is_read_fault(code) == 0
    }

    /// True if the same write may succeed later: there was no space or memory, or another program held the database.
    var isTemporary: Bool {
        guard let primaryCode else { return false }
        return [SQLITE_FULL, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM].contains(primaryCode)
    }

    /// The same error; damage is attributed to the whole database, not to the requested session.
    var ofTheWholeStore: SQLiteError {
        if case .corrupt(_, let detail) = storageError(for: nil) {
            .refused(.corrupt(nil, detail: detail))
        } else {
            self
        }
    }

    /// Returns the same error as an error of the storage contract.
    func storageError(for key: SessionKey?) -> StorageError {
        switch self {
        case .refused(let error):
            return error
        case .damaged(let detail, let path):
            return .corrupt(key, detail: "\(path): \(detail)")
        case .failed(_, let code, _, let path):
            if isPageDamage { return .corrupt(key, detail: "\(self)") }
            switch code & 0xff {
            case SQLITE_FULL:
                return .full(detail: "\(self); free space on the disk of \(path) or raise databaseBytesMax")
            case SQLITE_NOTADB, SQLITE_CONSTRAINT:
                return .corrupt(key, detail: "\(self)")
            case SQLITE_BUSY, SQLITE_LOCKED:
                return .unavailable(detail: "\(self); another program holds a lock on \(path): end that program")
            case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH:
                let remedy = "let the user of this process read and write \(path) and its folder, and check the disk"
                return .unavailable(detail: "\(self); \(remedy)")
            default:
                return .unavailable(detail: "\(self); try again, and check the disk of \(path) if the error remains")
            }
        }
    }
}

extension SQLiteError: CustomStringConvertible {
    /// The call, the file, and SQLite's message and code.
    var description: String {
        switch self {
        case .failed(let call, let code, let message, let path): "\(call) on \(path): \(message) (\(code))"
        case .damaged(let detail, let path): "\(path): \(detail)"
        case .refused(let error): "\(error)"
        }
    }
}
