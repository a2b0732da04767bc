/// A time as header fields write it: `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// Source: RFC 9110 section 5.6.7, <https://howardhinnant.github.io/date_algorithms.html>.
package struct HTTPDate: Hashable, Sendable {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let secondsPerDay: Int64 = 86_400
    private static let secondsMax: Int64 = 253_402_300_799

    /// Whole seconds since 1970-01-01T00:00:00Z.
    package let secondsSince1970: Int64

    /// A time of the years 1970 to 9999; others are moved to the nearest of these.
    package init(secondsSince1970: Int64) {
        self.secondsSince1970 = min(max(secondsSince1970, 0), Self.secondsMax)
    }

    /// The time that an IMF-fixdate names; nil for the obsolete forms and for dates that do not exist.
    ///
    /// A condition with such a date is left out of account, so the client gets the whole answer.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, let day = Self.number(bytes[5..<7]), let year = Self.number(bytes[12..<16]),
            let hour = Self.number(bytes[17..<19]), let minute = Self.number(bytes[20..<22]),
            let second = Self.number(bytes[23..<25]),
            let month = Self.months.firstIndex(of: String(decoding: bytes[8..<11], as: UTF8.self))
        else { return nil }
        let days = Self.daysSince1970(year: year, month: month + 1, day: day)
        let seconds = Int64(days) * Self.secondsPerDay + Int64(hour * 3_600 + minute * 60 + second)
        self.init(secondsSince1970: seconds)
        // Weekday, separators and ranges are right exactly if the time is written the same again.
        guard self.text == text else { return nil }
    }

    /// IMF-fixdate.
    package var text: String {
        let day = secondsSince1970 / Self.secondsPerDay
        let second = Int(secondsSince1970 % Self.secondsPerDay)
        let date = Self.civil(Int(day))
        let clock = [second / 3_600, second / 60 % 60, second % 60].map(Self.twoDigits).joined(separator: ":")
        let monthAndYear = "\(Self.months[date.month - 1]) \(date.year)"
        return "\(Self.days[Int(day % 7)]), \(Self.twoDigits(date.day)) \(monthAndYear) \(clock) GMT"
    }

    /// The calendar date of a day since 1970.
    private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    /// The day since 1970 of a calendar date.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard digits.allSatisfy(ASCII.isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : String(value) }
}
