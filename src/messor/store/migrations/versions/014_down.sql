-- Back to 013.
DROP TABLE messor.relevance_models, messor.flag_decisions, messor.page_flags, messor.ai_calls,
  messor.ai_usage;
