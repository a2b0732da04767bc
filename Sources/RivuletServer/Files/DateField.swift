import RivuletHTTP

/// The current time as HTTP writes it.
///
/// Source: RFC 9110 §6.6.1.
struct DateField {
    private var second: Int64 = 0
    private var text: [UInt8] = []

    mutating func bytes() -> [UInt8] {
        let now = WallClock.seconds()
        if now != second {
            second = now
            text = Array(HTTPDate(secondsSince1970: now).text.utf8)
        }
        return text
    }
}
