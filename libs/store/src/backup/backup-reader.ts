import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import {
  BACKUP_TABLES,
  BACKUP_VERSION,
  MAX_BACKUP_LINE,
  type BackupHead,
  type BackupHeader,
  type BackupRecord,
  type BackupTable,
} from './backup-format';
import { rowProblems } from './backup-rows';

/** Problem of a line; lines are counted from 1. */
export interface BackupProblem {
  readonly line: number;
  readonly reason: string;
}

/** Result of reading a line. */
export type BackupLine =
  | { readonly type: 'header'; readonly header: BackupHeader }
  | { readonly type: 'record'; readonly record: BackupRecord }
  /** The end; the backup is complete and unchanged. */
  | { readonly type: 'end' }
  | { readonly type: 'problems'; readonly problems: readonly BackupProblem[] };

/** Maximum number of reported problems of one backup; further ones are counted. */
export const MAX_PROBLEMS = 100;

/**
 * Reads the lines of a backup one by one, without their line ends. Collects the problems of all lines, so that users
 * see them at once: `problems` has the first 100, `total` the number. Nothing of a backup may be committed before
 * `whole` is true.
 */
export class BackupReader {
  private readonly hash = createHash('sha256');
  private readonly found: BackupProblem[] = [];
  private readonly counted = new Map<BackupTable, number>();
  private lines = 0;
  private records = 0;
  private ended = false;
  private known: BackupHeader | undefined;
  private count = 0;

  get problems(): readonly BackupProblem[] {
    return this.found;
  }

  get total(): number {
    return this.count;
  }

  /** Number of the last line read, from 1. */
  get line(): number {
    return this.lines;
  }

  /** The header; undefined until it was read. */
  get header(): BackupHeader | undefined {
    return this.known;
  }

  /** True once the end was read without any problem. */
  get whole(): boolean {
    return this.ended && this.count === 0;
  }

  read(text: string): BackupLine {
    this.lines += 1;
    if (Buffer.byteLength(text) > MAX_BACKUP_LINE) return this.problem(`is longer than ${MAX_BACKUP_LINE} bytes`);
    const value = parsed(text);
    if (this.lines === 1) return this.readHeader(text, value);
    if (this.ended) return this.problem('stands behind the end of the backup');
    if (isJsonObject(value?.['end'])) return this.readEnd(value['end']);
    this.hash.update(`${text}\n`);
    if (!value) return this.problem('is no JSON object: the backup was cut or changed');
    return this.readRecord(value);
  }

  /** Must be called after the last line: a backup without its end was truncated. */
  close(): void {
    if (this.ended) return;
    const reason = this.lines === 0 ? 'is missing: the backup is empty' : 'has no end: the backup was cut';
    this.add({ line: Math.max(1, this.lines), reason });
  }

  private readHeader(text: string, value: JsonObject | undefined): BackupLine {
    this.hash.update(`${text}\n`);
    const version = value?.['causeway-backup'];
    if (typeof version !== 'number') return this.problem('is no header of a backup of `causeway export`');
    if (version > BACKUP_VERSION)
      return this.problem(
        `causeway-backup: ${version} is later than this program reads (${BACKUP_VERSION}): update it`,
      );
    const header = decodeHeader(version, value ?? {});
    if (typeof header === 'string') return this.problem(`the header has no valid ${header}`);
    this.known = header;
    return { type: 'header', header };
  }

  private readRecord(value: JsonObject): BackupLine {
    const [name = '', ...more] = Object.keys(value);
    const table = BACKUP_TABLES.find((one) => one === name);
    const row = value[name];
    if (!table || more.length > 0 || !isJsonObject(row))
      return this.problem(`must be one row of ${BACKUP_TABLES.join(', ')}; got ${JSON.stringify(Object.keys(value))}`);
    this.records += 1;
    this.counted.set(table, (this.counted.get(table) ?? 0) + 1);
    const reasons = rowProblems(table, row, this.known);
    if (reasons.length > 0) return this.problem(...reasons);
    return { type: 'record', record: { table, row } };
  }

  private readEnd({ records, sha256 }: JsonObject): BackupLine {
    this.ended = true;
    const reasons: string[] = [];
    if (records !== this.records)
      reasons.push(`end.records: ${JSON.stringify(records)} records were written, ${this.records} are here`);
    if (sha256 !== this.hash.digest('hex')) reasons.push('end.sha256: is that of another text: the backup was changed');
    for (const table of BACKUP_TABLES) {
      const [announced, here] = [this.known?.counts[table], this.counted.get(table) ?? 0];
      if (announced !== undefined && announced !== here)
        reasons.push(`counts.${table}: the header says ${announced}, ${here} are here`);
    }
    return reasons.length > 0 ? this.problem(...reasons) : { type: 'end' };
  }

  private problem(...reasons: readonly string[]): BackupLine {
    const problems = reasons.map((reason) => ({ line: this.lines, reason }));
    problems.forEach((each) => this.add(each));
    return { type: 'problems', problems };
  }

  private add(problem: BackupProblem): void {
    this.count += 1;
    if (this.found.length < MAX_PROBLEMS) this.found.push(problem);
  }
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Decodes the header, or returns the name of the invalid field. */
function decodeHeader(version: number, value: JsonObject): BackupHeader | string {
  const { program, takenAt, owner, head, secrets, pointKey, counts } = value;
  const time = typeof takenAt === 'string' ? Date.parse(takenAt) : NaN;
  if (typeof program !== 'string') return 'program';
  if (Number.isNaN(time)) return 'takenAt';
  const known = decodeOwner(owner);
  if (!known) return 'owner';
  const point = decodeHead(head);
  if (!point) return 'head';
  if (typeof secrets !== 'boolean') return 'secrets';
  if (pointKey !== undefined && !(typeof pointKey === 'string' && /^[0-9a-f]{64}$/.test(pointKey))) return 'pointKey';
  const numbers = decodeCounts(counts);
  if (!numbers) return 'counts';
  const key = pointKey === undefined ? {} : { pointKey };
  return { version, program, takenAt: time, owner: known, head: point, secrets, ...key, counts: numbers };
}

function decodeOwner(value: JsonValue | undefined): BackupHeader['owner'] | undefined {
  if (!isJsonObject(value)) return undefined;
  const { role, zone, storeId } = value;
  if ((role !== 'global' && role !== 'zone') || typeof zone !== 'string' || typeof storeId !== 'string')
    return undefined;
  return { role, zone, storeId };
}

function decodeHead(value: JsonValue | undefined): BackupHead | undefined {
  if (!isJsonObject(value)) return undefined;
  const { incarnation, revision, floor, creationOrder, epoch, sessionFloor } = value;
  if (typeof incarnation !== 'string') return undefined;
  if (!isCount(revision) || !isCount(floor) || !isCount(creationOrder)) return undefined;
  if (!isCount(epoch) || !isCount(sessionFloor)) return undefined;
  return { incarnation, revision, floor, creationOrder, epoch, sessionFloor };
}

function decodeCounts(value: JsonValue | undefined): BackupHeader['counts'] | undefined {
  if (!isJsonObject(value)) return undefined;
  const { resources, notes, zone_sessions, agent_leases } = value;
  if (!isCount(resources) || !isCount(notes) || !isCount(zone_sessions) || !isCount(agent_leases)) return undefined;
  return { resources, notes, zone_sessions, agent_leases };
}

/** Whether a value is a whole number within the ranges of stores and JSON. */
function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/**
 * Splits a stream of text into lines without their ends. Yields only the beginning of a line that is longer than a
 * backup may have, which its reader refuses: a file with one endless line uses no memory.
 */
export async function* backupLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let skipping = false;
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!skipping) yield line;
      skipping = false;
    }
    if (rest.length <= MAX_BACKUP_LINE) continue;
    if (!skipping) yield rest;
    [rest, skipping] = ['', true];
  }
  rest += decoder.decode();
  if (rest !== '' && !skipping) yield rest;
}
