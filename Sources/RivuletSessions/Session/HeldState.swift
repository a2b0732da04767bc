/// A state as it was at one moment.
///
/// A class: an optional of a state whose type is the app's is handled by way of its metadata, several times in a dispatch.
final class HeldState<State> {
    let state: State

    init(_ state: State) {
        self.state = state
    }
}
