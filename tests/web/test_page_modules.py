"""The modules of the page and of an exported page: they do not import each other in a circle, and their types agree."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from selfplay.installation import PACKAGE_FOLDER
from tests.web.conftest import client_of

WEB = PACKAGE_FOLDER / "web"
IMPORT = re.compile(r'^(?:import|export) [^;]*?"\./([\w.]+)";', re.MULTILINE)
TSC = shutil.which("tsc")

RULES = """
export function legalActions(position: Position): bigint;
export function play(position: Position, action: bigint): Position;
export function isTerminal(position: Position): bigint;
export function returnToMove(position: Position): bigint;
export function movesAgain(position: Position): bigint;
export function margin(position: Position): bigint;
export function owned(position: Position): [bigint, bigint];
export function safe(position: Position): [bigint, bigint];
export function points(position: Position): [bigint, bigint];
export function sensible(position: Position): bigint;
export function packed(position: Position): bigint;
export function packedShown(position: Position): bigint;
export function unpacked(word: bigint): Position;
export function phaseOf(own: bigint, opp: bigint, ...sizes: bigint[]): bigint;
"""
"""The types of the module that is translated from the rules of a game."""

OPTIONS: dict[str, Any] = {
    "allowJs": True,
    "checkJs": True,
    "noEmit": True,
    "skipDefaultLibCheck": True,
    "strict": True,
    "target": "ESNext",
    "module": "ESNext",
    "moduleResolution": "bundler",
    "lib": ["ESNext", "DOM", "DOM.Iterable"],
    "types": [],
}


@pytest.mark.parametrize("folder", ["page", "exported"])
def test_modules_do_not_import_each_other_in_a_circle(folder: str) -> None:
    imports = {path.name: IMPORT.findall(path.read_text()) for path in (WEB / folder).glob("*.js")}
    assert sum(map(len, imports.values())) >= 10
    # Raises CycleError, naming the circle.
    TopologicalSorter(imports).prepare()


def type_of(schema: dict[str, Any]) -> str:
    """The TypeScript type of a JSON schema."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(type_of(one) for one in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return " | ".join(json.dumps(one) for one in schema.get("enum", [schema.get("const")]))
    match schema.get("type"):
        case "array":
            return f"({type_of(schema.get('items', {}))})[]"
        case "object" if "properties" in schema:
            return f"{{ {' '.join(f'{name}: {type_of(one)};' for name, one in schema['properties'].items())} }}"
        case "object":
            return f"Record<string, {type_of(schema.get('additionalProperties', {}) or {})}>"
        case kind:
            names = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}
            return names.get(str(kind), "any")


def declarations(schemas: dict[str, Any]) -> Iterator[str]:
    """The types of the requests and answers of the server."""
    for name, schema in schemas.items():
        if "properties" not in schema:
            yield f"type {name} = {type_of(schema)};"
            continue
        is_request = name == "MatchRequest"
        fields = (
            f"  {field}{'?' if is_request and field not in schema['required'] else ''}: {type_of(one)};"
            for field, one in schema["properties"].items()
        )
        yield "\n".join([f"interface {name} {{", *fields, "}"])


@pytest.mark.slow
@pytest.mark.skipif(TSC is None, reason="no tsc on this machine (npm install --global typescript)")
def test_the_types_of_the_modules_agree_with_each_other_and_with_the_answers_of_the_server(
    app: FastAPI, tmp_path: Path
) -> None:
    schemas = client_of(app).get("/openapi.json").json()["components"]["schemas"]
    for folder in ("page", "exported"):
        shutil.copytree(WEB / folder, tmp_path / folder)
    shutil.copy(WEB / "types.d.ts", tmp_path)
    (tmp_path / "answers.d.ts").write_text("\n".join(declarations(schemas)))
    (tmp_path / "exported" / "rules.d.ts").write_text(RULES)
    config = {"compilerOptions": OPTIONS, "include": ["page/*.js", "exported/*.js", "*.d.ts"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(config))
    checked = subprocess.run([str(TSC), "--project", "."], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.stdout == ""
