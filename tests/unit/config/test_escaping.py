"""What Java and systemd read back, and what is never shown."""

from __future__ import annotations

import pytest

from kcluster.config.escaping import environment_value, masked, property_key, property_value, secret


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        ("plain value", "plain value"),
        (" leading blank", "\\ leading blank"),
        (r"RULE:^CN=(\w+)$/$1/", r"RULE:^CN=(\\w+)$/$1/"),
        ("two\nlines\tand a tab", "two\\nlines\\tand a tab"),
        ("Zürich", "Z\\u00fcrich"),
        ("𝄞", "\\ud834\\udd1e"),
        ("", ""),
    ],
)
def test_a_value_is_spelled_so_that_java_reads_it_back(value: str, spelled: str) -> None:
    assert property_value(value) == spelled


def test_a_key_is_spelled_so_that_it_does_not_end_early() -> None:
    assert property_key("a b:c=d") == r"a\ b\:c\=d"


def test_an_environment_value_fits_between_double_quotes() -> None:
    assert environment_value('say "$HOME" `now` \\') == 'say \\"$HOME\\" `now` \\\\'


@pytest.mark.parametrize(
    "key",
    [
        "ssl.key.password",
        "ssl.keyStore.password",
        "listener.name.internal.scram-sha-512.sasl.jaas.config",
        "password.encoder.secret",
        "delegation.token.secret.key",
        "ssl.keystore.key",
        "my.plugin.apikey",
        "my.api.key",
        "my.passwd",
        "auth.token",
        "db.pass",
    ],
)
def test_secrets_are_known_by_their_key(key: str) -> None:
    assert secret(key, "x")


@pytest.mark.parametrize(
    "key",
    [
        "password.encoder.iterations",
        "sasl.enabled.mechanisms",
        "ssl.keystore.location",
        "ssl.secure.random.implementation",
        "delegation.token.expiry.time.ms",
        "sasl.oauthbearer.token.endpoint.url",
        "bypass",
    ],
)
def test_other_keys_are_no_secrets(key: str) -> None:
    assert not secret(key, "x")


def test_a_reference_to_a_provider_tells_no_secret() -> None:
    assert not secret("ssl.key.password", "${file:/etc/kafka/secrets:key}")
    assert secret("ssl.key.password", "x${file:/etc/kafka/secrets:key}")


@pytest.mark.parametrize("name", ["KEYSTORE_PASSWORD", "KEY_PASSPHRASE", "DB_PASS", "DD_API_KEY", "APIKEY"])
def test_a_variable_named_like_a_secret_is_hidden(name: str) -> None:
    assert masked(name, "x") == "********"
    assert masked("SSH_ASKPASS", "x") == "x"
    assert masked("JMX_PORT", "9999") == "9999"


def test_a_password_among_the_options_of_java_is_hidden() -> None:
    options = '-Xss1m -Djavax.net.ssl.keyStorePassword=geheim -Dtoken="two words" -Da=b'
    assert masked("KAFKA_OPTS", options) == "-Xss1m -Djavax.net.ssl.keyStorePassword=******** -Dtoken=******** -Da=b"


@pytest.mark.parametrize("name", ["aws.secretKey", "fs.s3a.secret.key", "x.passphrase", "dd.api.key", "db.pass"])
def test_an_option_with_a_word_for_a_secret_in_its_name_is_hidden(name: str) -> None:
    assert masked("KAFKA_OPTS", f"-Da=b -D{name}=geheim -Dc=d") == f"-Da=b -D{name}=******** -Dc=d"


@pytest.mark.parametrize("name", ["javax.net.ssl.keyStorePasswordPath", "x.password.file", "x.token.expiry", "passive"])
def test_an_option_beside_a_secret_is_shown(name: str) -> None:
    assert masked("KAFKA_OPTS", f"-D{name}=seen") == f"-D{name}=seen"
