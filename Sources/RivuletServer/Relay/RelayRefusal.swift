import RivuletBase
import RivuletHTTP
import RivuletSessions

/// The refusal of a source on another node, as the stream's own node carries it out.
struct RelayRefusal: Hashable, Sendable {
    /// The answer to a request for a stream.
    enum Answer: Hashable, Sendable {
        /// An event stream with a single `bye`.
        case bye(StreamTurnedAway)
        /// 204: the session was deleted.
        case gone
        /// A problem document; `cause` is the text for the log that the document leaves out.
        case problem(ProblemType, detail: String, retryAfter: String?, cause: String?)
    }

    let answer: Answer
    /// The reason in the `bye` of an open stream.
    let end: StreamEvent.ByeReason

    /// True if the same request may succeed a moment later.
    var isPassing: Bool { if case .bye = answer { true } else { false } }

    private enum Kind: UInt8 {
        case bye, gone, problem
    }

    init(_ error: StreamError) {
        end = error.end
        switch error {
        case .relayed(let refusal): answer = refusal.answer
        case .session(.gone): answer = .gone
        case .session(.failed(let failure)): answer = Self.answer(of: error, Problem(failure), cause: failure)
        case .shared(let failure): answer = Self.answer(of: error, Problem(failure, epoch: ""), cause: failure)
        case .session(.full): answer = .bye(.limit)
        case .tooLarge(let bytes, let bytesMax):
            answer = Self.answer(of: error, .tooLarge(bytes, bytesMax), cause: nil)
        }
    }

    private static func answer(of error: StreamError, _ problem: Problem, cause: (any Error)?) -> Answer {
        if case .bye(let reason) = error.answer { return .bye(reason) }
        return .problem(
            problem.type,
            detail: problem.detail,
            retryAfter: problem.fields.first { $0.name == "Retry-After" }?.value,
            cause: problem.hasHiddenCause ? cause.map { LogText.of($0) } : nil
        )
    }

    /// The answer to a request for a stream, for the connection.
    var streamAnswer: StreamError.Answer {
        switch answer {
        case .bye(let reason): return .bye(reason)
        case .gone: return .response(Response(.noContent))
        case .problem(let type, let detail, let retryAfter, let cause):
            var problem = Problem(type, detail, fields: retryAfter.map { [HTTPField("Retry-After", $0)] } ?? [])
            problem.hasHiddenCause = cause != nil
            return .response(Response(problem, cause: cause.map { RelayedCause(logText: $0) }))
        }
    }

    func write(to writer: inout RelayWriter) {
        writer.add(end.rawValue)
        switch answer {
        case .bye(let reason):
            writer.add(byte: Kind.bye.rawValue)
            writer.add(reason.value)
        case .gone: writer.add(byte: Kind.gone.rawValue)
        case .problem(let type, let detail, let retryAfter, let cause):
            writer.add(byte: Kind.problem.rawValue)
            writer.add(type.rawValue)
            writer.add(detail)
            writer.add(retryAfter)
            writer.add(cause)
        }
    }

    init(_ reader: inout RelayReader) throws(RelayError) {
        end = try reader.choice(of: StreamEvent.ByeReason.self)
        switch Kind(rawValue: try reader.byte()) {
        case .bye:
            let text = try reader.text()
            guard let reason = StreamTurnedAway.allCases.first(where: { $0.value == text }) else {
                throw RelayError("no stream is turned away because of \"\(text)\"")
            }
            answer = .bye(reason)
        case .gone: answer = .gone
        case .problem:
            answer = .problem(
                try reader.choice(of: ProblemType.self),
                detail: try reader.text(),
                retryAfter: try reader.optionalText(),
                cause: try reader.optionalText()
            )
        case nil: throw RelayError("there is no such kind of refusals")
        }
    }
}

/// The cause of a problem on another node, for the log of this node.
private struct RelayedCause: LoggableError {
    let logText: String
}
