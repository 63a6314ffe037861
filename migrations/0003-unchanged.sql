-- causeway_write_audited for a write that was decided from what the index held at a revision: the resources of some kinds,
-- or all resources of a mesh (docs/design.md §2.9). If one of them came, changed or went after read_revision, nothing is
-- written and `fenced` is 'outdated'. The lock of the head is taken first, so nothing changes between check and write.
--
-- The check reads the rows after read_revision by the index on revision: as many as the writer's index was behind, and no
-- other write pays for it.
CREATE FUNCTION causeway_write_unchanged(
  changes jsonb, all_or_none boolean, fence_epoch bigint, fence_holder text, session_zone text, session_number bigint,
  notes_to_write jsonb, stash boolean, tell_rows boolean, sources jsonb,
  read_revision bigint, read_kinds text[], read_mesh text,
  OUT head_revision bigint, OUT fenced text, OUT results jsonb, OUT written jsonb
) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
AS $fn$
BEGIN
  SELECT h.revision INTO STRICT head_revision FROM store_head h FOR NO KEY UPDATE;
  PERFORM 1 FROM resources r WHERE r.revision > read_revision AND (r.kind = ANY (read_kinds) OR r.mesh = read_mesh) LIMIT 1;
  IF FOUND THEN fenced := 'outdated'; RETURN; END IF;
  SELECT w.head_revision, w.fenced, w.results, w.written INTO head_revision, fenced, results, written
    FROM causeway_write_audited(changes, all_or_none, fence_epoch, fence_holder, session_zone, session_number,
      notes_to_write, stash, tell_rows, sources) AS w;
END $fn$;
