"""Random grants, of which each adds something, as the server requires."""

import random

from permission_model import EVERY

PATHS = {
    "counter": ["", "/p", "/t", "/p/count", "/p/title", "/p/limits", "/p/limits/label", "/p/limits/warnAt", "/p/history", "/p/*", "/*/title",
                "/t/warning", "/t/warning/text", "/t/lastEvent", "/p/*/label", "/t/*/text"],
    "todos": ["", "/p", "/t", "/p/todos", "/p/filter", "/t/editing", "/p/todos/*", "/p/todos/*/title", "/p/todos/*/done", "/p/todos/ID", "/p/todos/ID/title",
              "/p/todos/ID/done", "/*/editing", "/p/todos/${me}/title", "/p/todos/${claim.team}", "/p/*/*/title", "/*/todos/ID"],
    "notes": ["", "/p", "/p/selected", "/p/drafts", "/p/drafts/*", "/p/drafts/*/text", "/p/drafts/*/created", "/p/drafts/ID", "/p/drafts/ID/text", "/p/drafts/${sub}/text"],
}  # fmt: skip
EVENTS = {
    "counter": ["setCount", "setStep", "rename", "setNote", "setLimits", "setWarnAt", "dismissWarning", "touch", "noop"],
    "todos": ["add", "insert", "toggle", "rename", "remove", "move", "clearDone", "setFilter", "edit"],
    "notes": ["select", "saveDraft", "discardDraft"],
}
VIEWS = {"counter": ["CounterView"], "todos": ["SummaryView"], "notes": []}
SESSION_ACTIONS = ["read", "dispatch", "create", "delete", "list", "history", "restore", "fork"]


def grant(random: random.Random, app, sessions, ids):
    """A grant for an app. `sessions` are patterns to choose from, `ids` are identifiers of elements and items."""
    if random.random() < 0.04:
        return {"actions": ["operate"]} if random.random() < 0.5 else {"actions": ["describe"], "app": random.choice([app, "*"])}
    name = random.choices([app, "*", "other"], [8, 1.5, 0.5])[0]
    if app == "notes" and random.random() < 0.5:
        return shared(random, name, ids)
    actions = ["*"] if random.random() < 0.05 else random.sample(SESSION_ACTIONS, random.choice([1, 1, 2, 3, 4]))
    if random.random() < 0.5 and "read" not in actions and actions != ["*"]:
        actions.append("read")
    new = {"actions": actions, "app": name, "sessions": random.sample(sessions, random.choice([1, 1, 2]))}
    granted = EVERY if actions == ["*"] else set(actions)
    if granted & {"read", "history"} and random.random() < 0.7:
        new["paths"] = [path.replace("ID", random.choice(ids).replace("~", "~0").replace("/", "~1")) for path in random.sample(PATHS[app], random.choice([1, 1, 2, 3]))]
    if "read" in granted and VIEWS[app] and random.random() < 0.25:
        new["views"] = random.choice([["*"], VIEWS[app], ["Other"]])
    if "dispatch" in granted and random.random() < 0.5:
        new["events"] = random.sample(EVENTS[app], len(EVENTS[app]) // 2) if random.random() < 0.9 else ["*"]
    return new


def shared(random, app, ids):
    actions = random.choice([["read"], ["write"], ["read", "write"], ["read"], ["*"], ["secrets"]])
    if actions == ["secrets"]:
        return {"actions": actions, "app": app}
    new = {"actions": actions, "app": app}
    if random.random() < 0.7:
        new["stores"] = random.choice([["notes"], ["*"], ["notes"], ["other"]])
        if random.random() < 0.7:
            new["items"] = random.sample([*ids[:4], "*", "${me}-*", "*-x", "${sub}", "k-*"], random.choice([1, 2]))
    if random.random() < 0.5 or "stores" not in new:
        new["values"] = random.choice([["theme"], ["*"], ["recent", "hapticsEnabled"]])
    return new


def broken(number):
    """A grant that refuses the whole token."""
    good = {"actions": ["read"], "app": "todos", "sessions": ["*"]}
    faults = [good | {"actions": ["fly"]}, good | {"session": ["*"]}, good | {"actions": []}, good | {"events": ["add"]},
                          good | {"sessions": []}, good | {"paths": ["p"]}, {"actions": ["read"], "sessions": ["*"]}, good | {"actions": "read"},
                          good | {"sessions": ["a-${sub}"]}, good | {"paths": ["/p/a*"]}, good | {"views": ["Summary*"]}]  # fmt: skip
    return faults[number % len(faults)]
