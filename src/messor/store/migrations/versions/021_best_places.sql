-- Whether a result is the best place of its domain on its page, among organic and local ones.
ALTER TABLE messor.serp_results ADD COLUMN is_best boolean NOT NULL DEFAULT true;
UPDATE messor.serp_results r SET is_best = false
  FROM (SELECT id, row_number() OVER (PARTITION BY snapshot_id, domain ORDER BY rank_position, id) AS place
          FROM messor.serp_results
         WHERE block_type IN ('organic', 'local_pack') AND domain IS NOT NULL) n
 WHERE n.id = r.id AND n.place > 1;
