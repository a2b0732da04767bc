// The peer on Hummingbird 2: event streams as a Swift developer would write them, with one AsyncStream per stream.
//
//   HummingbirdPeer PORT
//
// GET /sub/N streams topic N, POST /pub/N sends its body to all streams of N.

import Hummingbird
import Logging
import Synchronization

/// The open streams of each topic.
final class Topics: Sendable {
    private struct State {
        var nextID = 0
        var streams: [String: [Int: AsyncStream<ByteBuffer>.Continuation]] = [:]
    }

    private let state = Mutex(State())

    /// A new stream of a topic, which keeps the newest 1,024 events that its client has not read.
    func subscribe(_ topic: String) -> AsyncStream<ByteBuffer> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ByteBuffer.self,
            bufferingPolicy: .bufferingNewest(1024)
        )
        let id = state.withLock { state -> Int in
            state.nextID += 1
            state.streams[topic, default: [:]][state.nextID] = continuation
            return state.nextID
        }
        continuation.onTermination = { [self] _ in
            state.withLock { state in
                _ = state.streams[topic]?.removeValue(forKey: id)
                if state.streams[topic]?.isEmpty == true { state.streams[topic] = nil }
            }
        }
        return stream
    }

    func publish(_ topic: String, _ event: ByteBuffer) {
        let streams = state.withLock { Array($0.streams[topic, default: [:]].values) }
        for stream in streams { stream.yield(event) }
    }
}

let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 9203
let topics = Topics()
let router = Router()

router.get("sub/:topic") { _, context -> Response in
    let topic = try context.parameters.require("topic")
    return Response(
        status: .ok,
        headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"],
        body: .init(asyncSequence: topics.subscribe(topic))
    )
}

router.post("pub/:topic") { request, context -> Response in
    let topic = try context.parameters.require("topic")
    let body = try await request.body.collect(upTo: 65536)
    var event = ByteBuffer()
    event.writeString("data: ")
    event.writeImmutableBuffer(body)
    event.writeString("\n\n")
    topics.publish(topic, event)
    return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: "ok")))
}

var logger = Logger(label: "hummingbird-peer")
logger.logLevel = .error
let application = Application(
    router: router,
    configuration: .init(address: .hostname("127.0.0.1", port: port), backlog: 4096),
    logger: logger
)
try await application.runService()
