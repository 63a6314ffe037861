import { createHash } from 'node:crypto';
import type { JsonObject } from '@causeway/resources';

/*
 * A backup is a text of JSON lines (docs/reference/backup-format.md): a header, one line a record, and an end that says how
 * many records there are and the SHA-256 of all lines before it, so that a text that was cut or changed is refused.
 */

/** The form of a backup that this version writes, and the latest that it reads. */
export const BACKUP_VERSION = 1;
/** Maximum length of a line, bytes: a resource has at most 1.5 MiB (docs/reference/sync.md) and its status as much. */
export const MAX_BACKUP_LINE = 4 * 1024 * 1024;

/** Types of records: rows of the tables of a store, by the table's name. */
export const BACKUP_TABLES = ['resources', 'notes', 'zone_sessions', 'agent_leases'] as const;
export type BackupTable = (typeof BACKUP_TABLES)[number];

/** The head of a store at the moment of a backup. */
export interface BackupHead {
  readonly incarnation: string;
  readonly revision: number;
  readonly floor: number;
  readonly creationOrder: number;
  /** The leader's epoch. */
  readonly epoch: number;
  /** The largest session number of a zone that was forgotten. */
  readonly sessionFloor: number;
}

/** Owner of the store. */
export interface BackupOwner {
  readonly role: 'global' | 'zone';
  /** Empty for the global. */
  readonly zone: string;
  readonly storeId: string;
}

/** Facts about a store at the head of its backup. */
export interface StoreFacts {
  readonly owner: BackupOwner;
  readonly head: BackupHead;
  /** Whether secrets are in it. */
  readonly secrets: boolean;
  /** Only with secrets: the key by which the store recognises the resume points that it issued. */
  readonly pointKey?: string;
  readonly counts: Readonly<Record<BackupTable, number>>;
}

/** The first line. */
export interface BackupHeader extends StoreFacts {
  readonly version: number;
  /** The version of the program that wrote it. */
  readonly program: string;
  /** ms since 1970. */
  readonly takenAt: number;
}

/** A row of a table, by the names of its columns. */
export interface BackupRecord {
  readonly table: BackupTable;
  readonly row: JsonObject;
}

/** Makes the lines of a backup; call `end` once, after the last record. */
export class BackupWriter {
  private readonly hash = createHash('sha256');
  private records = 0;

  /** The first line. */
  header({ version, program, takenAt, owner, head, secrets, pointKey, counts }: BackupHeader): string {
    const key = pointKey === undefined ? {} : { pointKey };
    const facts = { program, takenAt: new Date(takenAt).toISOString(), owner, head, secrets, ...key, counts };
    return this.line(JSON.stringify({ 'causeway-backup': version, ...facts }));
  }

  /** The line of a row, which is JSON already. */
  record(table: BackupTable, row: string): string {
    this.records += 1;
    return this.line(`{"${table}":${row}}`);
  }

  /** The last line. */
  end(): string {
    return `${JSON.stringify({ end: { records: this.records, sha256: this.hash.digest('hex') } })}\n`;
  }

  private line(text: string): string {
    const line = `${text}\n`;
    this.hash.update(line);
    return line;
  }
}
