"""A Chromium process and its driver: started, measured, closed and killed together.

It runs with its own home folder and environment, so pages have no access to ours, and the pinning
proxy is its only way out.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from playwright.async_api import (
    Browser,
    BrowserContext,
    Error,
    Playwright,
    ProxySettings,
    async_playwright,
)

from messor.errors import UnavailableError
from messor.fetch.browser import processes
from messor.fetch.browser.limits import ADVICE, BrowserLimits, find_chromium

FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    # Only the proxy resolves names, and media streams may not bypass it.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=512",
)
Result = TypeVar("Result")
HOME_PREFIX = "messor-browser-"
STOP_SECONDS = 5.0


class Chromium:
    """A browser process with its driver."""

    def __init__(self, driver: Playwright, browser: Browser, home: Path) -> None:
        self.renders = 0  # started so far
        self.is_failing = False  # not to be used again
        self._driver = driver
        self._browser = browser
        self._home = home
        self._gone = asyncio.Event()
        self._fault = "the process exited"
        browser.once("disconnected", lambda _: self._gone.set())
        self.pid = processes.find_below(os.getpid(), str(home))
        # The driver is the browser's parent; it has no other handle by which to find it.
        self._driver_pid = processes.parent(self.pid) if self.pid else None
        self._roots = processes.tree(self.pid, self._driver_pid)
        # The driver chooses the profile folder, and leaves it behind when killed.
        profile = processes.option(self.pid, "--user-data-dir") if self.pid else None
        if profile is not None:
            (home / "profile").symlink_to(profile)

    @classmethod
    async def launch(cls, limits: BrowserLimits, proxy: str) -> Chromium:
        """Start a browser whose own requests also go through the proxy."""
        await asyncio.to_thread(remove_stale_homes)
        home = Path(tempfile.mkdtemp(prefix=f"{HOME_PREFIX}{os.getpid()}-"))
        try:
            async with asyncio.timeout(limits.launch_seconds):
                return await _start(limits, proxy, home)
        except BaseException as error:
            found = processes.find_below(os.getpid(), str(home))
            processes.kill(processes.tree(found))
            _remove(home)
            if isinstance(error, TimeoutError):
                raise UnavailableError("Chromium did not start in time.") from error
            raise

    @property
    def is_alive(self) -> bool:
        return self._browser.is_connected() and not self._gone.is_set()

    def memory(self) -> int:
        """Bytes used by the browser and all its processes."""
        return processes.own_memory(self._processes())

    async def open(self, proxy: str, credential: tuple[str, str], agent: str) -> BrowserContext:
        """Open a fresh context: no cookies, cache, permissions or state of earlier pages."""
        self.renders += 1
        user, password = credential
        return await self._browser.new_context(
            user_agent=agent,
            proxy={**_behind(proxy), "username": user, "password": password},
            service_workers="block",
            accept_downloads=False,
        )

    async def while_alive(self, work: Awaitable[Result]) -> Result:
        """Await work, but fail when the browser dies: the driver may then leave it pending."""
        task, gone = asyncio.ensure_future(work), asyncio.ensure_future(self._gone.wait())
        try:
            await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Error(self._fault)
            return task.result()
        finally:
            task.cancel()
            gone.cancel()

    def kill(self, fault: str) -> None:
        """Kill all of the browser's processes at once; `close` cleans up afterwards."""
        self._fault = fault
        self._gone.set()
        driver = self._driver_pid
        processes.kill({pid: at for pid, at in self._processes().items() if pid != driver})

    async def close(self, seconds: float) -> None:
        """Close gracefully, else by force; leaves no process or folder behind."""
        known = self._processes()
        with suppress(Error, OSError):  # whatever fails here is killed below
            async with asyncio.timeout(seconds):
                await self._browser.close()
                await self._driver.stop()
        processes.kill(known)
        await asyncio.to_thread(_remove, self._home)

    def _processes(self) -> dict[int, int]:
        """The driver, the browser and all their descendants that still run."""
        alive = [pid for pid, at in self._roots.items() if processes.started(pid) == at]
        return processes.tree(*alive)


def remove_stale_homes() -> None:
    """Remove the home folders of browsers that were killed."""
    for home in Path(tempfile.gettempdir()).glob(f"{HOME_PREFIX}*-*"):
        owner = home.name.removeprefix(HOME_PREFIX).partition("-")[0]
        with suppress(FileNotFoundError):  # other processes may remove folders at the same time
            is_ours = home.lstat().st_uid == os.getuid() and owner.isdigit()
            if is_ours and not processes.is_running(int(owner)):
                _remove(home)


def _remove(home: Path) -> None:
    profile = home / "profile"
    if profile.is_symlink():
        shutil.rmtree(profile.readlink(), ignore_errors=True)
    shutil.rmtree(home, ignore_errors=True)


async def _start(limits: BrowserLimits, proxy: str, home: Path) -> Chromium:
    driver = await async_playwright().start()
    try:
        browser = await driver.chromium.launch(
            executable_path=find_chromium(limits.path),
            # Chromium's sandbox refuses to run as root.
            chromium_sandbox=os.getuid() != 0,
            proxy=_behind(proxy),
            args=[*FLAGS, f"--disk-cache-dir={home / 'cache'}"],
            env=_environment(home),
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
    except Error as error:
        await _stop(driver)
        reason = error.message.partition("\n")[0]
        raise UnavailableError(f"Chromium could not be started ({reason}): {ADVICE}.") from error
    except BaseException:
        await _stop(driver)
        raise
    return Chromium(driver, browser, home)


def _behind(proxy: str) -> ProxySettings:
    """Proxy settings that route all traffic, loopback included, through the proxy."""
    return {"server": proxy, "bypass": "<-loopback>"}


def _environment(home: Path) -> dict[str, str | float | bool]:
    """An environment without any of our variables, which may hold secrets."""
    return {
        "PATH": os.defpath,
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "DBUS_SESSION_BUS_ADDRESS": "disabled:",
    }


async def _stop(driver: Playwright) -> None:
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(STOP_SECONDS):
            await driver.stop()
