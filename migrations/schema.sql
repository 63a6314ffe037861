-- What the migrations make together. Refreshed by UPDATE_GOLDEN=1; do not edit.

CREATE TABLE leader (
  one boolean NOT NULL DEFAULT true,
  epoch bigint NOT NULL,
  holder text NOT NULL
);

CREATE TABLE leader_lease (
  one boolean NOT NULL DEFAULT true,
  epoch bigint NOT NULL,
  holder text NOT NULL,
  expires_at timestamp with time zone NOT NULL
) WITH (fillfactor=10);

CREATE TABLE notes (
  area text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value jsonb NOT NULL
);

CREATE TABLE resources (
  kind text COLLATE "C" NOT NULL,
  mesh text COLLATE "C" NOT NULL,
  zone text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  uid text NOT NULL,
  labels jsonb NOT NULL,
  spec jsonb NOT NULL,
  status jsonb,
  generation bigint NOT NULL,
  creation_order bigint NOT NULL,
  created_at bigint NOT NULL,
  modified_at bigint NOT NULL,
  revision bigint NOT NULL,
  origin_incarnation text,
  origin_revision bigint NOT NULL,
  origin_committed_at bigint NOT NULL,
  vip inet,
  freed jsonb NOT NULL,
  grace_started_at bigint,
  deleted_at bigint
);

CREATE TABLE store_head (
  one boolean NOT NULL DEFAULT true,
  incarnation text NOT NULL,
  revision bigint NOT NULL,
  floor bigint NOT NULL,
  creation_order bigint NOT NULL,
  server text NOT NULL
) WITH (fillfactor=10);

CREATE TABLE zone_sessions (
  zone text COLLATE "C" NOT NULL,
  store_id text NOT NULL,
  incarnation text NOT NULL,
  epoch bigint NOT NULL,
  instance text NOT NULL,
  up bigint NOT NULL,
  down bigint NOT NULL,
  opened_at bigint NOT NULL
);

ALTER TABLE leader_lease ADD CONSTRAINT leader_lease_one_check CHECK (one);

ALTER TABLE leader_lease ADD CONSTRAINT leader_lease_pkey PRIMARY KEY (one);

ALTER TABLE leader ADD CONSTRAINT leader_one_check CHECK (one);

ALTER TABLE leader ADD CONSTRAINT leader_pkey PRIMARY KEY (one);

ALTER TABLE notes ADD CONSTRAINT notes_pkey PRIMARY KEY (area, key);

ALTER TABLE resources ADD CONSTRAINT resources_dead_hold_no_vip CHECK (((deleted_at IS NULL) OR (vip IS NULL)));

ALTER TABLE resources ADD CONSTRAINT resources_identity PRIMARY KEY (kind, mesh, zone, namespace, name);

ALTER TABLE store_head ADD CONSTRAINT store_head_one_check CHECK (one);

ALTER TABLE store_head ADD CONSTRAINT store_head_pkey PRIMARY KEY (one);

ALTER TABLE zone_sessions ADD CONSTRAINT zone_sessions_pkey PRIMARY KEY (zone);

CREATE UNIQUE INDEX resources_revision ON resources USING btree (revision);

CREATE INDEX resources_tombstones ON resources USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);

CREATE UNIQUE INDEX resources_vip ON resources USING btree (vip) WHERE ((vip IS NOT NULL) AND (deleted_at IS NULL));

CREATE TYPE causeway_round AS (results jsonb, written bigint, refused bigint, creation_order bigint);

CREATE OR REPLACE FUNCTION causeway_freed(freed jsonb, given_up inet, taken inet, now_ms bigint)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  SELECT coalesce(jsonb_agg(entry ORDER BY place) FILTER (
      WHERE (entry ->> 'ip')::inet IS DISTINCT FROM given_up AND (entry ->> 'ip')::inet IS DISTINCT FROM taken), '[]')
    || CASE WHEN given_up IS NULL THEN '[]' ELSE jsonb_build_array(jsonb_build_object('ip', host(given_up), 'at', now_ms)) END
  FROM jsonb_array_elements(freed) WITH ORDINALITY AS e(entry, place)
$function$
;

CREATE OR REPLACE FUNCTION causeway_identify()
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
END $function$
;

CREATE OR REPLACE FUNCTION causeway_new_life(here text, OUT incarnation text, OUT revision bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE store_head h SET incarnation = gen_random_uuid(), revision = h.revision + 1000000, server = coalesce(here, server)
    WHERE here IS NULL OR server <> here
    RETURNING h.incarnation, h.revision INTO incarnation, revision;
  IF FOUND THEN PERFORM pg_notify('causeway_log', ''); END IF;
END $function$
;

CREATE OR REPLACE FUNCTION causeway_open_session(asked_zone text, asked_store text, asked_incarnation text, asked_epoch bigint, asked_instance text, direction text, OUT outcome text, OUT session bigint, OUT standing zone_sessions)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
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
END $function$
;

CREATE OR REPLACE FUNCTION causeway_purge(age_ms bigint, at_most integer)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
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
END $function$
;

CREATE OR REPLACE FUNCTION causeway_refusals(results jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT jsonb_agg(result) FROM (
    SELECT result FROM jsonb_array_elements(results) AS r(result)
    WHERE result ->> 1 NOT IN ('created', 'written', 'unchanged') LIMIT 20
  ) AS first_ones
$function$
;

CREATE OR REPLACE FUNCTION causeway_take_over(from_epoch bigint, new_holder text, lease_ms bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
DECLARE
  begun bigint;
BEGIN
  PERFORM 1 FROM leader_lease WHERE epoch = from_epoch AND expires_at <= clock_timestamp() FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  UPDATE leader SET epoch = epoch + 1, holder = new_holder WHERE epoch = from_epoch RETURNING epoch INTO begun;
  IF begun IS NULL THEN RETURN NULL; END IF;
  UPDATE leader_lease SET epoch = begun, holder = new_holder, expires_at = clock_timestamp() + lease_ms * interval '1 ms';
  RETURN begun;
END $function$
;

CREATE OR REPLACE FUNCTION causeway_write(rounds jsonb, all_or_none boolean, fence_epoch bigint, fence_holder text, session_zone text, session_number bigint, notes_to_write jsonb, stash boolean, OUT head_revision bigint, OUT fenced text, OUT results jsonb)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  head store_head%ROWTYPE;
  round causeway_round;
  changes jsonb;
  now_us bigint;
  written bigint := 0;
  refused boolean := false;
BEGIN
  results := '[]';
  IF jsonb_array_length(rounds) > 0 THEN
    SELECT * INTO STRICT head FROM store_head FOR NO KEY UPDATE;
  END IF;
  IF fence_epoch IS NOT NULL THEN
    PERFORM 1 FROM leader WHERE epoch = fence_epoch AND holder = fence_holder FOR SHARE;
    IF NOT FOUND THEN fenced := 'leader'; RETURN; END IF;
  END IF;
  IF session_zone IS NOT NULL THEN
    PERFORM 1 FROM zone_sessions WHERE zone = session_zone AND session_number IN (up, down) FOR SHARE;
    IF NOT FOUND THEN fenced := 'session'; RETURN; END IF;
  END IF;
  now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
  FOR changes IN SELECT value FROM jsonb_array_elements(rounds) WITH ORDINALITY AS r(value, place) ORDER BY place LOOP
    round := causeway_write_round(changes, all_or_none, head.revision, head.creation_order, now_us);
    head.revision := head.revision + round.written;
    head.creation_order := greatest(head.creation_order, round.creation_order);
    results := results || round.results;
    refused := all_or_none AND round.refused > 0;
    EXIT WHEN refused;
    written := written + round.written;
  END LOOP;
  IF refused AND written > 0 THEN
    RAISE EXCEPTION USING ERRCODE = 'CW001', MESSAGE = 'a later change of the write is refused', DETAIL = causeway_refusals(round.results)::text;
  END IF;
  IF written > 0 THEN
    UPDATE store_head SET revision = head.revision, creation_order = head.creation_order;
    PERFORM pg_notify('causeway_log', '');
  END IF;
  IF notes_to_write IS NOT NULL AND NOT refused THEN
    PERFORM causeway_write_notes(notes_to_write);
  END IF;
  IF stash THEN
    PERFORM set_config('causeway.results', results::text, false);
    results := NULL;
  END IF;
  head_revision := coalesce(head.revision, (SELECT revision FROM store_head));
END $function$
;

CREATE OR REPLACE FUNCTION causeway_write_notes(notes_to_write jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  -- In one order everywhere, so that two writers never wait for each other in a circle.
  PERFORM 1 FROM notes n JOIN jsonb_to_recordset(notes_to_write) AS w(area text, key text) USING (area, key)
    ORDER BY area, key FOR UPDATE OF n;
  DELETE FROM notes n USING jsonb_to_recordset(notes_to_write) AS w(area text, key text, value jsonb)
    WHERE n.area = w.area AND n.key = w.key AND w.value IS NULL;
  INSERT INTO notes SELECT area, key, value FROM jsonb_to_recordset(notes_to_write) AS w(area text, key text, value jsonb)
    WHERE value IS NOT NULL ORDER BY area, key
    ON CONFLICT ON CONSTRAINT notes_pkey DO UPDATE SET value = excluded.value;
END $function$
;

CREATE OR REPLACE FUNCTION causeway_write_round(changes jsonb, all_or_none boolean, head_revision bigint, head_creation_order bigint, now_us bigint)
 RETURNS causeway_round
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET jit TO 'off'
AS $function$
DECLARE
  result causeway_round;
  now_ms CONSTANT bigint := now_us / 1000;
  -- A copy may be ahead of our clock by a day and still move creation orders on; a wilder one must not exhaust them.
  newest_copy CONSTANT bigint := now_us + 86400000000;
BEGIN
  WITH asked AS (
    SELECT * FROM jsonb_to_recordset(changes) AS c(
      at int, type text, kind text, mesh text, zone text, namespace text, name text, absent boolean, expect bigint,
      labels jsonb, spec jsonb, status jsonb, uid text, generation bigint, "creationOrder" bigint, "createdAt" bigint,
      "originIncarnation" text, "originRevision" bigint, "originCommittedAt" bigint,
      vip inet, "setsVip" boolean, "graceStartedAt" bigint, "setsGrace" boolean)
  ), met AS (
    SELECT a.*, a.uid IS NOT NULL AS copy, r.kind IS NOT NULL AND r.deleted_at IS NULL AS living, r.uid AS r_uid,
      r.labels AS r_labels, r.spec AS r_spec, r.status AS r_status, coalesce(r.generation, 0) AS r_generation,
      r.creation_order AS r_creation_order, r.created_at AS r_created_at, r.revision AS r_revision,
      r.origin_incarnation AS r_origin_incarnation, r.origin_revision AS r_origin_revision,
      r.origin_committed_at AS r_origin_committed_at, r.vip AS r_vip, coalesce(r.freed, '[]') AS r_freed,
      r.grace_started_at AS r_grace,
      CASE WHEN a.type = 'delete' THEN NULL WHEN a."setsVip" THEN a.vip ELSE r.vip END AS new_vip
    FROM asked a LEFT JOIN resources r USING (kind, mesh, zone, namespace, name)
  ), held AS (
    -- A subquery by row, so that the index of addresses is always what is read.
    SELECT m.*, CASE WHEN "setsVip" AND living AND vip IS DISTINCT FROM r_vip THEN (
        SELECT jsonb_build_array(o.kind, o.mesh, o.zone, o.namespace, o.name) FROM resources o
        WHERE o.vip = m.vip AND o.deleted_at IS NULL) END AS holder
    FROM met m
  ), judged AS (
    SELECT h.*,
      CASE
        WHEN type = 'put' AND absent AND living THEN 'exists'
        WHEN type <> 'put' AND NOT living THEN 'absent'
        WHEN expect IS NOT NULL AND (NOT living OR r_revision <> expect) THEN 'conflict'
        WHEN copy AND r_origin_incarnation = "originIncarnation" AND "originRevision" < r_origin_revision THEN 'older'
        WHEN holder IS NOT NULL THEN 'vip-taken'
      END AS refusal,
      living AND CASE type
        WHEN 'put' THEN labels = r_labels AND spec = r_spec AND (status IS NULL OR status IS NOT DISTINCT FROM r_status)
          AND (NOT copy OR (uid = r_uid AND generation = r_generation AND "creationOrder" = r_creation_order
            AND "createdAt" = r_created_at AND "originIncarnation" IS NOT DISTINCT FROM r_origin_incarnation
            AND "originRevision" = r_origin_revision AND "originCommittedAt" = r_origin_committed_at))
        WHEN 'patch' THEN (spec IS NULL OR spec = r_spec) AND (status IS NULL OR status IS NOT DISTINCT FROM r_status)
          AND new_vip IS NOT DISTINCT FROM r_vip
          AND ("setsGrace" IS NOT TRUE OR "graceStartedAt" IS NOT DISTINCT FROM r_grace)
        ELSE false
      END AS same
    FROM held h
  ), claimed AS (
    SELECT j.*, refusal IS NULL AND new_vip IS NOT NULL AND new_vip IS DISTINCT FROM r_vip AS takes_vip FROM judged j
  ), decided AS (
    -- Of several changes that would take one address, the first one gets it.
    SELECT c.*,
      CASE WHEN takes_vip AND row_number() OVER takers > 1 THEN 'vip-taken' ELSE refusal END AS verdict,
      CASE WHEN takes_vip THEN first_value(jsonb_build_array(kind, mesh, zone, namespace, name)) OVER takers
        ELSE holder END AS by_whom
    FROM claimed c WINDOW takers AS (PARTITION BY takes_vip, CASE WHEN takes_vip THEN new_vip END ORDER BY at)
  ), chosen AS (
    SELECT d.*, verdict IS NULL AND NOT same AND NOT (all_or_none AND bool_or(verdict IS NOT NULL) OVER ()) AS writes,
      type = 'put' AND NOT copy AND NOT living AS makes,
      CASE type WHEN 'put' THEN NOT copy AND NOT (living AND labels = r_labels AND spec = r_spec)
        WHEN 'patch' THEN r_origin_incarnation IS NULL AND spec IS NOT NULL AND spec <> r_spec
        ELSE false END AS moves_origin
    FROM decided d
  ), numbered AS MATERIALIZED (
    SELECT c.*, head_revision + count(*) FILTER (WHERE writes) OVER places AS new_revision,
      CASE WHEN type = 'put' AND copy THEN uid WHEN makes THEN gen_random_uuid()::text ELSE r_uid END AS new_uid,
      CASE WHEN type = 'put' AND copy THEN generation WHEN type = 'put' AND moves_origin THEN r_generation + 1
        ELSE r_generation END AS new_generation,
      CASE WHEN type = 'put' AND copy THEN "creationOrder"
        WHEN makes THEN greatest(now_us, head_creation_order, max("creationOrder") FILTER (WHERE "creationOrder" <= newest_copy) OVER ())
          + count(*) FILTER (WHERE makes) OVER places
        ELSE r_creation_order END AS new_creation_order
    FROM chosen c WINDOW places AS (ORDER BY at)
  ), stored AS (
    INSERT INTO resources (kind, mesh, zone, namespace, name, uid, labels, spec, status, generation, creation_order,
      created_at, modified_at, revision, origin_incarnation, origin_revision, origin_committed_at, vip, freed,
      grace_started_at, deleted_at)
    SELECT kind, mesh, zone, namespace, name, new_uid,
      CASE type WHEN 'put' THEN labels WHEN 'patch' THEN r_labels ELSE '{}' END,
      CASE type WHEN 'delete' THEN '{}' ELSE coalesce(spec, r_spec) END,
      CASE WHEN type = 'delete' THEN NULL WHEN type = 'put' AND NOT living THEN status ELSE coalesce(status, r_status) END,
      new_generation, new_creation_order,
      CASE WHEN type <> 'put' THEN r_created_at WHEN copy THEN "createdAt" WHEN living THEN r_created_at ELSE now_ms END,
      now_ms, new_revision,
      CASE WHEN type = 'put' AND copy THEN "originIncarnation" WHEN moves_origin THEN NULL ELSE r_origin_incarnation END,
      CASE WHEN type = 'put' AND copy THEN "originRevision" WHEN moves_origin THEN new_revision ELSE r_origin_revision END,
      CASE WHEN type = 'put' AND copy THEN "originCommittedAt" WHEN moves_origin THEN now_ms ELSE r_origin_committed_at END,
      new_vip,
      CASE WHEN new_vip IS NOT DISTINCT FROM r_vip OR (r_vip IS NULL AND r_freed = '[]') THEN r_freed
        ELSE causeway_freed(r_freed, r_vip, new_vip, now_ms) END,
      CASE WHEN type = 'delete' THEN NULL WHEN "setsGrace" THEN "graceStartedAt" WHEN living THEN r_grace END,
      CASE WHEN type = 'delete' THEN now_ms END
    FROM numbered WHERE writes
    ON CONFLICT ON CONSTRAINT resources_identity DO UPDATE SET uid = excluded.uid, labels = excluded.labels,
      spec = excluded.spec, status = excluded.status, generation = excluded.generation,
      creation_order = excluded.creation_order, created_at = excluded.created_at, modified_at = excluded.modified_at,
      revision = excluded.revision, origin_incarnation = excluded.origin_incarnation,
      origin_revision = excluded.origin_revision, origin_committed_at = excluded.origin_committed_at, vip = excluded.vip,
      freed = excluded.freed, grace_started_at = excluded.grace_started_at, deleted_at = excluded.deleted_at
  )
  SELECT
    jsonb_agg(CASE
      WHEN verdict IS NOT NULL THEN jsonb_build_array(at, verdict, CASE WHEN living THEN r_revision END, r_origin_revision, by_whom)
      WHEN NOT writes THEN jsonb_build_array(at, 'unchanged', r_revision, r_generation, r_uid)
      ELSE jsonb_build_array(at, CASE WHEN type = 'put' AND NOT living THEN 'created' ELSE 'written' END,
        new_revision, new_generation, new_uid)
    END),
    count(*) FILTER (WHERE writes), count(verdict),
    max(new_creation_order) FILTER (WHERE writes AND new_creation_order <= newest_copy)
  INTO result
  FROM numbered;
  RETURN result;
END $function$
;
