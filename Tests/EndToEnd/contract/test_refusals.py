# Compiles states and events with types that JSON does not support, against the modules of the build. Each gives one
# error with its fix.
"""The compiler's errors for an invalid app. No server runs here."""

import pathlib
import re
import subprocess

import pytest

from harness import PATIENCE, ROOT, binary

FIELD = "a field of a state needs a type that JSON can have"
VALUE = "a value of a case needs a type that JSON can have"
BOXED = "@ObservableStateWrapper(Box<Plain>.self) @ObservationStateIgnored var x: Plain"
WRAPPED = "@Wrapped(Boxed.self) var x: Plain"


def errors(folder, declaration):
    """The compiler's errors for a declaration beside a type `Plain` that is not Codable."""
    built = pathlib.Path(binary()).resolve().parent
    macros = built / "RivuletMacros-tool"
    if not macros.exists():
        pytest.skip(f"{built} has no modules: the binary was built elsewhere")
    source = folder / "Refused.swift"
    source.write_text(f"import RivuletEngine\nimport RivuletJSON\nimport RivuletObservation\nstruct Plain {{}}\n{declaration}\n")
    # The module map of a C target is in the build folder if it is not beside the headers.
    maps = (ROOT / "Sources" / "CCurrentRun").rglob("module.modulemap"), (built / "CCurrentRun.build").rglob("module.modulemap")
    options = [part for found in maps for path in found for part in ("-Xcc", f"-fmodule-map-file={path}")]
    # With -typecheck, the compiler leaves out bodies of generated members that nothing calls.
    compilation = subprocess.run(
        ["swiftc", "-emit-object", "-o", str(folder / "Refused.o"), "-swift-version", "6", "-diagnostic-style", "llvm", "-I", str(built / "Modules"),
         "-load-plugin-executable", f"{macros}#RivuletMacros", *options, str(source)],
        capture_output=True, text=True, timeout=PATIENCE,
    )
    found = [line.split(": error: ", 1)[1] for line in compilation.stderr.splitlines() if ": error: " in line]
    assert (compilation.returncode == 0) == (found == []), compilation.stderr
    return found


@pytest.mark.parametrize(("declaration", "message"), [
    ("@ObservableState struct A { var x: Plain }", FIELD),
    ("@ObservableState struct A { var x = Plain() }", FIELD),
    ("@ObservableState struct A { var x: [Plain]? }", FIELD),
    (f"@ObservableState struct A {{ {BOXED} }}", FIELD),
    (f"@ObservableState struct A {{ {BOXED} = Plain() }}", FIELD),
    (f"@ObservableState struct A {{ {WRAPPED} }}", FIELD),
    (f"@ObservableState struct A {{ {WRAPPED} = Plain() }}", FIELD),
    ("@ObservableState enum A { case none, some(Plain) }", VALUE),
    ("@ObservableState enum A { case none, some(x: Plain) }", VALUE),
    ("@AppEvent enum A { case none, some(Plain) }", VALUE),
    ("@AppEvent enum A { case none, some(x: Plain, y: Int) }", VALUE),
])
def test_a_type_that_json_does_not_support_is_one_error(tmp_path, declaration, message):
    found = errors(tmp_path, declaration)
    assert len(found) == 1 and message in found[0], found


def test_a_type_that_json_supports_is_no_error(tmp_path):
    state = "@ObservableState struct A { var x: [Int]?; @Transient var y = 1 }"
    assert errors(tmp_path, f"{state}\n@AppEvent enum E {{ case a(Int) }}") == []


def binding(event, values):
    return f"@AppEvent enum E {{ case a({values}) }}\nlet bindings: [StateBinding<E>] = [StateBinding(\"/p/x/*/y\", {event})]"


@pytest.mark.parametrize(("event", "values"), [
    ("E.a", "Double, Int"),
    ("E.a(x:y:)", "x: Double, y: Int"),
    ("{ (x: Double, y: Int) in .a(x, y) }", "Double, Int"),
])
def test_the_error_of_a_binding_without_an_id_lists_the_types_of_ids(tmp_path, event, values):
    found = errors(tmp_path, binding(event, values))
    assert len(found) == 1 and "a String, an integer, a UUID or another type that conforms to KeyedID" in found[0], found


@pytest.mark.parametrize("event", ["E.a", "{ .a($0, $1) }", "{ (x: Int, y: Int) in .a(x, y) }"])
def test_a_binding_whose_event_gets_an_id_is_no_error(tmp_path, event):
    assert errors(tmp_path, binding(event, "Int, Int")) == []


def test_a_field_that_is_not_on_disk_needs_a_value(tmp_path):
    found = errors(tmp_path, "@ObservableState struct A { @Transient var x: Int }")
    assert len(found) == 1 and found[0].startswith("'x' needs an initial value"), found
    omitted = "@ObservableStateWrapper(OmitCoding<Int>.self) @ObservationStateIgnored var x: Int"
    found = errors(tmp_path, f"@ObservableState struct A {{ {omitted} }}")
    assert len(found) == 1 and found[0].startswith("'x' needs an initial value, because a field in OmitCoding"), found
    found = errors(tmp_path, "@ObservableState struct A { @Wrapped(Omitted.self) var x: Int }")
    assert len(found) == 1 and found[0].startswith("'x' needs an initial value, because a field in Omitted "), found


@pytest.mark.parametrize(("field", "message"), [
    ("@Wrapped(Boxed.self) var x = text()", "'@Wrapped' needs the type of the field"),
    ("@Wrapped(Boxed.self) @ObservationStateIgnored var x = 1", "remove '@ObservationStateIgnored'"),
    ("@Wrapped(Presented.self) var x = 1", "'Presented' needs an optional field"),
    ("@Wrapped(Boxed.self) @ObservableStateWrapper(Box<Int>.self) @ObservationStateIgnored var x: Int = 1", "remove one"),
])
def test_a_field_that_cannot_be_wrapped_is_one_error(tmp_path, field, message):
    found = errors(tmp_path, f"func text() -> String {{ \"\" }}\n@ObservableState struct A {{ {field} }}")
    assert len(found) == 1 and message in found[0], found


@pytest.mark.parametrize(("field", "message"), [
    ("@Wrapped(Clamped.self, 0...9) let x = 1", "'@Wrapped' needs a 'var'"),
    ("@Wrapped(Box.self) var x = 1", "'@Wrapped' needs the kind 'Boxed'"),
    ("@Wrapped(Box) var x = 1", "'@Wrapped' needs the kind 'Boxed'"),
    ("@Wrapped(Boxed) var x = 1", "'@Wrapped' needs a wrapper or a kind of wrappers with '.self'"),
    ("@Wrapped(Clamped, 0...9) var x = 1", "'@Wrapped' needs a wrapper or a kind of wrappers with '.self'"),
    ("@Wrapped(Clamped.self, config: 0...9) var x = 1", "remove 'config:'"),
    ("@Wrapped(Clamped<Int>.self) var x = 1", "'Clamped' needs a range"),
    ("@ObservableStateWrapper(Box<Int>.self) @ObservationStateIgnored @Wrapped(Boxed.self) var x: Int = 1", "remove one"),
])
def test_a_field_that_the_compiler_refuses_too_has_an_error_with_the_remedy(tmp_path, field, message):
    found = errors(tmp_path, f"@ObservableState struct A {{ {field} }}")
    assert len(found) == 2 and any(message in error for error in found), found


@pytest.mark.parametrize("argument", ["Clamped", "Clamped.self"])
def test_a_clamped_field_without_a_range_has_an_error_with_the_remedy(tmp_path, argument):
    """The compiler has two errors of its own, because it cannot infer the type argument."""
    found = errors(tmp_path, f"@ObservableState struct A {{ @Wrapped({argument}) var x = 1 }}")
    assert len(found) == 3 and any("'Clamped' needs a range, such as '@Wrapped(Clamped.self, 0...100)'" in error for error in found), found


OTHER = """protocol Size { static var value: Int { get } }
enum Ten: Size { static var value: Int { 10 } }
struct Stepped<S: Size, Value: BinaryInteger>: ObservableWrapper {
    var wrappedValue: Value
    static func makeWrapper(from value: Value, config: Void) -> Stepped { Stepped(wrappedValue: value - value % Value(S.value)) }
}
enum Step<S: Size>: WrapperKind { typealias Of<Value: BinaryInteger> = Stepped<S, Value> }
enum Other { struct Clamped: ObservableWrapper {
    var wrappedValue: Int
    static func makeWrapper(from value: Int, config: Void) -> Clamped { Clamped(wrappedValue: value) }
} }"""


@pytest.mark.parametrize("wrapper", [
    "Step<Ten>.self", "Box<Int>.self", "Clamped<Int>.self, 0...9", "RivuletObservation.Clamped.self, 0...9",
    "RivuletObservation::Clamped.self, 0...9", "Other.Clamped.self",
])
def test_a_wrapper_with_type_arguments_or_with_a_module_is_no_error(tmp_path, wrapper):
    assert errors(tmp_path, f"{OTHER}\n@ObservableState struct A {{ @Wrapped({wrapper}) var x = 12 }}") == []


def test_a_wrapped_field_outside_of_a_state_is_one_error(tmp_path):
    found = errors(tmp_path, "struct A { @Wrapped(Boxed.self) var x = 1 }")
    assert len(found) == 1 and "a struct with '@ObservableState'" in found[0], found


def reducing(reduce):
    return f"""@ObservableState struct S: PersistentState {{ var x = 1 }}
@AppEvent enum E {{ case a }}
struct App: AppDefinition {{
    let name = "a"
    let defaultState = AppState(t: EmptyTransient(), p: S())
    {reduce}
}}"""


@pytest.mark.parametrize("reduce", [
    "",
    "func reduces(into state: inout AppState<S, EmptyTransient>, event: E) {}",
    "func reduce(into state: inout AppState<S, EmptyTransient>, events: E) {}",
    "func reduce(into state: inout AppState<S, EmptyTransient>, event: E) async {}",
    "func reduce(_ state: AppState<S, EmptyTransient>, event: E) -> AppState<S, EmptyTransient> { state }",
])
def test_an_app_without_its_reducer_has_an_error_with_the_form(tmp_path, reduce):
    conformance, form = errors(tmp_path, reducing(reduce))
    assert conformance == "type 'App' does not conform to protocol 'SharedApp'"
    assert "func reduce(into state: inout AppState<P, T>, event: E) throws" in form


def test_the_form_of_the_error_compiles_with_the_types_of_the_app(tmp_path):
    _, message = errors(tmp_path, reducing(""))
    form = re.search(r"func reduce\(.*?\) throws", message)[0].replace("<P, T>", "<S, EmptyTransient>")
    assert errors(tmp_path, reducing(form + " {}")) == []


def test_the_shorter_form_needs_the_type_alias_that_the_error_names(tmp_path):
    shorter = "func reduce(into state: inout State, event: E) throws {}"
    assert "typealias State" in errors(tmp_path, reducing(shorter))[1]
    assert errors(tmp_path, reducing(f"typealias State = AppState<S, EmptyTransient>\n    {shorter}")) == []


def test_an_app_whose_reducer_does_not_throw_is_no_error(tmp_path):
    assert errors(tmp_path, reducing("func reduce(into state: inout AppState<S, EmptyTransient>, event: E) {}")) == []


def sharing(protocol):
    return f"""import RivuletSessions
import RivuletStores
@ObservableState struct S: PersistentState {{ var x = 1 }}
@AppEvent enum E {{ case a }}
struct App: {protocol} {{
    let name = "a"
    let defaultState = AppState(t: EmptyTransient(), p: S())
    func reduce(into state: inout AppState<S, EmptyTransient>, event: E) {{}}
    let notes: Store<[String]>, theme: StoredValue<String>, token: SecurelyStoredValue<String>
    var stores: [SharedStore<Self>] {{ [SharedStore("notes", notes)] }}
    var values: [SharedValue<Self>] {{ [SharedValue(theme)] }}
    var secrets: [SharedSecret<Self>] {{ [SharedSecret(token)] }}
}}"""


def test_a_store_a_value_and_a_secret_are_one_error_each_in_an_app_that_shares_nothing(tmp_path):
    page = (ROOT / "Documentation" / "Shared.md").read_text()
    (message,) = re.findall(r'The error is "(.*?)"', page)
    found = errors(tmp_path, sharing("AppDefinition"))
    assert len(found) == 3 and all(message in error for error in found), found


def test_a_store_a_value_and_a_secret_are_no_error_in_an_app_that_shares(tmp_path):
    assert errors(tmp_path, sharing("SharingApp")) == []


def messages():
    """The compiler's messages that Documentation/Observation.md quotes."""
    page = (ROOT / "Documentation" / "Observation.md").read_text()
    table = page[page.index("| It says |"):].split("\n\n")[0]
    return re.findall(r'^\| "(?:… )?(.*?)" \|', table, re.M)


ELEMENT = "@ObservableState struct E: Identifiable, Equatable, Sendable { var id = 1; var text = 0 }"
REFUSED = {
    "property wrapper cannot": "@propertyWrapper struct W { var wrappedValue = 1 }; @ObservableState struct A { @W var x: Int }",
    "type 'Plain' does not": "@ObservableState struct A { var x: Keyed<Plain> = [] }",
    "requires the types": "@ObservableState struct A { @ObservableStateWrapper(Clamped<Int>.self) @ObservationStateIgnored var x: Int = 1 }",
    "reference to generic type": """struct Rounding<Value: BinaryInteger>: ObservableWrapper {
            var wrappedValue: Value
            static func makeWrapper(from value: Value, config: Value) -> Rounding { Rounding(wrappedValue: value - value % config) }
        }
        @ObservableState struct A { @Wrapped(Rounding.self, 10) var x = 1 }""",
    "cannot assign to": f"{ELEMENT}; struct A {{ var x: Keyed<E> = []; mutating func f() {{ x[0].text = 1 }} }}",
    "type 'App' does not": f"""struct S: PersistentState {{ var x = 1 }}
        @AppEvent enum E {{ case a }}
        struct App: AppDefinition {{
            let name = "a"
            let defaultState = AppState(t: EmptyTransient(), p: S())
            func reduce(into state: inout AppState<S, EmptyTransient>, event: E) {{}}
        }}""",
    "missing argument for": "@ObservableState struct S { var x: Int }; let s = S()",
    "value of optional type": "@ObservableState struct A { @ObservableStateWrapper(Clamped<Int>.self, config: 0...9) @ObservationStateIgnored var x: Int? = 1 }",
    "an app needs this": """@ObservableState struct S: PersistentState { var x = 1 }
        struct App: AppDefinition {
            let name = "a"
            let defaultState = AppState(t: EmptyTransient(), p: S())
        }""",
    "overlapping accesses": """@ObservableState struct Person: Identifiable, Equatable, Sendable { var id = ""; var lastSeen = 0 }
        @ObservableState struct S: Equatable, Sendable { var people: Keyed<Person> = []; var clock = 0 }
        @ObservableState struct P: PersistentState { var x = 1 }
        func touch(_ state: inout AppState<P, S>, id: String) {
            state.t.people[id: id]?.lastSeen = state.t.clock
        }""",
}


def test_the_documented_messages_of_the_compiler_are_its_own(tmp_path):
    documented = messages()
    assert len(documented) == len(REFUSED)
    for message in documented:
        (declaration,) = [declaration for opening, declaration in REFUSED.items() if message.startswith(opening)]
        assert any(message in found for found in errors(tmp_path, declaration)), message
