/// The first bytes of a write-ahead log.
///
/// Source: <https://sqlite.org/fileformat2.html#walformat>
struct LogHeader {
    static let byteCount = 32
    private static let magic: UInt32 = 0x377f_0682
    private static let version: UInt32 = 3_007_000

    /// True if the header is valid, so that SQLite reads the frames after it.
    let isIntact: Bool
    let isBigEndian: Bool
    let pageBytes: Int
    /// Both salts; every frame that was written since the last restart of the log repeats them.
    let salts: UInt64
    let checksum: LogChecksum

    /// Reads a header of `byteCount` bytes.
    ///
    /// A broken header has the page size of the database and the byte order of this machine.
    init(_ bytes: RawSpan, databasePageBytes: Int) {
        let order = bytes.bigEndian(at: 0)
        let size = Int(bytes.bigEndian(at: 8))
        let isBigEndian = order & 1 == 1
        let stored = LogChecksum(in: bytes, at: 24)
        var checksum = LogChecksum()
        checksum.add(bytes.extracting(0..<24), isBigEndian: isBigEndian)
        isIntact =
            order & ~1 == Self.magic && bytes.bigEndian(at: 4) == Self.version && Self.isPageSize(size)
            && checksum == stored
        self.isBigEndian = isIntact ? isBigEndian : 1.bigEndian == 1
        pageBytes = isIntact ? size : databasePageBytes
        salts = bytes.salts(at: 16)
        self.checksum = stored
    }

    /// Returns true if SQLite supports pages of this size.
    static func isPageSize(_ bytes: Int) -> Bool { (512...65_536).contains(bytes) && bytes & (bytes - 1) == 0 }
}

extension RawSpan {
    func salts(at offset: Int) -> UInt64 {
        UInt64(bigEndian(at: offset)) << 32 | UInt64(bigEndian(at: offset + 4))
    }
}
