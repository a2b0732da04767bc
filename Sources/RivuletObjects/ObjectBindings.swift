/// An observed object, and a binding for each of its fields: `$settings.name` is one to `settings.name`.
@dynamicMemberLookup
public struct ObjectBindings<ObjectType: ObservableObject>: Sendable {
    /// The object.
    public let wrappedValue: ObjectType

    /// A binding to a field, whose writes are told as any; it keeps the object.
    public subscript<Field: Sendable>(
        dynamicMember keyPath: any ReferenceWritableKeyPath<ObjectType, Field> & Sendable
    ) -> Binding<Field> {
        let object = wrappedValue
        return Binding(get: { object[keyPath: keyPath] }, set: { object[keyPath: keyPath] = $0 })
    }
}
