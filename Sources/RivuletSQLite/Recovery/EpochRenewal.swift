internal import RivuletSessions

/// The change of all epochs after commits were lost.
///
/// One row represents the change. Sessions that existed at that time have the row's number in their epochs; later
/// sessions do not have it.
struct EpochRenewal {
    private let number: Int64
    /// The number of the newest session that existed at that time.
    private let lastSID: Int64

    private static let columns = "number, sid, crc"

    static let table = """
        CREATE TABLE renewal(
            one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, sid INTEGER NOT NULL, crc INTEGER NOT NULL
        ) STRICT
        """

    /// Reads the row; nil if all epochs are as they were stored.
    init?(_ connection: SQLiteConnection, layout: Int64) throws(SQLiteError) {
        guard layout >= SQLiteSchema.renewalLayout else { return nil }
        let row = try SQLiteStatement("SELECT \(Self.columns) FROM renewal", on: connection)
        guard try row.step() else { return nil }
        (number, lastSID) = (row.integer(0), row.integer(1))
        guard checksum == row.integer(2) else {
            throw .refused(.corrupt(nil, detail: "\(connection.path): the row of table renewal fails its checksum"))
        }
    }

    private init(number: Int64, lastSID: Int64) {
        self.number = number
        self.lastSID = lastSID
    }

    /// Gives all stored sessions new epochs, durable when this returns.
    static func renew(_ connection: SQLiteConnection) throws(SQLiteError) {
        let last = try connection.integer(
            "SELECT max(coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'session'), 0), coalesce(max(sid), 0)) FROM session"
        )
        // The number is random, because a counter that a backup restores would give a number twice.
        let renewal = EpochRenewal(number: Int64.random(in: 1...Int64.max), lastSID: last ?? 0)
        try connection.execute(
            """
            INSERT OR REPLACE INTO renewal(one, \(columns)) VALUES
                (1, \(renewal.number), \(renewal.lastSID), \(renewal.checksum))
            """
        )
    }

    /// Returns the current epoch of a session, given its stored epoch.
    func epoch(_ stored: String, sid: Int64) -> String {
        sid <= lastSID ? "\(stored).\(String(number, radix: 36))" : stored
    }

    private var checksum: Int64 {
        var checksum = RowChecksum()
        checksum.add(number)
        checksum.add(lastSID)
        return checksum.stored
    }
}
