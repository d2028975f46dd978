"""The processes: workers, supervisor, components and their watchdogs, the server."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "components", "process_group", "server.descriptors", "server.hosts", "server.limits",
    "server.load", "server.protocol", "server.rates", "stopping", "supervisor", "watchdog",
    "worker_process",
)  # fmt: skip
