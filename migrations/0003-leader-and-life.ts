import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Leadership, sessions of zones, lives of the store and their upkeep, each one statement as well. */
export class LeaderAndLife0000000000003 implements MigrationInterface {
  readonly name = 'LeaderAndLife0000000000003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TAKE_OVER);
    await runner.query(OPEN_SESSION);
    await runner.query(LIFE);
    await runner.query(PURGE);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('migrations go forward only; restore a backup instead'));
  }
}

/** Begins the next epoch (design.md §3). Fenced writes hold the leader row FOR SHARE, so this waits for them. */
const TAKE_OVER = `
CREATE FUNCTION causeway_take_over(from_epoch bigint, new_holder text, lease_ms bigint) RETURNS bigint LANGUAGE plpgsql AS $fn$
DECLARE
  begun bigint;
BEGIN
  PERFORM 1 FROM leader_lease WHERE epoch = from_epoch AND expires_at <= clock_timestamp() FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  UPDATE leader SET epoch = epoch + 1, holder = new_holder WHERE epoch = from_epoch RETURNING epoch INTO begun;
  IF begun IS NULL THEN RETURN NULL; END IF;
  UPDATE leader_lease SET epoch = begun, holder = new_holder, expires_at = clock_timestamp() + lease_ms * interval '1 ms';
  RETURN begun;
END $fn$;
`;

/** A zone's new session (design.md §5 Newer wins). Waits for writes that hold the session before FOR SHARE. */
const OPEN_SESSION = `
CREATE FUNCTION causeway_open_session(
  asked_zone text, asked_store text, asked_incarnation text, asked_epoch bigint, asked_instance text, direction text,
  OUT outcome text, OUT session bigint, OUT standing zone_sessions
) LANGUAGE plpgsql AS $fn$
BEGIN
  INSERT INTO zone_sessions VALUES (asked_zone, '', '', 0, '', 0, 0, 0) ON CONFLICT DO NOTHING;
  SELECT * INTO STRICT standing FROM zone_sessions WHERE zone = asked_zone FOR UPDATE;
  IF standing.store_id <> '' AND asked_store <> '' AND standing.store_id <> asked_store THEN
    outcome := 'other-store';
    RETURN;
  END IF;
  IF standing.incarnation = asked_incarnation AND asked_epoch < standing.epoch THEN
    outcome := 'older';
    RETURN;
  END IF;
  outcome := 'opened';
  session := greatest(standing.up, standing.down) + 1;
  UPDATE zone_sessions SET store_id = CASE asked_store WHEN '' THEN store_id ELSE asked_store END,
    incarnation = asked_incarnation, epoch = asked_epoch, instance = asked_instance,
    up = CASE direction WHEN 'down' THEN up ELSE session END,
    down = CASE direction WHEN 'up' THEN down ELSE session END,
    opened_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
  WHERE zone = asked_zone;
END $fn$;
`;

/**
 * Which life of the store this is (design.md §2.7). Where server, timeline or database are others than those it began
 * on (a restored or copied database, a standby that took over), a new life begins. Revisions go on with a gap, so that
 * what a process remembers of the old life meets no revision of the new one. `causeway_identify` is asked on every
 * new connection; false says that this is a standby.
 */
const LIFE = `
CREATE FUNCTION causeway_new_life(here text, OUT incarnation text, OUT revision bigint) LANGUAGE plpgsql AS $fn$
BEGIN
  UPDATE store_head h SET incarnation = gen_random_uuid(), revision = h.revision + 1000000, server = coalesce(here, server)
    WHERE here IS NULL OR server <> here
    RETURNING h.incarnation, h.revision INTO incarnation, revision;
  IF FOUND THEN PERFORM pg_notify('causeway_log', ''); END IF;
END $fn$;

CREATE FUNCTION causeway_identify() RETURNS boolean LANGUAGE plpgsql AS $fn$
DECLARE
  here text := '?';
  began text;
BEGIN
  IF pg_is_in_recovery() THEN RETURN false; END IF;
  IF has_function_privilege('pg_control_system()', 'EXECUTE') THEN
    SELECT system_identifier::text INTO here FROM pg_control_system();
  END IF;
  -- The file that is being written names the timeline at once; the control file does only after a checkpoint.
  here := here || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (SELECT oid FROM pg_database WHERE datname = current_database());
  SELECT server INTO began FROM store_head;
  IF began = here THEN RETURN true; END IF;
  IF began = '' THEN
    UPDATE store_head SET server = here WHERE server = '';
  ELSE
    PERFORM causeway_new_life(here);
  END IF;
  RETURN true;
END $fn$;
`;

/** Forgets tombstones by age and raises the floor above them, a bounded number at a time. */
const PURGE = `
CREATE FUNCTION causeway_purge(age_ms bigint, at_most integer) RETURNS bigint LANGUAGE plpgsql AS $fn$
DECLARE
  gone bigint;
  newest bigint;
BEGIN
  PERFORM 1 FROM store_head FOR NO KEY UPDATE;
  WITH old AS (
    SELECT revision FROM resources WHERE deleted_at <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint - age_ms
    ORDER BY deleted_at LIMIT at_most
  ), purged AS (
    DELETE FROM resources r USING old WHERE r.revision = old.revision RETURNING r.revision
  )
  SELECT count(*), max(revision) INTO gone, newest FROM purged;
  UPDATE store_head SET floor = greatest(floor, newest) WHERE newest IS NOT NULL;
  RETURN gone;
END $fn$;
`;
