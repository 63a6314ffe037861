import { Controller, Get, Inject, Req, Res, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Queries } from '@causeway/queries';
import { Unavailable } from '@causeway/resources';
import { errorText, underSignals } from '@causeway/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RequestAudit } from '../http/request-audit';
import { BackupPipe, type BackupRequest } from '../requests/backup.pipe';
import { FromRequest } from '../requests/decorators';
import { QUERIES, RUNTIME, type RestRuntime } from '../rest-dependencies';
import { LineStream } from './line-stream';

/** Timeout for a client to read a backup, ms: meanwhile the database cannot clean up. */
const READ_TIME = 600_000;

/** The whole store as a text that an empty one is restored from (docs/guides/backup.md). For administrators alone. */
@Controller()
export class BackupController implements BeforeApplicationShutdown {
  private readonly ending = new AbortController();

  constructor(
    @Inject(QUERIES) private readonly queries: Queries,
    @Inject(RequestAudit) private readonly audit: RequestAudit,
    @Inject(RUNTIME) private readonly runtime: RestRuntime,
  ) {}

  /** Backups under way are cut: their clients see that the end is missing. */
  beforeApplicationShutdown(): void {
    this.ending.abort(new Unavailable('this control plane is ending'));
  }

  /** 200 with JSON lines. What fails before the first line is a problem; a connection that ends without the last line, a failure. */
  @Get('/_backup')
  async backup(
    @FromRequest(BackupPipe) { secrets }: BackupRequest,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { clock, recorder, logger } = this.runtime;
    const lines = new LineStream(reply, clock);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort(new Unavailable('the client is gone')));
    const activity = secrets ? 'export the store with its secrets' : 'export the store without its secrets';
    const subject = { verb: 'get', kind: 'Backup', mesh: '', zone: '', namespace: '', name: '', activity };
    await recorder.done(this.audit.sourceOf(request), subject);
    lines.limit(READ_TIME);
    try {
      await underSignals([gone.signal, this.ending.signal], (signal) =>
        this.queries.backups.write(secrets, (text) => lines.writeText(text), signal),
      );
      lines.end();
    } catch (error) {
      if (!lines.isOpen) throw error;
      logger.warn('a backup was cut off', { error: errorText(error) });
      lines.destroy();
    }
  }
}
