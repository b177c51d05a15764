"""Widgets: one family of controls a file. Each draws a value, and reads back what it drew."""

from __future__ import annotations

from collections.abc import Mapping

from handrail.doors.web.forms.widget_registry import Widget
from handrail.doors.web.forms.widgets import choice
from handrail.doors.web.forms.widgets.date_time import DateTimeWidget
from handrail.doors.web.forms.widgets.lists import RowsWidget
from handrail.doors.web.forms.widgets.media import FilesWidget, FileWidget
from handrail.doors.web.forms.widgets.number import DecimalWidget, NumberWidget, SliderWidget
from handrail.doors.web.forms.widgets.objects import ObjectWidget
from handrail.doors.web.forms.widgets.picker import MultiPickerWidget, PickerWidget
from handrail.doors.web.forms.widgets.text import JsonWidget, SecretWidget, TextWidget
from handrail.doors.web.forms.widgets.union import UnionWidget

BUILTIN_WIDGETS: Mapping[str, Widget] = {
    "choice": choice.ChoiceWidget(),
    "radio": choice.ChoiceWidget(buttons=True),
    "constant": choice.ConstantWidget(),
    "checkboxes": choice.CheckboxesWidget(),
    "boolean": choice.BooleanWidget(),
    "date": DateTimeWidget("date"),
    "time": DateTimeWidget("time"),
    "date-time": DateTimeWidget("date-time"),
    "rows": RowsWidget(),
    "file": FileWidget(),
    "image": FileWidget(image=True),
    "files": FilesWidget(),
    "images": FilesWidget(image=True),
    "number": NumberWidget(),
    "exact": DecimalWidget(),
    "slider": SliderWidget(),
    "object": ObjectWidget(),
    "picker": PickerWidget(),
    "pickers": MultiPickerWidget(),
    "text": TextWidget(),
    "textarea": TextWidget(lines=True),
    "secret": SecretWidget(),
    "json": JsonWidget(),
    "union": UnionWidget(),
}
"""Each under the name by which a field asks for it."""
