// This file owns the assertions about events that effects dispatch.

import RivuletEngine
import RivuletJSON
import RivuletObservation
public import Testing

extension TestStore {
    /// Asserts the next event that effects have dispatched, and its change of the state.
    ///
    /// Events are compared by their JSON forms. If ``exhaustivity`` is off, earlier events are skipped.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - duration: The maximum time by which the clock is moved until the event comes.
    ///   - sourceLocation: The position at which failures are reported.
    ///   - change: Turns the state before the event into the expected state, as in ``send(_:sourceLocation:change:)``.
    public nonisolated(nonsending) func receive(
        _ event: Event,
        within duration: Duration = .zero,
        sourceLocation: SourceLocation = #_sourceLocation,
        change: ((inout State) throws -> Void)? = nil
    ) async {
        let form = event.testForm
        guard
            let received = await next(form, within: duration, at: sourceLocation, where: { $0.testForm == form })
        else { return }
        if let rejection = received.rejection {
            fail("\(form), which an effect dispatched, was rejected: \(rejection)")
        } else {
            compare(received.before, received.after, after: form, change)
        }
    }

    /// Asserts that the next event meets a condition, and asserts the event's change of the state.
    ///
    /// Use it for events with payloads that the test does not know.
    public nonisolated(nonsending) func receive(
        where isExpected: (Event) -> Bool,
        within duration: Duration = .zero,
        sourceLocation: SourceLocation = #_sourceLocation,
        change: ((inout State) throws -> Void)? = nil
    ) async {
        guard let received = await next("a matching event", within: duration, at: sourceLocation, where: isExpected)
        else { return }
        let form = received.event.testForm
        if let rejection = received.rejection {
            fail("\(form), which an effect dispatched, was rejected: \(rejection)")
        } else {
            compare(received.before, received.after, after: form, change)
        }
    }

    /// Asserts that a reducer rejected the next event that effects have dispatched, and the rejection's message.
    public nonisolated(nonsending) func receive(
        _ event: Event,
        expectRejection message: String,
        within duration: Duration = .zero,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let form = event.testForm
        guard
            let received = await next(form, within: duration, at: sourceLocation, where: { $0.testForm == form })
        else { return }
        guard let rejection = received.rejection else {
            return fail("\(form) was accepted; expected the rejection \"\(message)\"")
        }
        if rejection != message {
            fail("\(form) was rejected with another message: expected \"\(message)\", was \"\(rejection)\"")
        }
    }

    /// Takes the next event, waits for it if needed, and reports a failure if it is not the expected event.
    private nonisolated(nonsending) func next(
        _ name: String,
        within duration: Duration,
        at sourceLocation: SourceLocation,
        where isExpected: (Event) -> Bool
    ) async -> ReceivedEvent<Definition>? {
        setSourceLocation(sourceLocation)
        let skips = exhaustivity == .off
        await wait(within: duration) {
            skips ? received.contains { isExpected($0.event) } : !received.isEmpty
        }
        let found = skips ? received.firstIndex { isExpected($0.event) } : received.indices.first
        guard let found else {
            fail("\(name) was not received: no effect has dispatched \(received.isEmpty ? "anything" : "it")")
            return nil
        }
        let event = received[found]
        received.removeFirst(found + 1)
        state = event.after
        guard isExpected(event.event) else {
            fail("\(name) was expected, \(event.event.testForm) was received")
            return nil
        }
        return event
    }
}

/// The outcome of an event that an effect dispatched.
struct ReceivedEvent<Definition: AppDefinition> {
    let event: Definition.Event
    let before: Definition.State
    let after: Definition.State
    /// The message with which the reducers rejected the event; nil if they accepted it.
    let rejection: String?
}

extension AppEvent where Self: EventCoding {
    /// The JSON form by which tests name and compare events, also events that are not `Equatable`.
    var testForm: String {
        var writer = JSONWriter()
        encodeJSON(into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
