"""Published examples of signatures, as facts.

`RFC`: RFC 9421, appendices B.1.4 and B.2.6. `ARCHITECTURE` and `DIRECTORY`: the test data of
cloudflare/web-bot-auth, `web_bot_auth_architecture_v2.json` and
`web_bot_auth_directory_response_v1.json`; of the former the two with Ed25519.
"""

from __future__ import annotations

# The private and the public half of RFC 9421's test-key-ed25519, as JWK writes them.
D = "n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU"
X = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"
THUMBPRINT = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"

RFC_HEADERS = {
    "host": "example.com",
    "date": "Tue, 20 Apr 2021 02:07:55 GMT",
    "content-type": "application/json",
    "content-length": "18",
}
RFC_INPUT = (
    'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length")'
    ';created=1618884473;keyid="test-key-ed25519"'
)
RFC_SIGNATURE = (
    "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
)

URL = "https://example.com/path/to/resource"
CREATED, EXPIRES = 1735689600, 4889289600
_PARAMS = f';created={CREATED};keyid="{THUMBPRINT}";alg="ed25519";expires={EXPIRES}'
_FIRST_NONCE = (
    "zIW8+cdmA3vdYagbxojpONwa/l0EKJ/O3/wD486VvsQjO/RxPaSt6ZxvQaMcQzNnqKN/mQ6hpGiFro2L2qkz5A=="
)
_SECOND_NONCE = (
    "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA=="
)
ARCHITECTURE = (
    {
        "signature-input": f'sig1=("@authority"){_PARAMS};nonce="{_FIRST_NONCE}";tag="web-bot-auth"',
        "signature": "sig1=:QKN4fTdIYfh82fvoZCQiQA1weuozfCS/Led2zTMbewMMqH8PI2Wsy/5c4ao6B6D09nra"
        "NQdBNOADg8aM1MqfCg==:",
    },
    {
        "signature-agent": 'agent2="https://signature-agent.test"',
        "signature-input": f'sig2=("@authority" "signature-agent";key="agent2"){_PARAMS}'
        f';nonce="{_SECOND_NONCE}";tag="web-bot-auth"',
        "signature": "sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8P"
        "hbNZACSanGdhEwYCCg==:",
    },
)

DIRECTORY_URL = "https://signature-agent.test/.well-known/http-message-signatures-directory"
DIRECTORY_BODY = (
    f'{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"{THUMBPRINT}","x":"{X}","use":"sig"}}]}}'
)
DIRECTORY_HEADERS = {
    "content-digest": "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:",
    "signature-input": f'binding0=("@authority";req "content-digest"){_PARAMS}'
    ';tag="http-message-signatures-directory"',
    "signature": "binding0=:yiHq0TXrbpzbmlttAQMpYoAufitFJUWuNsakB7QQMoN0EHbo5o51bZRVR8az/ptTWCwll"
    "ix9clrKXfGKwdPzBg==:",
}
