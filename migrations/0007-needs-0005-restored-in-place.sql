-- A store that is set back within its database, as `pg_restore --clean` does, begins a new incarnation too: its tables were made anew,
-- and the row of the head names another table as its own. A column of its own beside `server`: a connection that was
-- identifying the store by the function of 0001 while this ran sees the same `server` before and after.
ALTER TABLE store_head ADD COLUMN relation bigint;
UPDATE store_head SET relation = 'store_head'::regclass::oid;
ALTER TABLE store_head ALTER COLUMN relation SET NOT NULL;
COMMENT ON COLUMN store_head.relation IS 'the table that this incarnation began in: a restored row names that of the backup';

CREATE OR REPLACE FUNCTION causeway_new_incarnation(here text, OUT incarnation text, OUT revision bigint) LANGUAGE plpgsql AS $fn$
BEGIN
  UPDATE store_head h SET incarnation = gen_random_uuid(), revision = h.revision + 1000000, server = coalesce(here, server),
      relation = 'store_head'::regclass::oid
    WHERE here IS NULL OR server <> here OR relation <> 'store_head'::regclass::oid
    RETURNING h.incarnation, h.revision INTO incarnation, revision;
  IF FOUND THEN PERFORM pg_notify('causeway_log', ''); END IF;
END $fn$;

CREATE OR REPLACE FUNCTION causeway_identify() RETURNS boolean LANGUAGE plpgsql AS $fn$
DECLARE
  here text := '?';
  began text;
  own bigint;
BEGIN
  IF pg_is_in_recovery() THEN RETURN false; END IF;
  IF has_function_privilege('pg_control_system()', 'EXECUTE') THEN
    SELECT system_identifier::text INTO here FROM pg_control_system();
  END IF;
  -- The file that is being written names the timeline at once; the control file does only after a checkpoint.
  here := here || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (SELECT oid FROM pg_database WHERE datname = current_database());
  SELECT server, relation INTO began, own FROM store_head;
  IF began = here AND own = 'store_head'::regclass::oid THEN RETURN true; END IF;
  IF began = '' THEN
    UPDATE store_head SET server = here WHERE server = '';
  ELSE
    PERFORM causeway_new_incarnation(here);
  END IF;
  RETURN true;
END $fn$;
