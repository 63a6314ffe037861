import type { Identity, Resource, StorePoint, Tombstone } from '@causeway/resources';
import { RelistRequired, type ChangeBatch, type Snapshot } from '@causeway/store';
import { queryOn, type StoreDatabase } from '../database/store-database';
import { StoreHeadRow, type ResourceRow } from '../database/entities';
import { decodeChange, StringInterner, decodeResource, decodeTombstone } from './row-decode';

/** Rows a statement: bounds the memory and the time that one answer holds the event loop. */
const PAGE = 5_000;

interface SnapshotRows {
  readonly point: StorePoint;
  readonly resources: Resource[];
  readonly tombstones: Tombstone[];
}

type HeadRow = { incarnation: string; revision: number };
/** A row of the log together with the head; without changes one row whose log columns are null. */
interface PageRow extends ResourceRow {
  head_incarnation: string;
  head_revision: number;
  head_floor: number;
}

/** Reads the log: its head, single resources, everything, and the changes since a point. */
export class LogReader {
  constructor(private readonly database: StoreDatabase) {}

  async head(): Promise<StorePoint> {
    const [head] = await this.database.read<HeadRow>(READ_HEAD);
    return head ?? { incarnation: '', revision: 0 };
  }

  async floor(): Promise<number> {
    const head = await this.database.find(StoreHeadRow, (rows) => rows.findOneBy({ one: true }));
    return head?.floor ?? 0;
  }

  async get({ kind, mesh, zone, namespace, name }: Identity): Promise<Resource | undefined> {
    const values = [kind, mesh, zone, namespace, name];
    const [row] = await this.database.read<PageRow>({ name: 'get', text: GET, values });
    return row && decodeResource(row, row.head_incarnation, new StringInterner());
  }

  /** Returns the whole state of one moment, read in pages. */
  snapshot(): Promise<Snapshot> {
    return this.database.connected(async (client) => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const [head = { incarnation: '', revision: 0 }] = await queryOn<HeadRow>(client, READ_HEAD);
      const found: SnapshotRows = { point: head, resources: [], tombstones: [] };
      const texts = new StringInterner();
      await client.query('DECLARE everything NO SCROLL CURSOR FOR SELECT * FROM resources');
      for (;;) {
        const rows = await queryOn<ResourceRow>(client, { text: `FETCH ${PAGE} FROM everything` });
        collect(rows, found, texts);
        if (rows.length < PAGE) break;
      }
      await client.query('COMMIT');
      return found;
    });
  }

  /** Returns the changes after `since`, at most a page; undefined if there are none. Throws RelistRequired. */
  async changesSince(since: StorePoint): Promise<{ readonly batch: ChangeBatch; readonly full: boolean } | undefined> {
    const rows = await this.database.read<PageRow>({ name: 'since', text: SINCE, values: [since.revision, PAGE] });
    const [first] = rows;
    if (!first) return undefined;
    const { head_incarnation: incarnation, head_revision: head } = first;
    if (incarnation !== since.incarnation || since.revision > head) throw new RelistRequired('incarnation');
    if (since.revision < first.head_floor) throw new RelistRequired('too-old');
    if (head === since.revision) return undefined;
    const texts = new StringInterner();
    const changes = rows.filter(isRow).map((row) => decodeChange(row, incarnation, texts));
    const full = rows.length === PAGE;
    const revision = full ? (rows[rows.length - 1]?.revision ?? head) : head;
    return { batch: { revision, changes, compactionRevision: first.head_floor }, full };
  }
}

/** Reads the head of the log. */
export const READ_HEAD = { name: 'head', text: 'SELECT incarnation, revision FROM store_head' };

const GET = `SELECT r.*, h.incarnation AS head_incarnation FROM resources r, store_head h
  WHERE kind = $1 AND mesh = $2 AND zone = $3 AND namespace = $4 AND name = $5 AND deleted_at IS NULL`;

// One statement, so that head, floor and rows are of one snapshot (docs/design.md §2.3).
const SINCE = `SELECT h.incarnation AS head_incarnation, h.revision AS head_revision, h.floor AS head_floor, r.*
  FROM store_head h LEFT JOIN LATERAL (SELECT * FROM resources WHERE revision > $1 ORDER BY revision LIMIT $2) r ON true`;

function isRow(row: { readonly kind: string | null }): boolean {
  return row.kind !== null;
}

function collect(rows: readonly ResourceRow[], into: SnapshotRows, texts: StringInterner): void {
  for (const row of rows) {
    if (row.deleted_at === null) into.resources.push(decodeResource(row, into.point.incarnation, texts));
    else into.tombstones.push(decodeTombstone(row, texts));
  }
}
