import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Logger } from '@causeway/runtime';
import type { FastifyReply } from 'fastify';
import { newInstance, problemJson, problemOf, PROBLEM_TYPE } from './problem';

/** The one place where anything thrown becomes a response; an error nobody expected is logged with its stack. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (reply.sent || reply.raw.headersSent) return;
    const { problem, headers } = problemOf(error, newInstance(), reply.request.method);
    if (problem.status === 500) {
      this.logger.error('a request failed unexpectedly', {
        instance: problem.instance,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    }
    void reply
      .code(problem.status)
      .headers({ 'content-type': PROBLEM_TYPE, ...headers })
      .send(problemJson(problem));
  }
}
