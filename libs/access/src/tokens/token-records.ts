import { Conflict, isJsonObject, type JsonObject } from '@causeway/resources';
import { splitIntoBatches, type Clock } from '@causeway/runtime';
import type { MetadataEntry, ResourceStore } from '@causeway/store';
import type { TokenUse } from './token-definition';

/** Record of an issued token, without the token itself. Times are ms since 1970. */
export interface TokenRecord {
  readonly id: string;
  /** Facts of the token, as lists show them: `{zone, scope}` or `{name, groups}`. */
  readonly facts: JsonObject;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** The user who asked for the token. */
  readonly issuedBy: string;
  /** Of a renewed token: the id of the first of its line. */
  readonly line?: string;
  /** Of a renewed token: how many renewals led to it. */
  readonly generation?: number;
  /** Of a renewed token: hash of the secret of the holder who renewed. */
  readonly holder?: string;
  /** When another holder tried to renew this token, ms since 1970. */
  readonly contestedAt?: number;
}

/** Maximum number of remembered tokens of one use. */
const MAX_RECORDS = 10_000;

/** Time for which an expired token is still listed, ms: its owner can see why it is refused. */
const RETENTION = 7 * 24 * 3_600_000;

/** Metadata entries in one write. */
const BATCH = 500;

/**
 * Records which tokens of one use were issued, in the metadata of the store (docs/design.md §2.8): id, issuer and
 * expiry. A token is forgotten a week after it expired.
 */
export class TokenRecords {
  constructor(
    private readonly store: Pick<ResourceStore, 'listMetadata' | 'write'>,
    private readonly clock: Pick<Clock, 'now'>,
    private readonly use: TokenUse,
  ) {}

  /** Records a token. Throws Conflict if too many are valid. */
  async add({ id, ...record }: TokenRecord): Promise<void> {
    const held = await this.list();
    if (held.length >= MAX_RECORDS)
      throw new Conflict(
        `${MAX_RECORDS} ${this.use.name}s are remembered, the most; each is forgotten a week after its end`,
      );
    await this.put({ id, ...record });
  }

  /** Records a token, in place of what is recorded of it. */
  async put({ id, ...record }: TokenRecord): Promise<void> {
    await this.write([{ area: this.use.records, key: id, value: { ...record } }]);
  }

  /** Returns the recorded tokens; the first to expire first. */
  async list(): Promise<readonly TokenRecord[]> {
    const records = (await this.store.listMetadata(this.use.records)).flatMap(readRecord);
    return records.filter((record) => !this.isOver(record)).sort((a, b) => a.expiresAt - b.expiresAt);
  }

  /** Forgets tokens that expired a week ago and resolves with their ids. */
  async purge(): Promise<readonly string[]> {
    const entries = await this.store.listMetadata(this.use.records);
    const lines = new Set(
      entries.flatMap(readRecord).flatMap((record) => (record.line && !this.isOver(record) ? [record.line] : [])),
    );
    // The revocation of the first token is that of its line.
    const over = entries.filter(
      (entry) => !lines.has(entry.key) && readRecord(entry).every((record) => this.isOver(record)),
    );
    for (const batch of splitIntoBatches(over, BATCH))
      await this.write(batch.map((entry) => ({ ...entry, value: null })));
    return over.map(({ key }) => key);
  }

  /** Renewed tokens are many where they are short-lived: they are kept no longer than they were valid. */
  private isOver({ expiresAt, issuedAt, generation = 0 }: TokenRecord): boolean {
    const retention = generation > 0 ? Math.min(RETENTION, expiresAt - issuedAt) : RETENTION;
    return expiresAt + retention <= this.clock.now();
  }

  private async write(entries: readonly MetadataEntry[]): Promise<void> {
    await this.store.write({ changes: [], onRefusal: 'abort', metadata: entries });
  }
}

function readRecord({ key: id, value }: MetadataEntry): readonly TokenRecord[] {
  const { facts, issuedAt, expiresAt, issuedBy, line, generation, holder, contestedAt } = value ?? {};
  const isWhole =
    isJsonObject(facts) &&
    typeof issuedAt === 'number' &&
    typeof expiresAt === 'number' &&
    typeof issuedBy === 'string';
  if (!isWhole) return [];
  const lineage = {
    ...(typeof line === 'string' && { line }),
    ...(typeof generation === 'number' && { generation }),
    ...(typeof holder === 'string' && { holder }),
    ...(typeof contestedAt === 'number' && { contestedAt }),
  };
  return [{ id, facts, issuedAt, expiresAt, issuedBy, ...lineage }];
}
