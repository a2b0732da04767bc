// Part of Rivulet. See README.md for the architecture.
// Owns the error of a reducer that failed instead of rejecting.

/// What a reducer threw that is no ``EventRejection``: a fault of the app, not of the event's sender.
package struct ReducerFailure: Error {
    /// The event at which it failed.
    package let eventName: String
    package let error: any Error
}
