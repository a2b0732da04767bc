import RivuletBase

/// A time in the format of header fields: `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// Source: RFC 9110 section 5.6.7.
package struct HTTPDate: Hashable, Sendable {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let secondsPerDay: Int64 = 86_400
    private static let secondsMax: Int64 = 253_402_300_799

    /// The whole seconds since 1970-01-01T00:00:00Z.
    package let secondsSince1970: Int64

    /// Makes a time in the years 1970 to 9999; other times are moved to the nearest of these.
    package init(secondsSince1970: Int64) {
        self.secondsSince1970 = min(max(secondsSince1970, 0), Self.secondsMax)
    }

    /// Parses an IMF-fixdate; nil for the obsolete formats and for dates that do not exist.
    ///
    /// A condition with such a date is ignored, so the client gets the whole answer.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, let day = Self.number(bytes[5..<7]), let year = Self.number(bytes[12..<16]),
            let hour = Self.number(bytes[17..<19]), let minute = Self.number(bytes[20..<22]),
            let second = Self.number(bytes[23..<25]),
            let month = Self.months.firstIndex(of: String(decoding: bytes[8..<11], as: UTF8.self))
        else { return nil }
        let days = CivilDate(year: year, month: month + 1, day: day).daysSince1970
        let seconds = Int64(days) * Self.secondsPerDay + Int64(hour * 3_600 + minute * 60 + second)
        self.init(secondsSince1970: seconds)
        // Weekday, separators and ranges are valid exactly if the time gives the same text again.
        guard self.text == text else { return nil }
    }

    /// The time as an IMF-fixdate.
    package var text: String {
        let day = secondsSince1970 / Self.secondsPerDay
        let second = Int(secondsSince1970 % Self.secondsPerDay)
        let date = CivilDate(daysSince1970: Int(day))
        let clock = [second / 3_600, second / 60 % 60, second % 60].map(Self.twoDigits).joined(separator: ":")
        let monthAndYear = "\(Self.months[date.month - 1]) \(date.year)"
        return "\(Self.days[Int(day % 7)]), \(Self.twoDigits(date.day)) \(monthAndYear) \(clock) GMT"
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard digits.allSatisfy(ASCII.isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : String(value) }
}
