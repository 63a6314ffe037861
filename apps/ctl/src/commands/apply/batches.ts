import { ApiError, type ApplyResult } from '@causeway/api-client';
import { UsageError, type CommandContext } from '../../context';
import type { SourceDocument } from '../../documents';

/** Maximum size of one batch of the server. */
const MAX_DOCUMENTS = 10_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Options of applying documents. */
export interface BatchOptions {
  /** The mesh of documents that name none; empty: the server decides. */
  readonly mesh: string;
  readonly dryRun?: boolean;
  /** Whether all documents are written or none. */
  readonly atomic?: boolean;
}

/** The result of one document. */
export interface DocumentResult {
  readonly document: SourceDocument;
  readonly result: ApplyResult;
  /** An earlier document of the same resource. */
  readonly same?: SourceDocument;
}

/** Progress of a batch. */
export interface BatchProgress {
  readonly checked: number;
  readonly written: number;
  readonly total: number;
}

/** Callbacks of a running batch. */
export interface BatchListener {
  readonly progress: (progress: BatchProgress) => void;
  readonly result: (result: DocumentResult) => Promise<void> | void;
}

/**
 * Applies documents in batches that the server accepts. Throws ApiError if a batch is refused as a whole or its answer
 * breaks off, after its results have been reported, and UsageError for an atomic batch that is too large.
 */
export async function applyDocuments(
  context: CommandContext,
  documents: readonly SourceDocument[],
  options: BatchOptions,
  listener: BatchListener,
): Promise<void> {
  const batches = splitBatches(documents);
  if (options.atomic === true && batches.length > 1)
    throw new UsageError(
      `--atomic takes at most ${MAX_DOCUMENTS} documents of ${MAX_CHARACTERS / 1024 / 1024} MiB together; nothing was written`,
    );
  for (const batch of batches) await applyBatch(context, batch, options, listener);
}

function splitBatches(documents: readonly SourceDocument[]): readonly (readonly SourceDocument[])[] {
  const batches: SourceDocument[][] = [];
  let [begun, length]: [SourceDocument[], number] = [[], 0];
  for (const document of documents) {
    const characters = JSON.stringify(document.value).length;
    if (begun.length > 0 && (begun.length === MAX_DOCUMENTS || length + characters > MAX_CHARACTERS)) {
      batches.push(begun);
      [begun, length] = [[], 0];
    }
    begun.push(document);
    length += characters;
  }
  return begun.length === 0 ? batches : [...batches, begun];
}

async function applyBatch(
  context: CommandContext,
  documents: readonly SourceDocument[],
  { mesh, dryRun = false, atomic = false }: BatchOptions,
  listener: BatchListener,
): Promise<void> {
  const arrived: ApplyResult[] = [];
  const values = documents.map(({ value }) => value);
  const reportResults = async (): Promise<void> => {
    for (const result of arrived) {
      const document = documents[result.index];
      const same = result.sameAs === undefined ? undefined : documents[result.sameAs];
      if (document) await listener.result({ document, result, ...(same ? { same } : {}) });
    }
  };
  try {
    await (
      await context.api()
    ).apply(values, {
      dryRun,
      atomic,
      progress: listener.progress,
      result: (result) => void arrived.push(result),
      ...(mesh === '' ? {} : { mesh }),
    });
  } catch (error) {
    await reportResults();
    if (arrived.length === 0 || !(error instanceof ApiError) || error.code !== 'unavailable') throw error;
    const message = `the answer broke off after ${arrived.length} of ${documents.length} results; apply the files again: what was written stays as it is`;
    throw new ApiError('unavailable', message, [], { cause: error });
  }
  await reportResults();
}
