/// Makes the objects that views show.
///
/// Source: <Tests/Rows/Systems.md#d-28>.
public protocol StateObjectFactory: Sendable {
    /// A new object that follows the state; nil for a type that the factory does not know.
    func makeStateObject<T>() -> T?
}
