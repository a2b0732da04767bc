import ArgumentParser
import RivuletJSON

/// A time in an option, as a date or as a time from now; and times as people read them.
package enum Moment {
    private static let units = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    /// The most digits of a time from now.
    private static let digitsMax = 9

    /// Reads `90s`, `15m`, `1h`, `30d`, or a date such as `2027-01-01T00:00:00Z`, as seconds since 1970.
    ///
    /// - Throws: `ValidationError` for another text, and for a time that is over.
    package static func seconds(_ text: String, after now: Int) throws -> Int {
        let seconds = RFC3339(parsing: text)?.seconds ?? duration(text).map { now + $0 }
        guard let seconds, RFC3339(seconds: seconds, nanoseconds: 0) != nil else {
            throw ValidationError(
                "--expires is a time from now such as 90s, 15m, 1h or 30d, or a date such as 2027-01-01T00:00:00Z; found \"\(text)\""
            )
        }
        guard seconds > now else {
            throw ValidationError("--expires is \"\(text)\", which is over; choose a later time")
        }
        return seconds
    }

    private static func duration(_ text: String) -> Int? {
        let digits = text.dropLast()
        guard let unit = text.last.flatMap({ units[String($0)] }), (1...digitsMax).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(digits).map { $0 * unit }
    }

    /// The date of seconds since 1970.
    package static func date(_ seconds: Int) -> String {
        RFC3339(seconds: seconds, nanoseconds: 0)?.text ?? "\(seconds) s after 1970"
    }

    /// The distance from now in the largest unit that fits: `in 59 min`, `3 days ago`.
    package static func distance(of seconds: Int, from now: Int) -> String {
        let distance = abs(seconds - now)
        let text =
            switch distance {
            case ..<120: "\(distance) s"
            case ..<7_200: "\(distance / 60) min"
            case ..<172_800: "\(distance / 3_600) h"
            default: "\(distance / 86_400) days"
            }
        return seconds > now ? "in \(text)" : "\(text) ago"
    }
}
