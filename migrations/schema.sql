-- What the migrations make together. Refreshed by UPDATE_GOLDEN=1; do not edit.

CREATE TABLE agent_lease_secrets (
  mesh text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  instance text NOT NULL,
  secret_hash text NOT NULL
);

CREATE TABLE agent_leases (
  mesh text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  instance text NOT NULL,
  run text NOT NULL,
  started_at bigint NOT NULL,
  machine text NOT NULL,
  address text NOT NULL,
  session text NOT NULL,
  since bigint NOT NULL,
  expires_at bigint NOT NULL,
  health jsonb NOT NULL,
  changed_at bigint NOT NULL
) WITH (fillfactor=70);

CREATE TABLE audit (
  at bigint NOT NULL,
  number bigint NOT NULL,
  actor text COLLATE "C" NOT NULL,
  groups jsonb NOT NULL,
  recognized_by text NOT NULL,
  token_id text,
  address text NOT NULL,
  via text NOT NULL,
  user_agent text NOT NULL,
  verb text NOT NULL,
  kind text COLLATE "C" NOT NULL,
  mesh text COLLATE "C" NOT NULL,
  zone text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  activity text NOT NULL,
  result text NOT NULL,
  reason text NOT NULL,
  generation_before bigint,
  generation_after bigint,
  revision bigint,
  request_id text,
  trace_id text
);

CREATE TABLE leader (
  one boolean NOT NULL DEFAULT true,
  epoch bigint NOT NULL,
  holder text NOT NULL,
  witness text NOT NULL DEFAULT 'lock'::text
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

CREATE TABLE point_key (
  one boolean NOT NULL DEFAULT true,
  key text NOT NULL
);

CREATE TABLE proxy_replicas (
  instance text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  incarnation text NOT NULL,
  revision bigint NOT NULL,
  ended boolean NOT NULL,
  seen_at bigint NOT NULL
);

CREATE TABLE proxy_sessions (
  instance text COLLATE "C" NOT NULL,
  proxy text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  connected boolean NOT NULL,
  changed_at bigint NOT NULL,
  facts jsonb NOT NULL
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
  deleted_at bigint,
  traceparent text
);

CREATE TABLE session_floor (
  one boolean NOT NULL DEFAULT true,
  number bigint NOT NULL
);

CREATE TABLE store_head (
  one boolean NOT NULL DEFAULT true,
  incarnation text NOT NULL,
  revision bigint NOT NULL,
  floor bigint NOT NULL,
  creation_order bigint NOT NULL,
  server text NOT NULL,
  relation bigint NOT NULL,
  newest_zone text NOT NULL DEFAULT ''::text,
  others_order bigint NOT NULL DEFAULT 0
) WITH (fillfactor=10);

CREATE TABLE zone_sessions (
  zone text COLLATE "C" NOT NULL,
  store_id text NOT NULL,
  incarnation text NOT NULL,
  epoch bigint NOT NULL,
  instance text NOT NULL,
  up bigint NOT NULL,
  down bigint NOT NULL,
  opened_at bigint NOT NULL,
  whole_order bigint,
  whole_except jsonb
);

ALTER TABLE agent_lease_secrets ADD CONSTRAINT agent_lease_secrets_lease FOREIGN KEY (mesh, name, namespace) REFERENCES agent_leases(mesh, name, namespace) ON DELETE CASCADE;

ALTER TABLE agent_lease_secrets ADD CONSTRAINT agent_lease_secrets_pkey PRIMARY KEY (mesh, name, namespace);

ALTER TABLE agent_leases ADD CONSTRAINT agent_leases_pkey PRIMARY KEY (mesh, name, namespace);

ALTER TABLE audit ADD CONSTRAINT audit_order PRIMARY KEY (at, number);

ALTER TABLE leader_lease ADD CONSTRAINT leader_lease_one_check CHECK (one);

ALTER TABLE leader_lease ADD CONSTRAINT leader_lease_pkey PRIMARY KEY (one);

ALTER TABLE leader ADD CONSTRAINT leader_one_check CHECK (one);

ALTER TABLE leader ADD CONSTRAINT leader_pkey PRIMARY KEY (one);

ALTER TABLE leader ADD CONSTRAINT leader_witness CHECK ((witness = ANY (ARRAY['lock'::text, 'lease'::text])));

ALTER TABLE notes ADD CONSTRAINT notes_pkey PRIMARY KEY (area, key);

ALTER TABLE point_key ADD CONSTRAINT point_key_one_check CHECK (one);

ALTER TABLE point_key ADD CONSTRAINT point_key_pkey PRIMARY KEY (one);

ALTER TABLE proxy_replicas ADD CONSTRAINT proxy_replicas_pkey PRIMARY KEY (instance);

ALTER TABLE proxy_sessions ADD CONSTRAINT proxy_sessions_pkey PRIMARY KEY (instance, proxy);

ALTER TABLE resources ADD CONSTRAINT resources_dead_hold_no_vip CHECK (((deleted_at IS NULL) OR (vip IS NULL)));

ALTER TABLE resources ADD CONSTRAINT resources_identity PRIMARY KEY (name, zone, namespace, kind, mesh);

ALTER TABLE session_floor ADD CONSTRAINT session_floor_one_check CHECK (one);

ALTER TABLE session_floor ADD CONSTRAINT session_floor_pkey PRIMARY KEY (one);

ALTER TABLE store_head ADD CONSTRAINT store_head_one_check CHECK (one);

ALTER TABLE store_head ADD CONSTRAINT store_head_pkey PRIMARY KEY (one);

ALTER TABLE zone_sessions ADD CONSTRAINT zone_sessions_pkey PRIMARY KEY (zone);

CREATE INDEX agent_leases_changed_at ON agent_leases USING btree (changed_at);

CREATE INDEX audit_actor ON audit USING btree (actor, at, number);

CREATE INDEX audit_refused ON audit USING btree (at, number) WHERE (result = 'refused'::text);

CREATE INDEX audit_resource ON audit USING btree (kind, mesh, name, at, number);

CREATE INDEX proxy_sessions_version ON proxy_sessions USING btree (instance, version);

CREATE UNIQUE INDEX resources_revision ON resources USING btree (revision);

CREATE INDEX resources_tombstones ON resources USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);

CREATE UNIQUE INDEX resources_vip ON resources USING btree (vip) WHERE ((vip IS NOT NULL) AND (deleted_at IS NULL));

CREATE OR REPLACE FUNCTION causeway_begin_epoch(from_epoch bigint, new_holder text, lease_ms bigint, from_witness text, new_witness text)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
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
END $function$
;

CREATE OR REPLACE FUNCTION causeway_claim_leases(claims jsonb, length_ms bigint)
 RETURNS SETOF agent_leases
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  now_ms bigint;
  found_leases bigint;
BEGIN
  LOOP
    now_ms := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
    INSERT INTO agent_leases
      SELECT mesh, namespace, name, instance, run, started_at, machine, address, session, now_ms, now_ms + length_ms, '[]', now_ms
      FROM jsonb_to_recordset(claims) AS c(mesh text, namespace text, name text, instance text, run text, started_at bigint,
        machine text, address text, session text)
      ORDER BY mesh COLLATE "C", name COLLATE "C", namespace COLLATE "C"
      ON CONFLICT ON CONSTRAINT agent_leases_pkey DO NOTHING;
    PERFORM 1 FROM agent_leases l
      JOIN jsonb_to_recordset(claims) AS c(mesh text, namespace text, name text)
        ON l.mesh = c.mesh AND l.name = c.name AND l.namespace = c.namespace
      ORDER BY l.mesh, l.name, l.namespace FOR UPDATE OF l;
    GET DIAGNOSTICS found_leases = ROW_COUNT;
    -- One that was there is gone since.
    EXIT WHEN found_leases = jsonb_array_length(claims);
  END LOOP;
  now_ms := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
  UPDATE agent_leases l SET
      instance = c.instance, run = c.run, started_at = c.started_at, machine = c.machine, address = c.address,
      session = c.session, expires_at = now_ms + length_ms, changed_at = now_ms,
      since = CASE WHEN l.instance = c.instance THEN l.since ELSE now_ms END,
      health = CASE WHEN l.instance = c.instance THEN l.health ELSE '[]' END
    FROM jsonb_to_recordset(claims) AS c(mesh text, namespace text, name text, instance text, run text, started_at bigint,
        machine text, address text, session text, "secretHash" text)
      LEFT JOIN agent_lease_secrets s ON s.mesh = c.mesh AND s.name = c.name AND s.namespace = c.namespace
        AND s.instance = c.instance
    WHERE l.mesh = c.mesh AND l.name = c.name AND l.namespace = c.namespace AND (l.session <> c.session OR l.expires_at <= now_ms)
      AND (l.expires_at <= now_ms OR l.instance = '' OR (l.instance = c.instance
        AND (s.secret_hash IS NULL OR causeway_same_hash(s.secret_hash, c."secretHash"))
        AND (l.run = c.run OR (l.address = c.address AND l.started_at < c.started_at))));
  INSERT INTO agent_lease_secrets AS s
    SELECT c.mesh, c.name, c.namespace, c.instance, c."secretHash"
    FROM jsonb_to_recordset(claims) AS c(mesh text, namespace text, name text, instance text, session text, "secretHash" text)
      JOIN agent_leases l ON l.mesh = c.mesh AND l.name = c.name AND l.namespace = c.namespace AND l.session = c.session
    WHERE c."secretHash" IS NOT NULL
    ON CONFLICT ON CONSTRAINT agent_lease_secrets_pkey DO UPDATE SET instance = excluded.instance, secret_hash = excluded.secret_hash
    WHERE (s.instance, s.secret_hash) <> (excluded.instance, excluded.secret_hash);
  -- An agent of the version before has taken one that had ended.
  DELETE FROM agent_lease_secrets s
    USING jsonb_to_recordset(claims) AS c(mesh text, namespace text, name text, session text, "secretHash" text),
      agent_leases l
    WHERE s.mesh = c.mesh AND s.name = c.name AND s.namespace = c.namespace AND c."secretHash" IS NULL
      AND l.mesh = c.mesh AND l.name = c.name AND l.namespace = c.namespace AND l.session = c.session;
  RETURN QUERY SELECT l.* FROM agent_leases l
    JOIN jsonb_to_recordset(claims) AS c(mesh text, namespace text, name text)
      ON l.mesh = c.mesh AND l.name = c.name AND l.namespace = c.namespace;
END $function$
;

CREATE OR REPLACE FUNCTION causeway_counted_order(claimed bigint, held bigint, moment bigint, others bigint, newest bigint, now_us bigint)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT CASE
    WHEN claimed = 0 THEN 0
    WHEN held IS NOT NULL THEN causeway_later_order(claimed, held)
    WHEN moment IS NOT NULL THEN greatest(claimed, moment)
    WHEN claimed > others AND claimed >= now_us - 5000000 THEN claimed
    ELSE greatest(claimed, now_us + 1, newest + 1)
  END
$function$
;

CREATE OR REPLACE FUNCTION causeway_end_leases(leases jsonb, of_zone text, fence_epoch bigint, fence_holder text)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
DECLARE
  now_ms bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
  gone jsonb;
  is_fenced text;
BEGIN
  PERFORM 1 FROM agent_leases l
    JOIN jsonb_to_recordset(leases) AS e(mesh text, namespace text, name text)
      ON l.mesh = e.mesh AND l.name = e.name AND l.namespace = e.namespace
    ORDER BY l.mesh, l.name, l.namespace FOR UPDATE OF l;
  WITH ended AS (
    DELETE FROM agent_leases l
      USING jsonb_to_recordset(leases) AS e(mesh text, namespace text, name text, session text)
      WHERE l.mesh = e.mesh AND l.name = e.name AND l.namespace = e.namespace AND l.session = e.session
        AND l.expires_at <= now_ms
      RETURNING l.mesh, l.namespace, l.name)
  SELECT coalesce(jsonb_agg(jsonb_build_object('mesh', mesh, 'namespace', namespace, 'name', name)), '[]') INTO gone FROM ended;
  SELECT w.fenced INTO is_fenced FROM causeway_write(
    (SELECT coalesce(jsonb_agg(jsonb_build_object('at', place - 1, 'type', 'delete', 'kind', 'Dataplane', 'zone', of_zone,
        'mesh', g ->> 'mesh', 'namespace', g ->> 'namespace', 'name', g ->> 'name')), '[]')
      FROM jsonb_array_elements(gone) WITH ORDINALITY AS e(g, place)),
    false, fence_epoch, fence_holder, NULL, NULL, NULL, false, false) AS w;
  IF is_fenced IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'CW002', MESSAGE = 'the epoch has ended';
  END IF;
  RETURN gone;
END $function$
;

CREATE OR REPLACE FUNCTION causeway_forget_session(asked_zone text, last bigint)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM 1 FROM session_floor FOR UPDATE;
  DELETE FROM zone_sessions WHERE zone = asked_zone AND greatest(up, down) = last;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE session_floor SET number = greatest(number, last);
  RETURN true;
END $function$
;

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
END $function$
;

CREATE OR REPLACE FUNCTION causeway_later_order(a bigint, b bigint)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT CASE WHEN a = 0 OR b = 0 THEN 0 ELSE greatest(a, b) END
$function$
;

CREATE OR REPLACE FUNCTION causeway_mark_whole(marks jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  moment bigint;
BEGIN
  -- In one order everywhere, so that two writers never wait for each other in a circle.
  PERFORM 1 FROM zone_sessions z JOIN jsonb_to_recordset(marks) AS m(zone text, session bigint) ON z.zone = m.zone AND z.up = m.session
    ORDER BY z.zone FOR UPDATE OF z;
  SELECT greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint, creation_order) + 1 INTO moment FROM store_head;
  UPDATE zone_sessions z SET whole_order = greatest(z.whole_order, moment), whole_except = (
      SELECT jsonb_object_agg(kind, CASE WHEN z.whole_except ? kind THEN z.whole_except -> kind ELSE to_jsonb(z.whole_order) END)
      FROM jsonb_array_elements_text(m.incomplete) AS i(kind))
    FROM jsonb_to_recordset(marks) AS m(zone text, session bigint, incomplete jsonb)
    WHERE z.zone = m.zone AND z.up = m.session;
END $function$
;

CREATE OR REPLACE FUNCTION causeway_new_incarnation(here text, OUT incarnation text, OUT revision bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE store_head h SET incarnation = gen_random_uuid(), revision = h.revision + 1000000, server = coalesce(here, server),
      relation = 'store_head'::regclass::oid
    WHERE here IS NULL OR server <> here OR relation <> 'store_head'::regclass::oid
    RETURNING h.incarnation, h.revision INTO incarnation, revision;
  IF FOUND THEN PERFORM pg_notify('causeway_log', ''); END IF;
END $function$
;

CREATE OR REPLACE FUNCTION causeway_open_session(asked_zone text, asked_store text, asked_incarnation text, asked_epoch bigint, asked_instance text, direction text, OUT outcome text, OUT session bigint, OUT standing zone_sessions)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  forgotten bigint;
BEGIN
  SELECT number INTO STRICT forgotten FROM session_floor FOR SHARE;
  INSERT INTO zone_sessions VALUES (asked_zone, '', '', -1, '', forgotten, forgotten, 0) ON CONFLICT DO NOTHING;
  SELECT * INTO STRICT standing FROM zone_sessions WHERE zone = asked_zone FOR UPDATE;
  IF standing.store_id <> '' AND asked_store <> '' AND standing.store_id <> asked_store THEN
    outcome := 'other-store';
    RETURN;
  END IF;
  IF standing.incarnation = asked_incarnation AND asked_epoch < standing.epoch THEN
    outcome := 'older';
    RETURN;
  END IF;
  IF standing.incarnation = asked_incarnation AND standing.epoch >= 0 AND asked_epoch > standing.epoch + 1000000 THEN
    outcome := 'doubtful';
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

CREATE OR REPLACE FUNCTION causeway_renew_leases(renewals jsonb, length_ms bigint)
 RETURNS TABLE(mesh text, namespace text, name text, taken boolean)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  now_ms bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
BEGIN
  PERFORM 1 FROM agent_leases l
    JOIN jsonb_to_recordset(renewals) AS r(mesh text, namespace text, name text)
      ON l.mesh = r.mesh AND l.name = r.name AND l.namespace = r.namespace
    ORDER BY l.mesh, l.name, l.namespace FOR UPDATE OF l;
  UPDATE agent_leases l SET
      expires_at = greatest(l.expires_at, now_ms - r.age + length_ms),
      health = coalesce(r.health, l.health),
      changed_at = CASE WHEN coalesce(r.health, l.health) = l.health THEN l.changed_at ELSE now_ms END
    FROM jsonb_to_recordset(renewals) AS r(mesh text, namespace text, name text, session text, age bigint, health jsonb)
    WHERE l.mesh = r.mesh AND l.name = r.name AND l.namespace = r.namespace AND l.session = r.session;
  RETURN QUERY SELECT r.mesh, r.namespace, r.name, l.session IS NOT NULL
    FROM jsonb_to_recordset(renewals) AS r(mesh text, namespace text, name text, session text)
    LEFT JOIN agent_leases l ON l.mesh = r.mesh AND l.name = r.name AND l.namespace = r.namespace
    WHERE l.session IS DISTINCT FROM r.session;
END $function$
;

CREATE OR REPLACE FUNCTION causeway_report_proxies(reporting text, report_version bigint, at_incarnation text, at_revision bigint, is_end boolean, sessions jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
  now_ms bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
  known boolean;
BEGIN
  INSERT INTO proxy_sessions SELECT reporting, s.proxy, report_version, s.connected, now_ms, s.facts
    FROM jsonb_to_recordset(sessions) AS s(proxy text, connected boolean, facts jsonb)
    ON CONFLICT ON CONSTRAINT proxy_sessions_pkey DO UPDATE
      SET version = excluded.version, connected = excluded.connected, changed_at = excluded.changed_at, facts = excluded.facts;
  UPDATE proxy_replicas r SET version = report_version, incarnation = at_incarnation, revision = at_revision,
    ended = is_end, seen_at = now_ms WHERE r.instance = reporting;
  known := FOUND;
  IF NOT known THEN
    INSERT INTO proxy_replicas VALUES (reporting, report_version, at_incarnation, at_revision, is_end, now_ms);
  END IF;
  RETURN known;
END $function$
;

CREATE OR REPLACE FUNCTION causeway_same_hash(a text, b text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
  key bytea := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
BEGIN
  RETURN coalesce(sha256(key || convert_to(a, 'UTF8')) = sha256(key || convert_to(b, 'UTF8')), false);
END $function$
;

CREATE OR REPLACE FUNCTION causeway_store(added resources[], changed resources[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF cardinality(added) > 0 THEN
    INSERT INTO resources SELECT * FROM unnest(added);
  END IF;
  IF cardinality(changed) > 0 THEN
    UPDATE resources r SET uid = m.uid, labels = m.labels, spec = m.spec, status = m.status,
      generation = m.generation, creation_order = m.creation_order, created_at = m.created_at,
      modified_at = m.modified_at, revision = m.revision, origin_incarnation = m.origin_incarnation,
      origin_revision = m.origin_revision, origin_committed_at = m.origin_committed_at, vip = m.vip,
      freed = m.freed, grace_started_at = m.grace_started_at, deleted_at = m.deleted_at,
      traceparent = m.traceparent
    FROM unnest(changed) AS m
    WHERE r.kind = m.kind AND r.mesh = m.mesh AND r.zone = m.zone AND r.namespace = m.namespace AND r.name = m.name;
  END IF;
END $function$
;

CREATE OR REPLACE FUNCTION causeway_take_leases(claims jsonb, length_ms bigint)
 RETURNS SETOF agent_leases
 LANGUAGE plpgsql
AS $function$
DECLARE
  now_ms bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
BEGIN
  INSERT INTO agent_leases AS l
    SELECT mesh, namespace, name, instance, run, started_at, machine, address, session, now_ms, now_ms + length_ms, '[]', now_ms
    FROM jsonb_to_recordset(claims) AS c(mesh text, namespace text, name text, instance text, run text, started_at bigint,
      machine text, address text, session text)
    ORDER BY mesh COLLATE "C", name COLLATE "C", namespace COLLATE "C"
    -- Rows that the condition leaves alone are locked too, so the answers below are of this moment.
    ON CONFLICT ON CONSTRAINT agent_leases_pkey DO UPDATE SET
      instance = excluded.instance, run = excluded.run, started_at = excluded.started_at, machine = excluded.machine,
      address = excluded.address, session = excluded.session, expires_at = excluded.expires_at, changed_at = now_ms,
      since = CASE WHEN l.instance = excluded.instance THEN l.since ELSE now_ms END,
      health = CASE WHEN l.instance = excluded.instance THEN l.health ELSE '[]' END
    WHERE l.expires_at <= now_ms OR l.instance = '' OR (l.instance = excluded.instance
      AND (l.run = excluded.run OR (l.address = excluded.address AND l.started_at < excluded.started_at)));
  RETURN QUERY SELECT l.* FROM agent_leases l
    JOIN jsonb_to_recordset(claims) AS c(mesh text, namespace text, name text)
      ON l.mesh = c.mesh AND l.name = c.name AND l.namespace = c.namespace;
END $function$
;

CREATE OR REPLACE FUNCTION causeway_take_over(from_epoch bigint, new_holder text, lease_ms bigint)
 RETURNS bigint
 LANGUAGE sql
AS $function$
  SELECT causeway_begin_epoch(from_epoch, new_holder, lease_ms, 'lock', 'lock');
$function$
;

CREATE OR REPLACE FUNCTION causeway_write(changes jsonb, all_or_none boolean, fence_epoch bigint, fence_holder text, session_zone text, session_number bigint, notes_to_write jsonb, stash boolean, tell_rows boolean, OUT head_revision bigint, OUT fenced text, OUT results jsonb, OUT written jsonb)
 RETURNS record
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET work_mem TO '64MB'
AS $function$
DECLARE
  head store_head%ROWTYPE;
  asked record;
  held resources%ROWTYPE;
  made resources%ROWTYPE;
  added resources[] := '{}';
  changed resources[] := '{}';
  one_by_one boolean := false;
  -- The patches have set nothing but what they name, the time and the revision.
  as_named boolean := true;
  known boolean;
  living boolean;
  owned boolean;
  refusal text;
  identity jsonb;
  holder jsonb;
  given_up jsonb := '{}';
  now_ms bigint;
  now_us bigint;
  before bigint;
  refused boolean := false;
  -- The session's zone: the moments of its whole states, and since when it has a Zone.
  standing zone_sessions%ROWTYPE;
  zone_made bigint;
  counted boolean;
  raised boolean := false;
  answers jsonb[] := '{}';
  rows_made jsonb[] := '{}';
BEGIN
  IF jsonb_array_length(changes) > 0 THEN
    SELECT * INTO STRICT head FROM store_head FOR NO KEY UPDATE;
  END IF;
  IF fence_epoch IS NOT NULL THEN
    PERFORM 1 FROM leader WHERE epoch = fence_epoch AND leader.holder = fence_holder FOR SHARE;
    IF NOT FOUND THEN fenced := 'leader'; RETURN; END IF;
  END IF;
  IF session_zone IS NOT NULL THEN
    SELECT * INTO standing FROM zone_sessions WHERE zone = session_zone AND session_number IN (up, down) FOR SHARE;
    IF NOT FOUND THEN fenced := 'session'; RETURN; END IF;
  END IF;
  now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
  now_ms := now_us / 1000;
  before := head.revision;
  IF jsonb_array_length(changes) > 1 THEN
    -- Two identities that look the same when written in one line only cost time.
    SELECT count(*) <> count(DISTINCT concat_ws('/', c.name, c.zone, c.namespace, c.kind, c.mesh) COLLATE "C")
        OR count(c.vip) <> count(DISTINCT c.vip)
      INTO one_by_one
      FROM jsonb_to_recordset(changes) AS c(kind text, mesh text, zone text, namespace text, name text, vip inet);
  END IF;
  FOR asked IN
    SELECT c.*, r AS row_held, o.identity AS vip_holder
    FROM jsonb_to_recordset(changes) AS c(
      at int, type text, kind text, mesh text, zone text, namespace text, name text, absent boolean, expect bigint,
      labels jsonb, spec jsonb, status jsonb, uid text, generation bigint, "creationOrder" bigint, "createdAt" bigint,
      "originIncarnation" text, "originRevision" bigint, "originCommittedAt" bigint,
      vip inet, "setsVip" boolean, "graceStartedAt" bigint, "setsGrace" boolean, traceparent text, "orderFrom" text,
      "initialStatus" jsonb)
    LEFT JOIN resources r ON r.kind = c.kind AND r.mesh = c.mesh AND r.zone = c.zone AND r.namespace = c.namespace
      AND r.name = c.name
    LEFT JOIN LATERAL (
      SELECT jsonb_build_array(h.kind, h.mesh, h.zone, h.namespace, h.name) AS identity FROM resources h
      WHERE h.vip = c.vip AND h.deleted_at IS NULL LIMIT 1
    ) o ON true
    ORDER BY c.at
  LOOP
    held := asked.row_held;
    holder := asked.vip_holder;
    IF one_by_one THEN
      SELECT * INTO held FROM resources r WHERE r.kind = asked.kind AND r.mesh = asked.mesh AND r.zone = asked.zone
        AND r.namespace = asked.namespace AND r.name = asked.name;
      identity := jsonb_build_array(asked.kind, asked.mesh, asked.zone, asked.namespace, asked.name);
      SELECT jsonb_build_array(o.kind, o.mesh, o.zone, o.namespace, o.name) INTO holder FROM resources o
        WHERE o.vip = asked.vip AND o.deleted_at IS NULL;
      -- What this write has given up is for nobody else before the next.
      holder := coalesce(holder, nullif(given_up -> host(asked.vip), identity));
    END IF;
    known := held.name IS NOT NULL;
    living := known AND held.deleted_at IS NULL;
    counted := false;
    made := held;
    made.modified_at := now_ms;
    made.revision := head.revision + 1;
    refusal := CASE
      WHEN asked.type = 'put' AND asked.absent AND living THEN 'exists'
      WHEN asked.type <> 'put' AND NOT living THEN 'absent'
      WHEN asked.expect IS NOT NULL AND (NOT living OR held.revision <> asked.expect) THEN 'conflict'
      WHEN asked.uid IS NOT NULL AND held.origin_incarnation = asked."originIncarnation"
        AND asked."originRevision" < held.origin_revision THEN 'older'
      WHEN asked."setsVip" AND asked.vip IS DISTINCT FROM held.vip AND holder IS NOT NULL THEN 'vip-taken'
    END;
    IF refusal IS NOT NULL THEN
      refused := true;
      answers := array_append(answers, jsonb_build_array(asked.at, refusal, CASE WHEN living THEN held.revision END,
        held.origin_revision, CASE WHEN refusal = 'vip-taken' THEN holder END));
      CONTINUE;
    END IF;

    IF asked.type = 'put' THEN
      owned := living AND asked.labels = held.labels AND asked.spec = held.spec;
      made.labels := asked.labels;
      made.spec := asked.spec;
      made.status := CASE WHEN living THEN coalesce(asked.status, held.status)
        ELSE coalesce(CASE WHEN holder IS NULL THEN asked."initialStatus" END, asked.status) END;
      IF asked.uid IS NOT NULL THEN
        made.uid := asked.uid;
        made.generation := asked.generation;
        made.creation_order := asked."creationOrder";
        made.created_at := asked."createdAt";
        IF asked."orderFrom" IS NOT NULL AND session_zone IS NOT NULL THEN
          IF NOT known AND asked."orderFrom" = 'moment' AND zone_made IS NULL THEN
            SELECT coalesce(max(creation_order), 0) INTO zone_made FROM resources
              WHERE kind = 'Zone' AND mesh = '' AND zone = '' AND namespace = '' AND name = session_zone AND deleted_at IS NULL;
          END IF;
          made.creation_order := causeway_counted_order(asked."creationOrder", CASE WHEN known THEN held.creation_order END,
            CASE WHEN asked."orderFrom" = 'moment' THEN coalesce(
              CASE WHEN standing.whole_except ? asked.kind THEN (standing.whole_except ->> asked.kind)::bigint
                ELSE standing.whole_order END, zone_made, 0) END,
            CASE WHEN head.newest_zone = session_zone THEN head.others_order ELSE head.creation_order END,
            head.creation_order, now_us);
          IF made.creation_order <> asked."creationOrder" THEN
            counted := true;
            made.created_at := CASE made.creation_order WHEN 0 THEN made.created_at ELSE made.creation_order / 1000 END;
          END IF;
        END IF;
        made.origin_incarnation := asked."originIncarnation";
        made.origin_revision := asked."originRevision";
        made.origin_committed_at := asked."originCommittedAt";
        made.traceparent := asked.traceparent;
      ELSIF NOT owned THEN
        made.generation := coalesce(held.generation, 0) + 1;
        made.origin_incarnation := NULL;
        made.origin_revision := made.revision;
        made.origin_committed_at := now_ms;
        made.traceparent := asked.traceparent;
      END IF;
      IF NOT living THEN
        made.kind := asked.kind;
        made.mesh := asked.mesh;
        made.zone := asked.zone;
        made.namespace := asked.namespace;
        made.name := asked.name;
        made.vip := CASE WHEN holder IS NULL THEN asked.vip END;
        made.freed := coalesce(held.freed, '[]');
        IF made.vip IS NOT NULL AND made.freed <> '[]' THEN
          made.freed := causeway_freed(made.freed, NULL, made.vip, now_ms);
        END IF;
        made.deleted_at := NULL;
        IF asked.uid IS NULL THEN
          made.uid := gen_random_uuid();
          made.creation_order := greatest(now_us, head.creation_order) + 1;
          made.created_at := now_ms;
        END IF;
      END IF;
    ELSIF asked.type = 'patch' THEN
      made.status := coalesce(asked.status, held.status);
      IF asked.spec <> held.spec THEN
        as_named := false;
        made.spec := asked.spec;
        IF held.origin_incarnation IS NULL THEN
          made.origin_revision := made.revision;
          made.origin_committed_at := now_ms;
          made.traceparent := asked.traceparent;
        END IF;
      END IF;
      IF asked."creationOrder" IS NOT NULL THEN
        made.creation_order := causeway_later_order(held.creation_order, asked."creationOrder");
        as_named := as_named AND made.creation_order = held.creation_order;
      END IF;
      IF asked."setsGrace" THEN made.grace_started_at := asked."graceStartedAt"; END IF;
      IF asked."setsVip" AND asked.vip IS DISTINCT FROM held.vip THEN
        made.vip := asked.vip;
        IF held.vip IS NOT NULL OR held.freed <> '[]' THEN
          as_named := false;
          made.freed := causeway_freed(held.freed, held.vip, asked.vip, now_ms);
        END IF;
      END IF;
    ELSE
      made.labels := '{}';
      made.spec := '{}';
      made.status := NULL;
      made.vip := NULL;
      made.grace_started_at := NULL;
      made.traceparent := NULL;
      made.deleted_at := now_ms;
      IF held.vip IS NOT NULL THEN made.freed := causeway_freed(held.freed, held.vip, NULL, now_ms); END IF;
    END IF;

    IF living AND asked.type <> 'delete' AND (made.labels, made.spec, made.uid, made.generation, made.creation_order,
        made.created_at, made.origin_revision, made.origin_committed_at)
      = (held.labels, held.spec, held.uid, held.generation, held.creation_order, held.created_at, held.origin_revision,
        held.origin_committed_at)
      AND made.status IS NOT DISTINCT FROM held.status AND made.vip IS NOT DISTINCT FROM held.vip
      AND made.origin_incarnation IS NOT DISTINCT FROM held.origin_incarnation
      AND made.grace_started_at IS NOT DISTINCT FROM held.grace_started_at
    THEN
      raised := raised OR counted;
      answers := array_append(answers, jsonb_build_array(asked.at, 'unchanged', held.revision, held.generation, held.uid)
        || CASE WHEN counted THEN to_jsonb(made.creation_order) ELSE '[]' END);
      CONTINUE;
    END IF;
    answers := array_append(answers, jsonb_build_array(asked.at,
      CASE WHEN asked.type = 'put' AND NOT living THEN 'created' ELSE 'written' END,
      made.revision, made.generation, made.uid) || CASE WHEN counted THEN to_jsonb(made.creation_order) ELSE '[]' END);
    raised := raised OR counted;
    IF tell_rows THEN rows_made := array_append(rows_made, to_jsonb(made)); END IF;
    head.revision := made.revision;
    -- A copy may be ahead of our clock by a day and still move creation orders on; a wilder one must not exhaust them.
    IF made.creation_order <= now_us + 86400000000 THEN
      IF made.zone = head.newest_zone THEN
        head.creation_order := greatest(head.creation_order, made.creation_order);
      ELSIF made.creation_order > head.creation_order THEN
        head.others_order := head.creation_order;
        head.newest_zone := made.zone;
        head.creation_order := made.creation_order;
      ELSE
        head.others_order := greatest(head.others_order, made.creation_order);
      END IF;
    END IF;
    IF known THEN
      changed := array_append(changed, made);
    ELSE
      added := array_append(added, made);
    END IF;
    IF one_by_one THEN
      IF held.vip IS DISTINCT FROM made.vip AND held.vip IS NOT NULL THEN
        given_up := given_up || jsonb_build_object(host(held.vip), identity);
      END IF;
      PERFORM causeway_store(added, changed);
      added := '{}';
      changed := '{}';
    END IF;
  END LOOP;

  results := to_jsonb(answers);
  IF all_or_none AND refused THEN
    IF one_by_one AND head.revision > before THEN
      RAISE EXCEPTION USING ERRCODE = 'CW001', MESSAGE = 'a change of the write is refused', DETAIL = causeway_refusals(results)::text;
    END IF;
    head_revision := before;
    RETURN;
  END IF;
  IF head.revision > before THEN
    PERFORM causeway_store(added, changed);
    UPDATE store_head SET revision = head.revision, creation_order = head.creation_order, newest_zone = head.newest_zone,
      others_order = head.others_order;
    PERFORM pg_notify('causeway_log', '');
    IF tell_rows THEN
      written := jsonb_build_object('incarnation', head.incarnation, 'after', before, 'floor', head.floor, 'rows', rows_made);
    ELSIF tell_rows IS NULL AND as_named THEN
      written := jsonb_build_object('incarnation', head.incarnation, 'after', before, 'floor', head.floor, 'at', now_ms);
    END IF;
  END IF;
  IF notes_to_write IS NOT NULL AND raised THEN
    SELECT jsonb_agg(note) INTO notes_to_write FROM jsonb_array_elements(notes_to_write) AS n(note)
      WHERE NOT note ? 'unlessRaised';
  END IF;
  IF notes_to_write IS NOT NULL THEN
    PERFORM causeway_write_notes(notes_to_write);
  END IF;
  IF stash THEN
    PERFORM set_config('causeway.results', results::text, false);
    results := NULL;
  END IF;
  head_revision := coalesce(head.revision, (SELECT revision FROM store_head));
END $function$
;

CREATE OR REPLACE FUNCTION causeway_write_audited(changes jsonb, all_or_none boolean, fence_epoch bigint, fence_holder text, session_zone text, session_number bigint, notes_to_write jsonb, stash boolean, tell_rows boolean, sources jsonb, OUT head_revision bigint, OUT fenced text, OUT results jsonb, OUT written jsonb)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
BEGIN
  SELECT w.head_revision, w.fenced, w.results, w.written INTO head_revision, fenced, results, written
    FROM causeway_write(changes, all_or_none, fence_epoch, fence_holder, session_zone, session_number, notes_to_write,
      false, tell_rows) AS w;
  IF fenced IS NOT NULL THEN RETURN; END IF;
  IF NOT all_or_none OR causeway_refusals(results) IS NULL THEN
    INSERT INTO audit (at, actor, groups, recognized_by, token_id, address, via, user_agent, verb, kind, mesh, zone,
      namespace, name, activity, result, reason, generation_before, generation_after, revision, request_id, trace_id)
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, s.source ->> 'user', s.source -> 'groups',
      s.source ->> 'recognizedBy', s.source ->> 'tokenId', s.source ->> 'address', s.source ->> 'via',
      s.source ->> 'userAgent',
      CASE WHEN r.result ->> 1 = 'created' THEN 'create' WHEN c.type = 'delete' THEN 'delete' ELSE 'update' END,
      c.kind, c.mesh, c.zone, c.namespace, c.name, '', 'done', '',
      CASE WHEN c.type = 'delete' THEN (r.result ->> 3)::bigint
        WHEN r.result ->> 1 = 'written' THEN (r.result ->> 3)::bigint - 1 END,
      CASE WHEN c.type <> 'delete' THEN (r.result ->> 3)::bigint END,
      (r.result ->> 2)::bigint, s.source ->> 'requestId', s.source ->> 'traceId'
    FROM jsonb_to_recordset(changes) AS c(at int, by int, type text, kind text, mesh text, zone text, namespace text, name text)
    JOIN jsonb_array_elements(results) AS r(result) ON (r.result ->> 0)::int = c.at
    JOIN jsonb_array_elements(sources) WITH ORDINALITY AS s(source, place) ON s.place = c.by + 1
    WHERE r.result ->> 1 IN ('created', 'written')
    ORDER BY c.at;
  END IF;
  IF stash THEN
    PERFORM set_config('causeway.results', results::text, false);
    results := NULL;
  END IF;
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

CREATE OR REPLACE FUNCTION causeway_write_unchanged(changes jsonb, all_or_none boolean, fence_epoch bigint, fence_holder text, session_zone text, session_number bigint, notes_to_write jsonb, stash boolean, tell_rows boolean, sources jsonb, read_revision bigint, read_kinds text[], read_mesh text, OUT head_revision bigint, OUT fenced text, OUT results jsonb, OUT written jsonb)
 RETURNS record
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
BEGIN
  SELECT h.revision INTO STRICT head_revision FROM store_head h FOR NO KEY UPDATE;
  PERFORM 1 FROM resources r WHERE r.revision > read_revision AND (r.kind = ANY (read_kinds) OR r.mesh = read_mesh) LIMIT 1;
  IF FOUND THEN fenced := 'outdated'; RETURN; END IF;
  SELECT w.head_revision, w.fenced, w.results, w.written INTO head_revision, fenced, results, written
    FROM causeway_write_audited(changes, all_or_none, fence_epoch, fence_holder, session_zone, session_number,
      notes_to_write, stash, tell_rows, sources) AS w;
END $function$
;
