/// Lets so many lines through until it is renewed, and counts the rest.
struct LineQuota {
    let linesMax: Int
    private var written = 0
    private var leftOut = 0

    init(linesMax: Int) { self.linesMax = linesMax }

    /// Whether a line may be written now.
    mutating func admit() -> Bool {
        guard written < linesMax else {
            leftOut += 1
            return false
        }
        written += 1
        return true
    }

    /// Begins anew, once a second; returns the number of lines that were left out.
    mutating func renew() -> Int {
        defer { (written, leftOut) = (0, 0) }
        return leftOut
    }
}
