import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { AccessTarget, CallerRights } from '@causeway/access';
import type { OperationAccess } from '@causeway/api';
import { isJsonObject, type Registry } from '@causeway/resources';
import { meshInPath } from './request-decoding';
import { REGISTRY } from '../rest-dependencies';
import { RequestCallers } from './request-callers';
import { pathParameter, type RestRequest } from './rest-request';

/** Methods that change nothing. */
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** Declares the right that a route needs: `@Access('public')`. A route without it is for administrators only. */
export const Access = Reflector.createDecorator<OperationAccess>();

/** True for a method that may change data. */
export function isWrite({ method }: Pick<RestRequest, 'method'>): boolean {
  return !SAFE_METHODS.includes(method);
}

/**
 * The only guard of all routes, bound to the application (APP_GUARD), so that no controller can forget it. It refuses
 * by throwing AccessDenied. RequestHooks has authenticated the caller before; rights on a single resource are checked
 * where it is read or written.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly reflector = new Reflector();
  private readonly needs = new Map<object, OperationAccess | undefined>();

  constructor(
    @Inject(RequestCallers) private readonly callers: RequestCallers,
    @Inject(REGISTRY) private readonly registry: Registry,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    // Argument 0 of an HTTP handler; switchToHttp() would make three closures for every request.
    const request = context.getArgByIndex<RestRequest>(0);
    const access = this.getRequiredAccess(context);
    if (access !== 'public') this.check(access, this.callers.rightsOf(request), request);
    return true;
  }

  private check(
    access: Exclude<OperationAccess, 'public'> | undefined,
    rights: CallerRights,
    request: RestRequest,
  ): void {
    if (access === undefined || access === 'admin') return rights.checkAdmin();
    if (access === 'any-right') return rights.checkAny();
    const mesh = meshInPath(request);
    if (access === 'list') return this.checkList(rights, request, mesh);
    for (const kind of access.kinds) rights.check(access.verb, { kind, mesh });
  }

  /** Checks a list of one namespace for that namespace, and every other list for all. Unknown kinds are left to the pipe. */
  private checkList(rights: CallerRights, request: RestRequest, mesh: string | undefined): void {
    const kind = this.registry.noun(pathParameter(request, 'plural'));
    if (!kind) return rights.checkAny();
    const query = isJsonObject(request.query) ? request.query : {};
    const { namespace } = query;
    const target: AccessTarget = {
      kind: kind.name,
      mesh,
      namespace: kind.namespaced && typeof namespace === 'string' ? namespace : undefined,
    };
    rights.check(query['watch'] === 'true' ? 'watch' : 'list', target);
  }

  /** Returns `@Access` of a handler, cached: metadata is slow to read, and every GET needs it. */
  private getRequiredAccess(context: ExecutionContext): OperationAccess | undefined {
    const handler = context.getHandler();
    if (!this.needs.has(handler))
      this.needs.set(handler, this.reflector.getAllAndOverride(Access, [handler, context.getClass()]));
    return this.needs.get(handler);
  }
}
