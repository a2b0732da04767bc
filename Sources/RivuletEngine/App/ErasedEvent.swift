/// An event of any type.
///
/// The effects of a manager's reducers dispatch it.
package struct ErasedEvent: AppEvent {
    /// The event that reducers see.
    package let event: any AppEvent

    package init(_ event: any AppEvent) {
        self.event = event
    }

    package var persist: Bool { event.persist }
    package var isUIEvent: Bool { event.isUIEvent }

    package func encode(to encoder: any Encoder) throws {
        try event.encode(to: encoder)
    }

    /// Always throws, because the type to read is unknown.
    package init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "an event of no known type")
        )
    }
}

/// An effect of any event type.
protocol ErasableEffect: Sendable {
    /// The same effect with erased events.
    var erased: Effect<ErasedEvent> { get }
}

extension Effect: ErasableEffect {
    var erased: Effect<ErasedEvent> {
        let erased: Effect<ErasedEvent>.Operation =
            switch operation {
            case .none: .none
            case .dispatch(let events): .dispatch(events.map { ErasedEvent($0) })
            case .run(let work, let order): .run(work.erased, order)
            case .merge(let effects): .merge(effects.map(\.erased))
            case .concatenate(let effects): .concatenate(effects.map(\.erased))
            case .cancel(let id): .cancel(id)
            case .cancellable(let effect, let id, let inFlight): .cancellable(effect.erased, id, inFlight)
            case .detached(let effect): .detached(effect.erased)
            case .sleep(let duration): .sleep(duration)
            case .ticks(let event, let interval): .ticks(ErasedEvent(event), interval: interval)
            case .throttle(let effect, let id, let interval, let latest):
                .throttle(effect.erased, id, interval: interval, latest: latest)
            }
        return Effect<ErasedEvent>(erased)
    }
}

extension Effect.Work {
    fileprivate var erased: Effect<ErasedEvent>.Work {
        var erasedHandler: (@Sendable (_ error: any Error, _ dispatch: EffectDispatch<ErasedEvent>) async -> Void)?
        if let handler {
            erasedHandler = { error, dispatch in await handler(error, dispatch.typed(as: Event.self)) }
        }
        let body = body
        return Effect<ErasedEvent>.Work(
            body: { dispatch in try await body(dispatch.typed(as: Event.self)) },
            handler: erasedHandler
        )
    }
}

extension EffectDispatch<ErasedEvent> {
    /// Returns the same handle for events of one type.
    fileprivate func typed<Typed: AppEvent>(as type: Typed.Type) -> EffectDispatch<Typed> {
        EffectDispatch<Typed>(clock: clock) { self(ErasedEvent($0)) }
    }
}
