// Owns the tests of times in header fields.

import RivuletHTTP
import Testing

@Suite struct HTTPDateTests {
    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] as [(Int64, String)]
    )
    func `a time is written and read back`(seconds: Int64, text: String) {
        #expect(HTTPDate(secondsSince1970: seconds).text == text)
        #expect(HTTPDate(text)?.secondsSince1970 == seconds)
    }

    @Test(arguments: [
        "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Mon, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Wed, 30 Feb 2000 00:00:00 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:60 GMT", "Wed, 31 Dec 1969 23:59:59 GMT",
    ])
    func `other forms and dates that do not exist are not read`(text: String) {
        #expect(HTTPDate(text) == nil)
    }

    @Test func `every day of 400 years is read back`() {
        for day in stride(from: Int64(0), to: 146_097, by: 1) {
            let date = HTTPDate(secondsSince1970: day * 86_400)
            guard HTTPDate(date.text) != date else { continue }
            Issue.record("\(date.text) is not read back")
        }
    }

    @Test func `times out of range become the nearest time in range`() {
        #expect(HTTPDate(secondsSince1970: -1).secondsSince1970 == 0)
        #expect(HTTPDate(secondsSince1970: .max).text == "Fri, 31 Dec 9999 23:59:59 GMT")
    }
}
