// Checks the files with limits.

import Testing

@testable import RivuletServer

@Suite struct LimitRulesTests {
    private func rules(_ text: String, over base: LimitRules = .defaults) throws -> LimitRules {
        try LimitRules(parsing: Array(text.utf8), over: base)
    }

    @Test func `all classes have a default`() {
        for name in LimitClass.allCases { #expect(LimitRules.defaults[name] != nil, "\(name)") }
        #expect(LimitRules.defaults.count(of: .streams) == 64)
        #expect(LimitRules.defaults.rate(of: .dispatches) == Rate(quota: 100, windowSeconds: 1, burst: 400))
        #expect(LimitRules.off.isEmpty && !LimitRules.defaults.isEmpty)
    }

    @Test func `a file changes the classes that it names, and null removes one`() throws {
        let changed = try rules(
            #"{"dispatches": {"quota": 5, "window": 2, "burst": 9}, "requests": null, "streams": {"quota": 3}, "tickets": {"quota": 2, "window": 1}}"#
        )
        #expect(changed.rate(of: .dispatches) == Rate(quota: 5, windowSeconds: 2, burst: 9))
        #expect(changed[.requests] == nil && changed.count(of: .streams) == 3)
        #expect(changed.rate(of: .tickets) == Rate(quota: 2, windowSeconds: 1, burst: 2))
        #expect(changed[.bytesWritten] == LimitRules.defaults[.bytesWritten])
        #expect(try rules("{}", over: .off).isEmpty)
    }

    @Test(arguments: [
        "", "[]", "{", "{\"dispatch\": null}", #"{"dispatches": 3}"#, #"{"dispatches": {}}"#,
        #"{"dispatches": {"quota": 1}}"#, #"{"dispatches": {"quota": 0, "window": 1}}"#,
        #"{"dispatches": {"quota": 1, "window": 1, "burst": 0}}"#,
        #"{"dispatches": {"quota": 1, "window": 1, "max": 3}}"#,
        #"{"dispatches": {"quota": "1", "window": 1}}"#, #"{"dispatches": {"quota": 1.5, "window": 1}}"#,
        #"{"dispatches": {"quota": 1, "window": 1, "burst": null}}"#,
        #"{"dispatches": {"quota": 1, "window": 60, "burst": 100000}}"#, #"{"streams": {"quota": 1, "window": 1}}"#,
        #"{"streams": null, "streams": null}"#,
    ])
    func `a broken file is one line`(_ text: String) throws {
        let error = try #require(throws: ServerError.self) { try rules(text) }
        #expect(!error.description.contains("\n") && error.description.count < 700)
    }

    @Test func `tables of unchanged limits are kept, and others begin anew`() throws {
        let key = LimitKey(hash: 1, isSubject: true)
        let before = LimitTables(.defaults)
        for name in [LimitClass.dispatches, .tickets] { _ = before.take(name, 10, of: key, at: 0) }
        let after = LimitTables(
            try rules(#"{"dispatches": {"quota": 100, "window": 1, "burst": 10}}"#),
            keeping: before
        )
        #expect(after.take(.dispatches, 1, of: key, at: 0)?.remaining == 9)
        #expect(after.take(.tickets, 1, of: key, at: 0)?.isRefused == true)
        #expect(after.take(.streams, 1, of: key, at: 0) == nil)
    }
}
