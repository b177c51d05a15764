"""Sources of tools, and pins for definitions that come from outside."""

from handrail.core.find.pins import Definition as Definition
from handrail.core.find.pins import Pin as Pin
from handrail.core.find.pins import PinChanges as PinChanges
from handrail.core.find.pins import compare_pins as compare_pins
from handrail.core.find.pins import is_accepted as is_accepted
from handrail.core.find.registry import discover as discover
from handrail.core.find.toolsets import AttachableToolset as AttachableToolset
from handrail.core.find.toolsets import CombinedToolset as CombinedToolset
from handrail.core.find.toolsets import FilteredToolset as FilteredToolset
from handrail.core.find.toolsets import LazyToolset as LazyToolset
from handrail.core.find.toolsets import OnDemandToolset as OnDemandToolset
from handrail.core.find.toolsets import PrefixedToolset as PrefixedToolset
from handrail.core.find.toolsets import StaticToolset as StaticToolset
from handrail.core.run.hooks import Equipped as Equipped
