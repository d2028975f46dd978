-- The Forager specification knows domains by integers.
SET LOCAL check_function_bodies = off;
ALTER TABLE messor.domains ADD COLUMN number integer GENERATED ALWAYS AS IDENTITY;
ALTER TABLE messor.domains ADD CONSTRAINT domains_number_key UNIQUE (number);
