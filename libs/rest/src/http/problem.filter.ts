import { randomUUID } from 'node:crypto';
import { Catch, NotFoundException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Logger } from '@causeway/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from './answer';
import { problemOf } from './problem';
import type { RouteTable } from './route-table';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** The answer to a request that failed; a failure nobody expected is logged with its stack. */
export function problemAnswer(error: unknown, logger: Logger): Answer {
  const { problem, headers } = problemOf(error, `urn:uuid:${randomUUID()}`);
  if (problem.status === 500) {
    logger.error('a request failed unexpectedly', {
      instance: problem.instance,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
  return {
    status: problem.status,
    headers: { 'content-type': PROBLEM_TYPE, ...headers },
    body: JSON.stringify(problem),
  };
}

/** The one place where anything thrown becomes an answer (style guide §7). */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly routes: RouteTable,
    private readonly logger: Logger,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    if (reply.sent || reply.raw.headersSent) return;
    const unmatched = error instanceof NotFoundException;
    const answer = unmatched && request.method === 'OPTIONS' ? this.routes.options(request.url) : undefined;
    const cause = unmatched ? this.routes.failure(request.method, request.url) : error;
    const { status, headers, body } = answer ?? problemAnswer(cause, this.logger);
    void reply.code(status).headers(headers).send(body);
  }
}
