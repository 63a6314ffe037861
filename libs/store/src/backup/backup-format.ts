import { createHash } from 'node:crypto';
import type { JsonObject } from '@causeway/resources';

/**
 * A backup consists of JSON lines (docs/reference/backup-format.md): a header, one line per record, and an end with the
 * number of records and the SHA-256 of all lines before it, so that a truncated or changed backup is refused.
 */

/** Format version of backups that this version writes, and the latest that it reads. */
export const BACKUP_VERSION = 1;
/** Maximum length of a line, bytes: a resource has at most 1.5 MiB (docs/reference/sync.md), and its status too. */
export const MAX_BACKUP_LINE = 4 * 1024 * 1024;

/** Types of records: names of the store's tables. */
export const BACKUP_TABLES = ['resources', 'notes', 'zone_sessions', 'agent_leases'] as const;
export type BackupTable = (typeof BACKUP_TABLES)[number];

/** Head of a store at the time of a backup. */
export interface BackupHead {
  readonly incarnation: string;
  readonly revision: number;
  readonly floor: number;
  readonly creationOrder: number;
  /** The leader's epoch. */
  readonly epoch: number;
  /** The maximum session number of a deleted zone. */
  readonly sessionFloor: number;
}

/** Control plane that owns the store. */
export interface BackupOwner {
  readonly role: 'global' | 'zone';
  /** Empty for the global. */
  readonly zone: string;
  readonly storeId: string;
}

/** Facts about a store in the header of its backup. */
export interface StoreFacts {
  readonly owner: BackupOwner;
  readonly head: BackupHead;
  /** Whether the backup contains secrets. */
  readonly secrets: boolean;
  /** Only with secrets: key by which the store recognises its own resume points. */
  readonly pointKey?: string;
  readonly counts: Readonly<Record<BackupTable, number>>;
}

/** The first line of a backup. */
export interface BackupHeader extends StoreFacts {
  readonly version: number;
  /** Version of the program that wrote it. */
  readonly program: string;
  /** Time of the backup, ms since 1970. */
  readonly takenAt: number;
}

/** A row of a table, by column names. */
export interface BackupRecord {
  readonly table: BackupTable;
  readonly row: JsonObject;
}

/** Formats the lines of a backup; call `end` once, after the last record. */
export class BackupWriter {
  private readonly hash = createHash('sha256');
  private records = 0;

  /** Returns the first line. */
  header({ version, program, takenAt, owner, head, secrets, pointKey, counts }: BackupHeader): string {
    const key = pointKey === undefined ? {} : { pointKey };
    const facts = { program, takenAt: new Date(takenAt).toISOString(), owner, head, secrets, ...key, counts };
    return this.line(JSON.stringify({ 'causeway-backup': version, ...facts }));
  }

  /** Returns the line of a row, which is JSON already. */
  record(table: BackupTable, row: string): string {
    this.records += 1;
    return this.line(`{"${table}":${row}}`);
  }

  /** Returns the last line. */
  end(): string {
    return `${JSON.stringify({ end: { records: this.records, sha256: this.hash.digest('hex') } })}\n`;
  }

  private line(text: string): string {
    const line = `${text}\n`;
    this.hash.update(line);
    return line;
  }
}
