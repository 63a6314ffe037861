import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The key of resume points, and sessions of zones whose epoch can be doubted, reset and forgotten. */
export class PointsAndEpochs0000000000007 implements MigrationInterface {
  readonly name = 'PointsAndEpochs0000000000007';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(POINT_KEY);
    await runner.query(SESSION_FLOOR);
    await runner.query(OPEN_SESSION);
    await runner.query(FORGET_SESSION);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('migrations go forward only; restore a backup instead'));
  }
}

/** Two random uuids hold 244 random bits. The key is in every backup: a restored store knows the points it issued. */
const POINT_KEY = `
CREATE TABLE point_key (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  key text NOT NULL
);
INSERT INTO point_key (key) VALUES (replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));
COMMENT ON TABLE point_key IS 'one row: the key of the MACs on resume points; made once, kept through restores';
`;

const SESSION_FLOOR = `
CREATE TABLE session_floor (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  number bigint NOT NULL
);
INSERT INTO session_floor (number) VALUES (0);
COMMENT ON TABLE session_floor IS 'one row: the largest number of a session that was forgotten; no number is given twice';
`;

/**
 * As in step 3, but an epoch far above the standing one of the same life is doubtful and changes nothing; a standing
 * epoch below 0 was reset, so the next one is taken. A zone that was forgotten begins above every number of before.
 */
const OPEN_SESSION = `
CREATE OR REPLACE FUNCTION causeway_open_session(
  asked_zone text, asked_store text, asked_incarnation text, asked_epoch bigint, asked_instance text, direction text,
  OUT outcome text, OUT session bigint, OUT standing zone_sessions
) LANGUAGE plpgsql AS $fn$
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
END $fn$;
`;

/** Takes the row of a zone whose last session is this one; waits for writes that hold it FOR SHARE. */
const FORGET_SESSION = `
CREATE FUNCTION causeway_forget_session(asked_zone text, last bigint) RETURNS boolean LANGUAGE plpgsql AS $fn$
BEGIN
  PERFORM 1 FROM session_floor FOR UPDATE;
  DELETE FROM zone_sessions WHERE zone = asked_zone AND greatest(up, down) = last;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE session_floor SET number = greatest(number, last);
  RETURN true;
END $fn$;
`;
