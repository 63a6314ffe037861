import type { Admission, BatchDocument, BatchOutcome, BatchProgress } from '@causeway/admission';
import { ApplyResponse, type ApplyRequest, type DeleteRequest, type DeleteResponse } from '@causeway/proto-gen';
import type { Queries } from '@causeway/queries';
import { DomainError, type Registry } from '@causeway/resources';
import { batchesOf, yieldToEventLoop, type Clock, type Logger } from '@causeway/runtime';
import { rpcStatusOf } from '../calls/call-error';
import type { CallContext } from '../calls/call-handlers';
import type { StreamWriter } from '../calls/stream-writer';
import { applyResultMessage, parseDocument } from '../wire/apply-messages';
import { identityMessage, nameQueryOf, refused } from '../wire/messages';
import { ApplyBudget, type ReceivedApply } from './apply-budget';

/** What writes go through. */
export interface ResourceWritesParts {
  readonly registry: Registry;
  readonly admission: Admission;
  readonly queries: Queries;
  readonly clock: Pick<Clock, 'elapsed'>;
  readonly logger: Logger;
}

/** Results in one message, and documents that are parsed in one turn of the event loop. */
const RESULTS_IN_A_MESSAGE = 500;
const PARSED_IN_A_TURN = 200;

/** Between two reports of progress, ms. */
const PROGRESS_INTERVAL = 200;

/** Apply and Delete: admission decides, as for REST. */
export class ResourceWrites {
  private readonly budget = new ApplyBudget();

  constructor(private readonly parts: ResourceWritesParts) {}

  async apply(requests: AsyncIterable<ApplyRequest>, context: CallContext, writer: StreamWriter): Promise<void> {
    await this.budget.receive(requests, async (received) => {
      const { results, revision } = await this.outcomeOf(received, context, writer);
      const chunks = [...batchesOf(results, RESULTS_IN_A_MESSAGE)];
      for (const [i, chunk] of (chunks.length === 0 ? [[]] : chunks).entries()) {
        const messages = chunk.map((one) => applyResultMessage(one, (error) => rpcStatusOf(error, this.parts.logger)));
        const last = i >= chunks.length - 1;
        await writer.send(encoded({ results: messages, progress: undefined, revision: last ? revision : 0 }));
      }
    });
  }

  async delete(request: DeleteRequest, { write }: CallContext): Promise<DeleteResponse> {
    const { admission, queries, registry } = this.parts;
    const { dryRun, etag } = request;
    const address = nameQueryOf(registry, request.name);
    const outcome = await admission.delete({ address, context: write, dryRun, ...ifMatch(etag) });
    if (!dryRun) queries.freshness.noteWrite(outcome.revision);
    const warnings = [...queries.inspections.deletionWarnings(outcome.id)];
    return { id: identityMessage(outcome.id), revision: outcome.revision, warnings };
  }

  private async outcomeOf(
    { options, documents }: ReceivedApply,
    context: CallContext,
    writer: StreamWriter,
  ): Promise<BatchOutcome> {
    const { atomic, dryRun, mesh, etag } = options;
    const [only, ...more] = documents;
    if (etag !== '' && more.length > 0) throw refused('etag', 'is for a single document');
    const outcome =
      only !== undefined && more.length === 0 && mesh === '' && !dryRun
        ? await this.putOne(only, etag, context)
        : await this.putMany(documents, { atomic, dryRun, mesh, etag }, context, writer);
    if (!dryRun) this.parts.queries.freshness.noteWrite(outcome.revision);
    return outcome;
  }

  /** As a PUT of REST, which costs less than a batch of one. */
  private async putOne(json: string, etag: string, { write }: CallContext): Promise<BatchOutcome> {
    try {
      const body = parseDocument(json);
      const written = await this.parts.admission.put({ body, context: write, ...ifMatch(etag) });
      return { results: [{ index: 0, ...written }], revision: written.revision };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { results: [{ index: 0, outcome: 'refused', error }], revision: 0 };
    }
  }

  private async putMany(
    documents: readonly string[],
    { atomic, dryRun, mesh, etag }: Pick<ApplyRequest, 'atomic' | 'dryRun' | 'mesh' | 'etag'>,
    { write, signal }: CallContext,
    writer: StreamWriter,
  ): Promise<BatchOutcome> {
    if (etag !== '') throw refused('etag', 'cannot be combined with mesh or dry_run');
    const { admission } = this.parts;
    const bodies = await parseAll(documents);
    const progress = this.reporter(documents.length, writer);
    const named = mesh === '' ? {} : { mesh };
    return admission.apply({ documents: bodies, context: write, atomic, dryRun, ...named, signal, progress });
  }

  /** Reports progress now and then; a client that does not read is told less, not waited for. */
  private reporter(total: number, writer: StreamWriter): (progress: BatchProgress) => void {
    let due = this.parts.clock.elapsed() + PROGRESS_INTERVAL;
    let free = true;
    return ({ checked, written }) => {
      const now = this.parts.clock.elapsed();
      if (now < due || !free) return;
      due = now + PROGRESS_INTERVAL;
      free = writer.write(encoded({ results: [], progress: { checked, written, total }, revision: 0 }));
      if (!free) writer.drained(() => (free = true));
    };
  }
}

/** A document that is no JSON stays text, so that admission refuses it at its place among the others. */
async function parseAll(documents: readonly string[]): Promise<readonly BatchDocument[]> {
  const parsed: BatchDocument[] = [];
  for (const batch of batchesOf(documents, PARSED_IN_A_TURN)) {
    for (const json of batch) parsed.push({ body: parseOrText(json) });
    await yieldToEventLoop();
  }
  return parsed;
}

function parseOrText(json: string): unknown {
  try {
    return parseDocument(json);
  } catch {
    return json;
  }
}

function ifMatch(etag: string): { readonly ifMatch?: string } {
  return etag === '' ? {} : { ifMatch: etag };
}

function encoded(response: ApplyResponse): Buffer {
  return Buffer.from(ApplyResponse.encode(response).finish());
}
