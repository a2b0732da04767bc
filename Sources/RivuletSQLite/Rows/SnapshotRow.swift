internal import RivuletSessions

/// A row of the table `snapshot`.
struct SnapshotRow {
    let sid: Int64
    let version: UInt64
    /// The time of the entry that made this version, in milliseconds since 1970-01-01T00:00:00Z.
    let time: Int64
    let schema: UInt32
    let encoding: Int64
    /// The size of the state before packing.
    let byteCount: Int64
    let body: [UInt8]

    /// The columns that `init(in:path:)` reads, in its order.
    static let columns = "sid, v, time, schema, enc, bytes, crc, body"

    static let insertion = "INSERT OR REPLACE INTO snapshot(\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"

    init(_ snapshot: StateSnapshot, sid: Int64, time: Int64) {
        let packed = SnapshotEncoding.pack(snapshot.state)
        self.sid = sid
        self.time = time
        version = snapshot.version
        schema = snapshot.schema
        encoding = packed.encoding.rawValue
        byteCount = Int64(snapshot.state.count)
        body = packed.body
    }

    /// Reads the current row of a statement over `columns`, and checks it.
    init(in statement: SQLiteStatement, path: String) throws(SQLiteError) {
        sid = statement.integer(0)
        version = UInt64(clamping: statement.integer(1))
        time = statement.integer(2)
        schema = UInt32(clamping: statement.integer(3))
        encoding = statement.integer(4)
        byteCount = statement.integer(5)
        body = statement.bytes(7)
        guard checksum == statement.integer(6) else {
            throw .damaged(detail: "the snapshot of version \(version) fails its checksum", path: path)
        }
    }

    /// Binds all columns to a prepared `insertion`.
    func bind(to statement: SQLiteStatement) throws(SQLiteError) {
        try statement.bind(sid, at: 1)
        try statement.bind(Int64(clamping: version), at: 2)
        try statement.bind(time, at: 3)
        try statement.bind(Int64(schema), at: 4)
        try statement.bind(encoding, at: 5)
        try statement.bind(byteCount, at: 6)
        try statement.bind(checksum, at: 7)
        try statement.bind(body, at: 8)
    }

    /// The snapshot; nil if its encoding is unknown.
    var snapshot: StateSnapshot? {
        SnapshotEncoding(rawValue: encoding)?.unpack(body, byteCount: Int(byteCount)).map { state in
            StateSnapshot(version: version, schema: schema, state: state)
        }
    }

    private var checksum: Int64 {
        var checksum = RowChecksum()
        checksum.add(sid)
        checksum.add(Int64(clamping: version))
        checksum.add(time)
        checksum.add(Int64(schema))
        checksum.add(encoding)
        checksum.add(byteCount)
        checksum.add(body)
        return checksum.stored
    }
}
