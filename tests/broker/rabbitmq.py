"""A RabbitMQ of a test run's own: random loopback ports, its own folder, node name and cookie."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import amqp

SCRIPT = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")  # the one on the PATH insists on an account
INSTALL = "no RabbitMQ is installed; get it with: apt-get install rabbitmq-server"


def is_installed() -> bool:
    return SCRIPT.exists() and shutil.which("epmd") is not None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class RabbitMQ:
    """Can be killed and started again, with all it had on disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._epmd: subprocess.Popen[bytes] | None = None
        self._server: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self.url = f"amqp://guest:guest@127.0.0.1:{self.port}//"
        epmd_port = free_port()
        (folder / "plugins").write_text("[].\n")
        (folder / "home").mkdir()
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "LANG": "C.UTF-8",
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(epmd_port),
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
            "RABBITMQ_NODENAME": f"messor{secrets.token_hex(4)}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                "-kernel inet_dist_use_interface {127,0,0,1} +S 2:2 +sbwt none"
            ),
        }
        self._epmd_command = ["epmd", "-address", "127.0.0.1", "-port", str(epmd_port)]

    def start(self) -> None:
        if self._epmd is None:
            self._epmd = subprocess.Popen(self._epmd_command, stdin=subprocess.DEVNULL)
        with (self._folder / "output").open("ab") as output:
            self._server = subprocess.Popen(
                [SCRIPT],
                env=self._environment,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    @property
    def is_running(self) -> bool:
        return self._server is not None

    def wait(self) -> None:
        """Until it answers."""
        deadline = time.monotonic() + 180
        while True:
            try:
                self.connect().close()
            except (OSError, amqp.AMQPError) as error:
                if time.monotonic() > deadline:
                    text = (self._folder / "output").read_text()[-2000:]
                    raise TimeoutError(f"RabbitMQ did not start: {text}") from error
                time.sleep(0.1)
            else:
                return

    def connect(self) -> amqp.Connection:
        connection = amqp.Connection(f"127.0.0.1:{self.port}", connect_timeout=60, heartbeat=0)
        connection.connect()
        return connection

    def control(self, *command: str) -> None:
        """Run `rabbitmqctl`."""
        program = SCRIPT.with_name("rabbitmqctl")
        subprocess.run(
            [program, "-q", *command], env=self._environment, cwd=self._folder, check=True
        )

    def kill(self) -> None:
        """As a power cut would."""
        if self._server is not None:
            os.killpg(self._server.pid, signal.SIGKILL)
            self._server.wait()
            self._server = None

    def close(self) -> None:
        self.kill()
        if self._epmd is not None:
            self._epmd.kill()
            self._epmd.wait()
