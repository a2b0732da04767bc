import RivuletHTTP
import RivuletSessions

/// One request with lines, while its lines are dispatched.
///
/// It lives on the session's loop. The lines enter the session's queue in their order, so they are applied in that
/// order. Several lines wait there at once, so that they share a group commit.
final class LineDispatch {
    /// The most lines that wait in the session's queue at once.
    private static let underWayMax = 64

    private let lines: [ArraySlice<UInt8>]
    private let options: DispatchOptions
    private let session: Session
    /// The app's index in the counters of the loops.
    private let appIndex: Int
    private let responder: Responder
    /// The trace of the request; nil without one.
    private let trace: TraceParent?
    /// The charge for the session that the lines may create; nil without limits.
    private let creation: CreationCharge?
    /// The answer to each line; empty until it arrives.
    private var answers: [[UInt8]]
    private var answerBytes = 0
    private var next = 0
    private var underWay = 0
    private var replays = 0
    private var isRunning = false

    init(
        _ lines: EventLines,
        _ options: DispatchOptions,
        to session: Session,
        of app: ServedApp,
        _ responder: Responder,
        _ trace: TraceParent?,
        _ creation: CreationCharge? = nil
    ) {
        self.creation = creation
        self.lines = lines.lines
        self.options = options
        self.session = session
        appIndex = app.index
        self.responder = responder
        self.trace = trace
        answers = Array(repeating: [], count: lines.lines.count)
    }

    private var core: LoopCore { responder.server.core }

    /// Dispatches as many lines as may be under way, and answers when all are done.
    func run() {
        // A line that is answered at once calls this function again before the loop below continues.
        guard !isRunning else { return }
        isRunning = true
        while next < lines.count, underWay < Self.underWayMax {
            let line = next
            next += 1
            underWay += 1
            dispatch(line)
        }
        isRunning = false
        if underWay == 0 { answer() }
    }

    private func dispatch(_ line: Int) {
        let bytesMax = core.context.options.limits.lineAnswerBytesMax
        guard answerBytes < bytesMax else { return finish(line, Self.refusal(bytesMax)) }
        let body = Array(lines[line])
        let request = DispatchRequest(body: body, isStrict: options.isStrict, sender: options.sender)
        if let reservation = options.reservation(line: line + 1, body: body, core.context.fingerprints) {
            session.dispatch(request, once: reservation) { [self] result in
                core.counters.count(result, of: appIndex)
                if case .success(let answer) = result, answer.isReplay { replays += 1 }
                finish(line, result.map(\.body), of: body)
            }
        } else {
            session.dispatch(request) { [self] result in
                core.counters.count(result, of: appIndex)
                finish(line, result.map { options.isMinimal ? $0.minimalJSON : $0.json }, of: body)
            }
        }
    }

    private func finish(_ line: Int, _ result: Result<[UInt8], SessionError>, of body: [UInt8]) {
        switch result {
        case .success(let answer): finish(line, answer)
        case .failure(let error):
            let response = Response(refusing: error, of: body)
            let problem = response.pendingProblem.map { core.log.line($0, app: session.key.app, trace) }
            finish(line, problem ?? response.body.bytes)
        }
    }

    private func finish(_ line: Int, _ answer: [UInt8]) {
        answers[line] = answer
        answerBytes += answer.count
        underWay -= 1
        run()
    }

    private func answer() {
        if !session.isStored { creation?.giveBack() }
        var fields = [HTTPField("Content-Type", EventLines.contentType), HTTPField("Cache-Control", "no-store")]
        if options.isMinimal { fields.append(DispatchOptions.minimalApplied) }
        if replays == lines.count { fields.append(RecordedResponse.replayed) }
        var body: [UInt8] = []
        body.reserveCapacity(answerBytes + answers.count)
        for answer in answers {
            body += answer
            body.append(UInt8(ascii: "\n"))
        }
        responder.send(Response(.ok, fields: fields, body: body))
    }

    /// The answer to a line that was not dispatched, because the answers to earlier lines reached the limit.
    private static func refusal(_ bytesMax: Int) -> [UInt8] {
        Problem(
            .answersTooLarge,
            "not dispatched: the answers to the earlier lines take \(bytesMax) bytes (lineAnswerBytesMax); "
                + "send this line and the rest in another request, or ask for Prefer: return=minimal"
        ).json
    }
}
