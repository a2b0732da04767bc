import Observation

/// The observers that read a value as a whole: by a comparison, its hash, its JSON or Codable.
///
/// Every write to the value and below notifies them. They belong to the node of the value, and the nodes below have
/// references to them. They have no reference to a node, so that a node is freed with its last value.
final class WholeReaders: Observable, Sendable {
    private let registrar = ObservationRegistrar()

    /// The property by which the registrar identifies the value.
    private var value: Void { () }

    /// Records a read of the value.
    func access() {
        registrar.access(self, keyPath: \.value)
    }

    /// Notifies the observers that a part of the value is about to change.
    func willSet() {
        registrar.willSet(self, keyPath: \.value)
    }

    /// Notifies the observers that a part of the value has changed.
    func didSet() {
        registrar.didSet(self, keyPath: \.value)
    }
}
