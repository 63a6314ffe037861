import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { AccessTarget, CallerRights, Verb } from '@causeway/access';
import { isJsonObject, type Registry } from '@causeway/resources';
import { meshInPath } from './request-decoding';
import { REGISTRY } from '../rest-dependencies';
import { RequestCallers } from './request-callers';
import { pathParameter, type RestRequest } from './rest-request';

/** Methods that change nothing. */
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** Right that a route needs of its caller. */
export type RouteAccess =
  /** Nothing. */
  | 'public'
  /** Some right, whichever: the handler checks what it finds, or admission what is written. */
  | 'any-right'
  /** The right to list or watch the kind in the path, in the mesh of the path and the namespace of the query. */
  | 'list'
  /** The right to all of these kinds or activities, in the mesh of the path if it has one. */
  | { readonly verb: Verb; readonly kinds: readonly string[] };

/** Says what a route needs: `@Access('public')`. A route that says nothing is for administrators alone. */
export const Access = Reflector.createDecorator<RouteAccess>();

/** True for a method that may change something. */
export function isWrite({ method }: Pick<RestRequest, 'method'>): boolean {
  return !SAFE_METHODS.includes(method);
}

/**
 * The one guard of all routes, bound to the application (APP_GUARD), so that no controller can forget it. It refuses by
 * throwing AccessDenied. Who the caller is was found out before (RequestHooks); what becomes of one resource is decided
 * where it is found or written.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly reflector = new Reflector();
  private readonly needs = new Map<object, RouteAccess | undefined>();

  constructor(
    @Inject(RequestCallers) private readonly callers: RequestCallers,
    @Inject(REGISTRY) private readonly registry: Registry,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    // Argument 0 of an HTTP handler; switchToHttp() would make three closures for every request.
    const request = context.getArgByIndex<RestRequest>(0);
    const access = this.needsOf(context);
    if (access !== 'public') this.check(access, this.callers.rightsOf(request), request);
    return true;
  }

  private check(access: Exclude<RouteAccess, 'public'> | undefined, rights: CallerRights, request: RestRequest): void {
    if (access === undefined) return rights.checkAdmin();
    if (access === 'any-right') return rights.checkAny();
    const mesh = meshInPath(request);
    if (access === 'list') return this.checkList(rights, request, mesh);
    for (const kind of access.kinds) rights.check(access.verb, { kind, mesh });
  }

  /** A list of one namespace is about that namespace; every other list is about all. A path of no kind is the pipe's to refuse. */
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

  /** Returns `@Access` of a handler, cached: metadata is slow to read and this is on the path of each GET. */
  private needsOf(context: ExecutionContext): RouteAccess | undefined {
    const handler = context.getHandler();
    if (!this.needs.has(handler))
      this.needs.set(handler, this.reflector.getAllAndOverride(Access, [handler, context.getClass()]));
    return this.needs.get(handler);
  }
}
