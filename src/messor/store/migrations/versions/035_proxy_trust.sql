-- A proxy that the operator added on the command line may have a private address; one that came in
-- by the API or the console may not. Who added those that are there stands in their events.
ALTER TABLE messor.proxies ADD COLUMN trusted boolean NOT NULL DEFAULT false;
UPDATE messor.proxies p SET trusted = true
 WHERE EXISTS (SELECT FROM messor.events e
                WHERE e.type = 'proxy.added' AND e.actor = 'local-admin'
                  AND e.data ->> 'proxy' = p.id::text);
