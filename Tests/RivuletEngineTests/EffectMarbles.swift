// Owns time diagrams for the tests of effects: lines of events, with one character for each tenth of a second.

import RivuletEngine
import RivuletObservation

/// The events of the diagrams, each a character.
@AppEvent
enum Marble: Equatable {
    case mark(String)

    var persist: Bool { false }
    var isUIEvent: Bool { false }

    var text: String {
        switch self {
        case .mark(let text): text
        }
    }
}

/// Runs effects against a clock that moves from character to character.
struct EffectMarbles {
    static let tick = Duration.milliseconds(100)

    private(set) var scheduler: EffectScheduler<Marble>
    /// The running tasks of effects, in the order of their start.
    private(set) var works: [EffectTaskID] = []
    /// The cancelled tasks, in order.
    private(set) var cancelled: [EffectTaskID] = []
    private(set) var faults: [String] = []
    private(set) var now: Duration = .zero
    private var line = ""
    /// True if the queue takes each event at once.
    ///
    /// If it is false, a tick stays in the queue.
    var takesTicks = true

    init(limits: EngineLimits = EngineLimits()) {
        scheduler = EffectScheduler(limits: limits)
    }

    /// Plays a line of events, and returns the line of the dispatched events.
    ///
    /// Each character but `-` begins the effect of its event.
    ///
    /// In the result, each character is at the time of its event's dispatch. Several events of one moment are in
    /// parentheses.
    mutating func play(_ input: String, _ effect: (String) -> Effect<Marble>) -> String {
        var output = ""
        for character in input {
            line = ""
            if scheduler.nextDeadline.map({ $0 <= now }) == true { perform(scheduler.alarmDidRing(now: now)) }
            if character != "-" { begin(effect(String(character)), of: String(character)) }
            output += line.count > 1 ? "(\(line))" : line.isEmpty ? "-" : line
            now += Self.tick
        }
        return output
    }

    /// Begins the effect of an event now, and returns the events that it dispatches at once.
    @discardableResult
    mutating func begin(_ effect: Effect<Marble>, of name: String = "e", chain: EffectChain? = nil) -> String {
        begin([EventEffect(eventName: name, effect: effect)], chain: chain)
    }

    /// Begins the effects of a dispatch now, and returns the events that they dispatch at once.
    @discardableResult
    mutating func begin(_ effects: [EventEffect<Marble>], chain: EffectChain? = nil) -> String {
        noting { $0.perform($0.scheduler.begin(effects, chain: chain, now: $0.now)) }
    }

    /// Ends a task, and returns the events that are dispatched then.
    @discardableResult
    mutating func finish(_ id: EffectTaskID, isDone: Bool = true) -> String {
        noting { marbles in
            marbles.works.removeAll { $0 == id }
            marbles.perform(marbles.scheduler.workDidEnd(id, isDone: isDone, now: marbles.now))
        }
    }

    /// Moves the clock, and returns the events that are dispatched then.
    @discardableResult
    mutating func advance(by duration: Duration) -> String {
        noting { marbles in
            marbles.now += duration
            marbles.perform(marbles.scheduler.alarmDidRing(now: marbles.now))
        }
    }

    mutating func stop() { perform(scheduler.stop()) }

    private mutating func noting(_ change: (inout Self) -> Void) -> String {
        let before = line.count
        change(&self)
        return String(line.dropFirst(before))
    }

    private mutating func perform(_ actions: [EffectScheduler<Marble>.Action]) {
        for action in actions {
            switch action {
            case .dispatch(let event, let source):
                line += event.text
                if takesTicks, let tick = source.tick { scheduler.tickDidEnd(tick) }
            case .start(let id, _, _): works.append(id)
            case .cancel(let id):
                works.removeAll { $0 == id }
                cancelled.append(id)
            case .report(let fault, let eventName): faults.append("\(eventName): \(fault)")
            }
        }
    }
}
