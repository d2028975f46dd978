DROP TABLE messor.webhooks;
DROP TABLE messor.idempotency_keys;
