// Checks the session's machine as a table: its inputs, and the actions that it requests from its driver. There is no
// app, and a state is a word.

import RivuletObservation
import Testing

@testable import RivuletEngine
@testable import RivuletSessions

@Suite struct SessionMachineTests {
    /// The initial state of a machine.
    enum Beginning {
        /// Storage has the session at version 3.
        case stored
        /// Storage has the session at version 3, in the document of an earlier schema.
        case migrated
        /// Storage does not have the session.
        case new
    }

    /// Drives a machine by words, and records its actions.
    ///
    /// A dispatch is a letter: `a` is transient, `a!` durable, `a+` transient with an effect that holds the queue. `a=`
    /// changes nothing, `a?` expects another state, and `a#` is rejected by its reducer. The other words are: `ok` and
    /// `fail` are storage's answers, and `snapshot` is `ok` with a snapshot due. `done` ends an effect, `create` and
    /// `delete` are requests, and `close` ends the session. `a>b` sends `b` while `a` is published. In `a~b`, an effect
    /// of `a` sends `b` at once. The session then requests a later drive, which is `again`.
    private struct Driver: ~Copyable {
        var machine: SessionMachine
        var lines: [String] = []
        /// The bytes of the dispatches that are not yet answered.
        private(set) var unansweredBytes = 0
        private var turn: SessionMachine.StorageTurn?
        private var version: UInt64
        private var isHeld = false
        private var isSnapshotDue = false
        private var followers: [String: String] = [:]
        private var echoes: [String: String] = [:]

        init(_ beginning: Beginning, queuedMax: Int) {
            version = beginning == .new ? 0 : 3
            machine = SessionMachine(
                SessionKey(app: "app", id: "s"),
                standing: SessionStanding(
                    names: SessionNames(epoch: "e", visibleEpoch: "v", incarnation: "i"),
                    position: Cursor.Position(version: version, transients: 0),
                    unlogged: [],
                    state: TypedBox("")
                ),
                size: StateSize(atMost: 0),
                storedHead: beginning == .new ? nil : SessionHead(epoch: "e", version: 3, token: 0),
                storedForm: beginning == .migrated ? .earlierSchema : .whole,
                queuedMax: queuedMax,
                waitingBytesMax: 8
            )
        }

        private static func text(_ box: OpaqueBox) -> String { box.opened(as: String.self).value }

        mutating func take(_ word: String) {
            switch word {
            case "ok": storageDidAnswer()
            case "snapshot":
                isSnapshotDue = true
                storageDidAnswer()
            case "fail":
                tell(machine.storageDidFail())
            case "done": isHeld = false
            case "create": machine.awaitCreation { _ in }
            case "delete":
                do throws(SessionError) {
                    try machine.delete { _ in }
                } catch {
                    lines.append("refused")
                }
            case "close": tell(machine.close())
            case "again": break
            default: send(word)
            }
            drive()
        }

        private mutating func send(_ word: String) {
            if word.contains("~") {
                let names = word.split(separator: "~").map(String.init)
                echoes[names[0]] = names[1]
                return send(names[0])
            }
            let names = word.split(separator: ">").map(String.init)
            if names.count == 2 { followers[names[0]] = names[1] }
            do throws(SessionError) {
                try machine.admit(bytes: 1)
            } catch {
                return lines.append("no room for \(names[0])")
            }
            let events = DecodedEvents(
                box: TypedBox(names[0]),
                count: 1,
                persists: names[0].hasSuffix("!"),
                records: nil
            )
            machine.enqueue(QueuedDispatch(.events(events), bodyBytes: 1) { _ in })
            unansweredBytes += 1
        }

        private mutating func dispatchFromEffect(_ name: String) {
            let events = DecodedEvents(box: TypedBox(name), count: 1, persists: name.hasSuffix("!"), records: nil)
            let source = EffectSource(eventName: "effect")
            _ = machine.enqueue(fromEffect: QueuedDispatch(.events(events), source: source) { _ in })
        }

        private mutating func drive() {
            guard machine.beginDriving() else { return }
            while let action = machine.next(isHeld: isHeld) { perform(action) }
        }

        private mutating func perform(_ action: SessionMachine.Action) {
            switch action {
            case .reduce(let dispatch): reduce(dispatch)
            case .publish(let dispatch, let old):
                let name = String(Self.text(dispatch.state).dropFirst(Self.text(old.state).count))
                lines.append("show \(Self.text(old.state))>\(Self.text(dispatch.state))")
                unansweredBytes -= dispatch.bodyBytes
                if let follower = followers.removeValue(forKey: name) { send(follower) }
                if dispatch.outcome.holdsQueue { isHeld = true }
                if let echo = echoes.removeValue(forKey: name) { dispatchFromEffect(echo) }
                if machine.yield() { lines.append("again?") }
            case .created(let replies): lines.append("created \(replies.count)")
            case .wasNeverStored: lines.append("was never stored")
            case .considerSnapshot(let head):
                lines.append("snapshot \(head.version)?")
                guard isSnapshotDue else { return }
                isSnapshotDue = false
                machine.beginStorage()
                turn = .storeWhole(head)
            case .store(let turn):
                lines.append(Self.line(of: turn))
                self.turn = turn
            }
        }

        private static func line(of turn: SessionMachine.StorageTurn) -> String {
            switch turn {
            case .create(let batch): "create with \(batch.entries.count)"
            case .storeWhole(let head): "whole at \(head.version)"
            case .append(let batch, let head): "append \(batch.entries.count) after \(head.version)"
            case .delete: "delete"
            }
        }

        private mutating func reduce(_ dispatch: QueuedDispatch) {
            guard case .events(let events) = dispatch.input else { return }
            let name = Self.text(events.box)
            lines.append("reduce \(name)")
            if name.hasSuffix("?") {
                guard !machine.refuse(dispatch, .moved) else { return }
                unansweredBytes -= dispatch.bodyBytes
                return lines.append("refused \(name)")
            }
            if name.hasSuffix("#") {
                machine.reject(dispatch)
                unansweredBytes -= dispatch.bodyBytes
                return lines.append("rejected \(name)")
            }
            let changes = name.hasSuffix("=") ? [] : [StateChange(operation: .replace, path: "/\(name)", value: [0x30])]
            let placement = machine.placement(of: Recording(changes: changes), persists: dispatch.persists)
            machine.accept(
                PendingDispatch(
                    state: TypedBox(Self.text(machine.head) + (changes.isEmpty ? "" : name)),
                    position: placement.position,
                    size: StateSize(atMost: 0),
                    unlogged: placement.unlogged,
                    entry: placement.logged.map {
                        LogEntry(
                            version: placement.position.version,
                            time: 0,
                            commandID: nil,
                            event: [],
                            changes: Array(repeating: 0, count: $0.count)
                        )
                    },
                    outcome: PendingDispatch.Outcome(
                        changes: changes,
                        persists: dispatch.persists,
                        holdsQueue: name.hasSuffix("+")
                    ),
                    bodyBytes: dispatch.bodyBytes,
                    reply: { _ in }
                )
            )
        }

        private mutating func storageDidAnswer() {
            defer { turn = nil }
            switch turn {
            case .create(let batch), .append(let batch, _):
                version += UInt64(batch.entries.count)
                machine.didAppend(SessionHead(epoch: "e", version: version, token: 0))
            case .storeWhole(let head): machine.didStoreSnapshot(head)
            case .delete: lines.append(machine.didDelete() == nil ? "none waits" : "deleted")
            case nil: lines.append("nothing was asked")
            }
        }

        private mutating func tell(_ failed: SessionMachine.FailedRequests) {
            turn = nil
            unansweredBytes -= failed.dispatches.reduce(0) { $0 + $1.bodyBytes }
            unansweredBytes -= failed.queued.reduce(0) { $0 + $1.bodyBytes }
            lines.append(
                "failed \(failed.dispatches.count) \(failed.queued.count) \(failed.creations.count) "
                    + "\(failed.deletion == nil ? 0 : 1)"
            )
        }
    }

    /// Inputs and outputs.
    ///
    /// A bar is at each point at which the machine waits for the next input.
    private static let rows: [(Beginning, String, String)] = [
        // A transient event is visible at once, a durable one after storage has it.
        (.stored, "a", "reduce a, show >a"),
        (.stored, "a!", "reduce a!, append 1 after 3"),
        (.stored, "a! ok", "reduce a!, append 1 after 3 | show >a!, snapshot 4?"),
        // An event that changes nothing is published, and has no entry in the log.
        (.stored, "a=", "reduce a=, show >"),
        // Events become visible in their order: a transient event waits for an earlier durable one.
        (.stored, "a! b", "reduce a!, append 1 after 3 | reduce b"),
        (.stored, "a! b ok", "reduce a!, append 1 after 3 | reduce b | show >a!, show a!>a!b, snapshot 4?"),
        // Durable events that come while storage is busy are appended together. At most two events may be reduced and
        // not yet visible here.
        (
            .stored, "a! b! c! ok",
            "reduce a!, append 1 after 3 | reduce b! |  | show >a!, snapshot 4?, reduce c!, append 2 after 4"
        ),
        // The next durable event stores the changes that transient events made to stored fields, even if it changes
        // nothing itself.
        (.stored, "a b!", "reduce a, show >a | reduce b!, append 1 after 3"),
        // A request that comes while an event is published waits until the publication ends.
        (.stored, "a>b", "reduce a, show >a, reduce b, show a>ab"),
        // If an effect holds the queue, no event is reduced before the effect ends, even if the effect has not begun.
        (.stored, "a+ b done", "reduce a+, show >a+ |  | reduce b, show a+>a+b"),
        (.stored, "a+>b done", "reduce a+, show >a+ | reduce b, show a+>a+b"),
        // An event of an effect waits for a later turn of the loop. Requests that came before it do not wait.
        (.stored, "a~b again", "reduce a, show >a, again? | reduce b, show a>ab"),
        (
            .stored, "c+ a~b d done again",
            "reduce c+, show >c+ |  |  | reduce a, show c+>c+a, again?, reduce d, show c+a>c+ad | reduce b, show c+ad>c+adb"
        ),
        // A deletion waits for the events of effects, too.
        (
            .stored, "a~b! delete again ok ok",
            "reduce a, show >a, again? | reduce b!, append 1 after 3 |  | show a>ab!, snapshot 4?, delete | deleted"
        ),
        // A snapshot is stored before further entries.
        (
            .stored, "a! b! snapshot ok",
            "reduce a!, append 1 after 3 | reduce b! | show >a!, snapshot 4? | append 1 after 4"
        ),
        // No entry follows a document of an earlier schema in the log. The whole state is stored first.
        (
            .migrated, "a! ok ok",
            "reduce a!, whole at 3 | append 1 after 3 | show >a!, snapshot 4?"
        ),
        (.migrated, "a", "reduce a, show >a"),
        // The first event creates the session in storage, even if the event is transient.
        (.new, "a ok", "reduce a, create with 0 | show >a, snapshot 0?"),
        (.new, "a! ok", "reduce a!, create with 1 | show >a!, snapshot 1?"),
        (.new, "create ok", "create with 0 | created 1, snapshot 0?"),
        (.new, "a! create ok", "reduce a!, create with 1 |  | show >a!, created 1, snapshot 1?"),
        // A refused dispatch creates no session. The refusal is answered when the state that the dispatch saw is
        // visible.
        (.new, "a?", "reduce a?, refused a?"),
        (.stored, "a! b? ok", "reduce a!, append 1 after 3 | reduce b? | show >a!, show a!>a!, snapshot 4?"),
        // An event that its reducer rejects is not published, and has no entry in the log.
        (.stored, "a#", "reduce a#, rejected a#"),
        (.new, "a#", "reduce a#, rejected a#"),
        (.stored, "a! b# ok", "reduce a!, append 1 after 3 | reduce b#, rejected b# | show >a!, snapshot 4?"),
        // A failure of storage reverts all changes that are not durable.
        (.stored, "a! b fail c", "reduce a!, append 1 after 3 | reduce b | failed 2 0 0 0 | reduce c, show >c"),
        (.new, "create fail a ok", "create with 0 | failed 0 0 1 0 | reduce a, create with 0 | show >a, snapshot 0?"),
        // A deletion waits for accepted dispatches, and refuses later ones.
        (.stored, "delete ok", "delete | deleted"),
        (
            .stored, "a! delete b ok ok",
            "reduce a!, append 1 after 3 |  | no room for b | show >a!, snapshot 4?, delete | deleted"
        ),
        (.new, "delete", "refused"),
        (.new, "a! delete fail", "reduce a!, create with 1 |  | failed 1 0 0 0, was never stored"),
        // The end of a session fails all requests that wait.
        (.stored, "a+ b c! close d", "reduce a+, show >a+ |  |  | failed 0 2 0 0 | no room for d"),
        (.stored, "a! delete close ok", "reduce a!, append 1 after 3 |  | failed 1 0 0 1 | nothing was asked"),
        // The queue has a limit. The same limit applies to the events that are reduced and not visible.
        (.stored, "a+ b c d", "reduce a+, show >a+ |  |  | no room for d"),
        (
            .stored, "a! b! c! d! ok",
            "reduce a!, append 1 after 3 | reduce b! |  |  | show >a!, snapshot 4?, reduce c!, append 2 after 4"
        ),
    ]

    @Test(arguments: rows.indices) func `a machine requests exactly these actions`(index: Int) {
        let (beginning, script, expected) = Self.rows[index]
        var driver = Driver(beginning, queuedMax: 2)
        var parts: [String] = []
        for word in script.split(separator: " ") {
            driver.lines = []
            driver.take(String(word))
            parts.append(driver.lines.joined(separator: ", "))
        }
        #expect(parts.joined(separator: " | ") == expected, "\(script)")
    }

    @Test(arguments: rows.indices) func `no bytes wait when all dispatches are answered`(index: Int) {
        let (beginning, script, _) = Self.rows[index]
        var driver = Driver(beginning, queuedMax: 2)
        for word in script.split(separator: " ") {
            driver.take(String(word))
            #expect(driver.machine.waitingBytes == driver.unansweredBytes, "\(script), after \(word)")
        }
        driver.take("close")
        #expect(driver.machine.waitingBytes == 0)
        #expect(driver.machine.pendingBytes == 0)
        #expect(!driver.machine.hasQueued && driver.machine.isHeadVisible && driver.machine.effectsToCome == 0)
    }
}
