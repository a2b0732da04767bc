// This file owns the reports on elements of a keyed collection, each at its own path.

public import RivuletJSON

extension Generated.ChangeCollector {
    /// Compares an element; if the serial is nil, compares it as a whole.
    @inlinable
    mutating func element<Value: StateNode>(_ token: String, _ old: Value, _ new: Value, serial: UInt64?) {
        enter(token) { $0.node(old, new, serial: serial, isReplaceable: false) }
    }

    /// Reports an added element, to be inserted at an index.
    @inlinable
    mutating func addition<Value: StateNode>(of element: Value, _ token: String, at index: Int) {
        enter(token) { collector in
            collector.report(.add, index: index) { element.encodeJSON(into: &$0) }
            collector.collectCoercions(isNew: true) {
                _ = Value._$collect(from: element, to: element, serial: nil, into: &$0)
            }
        }
    }

    /// Reports a removed element.
    @usableFromInline
    mutating func removal(of token: String) {
        enter(token) { $0.report(.remove, index: nil) }
    }

    /// Reports a moved element, to be taken out and inserted at an index.
    @usableFromInline
    mutating func move(of token: String, to index: Int) {
        enter(token) { $0.report(.move, index: index) }
    }

    /// Runs `body` with the path of the element with this token.
    @inlinable
    mutating func enter(_ token: String, _ body: (inout Generated.ChangeCollector) -> Void) {
        let outer = path
        path += "/"
        path += JSONPointer.escape(token)
        body(&self)
        path = outer
    }
}
