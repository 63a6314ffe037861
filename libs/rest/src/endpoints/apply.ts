import { applyResources } from '@causeway/api';
import { recordRefusedDocuments, type BatchOutcome, type BatchWriteProgress } from '@causeway/admission';
import { ConcurrencyLimit } from '@causeway/queries';
import { errorText, yieldToEventLoop } from '@causeway/runtime';
import { resultLine, summaryLine, type ApplyQuery } from '../answers/batch-lines';
import { LineStream } from '../answers/line-stream';
import type { SentBatch } from '../http/batch-body';
import { unreadBody } from '../http/body-parser';
import { newInstance, toProblem } from '../http/problem.filter';
import { readOrigin } from '../http/request-audit';
import { endpoint, type Endpoint } from '../operations/endpoint';
import type { EndpointSources } from '../operations/sources';

/** Limits of concurrent batches: each holds up to 64 MiB of text and the parsed documents. */
const BATCHES = { running: 4, queued: 16 };
/** Timeout for a client to read the results, ms: meanwhile it occupies a slot. */
const READ_TIME = 120_000;
/** Number of documents or changes between two progress lines. */
const PROGRESS_STEP = 500;
/** Number of lines written per turn of the event loop. */
const LINES_A_TURN = 100;

/** Endpoint of `POST /_apply`: writes many resources as one batch (docs/design.md §6 Batches). */
export function applyEndpoints(sources: EndpointSources): readonly Endpoint[] {
  const limit = new ConcurrencyLimit(BATCHES);
  const batches = new Batches(sources);
  return [
    endpoint(
      applyResources,
      ({ request, reply, rights, signal }, { query: { atomic = false, dryRun = false, mesh } }) => {
        const context = { caller: rights.caller, origin: readOrigin(request) };
        const query = { context, atomic, dryRun, ...(mesh === undefined ? {} : { mesh }) };
        const lines = new LineStream(reply, sources.clock);
        return limit.run(async (wanted) => {
          const batch = await sources.batches.read(unreadBody(request.body), wanted);
          const outcome = await batches.applied(batch, query, { lines, signal: wanted });
          if (outcome) await batches.answer(batch, query, { lines, outcome });
        }, signal);
      },
      { body: 'unread' },
    ),
  ];
}

/** Applies batches and streams their results: 200 with JSON lines: progress, one result per document, a summary. */
class Batches {
  constructor(private readonly sources: EndpointSources) {}

  /** Returns the result; undefined if the batch failed after the status was sent. */
  async applied(
    batch: SentBatch,
    query: ApplyQuery,
    { lines, signal }: { readonly lines: LineStream; readonly signal: AbortSignal },
  ): Promise<BatchOutcome | undefined> {
    const { documents } = batch;
    const reported = { checked: 0, written: 0 };
    const progress = ({ checked, written }: BatchWriteProgress): void => {
      if (checked + written < reported.checked + reported.written + PROGRESS_STEP) return;
      Object.assign(reported, { checked, written });
      lines.writeNow({ progress: checked, of: documents.length, written });
    };
    try {
      const outcome = await this.sources.admission.apply({ ...query, documents, signal, progress });
      recordRefusedDocuments(this.sources, query, outcome.results);
      if (!query.dryRun) this.sources.queries.readYourWrites.recordWrite(outcome.revision);
      return outcome;
    } catch (error) {
      if (!lines.isOpen) throw error;
      const { problem } = toProblem(error, newInstance());
      if (problem.status === 500)
        this.sources.logger.error('a batch failed unexpectedly', {
          instance: problem.instance,
          error: errorText(error),
        });
      lines.writeNow({ error: problem });
      lines.end();
      return undefined;
    }
  }

  async answer(
    batch: SentBatch,
    query: ApplyQuery,
    { lines, outcome }: { readonly lines: LineStream; readonly outcome: BatchOutcome },
  ): Promise<void> {
    const summary = summaryLine(outcome, query);
    lines.limit(READ_TIME);
    try {
      for (const [i, result] of outcome.results.entries()) {
        await lines.write(resultLine(result, batch));
        if (i % LINES_A_TURN === LINES_A_TURN - 1) await yieldToEventLoop();
      }
      await lines.write(summary);
      lines.end();
    } catch (error) {
      // The batch itself is finished: the log has its result.
      this.sources.logger.warn('the client of a batch did not read its results', {
        ...summary,
        error: errorText(error),
      });
      lines.destroy();
    }
  }
}
