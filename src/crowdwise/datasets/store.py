"""Put a data set's files into the user's cache, find them, and check them.

Files are gathered and checked in a folder of their own first; only right ones are moved, each by
one rename, to where `load` looks.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from crowdwise.datasets import source
from crowdwise.datasets.fetch import PAUSE, TIMEOUT, Check, Progress, fetch
from crowdwise.datasets.recipes import Download, File, Recipe, digest, missing
from crowdwise.datasets.registry import describe, load
from crowdwise.datasets.unpack import unpack
from crowdwise.errors import InputError
from crowdwise.files import write_text

SUMS = "SHA256SUMS"  # of the files as they were put here; sha256sum -c reads it
Form = tuple[File, ...]


def find(recipe: Recipe) -> Path | None:
    """The folder that holds all of the recipe's files, if it is here."""
    place = source.look(recipe.folder)
    return place if place and recipe.complete(place) else None


def folders(name: str) -> list[Path]:
    """The folders of a data set, all of them here."""
    recipes = describe(name).recipes
    if not recipes:
        raise InputError(f"{name} is embedded in scikit-learn: it has no folder, just load it")
    found = [find(recipe) for recipe in recipes]
    for recipe, place in zip(recipes, found, strict=True):
        if place is None:
            raise InputError(
                f"{recipe.folder}/ is not here, or not whole; run crowdwise data get {name}, or "
                f"set {source.VARIABLE} to the folder that holds it"
            )
    return [place for place in found if place]


def get(
    name: str,
    origin: str | Path | None = None,
    progress: Progress | None = None,
    timeout: float = TIMEOUT,
    pause: float = PAUSE,
) -> list[Path]:
    """The folders of a data set, after downloading what is not here, or copying it from `origin`.

    `origin` is laid out like CROWDWISE_DATA, or is one data set's folder, or holds the authors'
    archive.
    """
    recipes = describe(name).recipes
    if origin is not None and not Path(origin).is_dir():
        raise InputError(f"{origin}: there is no such folder; give --from the one with the files")
    if origin is not None and not recipes:
        raise InputError(f"{name} is embedded in scikit-learn: leave out --from")
    if origin is None:
        absent = [recipe for recipe in recipes if find(recipe) is None]
        for recipe in absent:  # all of them before the first byte
            _refuse_shadow(recipe)
            _refuse_unknown(name, recipe)
        for recipe in absent:
            _download(recipe, progress, timeout, pause)
    else:
        for recipe in recipes:
            here = find(recipe)
            if here and source.cache() not in here.parents:
                continue  # what lies under CROWDWISE_DATA is read first, and is not ours to change
            _refuse_shadow(recipe)
            if not _copy(recipe, Path(origin)) and not here:
                raise InputError(_absent(recipe, Path(origin)))
    return folders(name) if recipes else []


@dataclass(frozen=True)
class Checked:
    """What `verify` found of one file: why it is wrong, or how it is known to be right."""

    path: Path
    wrong: str | None
    known: str


def verify(name: str) -> Iterator[Checked]:
    """Check every file's sha256; then, if all are right, load the data set to check its shapes."""
    fine, recipes = True, describe(name).recipes
    for recipe, place in zip(recipes, folders(name) if recipes else [], strict=True):
        sums = _read_sums(place)
        for file in recipe.complete(place):
            known = "no sha256 is known"
            if file.sha256:
                known = "sha256 of the unpacked content" if file.gunzipped else "sha256"
            elif file.name in sums:
                known = "sha256 as when it was put here"
                file = File(file.name, sums[file.name], file.size)
            wrong = file.wrong(place / file.name)
            fine = fine and wrong is None
            yield Checked(place / file.name, wrong, known)
    if fine:
        load(name)


def _download(recipe: Recipe, progress: Progress | None, timeout: float, pause: float) -> None:
    arrived = []  # kept until all have come, so that a new start fetches what is missing only
    for download in recipe.downloads:
        check = _check(recipe, download)
        kept = source.cache() / ".downloads" / recipe.folder / download.name
        if not (check and kept.is_file() and check(kept) is None):
            fetch(download.urls, kept, download.limit, check, progress, timeout, pause)
        arrived.append(kept)
    try:
        with _staged(recipe) as stage:
            for download, kept in zip(recipe.downloads, arrived, strict=True):
                if download.unpacks_to:
                    _unpack(recipe, download, kept, stage)
                else:
                    kept.replace(stage / download.name)
    finally:
        for kept in arrived:
            kept.unlink(missing_ok=True)


def _check(recipe: Recipe, download: Download) -> Check | None:
    if download.sha256:
        return File(download.name, download.sha256).wrong
    by_name = {file.name: file.wrong for file in recipe.forms[0]}
    return by_name.get(download.name)


def _copy(recipe: Recipe, origin: Path) -> bool:
    """Put here what `origin` holds of the recipe; False if that is not all of it."""
    for place in (origin / recipe.folder, origin):
        for form in recipe.forms:
            if not missing(form, place):
                with _staged(recipe) as stage:
                    for file in form:
                        _copy_file(place / file.name, stage)
                return True
        for download in recipe.downloads:
            archive = place / download.name
            if download.unpacks_to and archive.is_file():
                check = _check(recipe, download)
                if check and (wrong := check(archive)):
                    raise InputError(f"{archive}: {wrong}; get it again")
                with _staged(recipe) as stage:
                    _unpack(recipe, download, archive, stage)
                return True
    return False


def _copy_file(path: Path, folder: Path) -> None:
    try:
        shutil.copyfile(path, folder / path.name)
    except OSError as error:
        raise InputError(f"{path}: cannot be copied to the cache ({error.strerror})") from error


def _unpack(recipe: Recipe, download: Download, archive: Path, stage: Path) -> None:
    wanted = {file.name: file.size or download.unpacks_to for file in recipe.forms[0]}
    unpack(archive, stage, wanted, download.unpacks_to)


@contextmanager
def _staged(recipe: Recipe) -> Iterator[Path]:
    """A folder to gather the files in; they are checked and moved to the cache at the end."""
    target = source.cache() / recipe.folder
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=f".{recipe.folder}.", dir=target.parent))
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror})") from error
    try:
        yield stage
        form = recipe.complete(stage)
        for file in form:
            if wrong := file.wrong(stage / file.name):
                raise InputError(f"{recipe.folder}/{file.name}: {wrong}; get the right file")
        target.mkdir(exist_ok=True)
        sums = {file.name: digest(stage / file.name)[0] for file in form}
        sums = _read_sums(target) | sums
        for file in form:
            (stage / file.name).replace(target / file.name)
        lines = (f"{sha256}  {name}\n" for name, sha256 in sums.items())
        write_text(target / SUMS, "".join(lines))
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror})") from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _read_sums(place: Path) -> dict[str, str]:
    path = place / SUMS
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    pairs = (line.partition("  ") for line in lines)
    return {name: sha256 for sha256, _, name in pairs}


def _refuse_shadow(recipe: Recipe) -> None:
    """A broken folder under CROWDWISE_DATA would hide what is put into the cache."""
    root = source.local()
    if root and (root / recipe.folder).is_dir():
        names = ", ".join(missing(recipe.forms[0], root / recipe.folder))
        raise InputError(
            f"{root / recipe.folder}: {names} not there, and {source.VARIABLE} is read before the "
            f"cache; put the files there, or unset {source.VARIABLE}"
        )


def _refuse_unknown(name: str, recipe: Recipe) -> None:
    """Nothing is downloaded that could not be told from another file."""
    unchecked = recipe.unchecked()
    if not recipe.downloads or unchecked:
        why = f"no sha256 is known of {unchecked[0].name}; " if unchecked else ""
        names = ", ".join(file.name for file in recipe.forms[0])
        raise InputError(
            f"{recipe.folder}/ ({names}) cannot be downloaded: {why}{recipe.how}; put the files in "
            f"a folder and run crowdwise data get {name} --from FOLDER"
        )


def _absent(recipe: Recipe, origin: Path) -> str:
    names = ", ".join(file.name for file in recipe.forms[0])
    archives = [download.name for download in recipe.downloads if download.unpacks_to]
    return (
        f"{origin}: neither it nor its folder {recipe.folder}/ holds {names}"
        + "".join(f", or {name}" for name in archives)
        + f"; {recipe.how}"
    )
