# Compiles states and events with types that JSON cannot have, against the modules of the build: one error each, that says what to do.
"""What the compiler says of an app that cannot be; no server runs here."""

import pathlib
import re
import subprocess

import pytest

from harness import PATIENCE, ROOT, binary

FIELD = "a field of a state needs a type that JSON can have"
VALUE = "a value of a case needs a type that JSON can have"
TRAITS = "var persist: Bool { true }; var isUIEvent: Bool { false }"
BOXED = "@ObservableStateWrapper(Box<Plain>.self) @ObservationStateIgnored var x: Plain"


def errors(folder, declaration):
    """The compiler's errors for a declaration beside a type `Plain` that is not Codable."""
    built = pathlib.Path(binary()).resolve().parent
    macros = built / "RivuletMacros-tool"
    if not macros.exists():
        pytest.skip(f"{built} has no modules: the binary was built elsewhere")
    source = folder / "Refused.swift"
    source.write_text(f"import RivuletEngine\nimport RivuletJSON\nimport RivuletObservation\nstruct Plain {{}}\n{declaration}\n")
    # A package's C module has its map in the build folder, if it does not have one beside its headers.
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
    ("@ObservableState enum A { case none, some(Plain) }", VALUE),
    ("@ObservableState enum A { case none, some(x: Plain) }", VALUE),
    (f"@AppEvent enum A {{ case none, some(Plain); {TRAITS} }}", VALUE),
    (f"@AppEvent enum A {{ case none, some(x: Plain, y: Int); {TRAITS} }}", VALUE),
])
def test_a_type_that_json_cannot_have_is_one_error(tmp_path, declaration, message):
    found = errors(tmp_path, declaration)
    assert len(found) == 1 and message in found[0], found


def test_what_json_can_have_is_no_error(tmp_path):
    state = "@ObservableState struct A { var x: [Int]?; @Transient var y = 1 }"
    assert errors(tmp_path, f"{state}\n@AppEvent enum E {{ case a(Int); {TRAITS} }}") == []


def binding(event, values):
    return f"@AppEvent enum E {{ case a({values}); {TRAITS} }}\nlet bindings: [StateBinding<E>] = [StateBinding(\"/p/x/*/y\", {event})]"


@pytest.mark.parametrize(("event", "values"), [
    ("E.a", "Double, Int"),
    ("E.a(x:y:)", "x: Double, y: Int"),
    ("{ (x: Double, y: Int) in .a(x, y) }", "Double, Int"),
])
def test_a_binding_whose_event_gets_no_id_is_told_which_types_are_ids(tmp_path, event, values):
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
    assert len(found) == 1 and found[0].startswith("'x' needs an initial value"), found


def sharing(protocol):
    return f"""import RivuletSessions
import RivuletStores
@ObservableState struct S: PersistentState {{ var x = 1 }}
@AppEvent enum E {{ case a; {TRAITS} }}
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
    """What Documentation/Observation.md says that the compiler says, by the words that it quotes."""
    page = (ROOT / "Documentation" / "Observation.md").read_text()
    table = page[page.index("| It says |"):].split("\n\n")[0]
    return re.findall(r'^\| "(?:… )?(.*?)" \|', table, re.M)


ELEMENT = "@ObservableState struct E: Identifiable, Equatable, Sendable { var id = 1; var text = 0 }"
REFUSED = {
    "property wrapper cannot": "@propertyWrapper struct W { var wrappedValue = 1 }; @ObservableState struct A { @W var x: Int }",
    "type 'Plain' does not": "@ObservableState struct A { var x: Keyed<Plain> = [] }",
    "requires the types": "@ObservableState struct A { @ObservableStateWrapper(Clamped<Int>.self) @ObservationStateIgnored var x: Int = 1 }",
    "cannot assign to": f"{ELEMENT}; struct A {{ var x: Keyed<E> = []; mutating func f() {{ x[0].text = 1 }} }}",
    "type 'App' does not": f"""struct S: PersistentState {{ var x = 1 }}
        @AppEvent enum E {{ case a; {TRAITS} }}
        struct App: AppDefinition {{
            let name = "a"
            let defaultState = AppState(t: EmptyTransient(), p: S())
            func reduce(into state: inout AppState<S, EmptyTransient>, event: E) {{}}
        }}""",
    "missing argument for": "@ObservableState struct S { var x: Int }; let s = S()",
    "value of optional type": "@ObservableState struct A { @ObservableStateWrapper(Clamped<Int>.self, config: 0...9) @ObservationStateIgnored var x: Int? = 1 }",
    "type 'Event' does not": "@AppEvent enum Event { case a }",
}


def test_the_documented_messages_of_the_compiler_are_its_own(tmp_path):
    documented = messages()
    assert len(documented) == len(REFUSED)
    for message in documented:
        (declaration,) = [declaration for opening, declaration in REFUSED.items() if message.startswith(opening)]
        assert any(message in found for found in errors(tmp_path, declaration)), message
