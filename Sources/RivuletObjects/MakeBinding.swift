/// Makes a binding whose writes are sent on, best as an event; a value that equals the one that `get` gives is not sent.
///
/// What `get` gives changes when the event has been reduced, not before. Source: <Tests/Rows/Systems.md#d-29>.
public func makeBinding<T: Equatable & Sendable>(
    get: @escaping @Sendable () -> T,
    send: @escaping @Sendable (T) -> Void
) -> Binding<T> {
    Binding(
        get: get,
        set: { newValue in
            guard newValue != get() else { return }
            send(newValue)
        }
    )
}
