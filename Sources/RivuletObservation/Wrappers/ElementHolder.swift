/// A type that is made of values of other types.
protocol ElementHolder {
    static var elements: [Any.Type] { get }
}

extension Optional: ElementHolder {
    static var elements: [Any.Type] { [Wrapped.self] }
}

extension Keyed: ElementHolder {
    static var elements: [Any.Type] { [Element.self] }
}

extension Array: ElementHolder {
    static var elements: [Any.Type] { [Element.self] }
}

extension Set: ElementHolder {
    static var elements: [Any.Type] { [Element.self] }
}

extension Dictionary: ElementHolder {
    static var elements: [Any.Type] { [Key.self, Value.self] }
}
