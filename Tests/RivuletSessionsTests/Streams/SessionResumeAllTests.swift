// Checks that a reader that requests every version gets the events of a live stream, once, and ends at the session's
// state.

import RivuletJSON
import RivuletObservation
import RivuletSessions
import SeededRandom
import Testing

@Suite struct SessionResumeAllTests {
    private static func topic(_ paths: [String], view: String? = nil) throws -> StreamTopic {
        StreamTopic(view: view, paths: try paths.map { try JSONPointer(parsing: $0) })
    }

    /// The events of a stream, as lines of cursor and data.
    private static func lines(_ events: some Sequence<StreamEvent>) -> [String] {
        events.map { "\($0.name) \($0.cursor.map { "\($0)" } ?? "-") \($0.text)" }
    }

    /// Requests every version from a cursor until the stream is a member of its group.
    private static func resume(
        _ topic: StreamTopic,
        from cursor: String,
        of harness: SessionHarness
    ) throws -> (pages: [[StreamEvent]], joined: RecordingSink.Joined) {
        var pages: [[StreamEvent]] = []
        var cursor = cursor
        while true {
            let joined = try harness.subscribe(topic, resume: cursor, resumesAll: true)
            pages.append(joined.first)
            #expect(joined.resumesAll)
            guard case .more = joined.slot else { return (pages, joined) }
            #expect("\(joined.cursor)" != cursor)
            cursor = "\(joined.cursor)"
        }
    }

    @Test func `each missed version is an event of its own`() throws {
        let harness = try SessionHarness()
        let first = try harness.subscribe("/p/count")
        for title in ["b", "c"] {
            try harness.dispatch(#"{"add":1}"#)
            try harness.dispatch(#"{"rename":"\#(title)"}"#)
        }
        let (pages, joined) = try Self.resume(Self.topic(["/p/count"]), from: "\(first.cursor)", of: harness)
        #expect(pages.map(Self.lines) == [Self.lines(harness.sink.delivered.map(\.event))])
        #expect(joined.group == first.group)
        #expect(
            try Self.resume(Self.topic(["/p/count"]), from: "\(joined.cursor)", of: harness).pages.map(\.count) == [0]
        )
    }

    @Test(arguments: 0..<10)
    func `changes that memory has are sent exactly as live streams got them`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let harness = try SessionHarness(limits: SessionLimits(tailBytesMax: 10_000_000))
        // No path is below a value that the program replaces.
        let watches = [[""], ["/p/items"], ["/p/items", "/t"], ["/p/groups", "/p/mode"], ["/p/count"]]
        let topics = try watches.map { try Self.topic($0) }
        let groups = try topics.map { try harness.subscribe($0).group }
        var cursors = ["\(try harness.session().read(.root).get().cursor)"]
        var delivered = [0]
        for _ in 0..<80 {
            let isQuiet = Int.random(in: 0..<4, using: &generator) == 0
            let event = isQuiet ? TallyProgram.quietEvent(&generator) : TallyProgram.event(&generator)
            cursors.append("\(try harness.dispatch(event).cursor)")
            delivered.append(harness.sink.delivered.count)
        }
        for (topic, group) in zip(topics, groups) {
            let place = Int.random(in: cursors.indices, using: &generator)
            let told = harness.sink.delivered[delivered[place]...].filter { $0.group == group }.map(\.event)
            let (pages, joined) = try Self.resume(topic, from: cursors[place], of: harness)
            #expect(pages.map(Self.lines) == [Self.lines(told)], "seed \(seed), from \(place): \(topic.paths)")
            #expect(joined.group == group)
        }
    }

    @Test(arguments: 0..<6)
    func `the log is sent version by version, in parts, to its end`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let limits = SessionLimits(tailChangesMax: 2, resumePageVersionsMax: 7)
        let harness = try SessionHarness(limits: limits)
        let watches = [
            ["/p/count"], ["/p/items/a/title"], ["/p/marks/1"], ["/p/limits", "/p/title"], ["/p/limits/high"],
            ["/t/lastEvent"],
        ]
        let topics = try watches.map { try Self.topic($0) }
        let groups = try topics.map { try harness.subscribe($0).group }
        var versions: [(cursor: String, delivered: Int)] = []
        for step in 0..<60 {
            let id = ["a", "b"].randomElement(using: &generator) ?? ""
            let program = [
                #"{"add":1}"#, #"{"insert":{"id":"\#(id)","at":0}}"#, #"{"drop":"\#(id)"}"#, #"{"mark":\#(step)}"#,
                #"{"retitle":{"id":"\#(id)","title":"\#(step)"}}"#, #"{"limits":{"low":1,"high":\#(step)}}"#,
                #"{"rename":"\#(step)"}"#,
            ]
            let answer = try harness.dispatch(program.randomElement(using: &generator) ?? "")
            versions.append(("\(answer.cursor)", harness.sink.delivered.count))
        }
        let isRestarted = seed % 2 == 0
        if isRestarted { harness.restart() }
        let place = Int.random(in: 0..<30, using: &generator)
        for (index, topic) in topics.enumerated() {
            let (pages, _) = try Self.resume(topic, from: versions[place].cursor, of: harness)
            let told = harness.sink.delivered[versions[place].delivered...].filter { $0.group == groups[index] }
            var texts = pages.joined().map(\.text)
            if let path = watches[index].first, ["/t/lastEvent", "/p/items/a/title"].contains(path) {
                // The last event repeats the transient values, and the values that contain them, as they are now.
                #expect(texts.popLast()?.contains(#""\#(path)""#) == true)
            }
            #expect(texts == told.map(\.event.text), "seed \(seed), from \(place): \(watches[index])")
            #expect(pages.allSatisfy { $0.count <= 8 })
        }
    }

    @Test(arguments: 0..<8)
    func `a reader of every version ends at the session's state, from any cursor`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let limits = SessionLimits(tailChangesMax: 3, resumePageVersionsMax: 4)
        let harness = try SessionHarness(limits: limits)
        var readers = TallyProgram.watches.map(StreamReader.init)
        for index in readers.indices {
            try readers[index].take(try harness.subscribe(Self.topic(readers[index].paths)))
        }
        for step in 0..<25 {
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let isQuiet = Int.random(in: 0..<4, using: &generator) == 0
                try harness.dispatch(isQuiet ? TallyProgram.quietEvent(&generator) : TallyProgram.event(&generator))
            }
            if Int.random(in: 0..<5, using: &generator) == 0 { harness.restart() }
            for index in readers.indices where Int.random(in: 0..<3, using: &generator) == 0 {
                let topic = try Self.topic(readers[index].paths)
                while true {
                    let joined = try harness.subscribe(topic, resume: readers[index].cursor, resumesAll: true)
                    // The connection may break after any event. The next request continues from there.
                    let count = Int.random(in: 0...joined.first.count, using: &generator)
                    for event in joined.first.prefix(count) {
                        try readers[index].take(event)
                        readers[index].cursor = "\(try #require(event.cursor))"
                    }
                    guard count == joined.first.count else { continue }
                    readers[index].cursor = "\(joined.cursor)"
                    if case .group = joined.slot { break }
                }
                let state = try JSONValue(parsing: Array(try harness.value("").utf8))
                let paths = readers[index].paths
                #expect(
                    try readers[index].texts == StreamReader.texts(of: state, at: paths),
                    "seed \(seed), step \(step): \(paths)"
                )
            }
        }
    }

    @Test func `a cursor that reaches too far back is a reset, also version by version`() throws {
        let harness = try SessionHarness(limits: SessionLimits(tailChangesMax: 1, resumeVersionsMax: 2))
        let first = try harness.dispatch(#"{"add":1}"#)
        for _ in 1...4 { try harness.dispatch(#"{"add":1}"#) }
        let joined = try harness.subscribe(Self.topic(["/p/count"]), resume: "\(first.cursor)", resumesAll: true)
        #expect(joined.first.map(\.name) == [.reset])
        #expect(joined.first[0].text.contains("history-gone"))
    }
}
