"""The processes: workers, supervisor, components and their watchdogs, the server."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "components", "ends", "exporter", "metrics_socket", "process_group", "pulse", "server.descriptors", "server.hosts",
    "server.limits", "server.listener", "server.load", "server.protocol", "server.rates", "server.refusals",
    "supervisor", "watchdog",
    "worker_process",
)  # fmt: skip
