"""The tools of modules, packages and files that somebody named, or why there are none."""

from __future__ import annotations

import difflib
import importlib
import os
import pkgutil
import sys
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType

from handrail.core.define.tool import Tool
from handrail.core.errors import DefinitionError
from handrail.core.find.registry import default_registry, discover
from handrail.doors.cli.exit_codes import CommandError


def load_tools(names: Iterable[str], folder: Path) -> list[Tool]:
    """The tools of all these, each once: at the top of their modules, or registered by themselves."""
    tools = [tool for name in names for tool in _tools_of(name, folder)]
    return list({id(tool): tool for tool in (*tools, *default_registry.list())}.values())


def _tools_of(name: str, folder: Path) -> list[Tool]:
    root, module = _import_root(name, folder)
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    importlib.invalidate_caches()
    try:
        loaded = importlib.import_module(module)
        _check_same_file(loaded, name, folder)
        return discover(loaded)
    except (DefinitionError, CommandError):
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module}.".startswith(f"{error.name}."):
            raise CommandError(f"there is no module {module!r}", _suggestion(module, root)) from error
        raise _import_error(name, error) from error
    except (Exception, SystemExit) as error:
        raise _import_error(name, error) from error


def _import_root(name: str, folder: Path) -> tuple[Path, str]:
    """The folder to import from, and the module's dotted name; a path is led back to the package it is in."""
    if not _is_path(name):
        if not all(part.isidentifier() for part in name.split(".")):
            raise CommandError(
                f"{name!r} is neither a module nor a file", "give shop.tools or path/to/tools.py"
            )
        return folder, name
    path = (folder / name).resolve()
    if path.is_dir() and not (path / "__init__.py").is_file():
        raise CommandError(
            f"{name} is a folder without __init__.py, so it is no package", "name the files in it"
        )
    if not path.exists():
        raise CommandError(f"there is no file {name}", f"looked in {folder}")
    packages = packages_of(path.parent)
    module = path.name if path.is_dir() else path.stem
    parts = packages if module == "__init__" else [*packages, module]
    if not all(part.isidentifier() for part in parts):
        raise CommandError(
            f"{name} cannot be imported", "use letters, digits and _ in names of files and folders"
        )
    return path.parents[len(packages)], ".".join(parts)


def packages_of(folder: Path) -> list[str]:
    """The packages that a folder is in, outermost first."""
    packages: list[str] = []
    while (folder / "__init__.py").is_file():
        packages.insert(0, folder.name)
        folder = folder.parent
    return packages


def _is_path(name: str) -> bool:
    return name.endswith(".py") or os.sep in name


def _check_same_file(module: ModuleType, name: str, folder: Path) -> None:
    """Whether the module that was found is the file that was named, and not another of the same name."""
    if not _is_path(name):
        return
    path = (folder / name).resolve()
    file = path / "__init__.py" if path.is_dir() else path
    if module.__file__ is None or not file.samefile(module.__file__):
        other = module.__file__ or module.__name__
        raise CommandError(f"{name} is hidden by {other}, which has the same name", "rename the file")


def _suggestion(module: str, root: Path) -> str:
    modules = [info.name for info in pkgutil.iter_modules([str(root)])]
    near = difflib.get_close_matches(module.partition(".")[0], modules, 1, 0.6)
    looked = f"looked in {root} and where Python looks"
    return f"did you mean {near[0]!r}? ({looked})" if near else looked


def _import_error(name: str, error: BaseException) -> CommandError:
    """What went wrong while a module was imported, and in which of the author's lines."""
    if isinstance(error, SyntaxError) and error.filename:
        return CommandError(f"{name} cannot be imported: {error.msg}", f"{error.filename}:{error.lineno}")
    frames: Sequence[traceback.FrameSummary] = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if frame.filename != __file__ and not frame.filename.startswith("<")]
    own = [frame for frame in theirs if f"{os.sep}importlib{os.sep}" not in frame.filename]
    where = f"{own[-1].filename}:{own[-1].lineno}" if own else None
    problem = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return CommandError(f"{name} cannot be imported: {problem}", where)
