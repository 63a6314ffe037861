-- The audit log: what users did, and what was refused to them. An entry of a write is inserted by the statement of the
-- write, so that it is committed with it or not at all. Entries are never updated.
--
-- Entries are read newest first: the primary key is their order. at: µs since 1970. Readers filter by resource, by user
-- and by refusals; each index costs every write an insertion, so other filters read the entries in their order.
CREATE TABLE audit (
  at bigint NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
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
  CONSTRAINT audit_order PRIMARY KEY (at, number)
);
CREATE INDEX audit_resource ON audit (kind, mesh, name, at, number);
CREATE INDEX audit_actor ON audit (actor, at, number);
CREATE INDEX audit_refused ON audit (at, number) WHERE result = 'refused';

-- causeway_write, and an entry for each change that names its source (by: the source's place in sources) and wrote
-- something. Generations are those of users' writes: an update has raised it by one, and a deletion leaves it.
CREATE FUNCTION causeway_write_audited(
  changes jsonb, all_or_none boolean, fence_epoch bigint, fence_holder text, session_zone text, session_number bigint,
  notes_to_write jsonb, stash boolean, tell_rows boolean, sources jsonb,
  OUT head_revision bigint, OUT fenced text, OUT results jsonb, OUT written jsonb
) LANGUAGE plpgsql AS $fn$
BEGIN
  SELECT w.head_revision, w.fenced, w.results, w.written INTO head_revision, fenced, results, written
    FROM causeway_write(changes, all_or_none, fence_epoch, fence_holder, session_zone, session_number, notes_to_write,
      false, tell_rows) AS w;
  IF fenced IS NOT NULL THEN RETURN; END IF;
  IF NOT all_or_none OR causeway_refusals(results) IS NULL THEN
    INSERT INTO audit (at, actor, groups, recognized_by, token_id, address, via, user_agent, verb, kind, mesh, zone,
      namespace, name, activity, result, reason, generation_before, generation_after, revision)
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, s.source ->> 'user', s.source -> 'groups',
      s.source ->> 'recognizedBy', s.source ->> 'tokenId', s.source ->> 'address', s.source ->> 'via',
      s.source ->> 'userAgent',
      CASE WHEN r.result ->> 1 = 'created' THEN 'create' WHEN c.type = 'delete' THEN 'delete' ELSE 'update' END,
      c.kind, c.mesh, c.zone, c.namespace, c.name, '', 'done', '',
      CASE WHEN c.type = 'delete' THEN (r.result ->> 3)::bigint
        WHEN r.result ->> 1 = 'written' THEN (r.result ->> 3)::bigint - 1 END,
      CASE WHEN c.type <> 'delete' THEN (r.result ->> 3)::bigint END,
      (r.result ->> 2)::bigint
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
END $fn$;
