"""`-M`, presets, and what is found out before the first episode."""

import json
import socket
import subprocess
import sys
import textwrap

import pytest

from evalkit.errors import UnknownNameError, UsageError
from evalkit.models import Controls, ModelOptions, check_model, open_model, parse_options
from evalkit.models._presets import aliases, full_name, preset_of, providers


def test_options_are_read_and_later_ones_win():
    options = parse_options(
        [
            *("temperature=0.7", "temperature=0", "timeout.read=900", "timeout.connect=5", "max_retries=2"),
            *("base_url=http://localhost:8000/v1/", "api_key_env=MY_KEY", "stop=END|STOP", "seed=7"),
        ]
    )
    assert options.controls == Controls(temperature=0.0, stop=("END", "STOP"), seed=7)
    assert options.timeouts == {"read": 900.0, "connect": 5.0}
    assert (options.base_url, options.api_key_env) == ("http://localhost:8000/v1", "MY_KEY")
    assert options.max_retries == 2
    assert json.loads(json.dumps(options.as_dict()))["timeout.read"] == 900.0


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("temperature", "write it as key=value"),
        ("temprature=1", "did you mean temperature?"),
        ("timeout.reed=1", "did you mean timeout.read"),
        ("temperature=hot", "'hot' is not a number"),
        ("temperature=nan", "not between 0 and 2"),
        ("temperature=3", "not between 0 and 2"),
        ("max_retries=1.5", "not a whole number"),
        ("max_retries=-1", "not between 0 and 100"),
        ("base_url=localhost:8000", "looks like http://"),
        ("base_url=http://", "looks like http://"),
        ("base_url=http://x:port/v1", "-M base_url"),
        ("base_url=http://me:secret@x/v1", "no secrets here"),
        ("base_url=http://x/v1?key=1", "no secrets here"),
        ("api_key_env=sk-0123", "name of an environment variable, not the key itself"),
        ("reasoning_effort=", "nothing behind the equals sign"),
    ],
)
def test_wrong_options_are_explained(option, problem):
    with pytest.raises(UsageError, match="-M ") as error:
        parse_options([option])
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


def test_every_preset_is_well_formed():
    for alias in aliases():
        provider, _, name = full_name(alias).partition("/")
        assert provider in providers()
        assert name
        preset = preset_of(full_name(alias))
        assert preset.controls.temperature == 0.2
        assert preset.controls.max_output_tokens is None
        assert preset.controls.reasoning_effort is None
        assert preset.attempts >= 1


def test_slow_reasoners_read_longer_and_are_tried_less_often():
    slow, other = preset_of("openai/o3"), preset_of("openai/gpt-4.1")
    assert (other.timeouts.connect, other.timeouts.write, other.timeouts.pool) == (10, 60, 30)
    assert other.timeouts.read == 300
    assert slow.timeouts.read > 300
    assert slow.attempts < other.attempts


@pytest.fixture
def _no_keys(monkeypatch):
    for provider in providers().values():
        if provider.api_key_env:
            monkeypatch.delenv(provider.api_key_env, raising=False)


@pytest.mark.usefixtures("_no_keys")
class TestCheck:
    """`check_model`, for what it needs no litellm for."""

    @pytest.fixture(autouse=True)
    def _needs_httpx(self):
        pytest.importorskip("httpx")

    def test_a_missing_key_is_named(self):
        with pytest.raises(UsageError, match="set ANTHROPIC_API_KEY"):
            check_model("claude-sonnet")
        with pytest.raises(UsageError, match="set MY_KEY"):
            check_model("openai/gpt-4.1", ModelOptions(api_key_env="MY_KEY"))

    def test_an_empty_key_is_missing(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", " ")
        with pytest.raises(UsageError, match="set OPENAI_API_KEY"):
            check_model("openai/gpt-4.1")

    def test_a_key_in_place_passes_without_any_connection(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
        check_model("openai/gpt-4.1")

    def test_a_server_that_refuses_connections_is_named(self, monkeypatch):
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        with socket.create_server(("127.0.0.1", 0)) as server:
            url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
            check_model("openai/local", ModelOptions(base_url=url))
        with pytest.raises(UsageError, match=r"nobody answers at http://127\.0\.0\.1:\d+/v1: .*refused"):
            check_model("openai/local", ModelOptions(base_url=url))

    def test_a_server_of_ones_own_needs_an_address(self):
        with pytest.raises(UsageError, match="-M base_url=http://HOST:PORT"):
            check_model("hosted_vllm/llama")

    def test_a_key_goes_to_another_address_only_if_it_is_named(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
        elsewhere = ModelOptions(base_url="http://elsewhere.invalid/v1")
        client = open_model("openai/x", elsewhere)
        assert client._reach.api_key() == "no-key"
        assert client.source == {"model": "openai/x", "base_url": "http://elsewhere.invalid/v1"}
        named = ModelOptions(base_url="http://elsewhere.invalid/v1", api_key_env="OPENAI_API_KEY")
        assert open_model("openai/x", named)._reach.api_key() == "sk-1"


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("scripted:", "needs a file: -m scripted:FILE"),
        ("scripted:none.json", "can't read the script none.json"),
        ("cassette:none.json", "-m cassette-record:none.json=MODEL makes one"),
        ("cassette-record:x.cassette", "-m cassette-record:FILE=MODEL"),
    ],
)
def test_missing_files_are_explained(model, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as error:
        check_model(model)
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[", "not JSON"),
        ('{"T-1": "x"}', "replies for 'T-1' are not a list"),
        ("[3]", "reply 1 for '*' is neither a text nor an object"),
        ('[{"txt": "x"}]', "did you mean text?"),
        ('[{"error": "rate_limitd"}]', "did you mean rate_limited?"),
        ('[{"tool_calls": [{}]}]', "reply 1 for '*' is not a reply"),
        ('[{"usage": {"in": 3}}]', "reply 1 for '*' is not a reply"),
    ],
)
def test_wrong_scripts_are_explained(content, problem, tmp_path):
    path = tmp_path / "script.json"
    path.write_text(content)
    with pytest.raises(UsageError) as error:
        open_model(f"scripted:{path}")
    assert problem in str(error.value)


def test_an_unknown_key_of_a_script_is_an_unknown_name(tmp_path):
    path = tmp_path / "script.json"
    path.write_text('[{"finish": "x"}]')
    with pytest.raises(UnknownNameError):
        open_model(f"scripted:{path}")


def test_nothing_but_a_call_of_a_provider_loads_litellm_or_httpx(tmp_path):
    (tmp_path / "script.json").write_text('["hello"]')
    program = """
        import sys
        import evalkit.models
        from evalkit.cli.main import main
        from evalkit.models import *
        from evalkit.run.trial import MemorySink

        client = open_model("scripted:script.json", parse_options(["temperature=1"]))
        client.check()
        session = ModelSession(client, Limiters().of(client), RetryPolicy(), None, MemorySink())
        request = ModelRequest((Message("user", "hi"),))
        assert session.complete(request, key=CallKey("T", 1, 1)).text == "hello"
        assert cost(Usage(1, 1), None) is None
        assert main(["cache", "info"]) == 0
        loaded = {"litellm", "httpx", "openai"} & set(sys.modules)
        assert not loaded, loaded
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], cwd=tmp_path, check=True, timeout=120)


def test_importing_the_package_loads_next_to_nothing():
    program = (
        "import sys; before = set(sys.modules); import evalkit.models; print(len(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, timeout=60, text=True
    )
    assert int(done.stdout) < 60


def test_all_public_names_exist():
    import evalkit.models

    for name in evalkit.models.__all__:
        assert getattr(evalkit.models, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Sesion'"):
        _ = evalkit.models.Sesion
