import { Body, Controller, Inject, Post, Res } from '@nestjs/common';
import { recordRefusedDocuments, type Admission, type BatchOutcome, type BatchProgress } from '@causeway/admission';
import { ConcurrencyLimit, type Queries } from '@causeway/queries';
import { errorText, yieldToEventLoop } from '@causeway/runtime';
import type { FastifyReply } from 'fastify';
import { Access } from '../http/access.guard';
import { BatchBodies, type SentBatch } from '../http/batch-body';
import { UnreadBody } from '../http/body-parser';
import { newInstance, toProblem } from '../http/problem.filter';
import { ApplyPipe, type ApplyQuery } from '../requests/apply.pipe';
import { FromRequest } from '../requests/decorators';
import { SignalPipe, type RequestSignal } from '../requests/resource.pipes';
import { ADMISSION, QUERIES, RUNTIME, type RestRuntime } from '../rest-dependencies';
import { resultLine, summaryLine } from './batch-lines';
import { LineStream } from './line-stream';

/** Batches at once: each holds up to 64 MiB of text and what it means. */
const BATCHES = { running: 4, queued: 16 };
/** Timeout for a client to read the results, ms: meanwhile it occupies the slot of another batch. */
const READ_TIME = 120_000;
/** Documents or changes between two lines of progress. */
const PROGRESS_STEP = 500;
/** Lines that are made in one turn of the event loop. */
const LINES_A_TURN = 100;

/** `POST /_apply`: many resources as one write (docs/design.md §6 Batches). */
@Controller()
export class ApplyController {
  private readonly limit = new ConcurrencyLimit(BATCHES);

  constructor(
    @Inject(ADMISSION) private readonly admission: Admission,
    @Inject(QUERIES) private readonly queries: Queries,
    @Inject(BatchBodies) private readonly bodies: BatchBodies,
    @Inject(RUNTIME) private readonly runtime: RestRuntime,
  ) {}

  /** 200 with JSON lines: progress, one result for each document, a summary. What cannot be read is a problem. */
  @Post('/_apply')
  @Access('any-right')
  async apply(
    @FromRequest(ApplyPipe) query: ApplyQuery,
    @FromRequest(SignalPipe) signal: RequestSignal,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const lines = new LineStream(reply, this.runtime.clock);
    await this.limit.run(async (wanted) => {
      const batch = await this.bodies.read(body instanceof UnreadBody ? body : undefined, wanted);
      const outcome = await this.applied(batch, query, { lines, signal: wanted });
      if (outcome) await this.answer(batch, query, { lines, outcome });
    }, signal());
  }

  /** Undefined if the batch failed after the status was sent. */
  private async applied(
    batch: SentBatch,
    query: ApplyQuery,
    { lines, signal }: { readonly lines: LineStream; readonly signal: AbortSignal },
  ): Promise<BatchOutcome | undefined> {
    const { documents } = batch;
    const reported = { checked: 0, written: 0 };
    const progress = ({ checked, written }: BatchProgress): void => {
      if (checked + written < reported.checked + reported.written + PROGRESS_STEP) return;
      Object.assign(reported, { checked, written });
      lines.tell({ progress: checked, of: documents.length, written });
    };
    try {
      const outcome = await this.admission.apply({ ...query, documents, signal, progress });
      recordRefusedDocuments(this.runtime, query, outcome.results);
      if (!query.dryRun) this.queries.readYourWrites.recordWrite(outcome.revision);
      return outcome;
    } catch (error) {
      if (!lines.isOpen) throw error;
      const { problem } = toProblem(error, newInstance());
      if (problem.status === 500)
        this.runtime.logger.error('a batch failed unexpectedly', {
          instance: problem.instance,
          error: errorText(error),
        });
      lines.tell({ error: problem });
      lines.end();
      return undefined;
    }
  }

  private async answer(
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
      // The batch itself is done: what became of it stands in the log.
      this.runtime.logger.warn('the client of a batch did not read its results', {
        ...summary,
        error: errorText(error),
      });
      lines.destroy();
    }
  }
}
