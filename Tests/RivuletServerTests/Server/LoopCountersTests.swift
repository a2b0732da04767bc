// Checks the counters of a loop, and that publishing moves each count once.

import RivuletBase
import RivuletHTTP
import RivuletMetrics
import RivuletSessions
import RivuletStores
import Testing

@testable import RivuletServer

@Suite struct LoopCountersTests {
    private let registry = PrometheusRegistry()

    private func metrics() -> ServerMetrics { ServerMetrics(registry, apps: ["counter", "todos"], version: "1.0") }

    /// The value of a line, by the text before it.
    private func value(_ line: String) -> String? {
        String(decoding: registry.text(), as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(line + " ") }
            .map { String($0.dropFirst(line.count + 1)) }
    }

    @Test func `every metric exists from the start, at 0, with its help text`() {
        _ = metrics()
        let text = String(decoding: registry.text(), as: UTF8.self)
        for metric in ServerMetric.all {
            #expect(text.contains("# HELP \(metric.name) \(metric.help)\n"))
            #expect(text.contains("# TYPE \(metric.name) \(metric.kind.name)\n"))
        }
        #expect(value(#"rivulet_streams_closed_total{kind="view",reason="slow"}"#) == "0")
        #expect(value(#"rivulet_build_info{version="1.0"}"#) == "1")
    }

    @Test func `no metric has a label that its description does not name`() {
        _ = metrics()
        let text = String(decoding: registry.text(), as: UTF8.self)
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let name = line.prefix { $0 != "{" && $0 != " " }
            let metric = ServerMetric.all.first { metric in
                name == metric.name || ["_bucket", "_sum", "_count"].contains { name == metric.name + $0 }
            }
            let labels = line.matches(of: /(\w+)="/).map { String($0.1) }.filter { $0 != "le" }
            #expect(labels == metric?.labels, "\(line)")
        }
    }

    @Test func `a published count is not published again`() {
        let metrics = metrics()
        let counters = LoopCounters(apps: 2)
        counters.requestAnswered(.get, .ok)
        counters.requestAnswered(.post, .conflict)
        counters.dispatched(app: 1, .accepted, .durable)
        metrics.publish(counters)
        metrics.publish(counters)
        #expect(value(#"rivulet_requests_total{method="get",status="2xx"}"#) == "1")
        #expect(value(#"rivulet_requests_total{method="post",status="4xx"}"#) == "1")
        #expect(value(#"rivulet_request_problems_total{status="409"}"#) == "1")
        #expect(value(#"rivulet_dispatches_total{app="todos",outcome="accepted",durability="durable"}"#) == "1")
        #expect(value(#"rivulet_dispatches_total{app="counter",outcome="accepted",durability="durable"}"#) == "0")
    }

    @Test func `the counts of two loops are added`() {
        let metrics = metrics()
        for count in [3, 4] {
            let counters = LoopCounters(apps: 2)
            for _ in 0..<count { counters.connectionAccepted() }
            counters.connectionRefused(.limit)
            metrics.publish(counters)
            metrics.publish(LoopGauges(connections: count, sessions: 2), before: LoopGauges(sessions: 1))
        }
        #expect(value("rivulet_connections_accepted_total") == "7")
        #expect(value(#"rivulet_connections_refused_total{cause="limit"}"#) == "2")
        #expect(value("rivulet_connections") == "7")
        #expect(value("rivulet_sessions_resident") == "2")
    }

    @Test func `the open streams of a kind are its opened streams minus its closed ones`() {
        let metrics = metrics()
        let counters = LoopCounters(apps: 2)
        for _ in 0..<3 { counters.streamOpened(.session) }
        counters.streamOpened(.store)
        counters.streamStarted(.fresh)
        counters.streamStarted(StreamStart(.historyGone))
        counters.streamClosed(.session, StreamEnd(.slow))
        metrics.publish(counters)
        counters.streamClosed(.session, .peer)
        counters.delivered(events: 5, bytes: 700)
        counters.heartbeats(2, bytes: 6)
        counters.streamFellBehind()
        metrics.publish(counters)
        #expect(value(#"rivulet_streams{kind="session"}"#) == "1")
        #expect(value(#"rivulet_streams{kind="store"}"#) == "1")
        #expect(value(#"rivulet_streams_opened_total{kind="session"}"#) == "3")
        #expect(value(#"rivulet_streams_closed_total{kind="session",reason="slow"}"#) == "1")
        #expect(value(#"rivulet_streams_closed_total{kind="session",reason="peer"}"#) == "1")
        #expect(value(#"rivulet_stream_starts_total{way="reset_history_gone"}"#) == "1")
        #expect(value("rivulet_stream_events_total") == "5")
        #expect(value("rivulet_stream_bytes_total") == "706")
        #expect(value("rivulet_stream_heartbeats_total") == "2")
        #expect(value("rivulet_streams_behind_total") == "1")
    }

    @Test func `the longest turn is reported once, and publishing keeps it`() {
        let metrics = metrics()
        let counters = LoopCounters(apps: 2)
        for milliseconds in [2, 9, 4] as [UInt64] { counters.turnEnded(milliseconds: milliseconds) }
        metrics.publish(counters)
        #expect(value("rivulet_loop_turns_total") == "3")
        #expect(counters.takeLongestTurn() == 9)
        #expect(counters.takeLongestTurn() == 0)
        metrics.publishOnRequest(longestTurnMilliseconds: 9, bodyBytes: 5)
        #expect(value("rivulet_loop_longest_turn_seconds") == "0.009")
    }

    @Test func `the bytes of sessions include those of a storage in memory`() {
        let metrics = metrics()
        metrics.publishOnRequest(longestTurnMilliseconds: 0, bodyBytes: 0, storedBytes: 700)
        metrics.publishOnRequest(longestTurnMilliseconds: 0, bodyBytes: 0, storedBytes: 500)
        #expect(value("rivulet_sessions_bytes") == "500")
    }

    @Test(arguments: StreamEnd.allCases)
    func `every case has its own index and label`(_ reason: StreamEnd) {
        #expect(StreamEnd.all[reason.index] == reason)
        let pair = LabelPair(StreamKind.value, reason)
        #expect(LabelPair<StreamKind, StreamEnd>.all[pair.index].dimensions.map(\.1) == ["value", reason.value])
    }

    @Test func `a status that the server never sends is counted as other`() {
        let metrics = metrics()
        let counters = LoopCounters(apps: 2)
        counters.requestAnswered(.other, HTTPStatus(418))
        metrics.publish(counters)
        #expect(value(#"rivulet_request_problems_total{status="other"}"#) == "1")
        #expect(value(#"rivulet_requests_total{method="other",status="4xx"}"#) == "1")
    }

    @Test func `an append is counted by its outcome, and its duration is recorded if it was committed`() {
        let metrics = metrics()
        metrics.storage.record(
            .success(.committed(SessionHead(epoch: "a", version: 3, token: 1))),
            entries: 3,
            .milliseconds(2)
        )
        metrics.storage.record(.success(.conflict), entries: 1, .milliseconds(9))
        #expect(value(#"rivulet_storage_appends_total{outcome="committed"}"#) == "1")
        #expect(value(#"rivulet_storage_appends_total{outcome="conflict"}"#) == "1")
        #expect(value("rivulet_storage_append_entries_sum") == "3")
        #expect(value(#"rivulet_storage_append_seconds_bucket{le="0.001"}"#) == "0")
        #expect(value(#"rivulet_storage_append_seconds_bucket{le="0.0025"}"#) == "1")
        #expect(value("rivulet_storage_append_seconds_count") == "1")
    }

    @Test func `the figures of this process are plausible`() throws {
        let figures = try #require(ProcessFigures())
        #expect(figures.residentBytes > 1_000_000 && figures.virtualBytes > figures.residentBytes)
        #expect(figures.descriptors >= 3 && figures.descriptorsMax >= UInt64(figures.descriptors))
        #expect(figures.cpuSeconds > 0)
        let now = Double(WallClock.seconds())
        #expect(figures.startSeconds <= now && figures.startSeconds > now - 86_400)
    }
}
