import Observation

/// The observers that read a value by a comparison, its hash, its JSON or Codable; every write to it and below tells them.
///
/// They belong to the place of the value, and the places below know them, not the other way round: so that a place goes with the
/// last value in it.
final class WholeReaders: Observable, Sendable {
    private let registrar = ObservationRegistrar()

    /// What stands for the value.
    private var value: Void { () }

    /// Notes that the value is read.
    func access() {
        registrar.access(self, keyPath: \.value)
    }

    /// Tells that a part of the value is about to change.
    func willSet() {
        registrar.willSet(self, keyPath: \.value)
    }

    /// Tells that a part of the value has changed.
    func didSet() {
        registrar.didSet(self, keyPath: \.value)
    }
}
