/// The types that only the code of macros uses.
///
/// An app does not name them. They may change with each version of the macros, which come from the same package.
@_documentation(visibility: internal)
public enum Generated {}
