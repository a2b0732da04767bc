// Checks the split of a body into lines, and the stored form of an answer.

import RivuletHTTP
import RivuletSessions
import Testing

@testable import RivuletServer

@Suite struct EventLinesTests {
    @Test(arguments: ["application/x-ndjson", "Application/X-NDJSON; charset=utf-8"])
    func `a body is lines if its type says so`(_ type: String) {
        #expect(EventLines.isType(type))
    }

    @Test(arguments: [nil, "", "application/json", "application/x-ndjson; charset=latin1", "x-ndjson"])
    func `a body of another type is not lines`(_ type: String?) {
        #expect(!EventLines.isType(type))
    }
}

@Suite struct KeptResponseTests {
    @Test(arguments: ["k3v9x0qa.7.b2c3-0\n{\"version\":7}", "k3v9x0qa.7.b2c3-0u\n"])
    func `an answer is read as it was written`(_ text: String) throws {
        let kept = try #require(RecordedResponse(Array(text.utf8)))
        #expect(kept.bytes == Array(text.utf8))
        #expect(kept.response().status == (text.hasSuffix("\n") ? .noContent : .ok))
        let replay = kept.response(isReplay: true).fields
        #expect(replay.contains(HTTPField("Idempotency-Replayed", "true")))
        #expect(replay.contains(HTTPField("Rivulet-Version", "7")))
    }

    @Test(arguments: ["", "\n", "x\n{}", "k3v9x0qa.7.b2c3-0"])
    func `other bytes are no stored answer`(_ text: String) {
        #expect(RecordedResponse(Array(text.utf8)) == nil)
    }
}
