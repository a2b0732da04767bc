/// Decides when unused memory is returned to the system after a flood of requests.
///
/// The allocator keeps freed memory for later use. A flood leaves hundreds of megabytes, which are not used again.
struct MemoryTrim {
    /// The growth of the resident memory that is worth a trim, in bytes.
    static let growthBytesMin = 33_554_432
    /// The number of checks in a row, a second apart, at which the memory must not have grown.
    static let quietLooks = 3
    /// The growth between two checks that is treated as no growth, in bytes.
    private static let quietBytes = 1_048_576

    /// The resident memory after the last trim, or the least since then.
    private var base: Int?
    private var last = 0
    private var looks = 0

    /// Checks the resident memory, once a second; true if it is to be trimmed now.
    mutating func isDue(residentBytes: Int) -> Bool {
        defer { last = residentBytes }
        base = min(base ?? residentBytes, residentBytes)
        looks = residentBytes > last + Self.quietBytes ? 0 : looks + 1
        guard looks >= Self.quietLooks, let base, residentBytes >= base + Self.growthBytesMin else { return false }
        // The memory left after a trim is in use. Only further growth is worth another trim.
        self.base = nil
        looks = 0
        return true
    }
}
