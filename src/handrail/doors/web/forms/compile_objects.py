"""Compiling objects: their fields in order and in groups, and what may stand beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from handrail.core.define.sections import FormGroup
from handrail.doors.web.forms.field import Child, Condition, Field, Group, ObjectField
from handrail.doors.web.forms.shape import Shape, conditional, shape_of
from handrail.doors.web.forms.visible import when_fits, when_hinted
from handrail.doors.web.forms.wire import escaped

if TYPE_CHECKING:
    from handrail.doors.web.forms.compile import Compiler, Spot


def object_field(made_by: Compiler, base: Field, shape: Shape, spot: Spot) -> Field:
    """The field of an object."""
    every = _children(made_by, shape, spot)
    hidden = frozenset(child.name for child in every if child.operator_only and made_by.mode == "embed")
    children = tuple(child for child in every if child.name not in hidden)
    names = made_by.spec.order if spot.top else base.hints.get("order", ())
    ordered = _ordered(tuple(child for child in children if not child.operator_only), names)
    further = shape.get("additionalProperties")
    patterns = shape.get("patternProperties")
    grows = further is True or isinstance(further, Mapping) or bool(patterns)
    return ObjectField(
        **{name: getattr(base, name) for name in Field.__slots__ if name not in ("widget", "demand")},
        widget="object",
        demand=(base.demand or base.nullable) and not spot.top,
        children=children,
        groups=_groups(made_by, ordered, spot),
        additional=tuple(child for child in children if child.operator_only),
        additional_title=made_by.spec.additional_title,
        additional_class=made_by.spec.additional_class,
        rest=_rest(made_by, spot, further, patterns if isinstance(patterns, Mapping) else {}),
        grows=grows,
        names=frozenset(child.name for child in every),
        hidden=hidden,
    )


def _children(made_by: Compiler, shape: Shape, spot: Spot) -> tuple[Child, ...]:
    properties = shape.get("properties")
    given: dict[str, Any] = dict(properties) if isinstance(properties, Mapping) else {}
    required = shape.get("required") if isinstance(shape.get("required"), list) else []
    tests: dict[str, list[Any]] = {}
    variants: dict[str, list[Any]] = {}
    for name, node, test in conditional(shape, made_by.root):
        if name not in given:
            tests.setdefault(name, []).append(test)
            known = variants.setdefault(name, [])
            known += [node] if node not in known else []
    for name, nodes in variants.items():
        given[name] = nodes[0] if len(nodes) == 1 else {"anyOf": nodes}
    return tuple(
        _child(made_by, name, node, spot, name in (required or ()), tests.get(name))
        for name, node in given.items()
    )


def _child(
    made_by: Compiler, name: str, node: Any, spot: Spot, required: bool, tests: list[Any] | None
) -> Child:
    inner = spot.inner(name, spot.refs, required=required)
    hints = made_by.hints(inner.path)
    shape = shape_of(node, made_by.root)[0]
    when: Condition | None = None
    if hints.get("visible_when") is not None:
        when = when_hinted(hints["visible_when"], ".".join(inner.path))
    elif tests:
        when = when_fits(tests, made_by.root)
    return Child(
        name=name,
        step=escaped(name),
        later=made_by.later(node, inner),
        operator_only=bool(hints.get("operator_only") or shape.get("x-operator-only")),
        when=when,
    )


def _ordered(children: tuple[Child, ...], names: Sequence[str]) -> tuple[Child, ...]:
    by_name = {child.name: child for child in children}
    first = [by_name.pop(name) for name in names if name in by_name]
    return (*first, *by_name.values())


def _groups(made_by: Compiler, children: tuple[Child, ...], spot: Spot) -> tuple[Group, ...]:
    """Fields without a group come first, then the groups in their order."""
    spec = made_by.spec
    groups: dict[str, FormGroup] = {group.title: group for group in spec.groups} if spot.top else {}
    belongs = {name: group.title for group in groups.values() for name in group.fields}
    members: dict[str, list[Child]] = {"": [], **{title: [] for title in groups}}
    for child in children:
        title = belongs.get(child.name) or str(made_by.hints((*spot.path, child.name)).get("group", ""))
        members.setdefault(title, []).append(child)
    made: list[Group] = []
    for title, found in members.items():
        given = groups.get(title)
        inside = _ordered(tuple(found), given.fields) if given else tuple(found)
        if inside:
            made.append(Group(title, inside, given.help if given else "", bool(given and given.closed)))
    return tuple(made)


def _rest(made_by: Compiler, spot: Spot, further: Any, patterns: Mapping[str, Any]) -> Callable[[str], Field]:
    """The field of a further value by its name: what a pattern says, what holds for all, or anything."""
    inner = spot.inner("*", spot.refs, row=True)
    usual = made_by.later(further if isinstance(further, Mapping) else {}, inner)
    matched = [(_pattern(text), made_by.later(node, inner)) for text, node in patterns.items()]

    def rest(name: str) -> Field:
        for pattern, later in matched:
            if pattern is not None and pattern.search(name):
                return later()
        return matched[0][1]() if matched and not name else usual()

    return rest


def _pattern(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text)
    except re.error:
        return None
