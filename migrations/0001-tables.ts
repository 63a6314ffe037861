import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The tables of a store (design.md §2): the log's rows and its head; beside it leader, sessions and notes. */
export class Tables0000000000001 implements MigrationInterface {
  readonly name = 'Tables0000000000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(RESOURCES);
    await runner.query(HEAD);
    await runner.query(LEADER);
    await runner.query(BESIDE);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('migrations go forward only; restore a backup instead'));
  }
}

// Instants that the mesh compares are whole numbers (ms or µs since 1970), as they travel between zones.
const RESOURCES = `
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
  CONSTRAINT resources_identity PRIMARY KEY (kind, mesh, zone, namespace, name),
  CONSTRAINT resources_dead_hold_no_vip CHECK (deleted_at IS NULL OR vip IS NULL)
);
CREATE UNIQUE INDEX resources_revision ON resources (revision);
CREATE UNIQUE INDEX resources_vip ON resources (vip) WHERE vip IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX resources_tombstones ON resources (deleted_at) WHERE deleted_at IS NOT NULL;
COMMENT ON COLUMN resources.origin_incarnation IS 'NULL: made here, in whatever life this store has now';
`;

const HEAD = `
CREATE TABLE store_head (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  incarnation text NOT NULL,
  revision bigint NOT NULL,
  floor bigint NOT NULL,
  creation_order bigint NOT NULL,
  server text NOT NULL
) WITH (fillfactor = 10);
INSERT INTO store_head (incarnation, revision, floor, creation_order, server) VALUES (gen_random_uuid(), 0, 0, 0, '');
COMMENT ON TABLE store_head IS 'one row, locked by every write: it orders the commits';
COMMENT ON COLUMN store_head.server IS 'system identifier, timeline and database that this life began on';
`;

const LEADER = `
CREATE TABLE leader (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  epoch bigint NOT NULL,
  holder text NOT NULL
);
INSERT INTO leader (epoch, holder) VALUES (0, '');
CREATE TABLE leader_lease (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  epoch bigint NOT NULL,
  holder text NOT NULL,
  expires_at timestamptz NOT NULL
) WITH (fillfactor = 10);
INSERT INTO leader_lease (epoch, holder, expires_at) VALUES (0, '', 'epoch');
COMMENT ON TABLE leader IS 'changes only at a take-over; every fenced write holds it FOR SHARE';
`;

const BESIDE = `
CREATE TABLE zone_sessions (
  zone text COLLATE "C" PRIMARY KEY,
  store_id text NOT NULL,
  incarnation text NOT NULL,
  epoch bigint NOT NULL,
  instance text NOT NULL,
  up bigint NOT NULL,
  down bigint NOT NULL,
  opened_at bigint NOT NULL
);
CREATE TABLE notes (
  area text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value jsonb NOT NULL,
  PRIMARY KEY (area, key)
);
`;
