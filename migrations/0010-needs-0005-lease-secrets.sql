-- The secret of the agent that holds a lease (docs/reference/leases.md, Who holds a lease). In a table of its own: programs of the version
-- before read whole rows of agent_leases by statements that they have prepared. They call causeway_take_leases, which knows no secrets.
--
-- secret_hash is SHA-256 of the secret, in hex. It counts while the lease is of `instance`: a program of the version before may let another
-- agent have a lease that has ended, and leaves this row as it is.
CREATE TABLE agent_lease_secrets (
  mesh text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  instance text NOT NULL,
  secret_hash text NOT NULL,
  CONSTRAINT agent_lease_secrets_pkey PRIMARY KEY (mesh, name, namespace),
  CONSTRAINT agent_lease_secrets_lease FOREIGN KEY (mesh, name, namespace)
    REFERENCES agent_leases (mesh, name, namespace) ON DELETE CASCADE
);

-- Whether two hashes are one, in a time that says nothing of where they differ: what is compared are hashes with a key of this moment.
CREATE FUNCTION causeway_same_hash(a text, b text) RETURNS boolean LANGUAGE plpgsql AS $fn$
DECLARE
  key bytea := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
BEGIN
  RETURN coalesce(sha256(key || convert_to(a, 'UTF8')) = sha256(key || convert_to(b, 'UTF8')), false);
END $fn$;

-- As causeway_take_leases, with secrets: a lease that lives goes over to another session only by the secret that its agent has shown.
-- The rows are locked, in the order of the primary key, before secrets are read: who changes a secret holds the lock of its lease.
CREATE FUNCTION causeway_claim_leases(claims jsonb, length_ms bigint) RETURNS SETOF agent_leases LANGUAGE plpgsql AS $fn$
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
END $fn$;
