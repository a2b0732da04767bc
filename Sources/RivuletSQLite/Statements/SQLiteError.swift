internal import CSQLite
internal import RivuletSessions

/// A failure below the storage contract.
enum SQLiteError: Error, Hashable {
    /// A call of the library failed; `code` is an extended result code.
    ///
    /// Source: <https://sqlite.org/rescode.html>
    case failed(call: String, code: Int32, message: String, path: String)
    /// A stored row does not hold what was once written.
    case damaged(detail: String, path: String)
    /// The engine itself refuses.
    case refused(StorageError)

    private var primaryCode: Int32? {
        guard case .failed(_, let code, _, _) = self else { return nil }
        return code & 0xff
    }

    /// Whether there was no space; a transaction that ended so was rolled back.
    var isFull: Bool { primaryCode == SQLITE_FULL }

    /// Whether the file is no database of SQLite's.
    var isNoDatabase: Bool { primaryCode == SQLITE_NOTADB }

    /// Whether the disk failed so that its content is unknown: any failure but that of a read.
    var isWriteFault: Bool {
        guard case .failed(_, let code, _, _) = self, code & 0xff == SQLITE_IOERR else { return false }
        return rivulet_sqlite_is_read_fault(code) == 0
    }

    /// Whether the same write may succeed later: there was no space, or another program held the database.
    var isTemporary: Bool {
        guard let primaryCode else { return false }
        return [SQLITE_FULL, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM].contains(primaryCode)
    }

    /// The same failure; damage is that of the store as a whole, whichever session was asked for.
    var ofTheWholeStore: SQLiteError {
        if case .corrupt(_, let detail) = storageError(for: nil) {
            .refused(.corrupt(nil, detail: detail))
        } else {
            self
        }
    }

    /// The same failure in the words of the storage contract.
    func storageError(for key: SessionKey?) -> StorageError {
        switch self {
        case .refused(let error):
            return error
        case .damaged(let detail, let path):
            return .corrupt(key, detail: "\(path): \(detail)")
        case .failed(_, let code, _, let path):
            switch code & 0xff {
            case SQLITE_FULL:
                return .full(detail: "\(self); free space on the disk of \(path) or raise databaseBytesMax")
            case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT:
                return .corrupt(key, detail: "\(self)")
            case SQLITE_BUSY, SQLITE_LOCKED:
                return .unavailable(detail: "\(self); another program holds \(path): end it")
            case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH:
                let remedy = "let the user of this process read and write \(path) and its folder"
                return .unavailable(detail: "\(self); \(remedy)")
            default:
                return .unavailable(detail: "\(self); try again, and look at the disk of \(path) if it stays so")
            }
        }
    }
}

extension SQLiteError: CustomStringConvertible {
    /// The call, the file, and SQLite's words and number.
    var description: String {
        switch self {
        case .failed(let call, let code, let message, let path): "\(call) on \(path): \(message) (\(code))"
        case .damaged(let detail, let path): "\(path): \(detail)"
        case .refused(let error): "\(error)"
        }
    }
}
