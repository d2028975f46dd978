DROP INDEX messor.ai_calls_under_way;
