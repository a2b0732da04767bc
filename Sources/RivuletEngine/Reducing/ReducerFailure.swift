/// What a reducer threw that is no ``EventRejection``: a fault of the app, not of the event's sender.
package struct ReducerFailure: Error {
    /// The event at which it failed.
    package let eventName: String
    package let error: any Error
}
