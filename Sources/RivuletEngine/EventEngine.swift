// Part of Rivulet. See README.md for the architecture.
// Owns one step of an app: events in, a changed state and its recorded changes out.

package import RivuletObservation

/// Runs an app's reducers under the change recorder.
///
/// Pure: no clock, no storage, no threads.
package struct EventEngine<Definition: AppDefinition>: Sendable {
    package typealias State = Definition.State
    package typealias Event = Definition.Event

    package let definition: Definition
    package let bindings: StateBindings<Event>
    private let reducers: [AnyReducer<State>]

    /// What one atomic dispatch did.
    package struct Step: Sendable {
        package let recording: Recording
        /// The effects of its events that have any, in their order.
        package let effects: [Effect<Event>]
    }

    package init(_ definition: Definition) {
        self.definition = definition
        reducers = definition.reducers
        bindings = StateBindings(definition.bindings)
    }

    /// Applies the events in order as one transaction: all of them, or, when one is rejected, none.
    ///
    /// `notes` are those of reading the events.
    package func apply(_ events: [Event], notes: CoercionNotes? = nil, to state: inout State) throws -> Step {
        var effects: [Effect<Event>] = []
        let recording = try ChangeRecorder.record(&state, notes: notes) { state in
            for event in events {
                let queuedEvent = QueuedEvent(event: event)
                for reducer in reducers {
                    try reducer.reduce(into: &state, queuedEvent: queuedEvent)
                }
                if case let effect = definition.effect(of: event, state: state), effect.isSome {
                    effects.append(effect)
                }
            }
        }
        return Step(recording: recording, effects: effects)
    }
}

extension Effect {
    /// Whether anything follows.
    var isSome: Bool {
        if case .none = self { false } else { true }
    }
}
