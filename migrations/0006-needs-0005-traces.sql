-- Traces: the W3C traceparent of the last change of spec or labels, for a change that belongs to a sampled trace, travels with the row
-- (docs/reference/tracing.md). It belongs to the origin of the row: it is set, and cleared, where origin_revision is. It is no content: a
-- write that would change nothing else changes nothing. The functions are those of 0001 and 0002 with this column.
ALTER TABLE resources ADD COLUMN traceparent text;

-- The request that an entry is of, by its X-Request-Id, and the trace that the request belongs to.
ALTER TABLE audit ADD COLUMN request_id text, ADD COLUMN trace_id text;

CREATE OR REPLACE FUNCTION causeway_store(added resources[], changed resources[]) RETURNS void LANGUAGE plpgsql AS $fn$
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
END $fn$;

CREATE OR REPLACE FUNCTION causeway_write(
  changes jsonb, all_or_none boolean, fence_epoch bigint, fence_holder text, session_zone text, session_number bigint,
  notes_to_write jsonb, stash boolean, tell_rows boolean,
  OUT head_revision bigint, OUT fenced text, OUT results jsonb, OUT written jsonb
) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
SET work_mem = '64MB'
AS $fn$
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
    PERFORM 1 FROM zone_sessions WHERE zone = session_zone AND session_number IN (up, down) FOR SHARE;
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
      vip inet, "setsVip" boolean, "graceStartedAt" bigint, "setsGrace" boolean, traceparent text)
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
      made.status := CASE WHEN living THEN coalesce(asked.status, held.status) ELSE asked.status END;
      IF asked.uid IS NOT NULL THEN
        made.uid := asked.uid;
        made.generation := asked.generation;
        made.creation_order := asked."creationOrder";
        made.created_at := asked."createdAt";
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
        made.freed := coalesce(held.freed, '[]');
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
      answers := array_append(answers, jsonb_build_array(asked.at, 'unchanged', held.revision, held.generation, held.uid));
      CONTINUE;
    END IF;
    answers := array_append(answers, jsonb_build_array(asked.at,
      CASE WHEN asked.type = 'put' AND NOT living THEN 'created' ELSE 'written' END,
      made.revision, made.generation, made.uid));
    IF tell_rows THEN rows_made := array_append(rows_made, to_jsonb(made)); END IF;
    head.revision := made.revision;
    -- A copy may be ahead of our clock by a day and still move creation orders on; a wilder one must not exhaust them.
    IF made.creation_order <= now_us + 86400000000 THEN
      head.creation_order := greatest(head.creation_order, made.creation_order);
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
    UPDATE store_head SET revision = head.revision, creation_order = head.creation_order;
    PERFORM pg_notify('causeway_log', '');
    IF tell_rows THEN
      written := jsonb_build_object('incarnation', head.incarnation, 'after', before, 'floor', head.floor, 'rows', rows_made);
    ELSIF tell_rows IS NULL AND as_named THEN
      written := jsonb_build_object('incarnation', head.incarnation, 'after', before, 'floor', head.floor, 'at', now_ms);
    END IF;
  END IF;
  IF notes_to_write IS NOT NULL THEN
    PERFORM causeway_write_notes(notes_to_write);
  END IF;
  IF stash THEN
    PERFORM set_config('causeway.results', results::text, false);
    results := NULL;
  END IF;
  head_revision := coalesce(head.revision, (SELECT revision FROM store_head));
END $fn$;

CREATE OR REPLACE FUNCTION causeway_write_audited(
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
END $fn$;
