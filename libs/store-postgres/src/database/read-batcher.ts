import { Unavailable } from '@causeway/resources';
import { yieldToEventLoop } from '@causeway/runtime';
import type { QueryResultRow } from 'pg';
import type { Statement, StoreDatabase } from './store-database';

/** Maximum number of reads in one statement. */
const MAX_READS = 16;
/** Maximum number of combinations that connections keep prepared. */
const MAX_PREPARED = 100;

/** A statement that only reads, with no `$` but those of its parameters. Its values are JSON, and so are the columns of its rows: numbers, texts, truth values, jsonb. */
export type ReadStatement = Statement & { readonly name: string };

interface WaitingRead {
  readonly statement: ReadStatement;
  readonly rows: Promise<unknown[]>;
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Joins the reads that are asked for in one turn of the event loop into one statement: the polls of a process share a tick (`afterTick`), and a
 * statement of its own for each of them is most of what they cost. A read that nothing joins is sent as it is.
 */
export class ReadBatcher {
  /** By statement and values: equal reads are one. */
  private waiting = new Map<string, WaitingRead>();
  private readonly prepared = new Map<string, string>();

  constructor(private readonly database: Pick<StoreDatabase, 'read'>) {}

  /** Returns rows that are not older than the call. Throws Unavailable. */
  async read<Row extends QueryResultRow>(statement: ReadStatement): Promise<Row[]> {
    const key = JSON.stringify([statement.name, statement.values]);
    const asked = this.waiting.get(key) ?? this.ask(key, statement);
    // eslint-disable-next-line @typescript-eslint/consistent-type-assertions -- as in the driver, the caller knows the columns of its statement
    return (await asked.rows) as Row[];
  }

  private ask(key: string, statement: ReadStatement): WaitingRead {
    if (this.waiting.size === 0) void yieldToEventLoop().then(() => this.send());
    let settle: Pick<WaitingRead, 'resolve' | 'reject'> = { resolve: () => undefined, reject: () => undefined };
    const rows = new Promise<unknown[]>((resolve, reject) => (settle = { resolve, reject }));
    const asked = { statement, rows, ...settle };
    this.waiting.set(key, asked);
    return asked;
  }

  private send(): void {
    const asked = [...this.waiting.values()].sort((a, b) => (a.statement.name < b.statement.name ? -1 : 1));
    this.waiting = new Map();
    for (let from = 0; from < asked.length; from += MAX_READS)
      void this.readTogether(asked.slice(from, from + MAX_READS));
  }

  /** Never rejects. A joint statement that the server refuses is sent as its parts: the fault is of one of them. */
  private async readTogether(asked: readonly WaitingRead[]): Promise<void> {
    const [only] = asked;
    if (asked.length === 1 && only) return this.readAlone(only);
    try {
      const [row = {}] = await this.database.read<Record<string, unknown[]>>(this.join(asked));
      asked.forEach(({ resolve }, i) => resolve(row[`r${i}`] ?? []));
    } catch (error) {
      if (error instanceof Unavailable) for (const { reject } of asked) reject(error);
      else await Promise.all(asked.map((each) => this.readAlone(each)));
    }
  }

  private async readAlone({ statement, resolve, reject }: WaitingRead): Promise<void> {
    await this.database.read(statement).then(resolve, reject);
  }

  private join(asked: readonly WaitingRead[]): Statement {
    const values: unknown[] = [];
    const parts = asked.map(({ statement: { text, values: own = [] } }, i) => {
      const before = values.length;
      values.push(...own);
      const moved = text.replace(/\$(\d+)/g, (_, place: string) => `$${before + Number(place)}`);
      return `(SELECT json_agg(t) FROM (${moved}) AS t) AS r${i}`;
    });
    const text = `SELECT ${parts.join(',\n  ')}`;
    const name = this.nameOf(text);
    return { text, values, ...(name !== undefined && { name }) };
  }

  private nameOf(text: string): string | undefined {
    const known = this.prepared.get(text);
    if (known !== undefined || this.prepared.size >= MAX_PREPARED) return known;
    const name = `read-batch-${this.prepared.size}`;
    this.prepared.set(text, name);
    return name;
  }
}
