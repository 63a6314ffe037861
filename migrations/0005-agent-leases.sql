-- Leases of agents on the Dataplanes of the zone (docs/reference/leases.md). Beside the log: a heartbeat raises no revision and
-- wakes no watch. Instants are ms since 1970 by the clock of the database, started_at by that of the machine.
--
-- Who locks several leases does it in the order of the primary key, and before the head of the log.
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
  changed_at bigint NOT NULL,
  CONSTRAINT agent_leases_pkey PRIMARY KEY (mesh, name, namespace)
) WITH (fillfactor = 70);

CREATE INDEX agent_leases_changed_at ON agent_leases (changed_at);

-- Claims of leases that are all different. An answer is the lease as it then is: taken where its session is that of the claim.
CREATE FUNCTION causeway_take_leases(claims jsonb, length_ms bigint) RETURNS SETOF agent_leases LANGUAGE plpgsql AS $fn$
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
END $fn$;

-- Heartbeats of leases that are all different; returns those that the session does not hold any more, and whether another one does.
CREATE FUNCTION causeway_renew_leases(renewals jsonb, length_ms bigint)
RETURNS TABLE (mesh text, namespace text, name text, taken boolean) LANGUAGE plpgsql AS $fn$
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
END $fn$;

-- Ends leases that have expired, with their Dataplanes: both or neither. Error CW002: the epoch has ended.
CREATE FUNCTION causeway_end_leases(leases jsonb, of_zone text, fence_epoch bigint, fence_holder text) RETURNS jsonb
LANGUAGE plpgsql AS $fn$
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
END $fn$;
