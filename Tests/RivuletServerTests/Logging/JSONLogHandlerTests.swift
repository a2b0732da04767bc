// Checks that a log line is one JSON object.

import Logging
import RivuletJSON
import Synchronization
import Testing

@testable import RivuletServer

@Suite struct JSONLogHandlerTests {
    private final class Output: Sendable {
        let lines = Mutex<[[UInt8]]>([])
    }

    private let output = Output()

    private func logger() -> Logger {
        Logger(label: "rivulet") { [output] label in
            JSONLogHandler(label: label, now: { 1_767_225_600_001 }) { line in output.lines.withLock { $0.append(line) }
            }
        }
    }

    private var lines: [String] { output.lines.withLock { $0.map { String(decoding: $0, as: UTF8.self) } } }

    @Test func `a line has the time, the level, the logger, the message and the fields`() {
        logger().info("server started", metadata: ["workers": "2", "apps": "a, b"])
        #expect(
            lines == [
                #"{"time":"2026-01-01T00:00:00.001Z","level":"info","logger":"rivulet","message":"server started","#
                    + #""fields":{"apps":"a, b","workers":"2"}}"# + "\n"
            ]
        )
    }

    @Test func `a line is one line of JSON, whatever its texts contain`() throws {
        let text = "a \"quote\"\nline \u{0} \u{7F} \u{2028} \\ ü 🙂"
        logger().warning(
            "\(text)",
            metadata: ["\(text)": "\(text)", "nested": ["list": .array(["\(text)"])], "n": .stringConvertible(7)]
        )
        let line = try #require(output.lines.withLock { $0.first })
        #expect(line.count { $0 == 0x0A } == 1 && line.last == 0x0A)
        let document = try JSONValue(parsing: Array(line.dropLast()))
        #expect(document["message"]?.stringValue == text)
        #expect(document["fields"]?[text]?.stringValue == text)
        #expect(document["fields"]?["nested"]?["list"]?[0]?.stringValue == text)
        #expect(document["fields"]?["n"]?.stringValue == "7")
    }

    @Test func `lines below the level are left out, and a logger's own fields are in each`() {
        var logger = logger()
        logger.debug("hidden")
        logger[metadataKey: "node"] = "a"
        logger.info("shown", metadata: ["node": "b", "c": "d"])
        logger.info("shown")
        #expect(lines.count == 2 && lines[0].hasSuffix(#""fields":{"c":"d","node":"b"}}"# + "\n"))
        #expect(lines.last?.hasSuffix(#""fields":{"node":"a"}}"# + "\n") == true)
    }
}
