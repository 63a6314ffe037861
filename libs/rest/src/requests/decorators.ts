import {
  applyDecorators,
  createParamDecorator,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { RestRequest } from '../http/rest-request';
import { readQuery } from '../http/query-reader';

/**
 * An argument of a handler that a pipe decodes from the whole request: `@FromRequest(GetPipe) wanted: GetRequest`.
 * `@Query(pipe)` sees the query alone, and which parameters a query may have depends on the kind in the path.
 */
export const FromRequest = createParamDecorator((_: unknown, context: ExecutionContext): RestRequest =>
  context.getArgByIndex<RestRequest>(0),
);

/** Refuses every query parameter with 400, for handlers that take none. */
export function NoQuery(): ClassDecorator & MethodDecorator {
  return applyDecorators(UseGuards(new NoQueryGuard()));
}

/** A guard and not a pipe: it checks before the body is read, and handlers need no argument for it. */
class NoQueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    readQuery(context.switchToHttp().getRequest<RestRequest>(), []).check();
    return true;
  }
}
