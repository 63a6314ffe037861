import { isJsonObject, type JsonObject } from '@causeway/resources';
import { ApiError } from '../../api-client';
import { UsageError, type CommandContext } from '../../context';
import type { SourceDocument } from '../../documents';
import { objectAt, textAt } from '../../render';
import type { ApplyOptions } from './apply-options';

/** Bounds of one batch of the server. */
const MOST_DOCUMENTS = 10_000;
const MOST_CHARACTERS = 16 * 1024 * 1024;

/** The result of one document, as the server says it. */
export interface DocumentResult {
  readonly document: SourceDocument;
  readonly line: JsonObject;
  /** Another document of the same resource. */
  readonly same?: SourceDocument;
}

/** What is told of a batch while it runs. */
export interface BatchListener {
  readonly progress: (line: JsonObject) => void;
  readonly result: (result: DocumentResult) => Promise<void> | void;
}

/** Documents that are sent together. */
interface Batch {
  readonly documents: readonly SourceDocument[];
  readonly text: string;
}

/**
 * Applies documents through `POST /_apply`, in batches that the server takes. Throws ApiError when a batch is refused as a
 * whole or its answer breaks off, and UsageError for an atomic batch that is too large.
 */
export async function applyDocuments(
  context: CommandContext,
  documents: readonly SourceDocument[],
  options: ApplyOptions,
  listener: BatchListener,
): Promise<void> {
  const batches = batchesOf(documents);
  if (options.atomic === true && batches.length > 1)
    throw new UsageError(
      `--atomic takes at most ${MOST_DOCUMENTS} documents of ${MOST_CHARACTERS / 1024 / 1024} MiB together; nothing was written`,
    );
  for (const batch of batches) await applyBatch(context, batch, options, listener);
}

function batchesOf(documents: readonly SourceDocument[]): readonly Batch[] {
  const batches: Batch[] = [];
  let [begun, lines, length]: [SourceDocument[], string[], number] = [[], [], 0];
  for (const document of documents) {
    const line = JSON.stringify(document.value);
    if (begun.length > 0 && (begun.length === MOST_DOCUMENTS || length + line.length > MOST_CHARACTERS)) {
      batches.push({ documents: begun, text: lines.join('\n') });
      [begun, lines, length] = [[], [], 0];
    }
    begun.push(document);
    lines.push(line);
    length += line.length;
  }
  return begun.length === 0 ? batches : [...batches, { documents: begun, text: lines.join('\n') }];
}

async function applyBatch(
  context: CommandContext,
  { documents, text }: Batch,
  { mesh, dryRun, atomic }: ApplyOptions,
  listener: BatchListener,
): Promise<void> {
  const query = {
    ...(mesh === 'default' ? {} : { mesh }),
    ...(dryRun === true ? { dryRun: 'true' } : {}),
    ...(atomic === true ? { atomic: 'true' } : {}),
  };
  const request = {
    ...({ method: 'POST', path: '/_apply', query } as const),
    text: { type: 'application/x-ndjson', content: text },
  };
  let done = 0;
  try {
    for await (const line of context.api().events(request, context.signal)) {
      const parsed: unknown = JSON.parse(line);
      if (!isJsonObject(parsed)) continue;
      if ('summary' in parsed) return;
      if ('error' in parsed) throw new ApiError(textAt(objectAt(parsed, 'error'), 'detail'), 500);
      if ('progress' in parsed) listener.progress(parsed);
      const document = typeof parsed['index'] === 'number' ? documents[parsed['index']] : undefined;
      if (!document) continue;
      const same = typeof parsed['sameAs'] === 'number' ? documents[parsed['sameAs']] : undefined;
      await listener.result({ document, line: parsed, ...(same ? { same } : {}) });
      done += 1;
    }
  } catch (error) {
    if (error instanceof ApiError || context.signal.aborted) throw error;
  }
  throw new ApiError(
    `the answer broke off after ${done} of ${documents.length} results; apply the files again: what was written stays as it is`,
    0,
  );
}
