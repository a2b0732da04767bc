// Checks the counts of callers that send ten times as much as they may.

import RivuletHTTP
import Testing

@testable import RivuletServer

@Suite struct LimitTablesTests {
    @Test(arguments: [
        LimitClass.requests, .dispatches, .tickets, .sessionsCreated, .anonymousRequests, .failedCredentials,
    ])
    func `ten times the limit of three subjects is refused exactly, and others are not`(_ name: LimitClass) throws {
        let rate = try #require(LimitRules.defaults.rate(of: name))
        let tables = LimitTables(.defaults)
        let greedy = (UInt64(1)...3).map { LimitKey(hash: $0 << 45 | $0, isSubject: true) }
        let modest = LimitKey(hash: 4 << 45 | 4, isSubject: true)
        // Ten windows, in each of which a subject sends its quota ten times, and the modest one half of it.
        let pause = UInt64(rate.windowSeconds) * 1_000_000 / UInt64(10 * rate.quota)
        let countPerSubject = 10 * 10 * rate.quota
        var (admitted, refused) = ([0, 0, 0], [0, 0, 0])
        for index in 0..<countPerSubject {
            let now = UInt64(index) * pause
            for (subject, key) in greedy.enumerated() {
                let standing = try #require(tables.take(name, 1, of: key, at: now))
                if standing.isRefused { refused[subject] += 1 } else { admitted[subject] += 1 }
            }
            if index % 20 == 0 {
                #expect(tables.take(name, 1, of: modest, at: now)?.isRefused == false)
            }
        }
        // The burst, and one for each unit of time until the last request.
        let expected = rate.burst + Int(UInt64(countPerSubject - 1) * pause / rate.microseconds(of: 1))
        #expect(admitted == [expected, expected, expected])
        #expect(refused.allSatisfy { $0 == countPerSubject - expected })
    }

    @Test func `a refusal says when the same cost is admitted, and no earlier`() throws {
        let tables = LimitTables(.defaults)
        let key = LimitKey(hash: 1, isSubject: true)
        for (index, cost) in [400, 1, 37, 400, 2, 250].enumerated() {
            let start = UInt64(1_000_000_000) * UInt64(index)
            #expect(tables.take(.dispatches, 400, of: key, at: start)?.remaining == 0)
            let refused = try #require(tables.take(.dispatches, cost, of: key, at: start))
            guard case .refused(let wait) = refused.outcome else {
                Issue.record("\(cost) was admitted")
                return
            }
            #expect(refused.waitSeconds.map { UInt64($0) * 1_000_000 >= wait } == true)
            #expect(tables.take(.dispatches, cost, of: key, at: start + wait - 1)?.isRefused == true)
            #expect(tables.take(.dispatches, cost, of: key, at: start + wait)?.isRefused == false)
        }
    }

    @Test func `a standing is shown in two fields`() throws {
        let tables = LimitTables(.defaults)
        let key = LimitKey(hash: 1, isSubject: true)
        func shown(_ cost: Int, _ name: LimitClass = .dispatches) -> [String] {
            tables.take(name, cost, of: key, at: 0)?.fields.map(\.value) ?? []
        }
        #expect(tables.take(.dispatches, 300, of: key, at: 0)?.isScarce == false)
        #expect(tables.take(.dispatches, 1, of: key, at: 0)?.isScarce == true)
        #expect(shown(9) == [#""dispatches";q=400;w=4"#, #""dispatches";r=90;t=4"#])
        #expect(shown(91) == [#""dispatches";q=400;w=4"#, #""dispatches";r=90;t=1"#])
        #expect(shown(400)[1] == #""dispatches";r=90;t=4"#)
        #expect(shown(52_428_800, .bytesWritten)[0] == #""bytes-written";q=52428800;qu="content-bytes";w=300"#)
    }
}
