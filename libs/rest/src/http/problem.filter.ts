import { randomUUID } from 'node:crypto';
import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Logger } from '@causeway/runtime';
import type { FastifyReply } from 'fastify';
import { send, type RestResponse } from './rest-response';
import { truncated } from './truncated';
import { problemOf } from './problem';

/** Longest text of an answer: names of a path may stand in it. */
const MAX_TEXT = 1_000;

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** The answer to a request that failed; a failure nobody expected is logged with its stack. */
export function problemResponse(error: unknown, logger: Logger, method?: string): RestResponse {
  const { problem, headers } = problemOf(error, `urn:uuid:${randomUUID()}`, method);
  if (problem.status === 500) {
    logger.error('a request failed unexpectedly', {
      instance: problem.instance,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
  return {
    status: problem.status,
    headers: { 'content-type': PROBLEM_TYPE, ...headers },
    body: JSON.stringify(problem, (_, value: unknown) =>
      typeof value === 'string' ? truncated(value, MAX_TEXT) : value,
    ),
  };
}

/** The one place where anything thrown becomes an answer (style guide §7). */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (reply.sent || reply.raw.headersSent) return;
    send(reply, problemResponse(error, this.logger, reply.request.method));
  }
}
