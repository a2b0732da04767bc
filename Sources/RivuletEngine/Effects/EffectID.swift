/// The name of an effect within its session: any hashable value, equal only to a value of the same type.
package struct EffectID: Hashable, Sendable, CustomStringConvertible {
    private let base: any Hashable & Sendable

    package init(_ base: some Hashable & Sendable) {
        self.base = base
    }

    package var description: String { "\(base)" }

    package static func == (left: EffectID, right: EffectID) -> Bool {
        left.hashable == right.hashable
    }

    package func hash(into hasher: inout Hasher) {
        hashable.hash(into: &hasher)
    }

    private var hashable: AnyHashable { AnyHashable(base) }
}
