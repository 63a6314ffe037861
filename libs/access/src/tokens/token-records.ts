import { Conflict, isJsonObject, type JsonObject } from '@causeway/resources';
import { splitIntoBatches, type Clock } from '@causeway/runtime';
import type { MetadataEntry, ResourceStore } from '@causeway/store';
import type { TokenUse } from './token-use';

/** What is remembered of an issued token; never the token. Times are ms since 1970. */
export interface TokenRecord {
  readonly id: string;
  /** What the token says, as lists show it: `{zone, scope}` or `{name, groups}`. */
  readonly facts: JsonObject;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** The user who asked for the token. */
  readonly issuedBy: string;
}

/** Tokens of one use that are remembered at most. */
const MAX_RECORDS = 10_000;

/** How long a token that expired is still listed, ms: so that its owner sees why it is refused. */
const KEPT = 7 * 24 * 3_600_000;

/** Notes in one write. */
const BATCH = 500;

/**
 * Remembers which tokens of one use were issued, as notes of the store (docs/design.md §2.8): which exist, who issued
 * them, when they expire. A token is forgotten a week after it expired.
 */
export class TokenRecords {
  constructor(
    private readonly store: Pick<ResourceStore, 'notes' | 'write'>,
    private readonly clock: Pick<Clock, 'now'>,
    private readonly use: TokenUse,
  ) {}

  /** Remembers a token. Throws Conflict if too many are valid. */
  async add({ id, ...record }: TokenRecord): Promise<void> {
    const held = await this.list();
    if (held.length >= MAX_RECORDS)
      throw new Conflict(
        `${MAX_RECORDS} ${this.use.name}s are remembered, the most; each is forgotten a week after its end`,
      );
    await this.write([{ area: this.use.records, key: id, value: { ...record } }]);
  }

  /** The tokens that are remembered; the first to expire first. */
  async list(): Promise<readonly TokenRecord[]> {
    const records = (await this.store.notes(this.use.records)).flatMap(readRecord);
    return records.filter((record) => !this.isOver(record)).sort((a, b) => a.expiresAt - b.expiresAt);
  }

  /** Whether a token of this id is listed. */
  async has(id: string): Promise<boolean> {
    return (await this.list()).some((record) => record.id === id);
  }

  /** Forgets tokens that expired a week ago and resolves with their ids. */
  async purge(): Promise<readonly string[]> {
    const notes = await this.store.notes(this.use.records);
    const over = notes.filter((note) => readRecord(note).every((record) => this.isOver(record)));
    for (const batch of splitIntoBatches(over, BATCH))
      await this.write(batch.map((note) => ({ ...note, value: null })));
    return over.map(({ key }) => key);
  }

  private isOver({ expiresAt }: TokenRecord): boolean {
    return expiresAt + KEPT <= this.clock.now();
  }

  private async write(notes: readonly MetadataEntry[]): Promise<void> {
    await this.store.write({ changes: [], onRefusal: 'abort', notes });
  }
}

function readRecord({ key: id, value }: MetadataEntry): readonly TokenRecord[] {
  const { facts, issuedAt, expiresAt, issuedBy } = value ?? {};
  const isWhole =
    isJsonObject(facts) &&
    typeof issuedAt === 'number' &&
    typeof expiresAt === 'number' &&
    typeof issuedBy === 'string';
  return isWhole ? [{ id, facts, issuedAt, expiresAt, issuedBy }] : [];
}
