package import RivuletObservation

/// Runs an app's reducers under the change recorder.
///
/// Pure: no clock, no storage, no threads. A class, because code that is compiled once for all apps has to make the metadata of a
/// struct like this one at each call.
package final class EventEngine<Definition: AppDefinition>: Sendable {
    package typealias State = Definition.State
    package typealias Event = Definition.Event

    package let definition: Definition
    package let bindings: StateBindings<Event>
    package let views: [StateView<State>]
    /// How large the default state is as JSON.
    package let defaultStateBytes: Int
    /// Whether a loaded state may have transient fields that neither its document nor the default state has.
    package let hasTransientElements: Bool
    /// All reducers, in their order.
    ///
    /// A closure, because an array of a generic type is walked with metadata that is looked up at each event.
    private let reduce: @Sendable (inout State, QueuedEvent, inout ReducerEffects) throws -> Void

    /// What one atomic dispatch did.
    package struct Step: Sendable {
        package let recording: Recording
        /// The effects of its events; nil when none has any.
        package let effectList: EffectList<Event>?

        /// The effects of its events that have any, in their order.
        package var effects: [EventEffect<Event>] { effectList?.effects ?? [] }
    }

    package init(_ definition: Definition) {
        self.definition = definition
        reduce = Self.joined(definition.reducers)
        bindings = StateBindings(definition.bindings)
        views = definition.views
        defaultStateBytes = definition.defaultState.jsonBytes().count
        hasTransientElements = State._$hasTransientElements
    }

    /// Applies the events in order as one transaction: all of them, or, when one is rejected, none.
    ///
    /// `notes` are those of reading the events.
    /// - Throws: the ``RefusedEvent`` that a reducer rejected, or a ``ReducerFailure``; the state is as it was, and nothing follows.
    package func apply(_ events: [Event], notes: CoercionNotes? = nil, to state: inout State) throws -> Step {
        var effects: EffectList<Event>?
        let recording = try ChangeRecorder.record(&state, notes: notes) { state in
            // By index: an iterator of a generic type is made from its metadata at each dispatch.
            for index in 0..<events.count { try take(events[index], at: index, &state, &effects) }
        }
        return Step(recording: recording, effectList: effects)
    }

    /// Applies one event, as nearly every dispatch has it, without an array.
    package func apply(_ event: Event, notes: CoercionNotes?, to state: inout State) throws -> Step {
        var effects: EffectList<Event>?
        let recording = try ChangeRecorder.record(&state, notes: notes) { state in
            try take(event, at: 0, &state, &effects)
        }
        return Step(recording: recording, effectList: effects)
    }

    /// Applies an event of a transaction, and adds its effect.
    private func take(
        _ event: Event,
        at index: Int,
        _ state: inout State,
        _ effects: inout EffectList<Event>?
    ) throws {
        let effect: Effect<Event>
        do {
            effect = try apply(event, to: &state)
        } catch let error as EventRejection {
            throw RefusedEvent(index: index, eventName: event.eventName, rejection: error)
        } catch {
            throw ReducerFailure(eventName: event.eventName, error: error)
        }
        guard !effect.isNone else { return }
        effects = EffectList(EventEffect(eventName: event.eventName, effect: effect), after: effects)
    }

    /// Runs the reducers, and gives what they and the app want done, in this order, as one effect.
    private func apply(_ event: Event, to state: inout State) throws -> Effect<Event> {
        let queuedEvent = QueuedEvent(event: event)
        var asked = ReducerEffects()
        try reduce(&state, queuedEvent, &asked)
        guard let ofReducers = asked.merged(as: Event.self) else { throw ForeignEffect() }
        let ofApp = definition.effect(of: event, state: state)
        return ofReducers.isNone ? ofApp : .merge(ofReducers, ofApp)
    }

    private static func joined(
        _ reducers: [AnyReducer<State>]
    ) -> @Sendable (inout State, QueuedEvent, inout ReducerEffects) throws -> Void {
        if reducers.count == 1 { return reducers[0].body }
        return { state, queuedEvent, effects in
            for reducer in reducers { try reducer.body(&state, queuedEvent, &effects) }
        }
    }

    /// A reducer asks for an effect that dispatches events of another type than the app's.
    private struct ForeignEffect: Error, CustomStringConvertible {
        var description: String { "a reducer asks for an effect that dispatches other events than \(Event.self)" }
    }
}

/// The event at which a reducer threw an ``EventRejection``.
package struct RefusedEvent: Error, Hashable {
    /// Its place among the events of its transaction, from 0.
    package let index: Int
    package let eventName: String
    package let rejection: EventRejection

    package init(index: Int, eventName: String, rejection: EventRejection) {
        self.index = index
        self.eventName = eventName
        self.rejection = rejection
    }
}

/// What a reducer threw that is no ``EventRejection``: a fault of the app, not of the event's sender.
package struct ReducerFailure: Error {
    /// The event at which it failed.
    package let eventName: String
    package let error: any Error
}
