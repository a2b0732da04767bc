import Testing

@testable import RivuletServer

@Suite struct RemoteKeySetTests {
    private static let start: Int64 = 1_000_000
    private static let (one, two) = (Array("1".utf8), Array("2".utf8))
    private static var set: RemoteKeySet { RemoteKeySet(one, at: start, factor: 1) }

    @Test func `a set is fetched every 15 minutes, earlier or later by a tenth at most`() {
        for (factor, seconds) in [
            (RemoteKeySet.jitter.lowerBound, 810), (1, 900), (RemoteKeySet.jitter.upperBound, 990),
        ] {
            var set = RemoteKeySet(Self.one, at: Self.start, factor: factor)
            let due = Self.start + Int64(seconds) * 1_000
            let early = set.mustFetch(at: due - 2, isUrgent: false)
            let late = set.mustFetch(at: due + 1, isUrgent: false)
            #expect(!early && late)
        }
    }

    @Test func `an unknown key fetches at once, and then once a minute at most`() {
        var set = Self.set
        let times: [Int64] = [1, 2, 59_999, 60_001, 60_002, 120_001]
        let fetches = times.map { set.mustFetch(at: Self.start + $0, isUrgent: true) }
        #expect(fetches == [true, false, false, true, false, true])
    }

    @Test func `a failed fetch keeps the document for a day after the last good one`() {
        var set = Self.set
        let day = RemoteKeySet.keptTimeMax
        let early = set.fail(at: Self.start + day - 1, factor: 1)
        #expect(!early && set.document == Self.one)
        let late = set.fail(at: Self.start + day, factor: 1)
        #expect(late && set.document == nil)
        // The end is reported once.
        let again = set.fail(at: Self.start + day + 1, factor: 1)
        #expect(!again)
        let returned = set.succeed(Self.one, at: Self.start + day + 2, factor: 1)
        #expect(returned && set.document == Self.one)
    }

    @Test func `only another document is a change`() {
        var set = Self.set
        let same = set.succeed(Self.one, at: Self.start + 1, factor: 1)
        let other = set.succeed(Self.two, at: Self.start + 2, factor: 1)
        #expect(!same && other && set.document == Self.two)
    }

    @Test func `a clock that is set back fetches`() {
        var set = Self.set
        let isDue = set.mustFetch(at: Self.start - 1, isUrgent: false)
        #expect(isDue)
    }

    @Test(arguments: [
        "http://a/", "https://", "https:///a", "https://u:p@a/", "https://a b/", "https://a/#f", "HTTPS://a/",
        "https://a/" + String(repeating: "a", count: 2_048),
    ])
    func `a URL without TLS, without a host or with a credential is refused`(_ url: String) {
        #expect(throws: ServerError.self) { try KeySetURL.check(url) }
    }

    @Test func `a path is no URL`() throws {
        #expect(!KeySetURL.isURL("https.json") && !KeySetURL.isURL("/etc/https://") && KeySetURL.isURL("HTTP://a"))
        try KeySetURL.check("https://login.example.com:8443/keys?a=b@c")
    }
}
