extension StringProtocol {
    /// Splits a field at the bytes of a delimiter, even where a combining character follows the delimiter.
    func parts(between delimiter: UInt8, omittingEmpty omitsEmpty: Bool = true) -> [Substring] {
        Substring(self).utf8.split(separator: delimiter, omittingEmptySubsequences: omitsEmpty).map { Substring($0) }
    }
}
