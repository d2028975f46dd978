ALTER TABLE messor.serp_results DROP COLUMN is_best;
