"""Dispatch through Celery and RabbitMQ: messages are hints, PostgreSQL remains the truth."""
