-- A UUIDv7 as `core.ids` makes them: 48 bits of milliseconds, version and variant, randomness. A random UUID
-- has the variant already; of its version 4 two bits are changed.
CREATE OR REPLACE FUNCTION messor.new_id() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(set_bit(set_bit(
    overlay(uuid_send(gen_random_uuid())
            placing substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
            FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid
$$;
