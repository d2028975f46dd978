"""Dispatch through Celery and RabbitMQ: messages are hints, the truth stays in PostgreSQL."""
