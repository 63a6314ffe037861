-- What each replica of a zone knows of the proxies that it serves (docs/reference/proxies.md). Beside the log: it raises no
-- revision and wakes no watch.
CREATE TABLE proxy_replicas (
  instance text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  incarnation text NOT NULL,
  revision bigint NOT NULL,
  ended boolean NOT NULL,
  seen_at bigint NOT NULL,
  CONSTRAINT proxy_replicas_pkey PRIMARY KEY (instance)
);

CREATE TABLE proxy_sessions (
  instance text COLLATE "C" NOT NULL,
  proxy text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  connected boolean NOT NULL,
  changed_at bigint NOT NULL,
  facts jsonb NOT NULL,
  CONSTRAINT proxy_sessions_pkey PRIMARY KEY (instance, proxy)
);

CREATE INDEX proxy_sessions_version ON proxy_sessions (instance, version);

-- One report of one replica: its rows and its heartbeat. `known`: the replica was in the table before.
CREATE FUNCTION causeway_report_proxies(
  reporting text, report_version bigint, at_incarnation text, at_revision bigint, is_end boolean, sessions jsonb
) RETURNS boolean LANGUAGE plpgsql AS $fn$
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
END $fn$;
