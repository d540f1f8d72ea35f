"""Whatever the OpenAPI document allows is answered as it says."""

import json
from urllib.parse import urlencode

import pytest
from asking import ask, door
from explore_toys import KINDS
from hypothesis import HealthCheck, given, settings

from laconic.explore.server.app import make_app

schemathesis = pytest.importorskip("schemathesis")
jsonschema_rs = pytest.importorskip("jsonschema_rs")

FEW = settings(
    max_examples=12, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "flat"
    KINDS["flat"]().save(path)
    return make_app(path, door())


@pytest.fixture(scope="module")
def document(app):
    return ask(app, "/api").json


def test_every_operation_answers_what_it_promises(app, document):
    schema = schemathesis.openapi.from_dict(document)
    tried = 0
    for operation in (found.ok() for found in schema.get_all_operations()):

        @given(case=operation.as_strategy())
        @FEW
        def check(case):
            nonlocal tried
            tried += 1
            query = urlencode(case.query or {}, doseq=True, errors="replace")
            path = case.formatted_path + (f"?{query}" if query else "")
            without = case.method == "GET" or not isinstance(
                case.body, dict | list | str | int | float | None
            )
            body = b"" if without else json.dumps(case.body).encode()
            answer = ask(app, path, case.method, body)
            assert answer.status in (200, 400, 404, 409, 422, 429), (path, answer)
            assert answer.header("content-type") == "application/json"
            found = answer.json
            if answer.status == 200:
                conforms(found, answer_schema(document, case), document)
            else:
                assert isinstance(found["detail"], str)

        check()
    assert tried >= 100


def answer_schema(document, case):
    described = document["paths"][case.operation.path][case.method.lower()]
    return described["responses"]["200"]["content"]["application/json"]["schema"]


def conforms(value, schema, document):
    jsonschema_rs.validate({**schema, "components": document["components"]}, value)
