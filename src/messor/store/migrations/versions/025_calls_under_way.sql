-- Whether a cap is reached by what was spent, or only by what calls under way have set aside.
CREATE INDEX ai_calls_under_way ON messor.ai_calls (month, domain) WHERE ending = 'asked';
