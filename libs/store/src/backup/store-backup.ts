import type { BackupOwner, BackupTable, StoreFacts } from './backup-format';

/** Selects the parts of a backup. */
export interface BackupSelection {
  /** If false, omits secret kinds and areas of metadata, and the key of resume points. */
  readonly secrets: boolean;
  readonly secretKinds: readonly string[];
  readonly secretAreas: readonly string[];
}

/** Rows of one table, each as the text of a JSON object. */
interface BackupRows {
  readonly table: BackupTable;
  readonly rows: readonly string[];
}

/** Reads a store for a backup. */
export interface StoreExport {
  /**
   * Sends the whole content of the store at one revision to `receive`: first the facts about the store, then its rows
   * in pages, each read after the previous page was received. Rejects with Unavailable if the database becomes
   * unavailable, with errors of `receive`, and if the receiver takes longer for a page than a statement may take.
   */
  export(selection: BackupSelection, receive: BackupReceiver): Promise<void>;
}

/** Receives the rows of a backup. */
export interface BackupReceiver {
  facts(facts: StoreFacts): Promise<void>;
  rows(page: BackupRows): Promise<void>;
}

/** Result of a restore, or of a dry run. */
export interface RestoreResult {
  readonly resources: number;
  readonly tombstones: number;
  /** Number of living resources with a virtual IP. */
  readonly addresses: number;
  /** The new incarnation and its first revision. */
  readonly incarnation: string;
  readonly revision: number;
}

/** The store is not empty: a backup can be restored into an empty one only. */
export class StoreNotEmpty extends Error {
  constructor(readonly reason: string) {
    super(
      `the database is not empty: ${reason}; a backup is restored into an empty database, so create another one and name it in DATABASE_URL`,
    );
    this.name = 'StoreNotEmpty';
  }
}

/** Returns a problem if a backup belongs to another control plane. */
export function ownerProblem(of: BackupOwner, here: Pick<BackupOwner, 'role' | 'zone'>): string | undefined {
  if (of.role === here.role && of.zone === here.zone) return undefined;
  return `the backup is of ${ownerName(of)}, and this is ${ownerName(here)}`;
}

function ownerName({ role, zone }: Pick<BackupOwner, 'role' | 'zone'>): string {
  return role === 'global' ? 'a global control plane' : `zone "${zone}"`;
}
