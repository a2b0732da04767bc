import RivuletBase

/// A point in time that RFC 3339 can express, in the years 0000 to 9999.
///
/// Source: RFC 3339 section 5.6.
package struct RFC3339: Hashable {
    private static let secondsPerDay = 86_400
    private static let nanosecondsPerSecond = 1_000_000_000
    /// The seconds from 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
    private static let secondsRange = -62_167_219_200...253_402_300_799

    /// Whole seconds since 1970-01-01T00:00:00Z, without leap seconds.
    package let seconds: Int
    /// The nanoseconds since the last whole second, 0 ..< 1,000,000,000.
    let nanoseconds: Int

    /// Creates a time; nil outside of the years 0000 to 9999.
    package init?(seconds: Int, nanoseconds: Int) {
        guard Self.secondsRange.contains(seconds), (0..<Self.nanosecondsPerSecond).contains(nanoseconds) else {
            return nil
        }
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Reads a text; nil if it is not RFC 3339.
    ///
    /// Digits beyond the nanosecond are dropped. A leap second, `:60`, is refused: it would be read back as the next
    /// minute.
    package init?(parsing text: String) {
        var rest = Array(text.utf8)[...]
        guard let year = Self.number(&rest, 4), Self.skip(&rest, "-"), let month = Self.number(&rest, 2),
            Self.skip(&rest, "-"), let day = Self.number(&rest, 2), Self.skip(&rest, "T"),
            let hour = Self.number(&rest, 2), Self.skip(&rest, ":"), let minute = Self.number(&rest, 2),
            Self.skip(&rest, ":"), let second = Self.number(&rest, 2),
            let nanoseconds = Self.fraction(&rest), let offset = Self.offset(&rest), rest.isEmpty,
            (1...12).contains(month), (1...Self.days(inMonth: month, of: year)).contains(day),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        self.init(
            seconds: days * Self.secondsPerDay + hour * 3600 + minute * 60 + second - offset,
            nanoseconds: nanoseconds
        )
    }

    /// The text in UTC, with no, three, six or nine digits of the fraction, as needed.
    package var text: String {
        let days = seconds >= 0 ? seconds / Self.secondsPerDay : (seconds + 1) / Self.secondsPerDay - 1
        let second = seconds - days * Self.secondsPerDay
        let date = CivilDate(daysSince1970: days)
        var text = "\(Self.padded(date.year, 4))-\(Self.padded(date.month, 2))-\(Self.padded(date.day, 2))"
        text += "T\(Self.padded(second / 3600, 2)):\(Self.padded(second / 60 % 60, 2)):\(Self.padded(second % 60, 2))"
        switch nanoseconds {
        case 0: break
        case let value where value % 1_000_000 == 0: text += "." + Self.padded(value / 1_000_000, 3)
        case let value where value % 1_000 == 0: text += "." + Self.padded(value / 1_000, 6)
        case let value: text += "." + Self.padded(value, 9)
        }
        return text + "Z"
    }

    private static func padded(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, _ width: Int) -> Int? {
        guard rest.count >= width else { return nil }
        var value = 0
        for byte in rest.prefix(width) {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        rest.removeFirst(width)
        return value
    }

    /// Skips one character.
    ///
    /// A letter may be lower case.
    private static func skip(_ rest: inout ArraySlice<UInt8>, _ character: Unicode.Scalar) -> Bool {
        guard let byte = rest.first else { return false }
        let expected = UInt8(ascii: character)
        let isLetter = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(expected)
        guard byte == expected || isLetter && byte == expected | 0x20 else { return false }
        rest.removeFirst()
        return true
    }

    private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int? {
        guard skip(&rest, ".") else { return 0 }
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest.removeFirst(digits.count)
        var value = 0
        for index in 0..<9 {
            value = value * 10 + (index < digits.count ? Int(digits[digits.startIndex + index] & 0x0F) : 0)
        }
        return value
    }

    /// Returns the number of seconds by which local time is ahead of UTC.
    private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int? {
        if skip(&rest, "Z") { return 0 }
        let isAhead = skip(&rest, "+")
        guard isAhead || skip(&rest, "-"), let hours = number(&rest, 2), skip(&rest, ":"),
            let minutes = number(&rest, 2), hours < 24, minutes < 60
        else { return nil }
        return (isAhead ? 1 : -1) * (hours * 3600 + minutes * 60)
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
