package import RivuletObservation

/// Runs an app's reducers under the change recorder.
///
/// Pure: no clock, no storage, no threads. It is a class because code that is compiled once for all apps would create
/// the metadata of a generic struct at each call.
package final class EventEngine<Definition: AppDefinition>: Sendable {
    package typealias State = Definition.State
    package typealias Event = Definition.Event

    package let definition: Definition
    package let bindings: StateBindings<Event>
    package let views: [StateView<State>]
    /// The size of the default state as JSON, in bytes.
    package let defaultStateBytes: Int
    /// True if a loaded state may have transient fields that neither its document nor the default state has.
    package let hasTransientElements: Bool
    /// Runs all reducers in order.
    ///
    /// It is a closure because a loop over an array of a generic type looks up metadata at each event.
    private let reduce: @Sendable (inout State, QueuedEvent, inout ReducerEffects) throws -> Void

    /// The result of one atomic dispatch.
    package struct Step: Sendable {
        package let recording: Recording
        /// The effects of the events; nil if there are none.
        package let effectList: EffectList<Event>?

        /// The effects, in the order of their events; events without an effect add none.
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

    /// Applies the events in order as one transaction.
    ///
    /// If one event is rejected, none is applied.
    ///
    /// `records` has the coercions that reading the events caused.
    /// - Throws: A ``RejectedEventError`` if a reducer rejected an event, or a ``ReducerError``. The state is unchanged
    ///   then, and there are no effects.
    package func apply(_ events: [Event], records: CoercionRecords? = nil, to state: inout State) throws -> Step {
        var effects: EffectList<Event>?
        let recording = try ChangeRecorder.record(&state, records: records) { state in
            // By index, because an iterator of a generic type is made from its metadata at each dispatch.
            for index in 0..<events.count { try take(events[index], at: index, &state, &effects) }
        }
        return Step(recording: recording, effectList: effects)
    }

    /// Applies one event without an array.
    ///
    /// Nearly every dispatch has only one event.
    package func apply(_ event: Event, records: CoercionRecords?, to state: inout State) throws -> Step {
        var effects: EffectList<Event>?
        let recording = try ChangeRecorder.record(&state, records: records) { state in
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
        } catch let error as RejectionError {
            throw RejectedEventError(index: index, eventName: event.eventName, rejection: error)
        } catch {
            throw ReducerError(eventName: event.eventName, error: error)
        }
        guard !effect.isNone else { return }
        effects = EffectList(EventEffect(eventName: event.eventName, effect: effect), after: effects)
    }

    /// Runs the reducers, and returns the effects of the reducers and of the app, in this order, as one effect.
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

    /// A reducer returned an effect that dispatches events of another type than the app's.
    private struct ForeignEffect: Error, CustomStringConvertible {
        var description: String { "a reducer returned an effect whose events are not of the type \(Event.self)" }
    }
}

/// The error of an event that a reducer rejected by a ``RejectionError``.
package struct RejectedEventError: Error, Hashable {
    /// The position among the events of its transaction, from 0.
    package let index: Int
    package let eventName: String
    package let rejection: RejectionError

    package init(index: Int, eventName: String, rejection: RejectionError) {
        self.index = index
        self.eventName = eventName
        self.rejection = rejection
    }
}

/// An error of a reducer that is not a ``RejectionError``: a bug of the app, not an error of the event's sender.
package struct ReducerError: Error {
    /// The event at which the reducer failed.
    package let eventName: String
    package let error: any Error
}
