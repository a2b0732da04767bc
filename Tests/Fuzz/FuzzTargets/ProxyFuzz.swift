import RivuletHTTP

/// PROXY headers.
///
/// The header must be the same, wherever the bytes are cut, and no decision may be taken back.
enum ProxyFuzz {
    static func fault(in bytes: [UInt8]) -> String? {
        let bytes = Array(bytes.prefix(ProxyHeader.bytesMax + 1))
        let whole = ProxyHeader.read(bytes)
        var last = ProxyHeader.Outcome.incomplete
        for count in 0...bytes.count {
            let outcome = ProxyHeader.read(Array(bytes.prefix(count)))
            guard last == .incomplete || outcome == last else {
                return "\(last), and then \(outcome) of \(count) bytes"
            }
            if case .complete(_, let byteCount) = outcome, last == .incomplete, byteCount != count {
                return "\(outcome) of \(count) bytes"
            }
            last = outcome
        }
        guard last == whole else { return "\(last), and \(whole) of all bytes" }
        return bytes.count > ProxyHeader.bytesMax && whole == .incomplete ? "no end of \(bytes.count) bytes" : nil
    }
}
