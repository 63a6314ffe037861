import type { AuditRecorder } from '@causeway/access';
import {
  MAX_BATCH_VALUES,
  recordRefusedDocuments,
  type Admission,
  type BatchDocument,
  type BatchOutcome,
  type BatchWriteProgress,
} from '@causeway/admission';
import { Unparsable } from '@causeway/yaml';
import { ApplyResponse, type ApplyRequest, type DeleteRequest, type DeleteResponse } from '@causeway/proto-gen';
import type { Queries } from '@causeway/queries';
import { countJsonValues, DomainError, type Registry } from '@causeway/resources';
import { splitIntoBatches, inTimedSlices, type Clock, type Logger } from '@causeway/runtime';
import { ExhaustedError, toRpcStatus } from '../calls/call-error';
import type { CallContext } from '../calls/handler-factory';
import type { StreamWriter } from '../calls/stream-writer';
import { applyResultMessage, parseDocument } from '../wire/apply-messages';
import { identityMessage, readNameQuery, refused } from '../wire/messages';
import { ApplyBudget, type ReceivedApply } from './apply-budget';

/** Dependencies of writes. */
export interface ResourceWritesParts {
  readonly registry: Registry;
  readonly admission: Admission;
  readonly queries: Queries;
  readonly recorder: AuditRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Timeout for a client to read the results, ms: meanwhile its documents occupy memory. */
const READ_TIME = 120_000;

/** Maximum number of results in one message. */
const MAX_RESULTS_PER_MESSAGE = 500;

/** Interval of progress reports, ms. */
const PROGRESS_INTERVAL = 200;

/** Handlers of Apply and Delete, through admission as in REST. */
export class ResourceWrites {
  private readonly budget: ApplyBudget;

  constructor(private readonly parts: ResourceWritesParts) {
    this.budget = new ApplyBudget(parts.clock);
  }

  /** Refuses a caller without any right before a document is read: an unauthorized request must not occupy memory. */
  async apply(requests: AsyncIterable<ApplyRequest>, context: CallContext, writer: StreamWriter): Promise<void> {
    context.rights.checkAny();
    await this.budget.receive(requests, context.signal, async (received) => {
      const { results, revision } = await this.writeBatch(received, context, writer);
      writer.limit(READ_TIME);
      const chunks = [...splitIntoBatches(results, MAX_RESULTS_PER_MESSAGE)];
      for (const [i, chunk] of (chunks.length === 0 ? [[]] : chunks).entries()) {
        const messages = chunk.map((one) => applyResultMessage(one, (error) => toRpcStatus(error, this.parts.logger)));
        const last = i >= chunks.length - 1;
        await writer.send(encoded({ results: messages, progress: undefined, revision: last ? revision : 0 }));
      }
    });
  }

  async delete(request: DeleteRequest, { write }: CallContext): Promise<DeleteResponse> {
    const { admission, queries, registry } = this.parts;
    const { dryRun, etag, terminate, force } = request;
    const address = readNameQuery(registry, request.name, queries.defaultMesh);
    if (terminate && address.kind.name !== 'Mesh') throw refused('terminate', 'is for a Mesh');
    if (force && address.kind.name !== 'Zone') throw refused('force', 'is for a Zone');
    const outcome = await admission.delete({ address, context: write, dryRun, terminate, force, ...ifMatch(etag) });
    if (!dryRun) queries.readYourWrites.recordWrite(outcome.revision);
    const warnings = [...outcome.warnings, ...queries.inspections.deletionWarnings(outcome.id)];
    return { id: identityMessage(outcome.id), revision: outcome.revision, warnings };
  }

  private async writeBatch(
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
    recordRefusedDocuments(this.parts, { context: context.write, dryRun }, outcome.results);
    if (!dryRun) this.parts.queries.readYourWrites.recordWrite(outcome.revision);
    return outcome;
  }

  /** Writes one document as REST's PUT does, which costs less than a batch of one. */
  private async putOne(json: string, etag: string, { write }: CallContext): Promise<BatchOutcome> {
    let body: unknown = undefined;
    try {
      body = parseDocument(json);
      const written = await this.parts.admission.put({ body, context: write, ...ifMatch(etag) });
      return { results: [{ index: 0, ...written }], revision: written.revision };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const id = this.parts.admission.findIdentity(body);
      return { results: [{ index: 0, outcome: 'refused', ...(id ? { id } : {}), error }], revision: 0 };
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
    const bodies = await parseAll(documents, { clock: this.parts.clock, signal });
    const progress = this.reporter(documents.length, writer);
    const named = mesh === '' ? {} : { mesh };
    return admission.apply({ documents: bodies, context: write, atomic, dryRun, ...named, signal, progress });
  }

  /** Reports progress periodically; a client that does not read gets fewer reports and is not waited for. */
  private reporter(total: number, writer: StreamWriter): (progress: BatchWriteProgress) => void {
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

/** Parses the documents of a batch. A document that cannot be parsed is refused at its position. Throws ExhaustedError. */
async function parseAll(
  documents: readonly string[],
  slices: Parameters<typeof inTimedSlices>[1],
): Promise<readonly BatchDocument[]> {
  const parsed: BatchDocument[] = [];
  const parse = function* (): Generator<void> {
    let values = 0;
    for (const json of documents) {
      const body = parseOrRefuse(json);
      values += countJsonValues(body);
      if (values > MAX_BATCH_VALUES)
        throw new ExhaustedError(`the documents of an Apply may have ${MAX_BATCH_VALUES} keys and values`);
      parsed.push({ body });
      yield;
    }
  };
  await inTimedSlices(parse(), slices);
  return parsed;
}

function parseOrRefuse(json: string): unknown {
  try {
    return parseDocument(json);
  } catch (error) {
    if (error instanceof Unparsable) return error;
    throw error;
  }
}

function ifMatch(etag: string): { readonly ifMatch?: string } {
  return etag === '' ? {} : { ifMatch: etag };
}

function encoded(response: ApplyResponse): Buffer {
  return Buffer.from(ApplyResponse.encode(response).finish());
}
