// This file owns the tests of @StateForwarder: its members in their order, and its diagnostics.

import SwiftDiagnostics
import Testing

@Suite
struct StateForwarderMacroTests {
    @Test
    func `D-24, D-25, D-26, D-27: the members are in order, and members for a hosted session are last`() {
        expectExpansion(
            #"""
            @StateForwarder(
                for: MyStateObject.self,
                mapping: [
                    (\AppState.p.counter, \MyStateObject.counter),
                    (\AppState.p.mode, \MyStateObject.mode),
                ]
            )
            public final class MyForwarder: StateListener {}
            """#,
            to: #"""
                public final class MyForwarder: StateListener {

                    var receiver: MyStateObject? {
                        get {
                            _$receiver.object
                        }
                        set {
                            _$receiver.object = newValue
                        }
                    }

                    public var zombie: Swift.Bool {
                        get {
                            _$receiver.isZombie
                        }
                        set {
                            _$receiver.isZombie = newValue
                        }
                    }

                    let stateManager: AppUIStateManager

                    public init(stateManager: AppUIStateManager) {
                        self.stateManager = stateManager
                    }

                    public func getStateObject() -> MyStateObject {
                        let stateObject = Self.makeObject(from: stateManager.getState())
                        receiver = stateObject
                        stateManager.addListener(self)
                        return stateObject
                    }

                    public func updateState(_ stateHolder: Swift.AnyObject) {
                        guard let stateHolder = stateHolder as? AppStateHolder, let receiver else {
                            return
                        }
                        Self.forward(stateHolder.state, to: receiver)
                    }

                    private let _$receiver = RivuletObservation.Generated.ForwarderReceiver<MyStateObject>()

                    public static func makeObject(from state: AppState) -> MyStateObject {
                        MyStateObject(
                            counter: state[keyPath: \AppState.p.counter],
                            mode: state[keyPath: \AppState.p.mode]
                        )
                    }

                    public static func forward(_ state: AppState, to receiver: MyStateObject) {
                        let _forwardValue0 = state[keyPath: \AppState.p.counter]
                        let _forwardValue1 = state[keyPath: \AppState.p.mode]
                        if receiver[keyPath: \MyStateObject.counter] != _forwardValue0 {
                            receiver[keyPath: \MyStateObject.counter] = _forwardValue0
                        }
                        if receiver[keyPath: \MyStateObject.mode] != _forwardValue1 {
                            receiver[keyPath: \MyStateObject.mode] = _forwardValue1
                        }
                    }

                    public static var forwardedFields: [RivuletEngine.ForwardedField<AppState, MyStateObject>] {
                        [
                            RivuletEngine.ForwardedField("counter", ["p", "counter"], \AppState.p.counter, \MyStateObject.counter, owners: [\AppState.p]),
                            RivuletEngine.ForwardedField("mode", ["p", "mode"], \AppState.p.mode, \MyStateObject.mode, owners: [\AppState.p]),
                        ]
                    }
                }

                extension MyForwarder: StateForwarding {
                }
                """#
        )
    }

    @Test
    func `a forwarder of a named state has forwarding members only, and may be an enum`() {
        expectExpansion(
            #"""
            @StateForwarder(for: V.self, from: TodosApp.State.self, mapping: [(\TodosApp.State.p.a.b, \V.b)])
            enum F {}
            """#,
            to: #"""
                enum F {

                    public static func makeObject(from state: TodosApp.State) -> V {
                        V(
                            b: state[keyPath: \TodosApp.State.p.a.b]
                        )
                    }

                    public static func forward(_ state: TodosApp.State, to receiver: V) {
                        let _forwardValue0 = state[keyPath: \TodosApp.State.p.a.b]
                        if receiver[keyPath: \V.b] != _forwardValue0 {
                            receiver[keyPath: \V.b] = _forwardValue0
                        }
                    }

                    public static var forwardedFields: [RivuletEngine.ForwardedField<TodosApp.State, V>] {
                        [
                            RivuletEngine.ForwardedField("b", ["p", "a", "b"], \TodosApp.State.p.a.b, \V.b, owners: [\TodosApp.State.p, \TodosApp.State.p.a]),
                        ]
                    }
                }

                extension F: StateForwarding {
                }
                """#
        )
    }

    @Test
    func `arguments without labels are used in order, and a label is a path's last component`() {
        let text = expansion(of: #"@StateForwarder(V.self, [(\S.a, \V.deep.b)]) final class F {}"#)
        #expect(text.contains(#"b: state[keyPath: \S.a]"#))
        #expect(text.contains(#"if receiver[keyPath: \V.deep.b] != _forwardValue0 {"#))
        #expect(text.contains("public static func makeObject(from state: S) -> V {"))
    }

    @Test(arguments: [
        (
            #"@StateForwarder(for: V.self, mapping: [(\S.a, \V.b)]) struct F {}"#,
            "@StateForwarder can only be used on classes"
        ),
        ("@StateForwarder final class F {}", "@StateForwarder requires arguments"),
        (#"@StateForwarder(mapping: [(\S.a, \V.b)]) final class F {}"#, "@StateForwarder requires `for` type argument"),
        ("@StateForwarder(for: V.self) final class F {}", "@StateForwarder requires mapping"),
        ("@StateForwarder(for: V.self, mapping: []) final class F {}", "@StateForwarder requires mapping"),
        (
            #"@StateForwarder(for: .self, mapping: [(\S.a, \V.b)]) final class F {}"#,
            "@StateForwarder requires a valid type reference"
        ),
        (
            "@StateForwarder(for: V.self, mapping: pairs) final class F {}",
            "@StateForwarder mapping must be an array of tuples"
        ),
        (
            #"@StateForwarder(for: V.self, mapping: [\S.a]) final class F {}"#,
            "@StateForwarder mapping entries must be tuple pairs"
        ),
        (
            #"@StateForwarder(V.self, [(\S.a, \V.b, \V.c)]) final class F {}"#,
            "@StateForwarder mapping entries must be tuple pairs"
        ),
        (#"@StateForwarder(V.self, [(\S.a, \V.self)]) final class F {}"#, "Key path must include a property name"),
        (#"@StateForwarder(V.self, [(\S.a, \V.b[0])]) final class F {}"#, "Key path must include a property name"),
    ])
    func `D-24: a wrong argument is one error, in upstream's words`(source: String, message: String) {
        #expect(faults(in: source).map(\.message) == [message])
    }
}
