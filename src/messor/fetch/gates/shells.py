"""Shells of single-page applications: markup that only scripts in a browser will fill."""

from __future__ import annotations

import re

from messor.fetch.gates.answer import GateInput

# A shell has fewer words than this in total.
MAX_WORDS = 200
# Where the element's name alone proves little, the page must be nearly empty.
_BARE_WORDS = 50
_SCAN_CHARS = 131_072

# Ids that frameworks give to their mount element.
_FRAMEWORK_IDS = (
    "root|__next|__nuxt|__layout|___gatsby|gatsby-focus-wrapper|svelte|sveltekit-root|react-root"
    "|reactroot|react-app|react-mount|app-root|approot|app_root|app-mount|vue-app|vueapp|q-app|__app"
    "|mount_0_0|ember-app|ember-basic-dropdown-wormhole|qwik|solid-root|preact-root|docusaurus"
    "|__docusaurus|single-spa-application|elm-app|main-app|spa-root|root-app|__blitz|redwood-app"
    "|umi-root|ice-container|webpack-app|storybook-root|flutter-view|blazor-app"
)
_PLAIN_IDS = "app|application|main|spa|mount|page|container|content|wrapper|client|web-app|site"
_MOUNT = re.compile(
    r"<(?:div|main|section|body|span|article|app)\b[^<>]{0,400}?\bid\s{0,3}=\s{0,3}[\"']?"
    rf"(?:(?P<framework>{_FRAMEWORK_IDS})|(?P<plain>{_PLAIN_IDS}))[\"'\s/>]",
    re.IGNORECASE,
)
_MOUNTS = 20
# The rest of the opening tag, then nothing but a comment before the element closes.
_CLOSES = re.compile(r"[^<>]{0,400}>?\s{0,200}(?:<!--[^<>]{0,200}-->\s{0,200}){0,3}</")
_SCRIPT = re.compile(r"<script\b[^<>]{0,500}\bsrc\s{0,3}=", re.IGNORECASE)
_MODULE = re.compile(r"<script\b[^<>]{0,500}\btype\s{0,3}=\s{0,3}[\"']?module", re.IGNORECASE)
_CUSTOM_ELEMENT = re.compile(r"<[a-z][a-z0-9]{0,40}-[a-z0-9-]{1,60}[\s>/]")
_APP_ELEMENT = re.compile(
    r"<(?:app|app-[\w-]{1,40}|[\w-]{1,40}-(?:app|root|shell|main))[\s>]"
    r"|<[a-z][^<>]{0,300}\s(?:data-)?ng-(?:app|view|controller)\b|<[^<>]{0,300}\sui-view\b"
    r"|<[a-z][^<>]{0,300}\sdata-(?:reactroot|v-app|server-rendered)\b"
)
_LOADERS = (
    "main.dart.js", "flutter_bootstrap.js", "flutter.js", "blazor.webassembly.js",
    "blazor.web.js", "__meteor_runtime_config__", '/config/environment" content=',
    "window.__INITIAL_STATE__", "webpackJsonp", "webpackChunk", "__remixContext",
    "/_next/static/", "/_nuxt/", "/@vite/client", "/static/js/main.", "/static/js/bundle.",
    "polyfills.", "runtime~main", "elm.js",
)  # fmt: skip
_PLEAS = (
    "you need to enable javascript to run this app",
    "doesn't work properly without javascript enabled",
    "please enable javascript to continue using this application",
    "this application requires javascript", "this app requires javascript",
    "this app works best with javascript enabled", "please enable javascript to view",
    "please enable javascript to use", "javascript is required", "javascript must be enabled",
    "requires javascript to be enabled", "javascript is disabled", "enable javascript to run",
)  # fmt: skip


def is_shell(answer: GateInput, html: str) -> bool:
    """Whether the page is a frame that scripts have yet to fill."""
    if answer.words >= MAX_WORDS:
        return False
    markup = html[:_SCAN_CHARS]
    return _has_mount(markup, answer.words) or (
        answer.words < _BARE_WORDS and _is_bare_shell(markup, answer)
    )


def _has_mount(markup: str, words: int) -> bool:
    """Whether a framework's mount element has few words, or an element with a similar name is
    empty.
    """
    at = 0
    for _ in range(_MOUNTS):
        found = _MOUNT.search(markup, at)
        if found is None:
            return False
        if found["framework"]:
            return True
        if words < _BARE_WORDS and _CLOSES.match(markup, found.end()) and "<script" in markup:
            return True
        at = found.end()
    return False


def _is_bare_shell(markup: str, answer: GateInput) -> bool:
    has_script = _SCRIPT.search(markup) is not None
    if has_script and (_APP_ELEMENT.search(markup) or any(name in markup for name in _LOADERS)):
        return True
    if _MODULE.search(markup) and _CUSTOM_ELEMENT.search(markup):
        return True
    if any(plea in answer.text for plea in _PLEAS):
        return "<script" in markup
    return has_script and answer.length == 0
