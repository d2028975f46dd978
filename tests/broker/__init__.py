"""Dispatch through a real RabbitMQ."""
