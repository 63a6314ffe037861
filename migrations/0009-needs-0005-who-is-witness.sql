-- What lets a candidate try to lead (docs/design.md §3): the lock in Redis, where a replica has one, or the lease in Postgres alone, once
-- Redis has shown that it is no witness. It stands in the row of the epoch and changes with it, or by who has that epoch.
ALTER TABLE leader ADD COLUMN witness text NOT NULL DEFAULT 'lock' CONSTRAINT leader_witness CHECK (witness IN ('lock', 'lease'));
COMMENT ON COLUMN leader.witness IS 'lock: the lock in Redis, where a replica has one; lease: the lease in Postgres alone';
COMMENT ON TABLE leader IS 'changes only at a take-over, and where the lock counts again; every fenced write holds it FOR SHARE';

-- Begins the next epoch, for who knows which witness counts. The witness is compared and set as the epoch is.
CREATE FUNCTION causeway_begin_epoch(from_epoch bigint, new_holder text, lease_ms bigint, from_witness text, new_witness text)
  RETURNS bigint LANGUAGE plpgsql AS $fn$
DECLARE
  begun bigint;
BEGIN
  PERFORM 1 FROM leader_lease WHERE epoch = from_epoch AND expires_at <= clock_timestamp() FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  UPDATE leader SET epoch = epoch + 1, holder = new_holder, witness = new_witness
    WHERE epoch = from_epoch AND witness = from_witness RETURNING epoch INTO begun;
  IF begun IS NULL THEN RETURN NULL; END IF;
  UPDATE leader_lease SET epoch = begun, holder = new_holder, expires_at = clock_timestamp() + lease_ms * interval '1 ms';
  RETURN begun;
END $fn$;

-- What programs call that do not know the witness: they lead while the lock counts, and are refused while the lease alone does.
CREATE OR REPLACE FUNCTION causeway_take_over(from_epoch bigint, new_holder text, lease_ms bigint) RETURNS bigint LANGUAGE sql AS $fn$
  SELECT causeway_begin_epoch(from_epoch, new_holder, lease_ms, 'lock', 'lock');
$fn$;
