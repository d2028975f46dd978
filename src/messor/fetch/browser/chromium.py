"""One Chromium and the driver that speaks to it: started, measured, closed and killed as one.

It starts with a home folder and an environment of its own, so that pages run beside nothing of
ours, and with every way out but the pinning proxy shut.
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
    # Names are looked up by the proxy alone, and media streams may not go around it.
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
        self.renders = 0  # begun
        self.is_failing = False  # it is not to be used again
        self._driver = driver
        self._browser = browser
        self._home = home
        self._gone = asyncio.Event()
        self._fault = "it is gone"
        browser.once("disconnected", lambda _: self._gone.set())
        self.pid = processes.find_below(os.getpid(), str(home))
        # The driver is the browser's parent; on its own it can neither be asked nor found.
        self._driver_pid = processes.parent(self.pid) if self.pid else None
        self._roots = processes.tree(self.pid, self._driver_pid)
        # The driver chooses the profile's folder, and leaves it behind when it is killed.
        profile = processes.option(self.pid, "--user-data-dir") if self.pid else None
        if profile is not None:
            (home / "profile").symlink_to(profile)

    @classmethod
    async def launch(cls, limits: BrowserLimits, proxy: str) -> Chromium:
        """Start a browser whose own requests, too, end at the proxy."""
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
        """A fresh context: no cookies, cache, permissions or memory of earlier pages."""
        self.renders += 1
        user, password = credential
        return await self._browser.new_context(
            user_agent=agent,
            proxy={**_behind(proxy), "username": user, "password": password},
            service_workers="block",
            accept_downloads=False,
        )

    async def while_alive(self, work: Awaitable[Result]) -> Result:
        """What comes of work; the driver may leave it pending when the browser is gone."""
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
        """End all of the browser's processes at once; `close` tidies up afterwards."""
        self._fault = fault
        self._gone.set()
        driver = self._driver_pid
        processes.kill({pid: at for pid, at in self._processes().items() if pid != driver})

    async def close(self, seconds: float) -> None:
        """Close in good order, or else by force; nothing of it is left."""
        known = self._processes()
        with suppress(Error, OSError):  # whatever is broken is killed below
            async with asyncio.timeout(seconds):
                await self._browser.close()
                await self._driver.stop()
        processes.kill(known)
        await asyncio.to_thread(_remove, self._home)

    def _processes(self) -> dict[int, int]:
        """The driver, the browser and all below them that still run."""
        alive = [pid for pid, at in self._roots.items() if processes.started(pid) == at]
        return processes.tree(*alive)


def remove_stale_homes() -> None:
    """Remove the home folders of our processes that were killed."""
    for home in Path(tempfile.gettempdir()).glob(f"{HOME_PREFIX}*-*"):
        owner = home.name.removeprefix(HOME_PREFIX).partition("-")[0]
        with suppress(FileNotFoundError):  # others remove theirs, or the same ones, meanwhile
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
            # Its sandbox refuses to run as root.
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
    """All traffic by the proxy, that to loopback too."""
    return {"server": proxy, "bypass": "<-loopback>"}


def _environment(home: Path) -> dict[str, str | float | bool]:
    """Nothing of our own environment, which may hold secrets."""
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
