import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { parseKri } from '@causeway/naming';
import { isJsonObject, type Kind, type Registry } from '@causeway/resources';
import { REGISTRY } from '../rest-dependencies';
import { CallerAuthorizer } from './caller-authorizer';
import type { RestRequest } from './rest-request';

/** Methods that change nothing. */
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** Leaves a GET to the operator. Its argument says what the route shows, in the passive voice. */
export const OperatorOnly = Reflector.createDecorator<string>();

/** Opens a POST that only reads. Every other POST is left to the operator, so that a new route is closed by default. */
export const ReadOnly = Reflector.createDecorator<true>();

/** A POST that writes resources: it needs what PUT needs, and admission checks the rights on each resource. */
export const WritesResources = Reflector.createDecorator<true>();

/** True for a method that may change something. */
export function isWrite({ method }: Pick<RestRequest, 'method'>): boolean {
  return !SAFE_METHODS.includes(method);
}

/**
 * The one guard of all routes, bound to the application (APP_GUARD), so that no controller can forget it. Reads are
 * open, except `@OperatorOnly` routes and the values of confidential kinds. PUT, PATCH and DELETE need the operator
 * token or a caller that is provably local. A POST is left to the operator, except `@ReadOnly` and `@WritesResources` ones.
 *
 * The guard refuses by throwing Forbidden: the message says what the caller can do about it.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly reflector = new Reflector();
  private readonly shown = new Map<object, string | undefined>();
  private readonly confidential: readonly Kind[];

  constructor(
    @Inject(CallerAuthorizer) private readonly authorizer: CallerAuthorizer,
    @Inject(REGISTRY) registry: Registry,
  ) {
    this.confidential = registry.kinds.filter(({ confidential }) => confidential);
  }

  canActivate(context: ExecutionContext): boolean {
    // Argument 0 of an HTTP handler; switchToHttp() would make three closures for every request.
    const request = context.getArgByIndex<RestRequest>(0);
    if (!isWrite(request)) this.checkRead(request, context);
    else if (request.method !== 'POST' || this.reflector.get(WritesResources, context.getHandler()) === true)
      this.authorizer.checkWriter(request);
    else if (this.reflector.get(ReadOnly, context.getHandler()) !== true)
      this.authorizer.checkOperator(request, 'this is left');
    return true;
  }

  private checkRead(request: RestRequest, context: ExecutionContext): void {
    const shown = this.shownBy(context) ?? this.confidentialValues(request.params);
    if (shown !== undefined) this.authorizer.checkOperator(request, shown);
  }

  /** What `@OperatorOnly` says of a handler, remembered: metadata is slow to read and this is on the path of each GET. */
  private shownBy(context: ExecutionContext): string | undefined {
    const handler = context.getHandler();
    if (!this.shown.has(handler)) this.shown.set(handler, this.reflector.get(OperatorOnly, handler));
    return this.shown.get(handler);
  }

  /** What a path shows that names one resource of a confidential kind; lists show no values of these kinds. */
  private confidentialValues(params: unknown): string | undefined {
    if (!isJsonObject(params)) return undefined;
    const { plural, name, kri } = params;
    const kind =
      typeof kri === 'string'
        ? this.confidentialKind('shortName', shortNameOf(kri))
        : typeof name === 'string'
          ? this.confidentialKind('plural', plural)
          : undefined;
    return kind && `the values of a ${kind.name} are shown`;
  }

  private confidentialKind(key: 'plural' | 'shortName', value: unknown): Kind | undefined {
    return this.confidential.find((kind) => kind[key] === value);
  }
}

function shortNameOf(kri: string): string | undefined {
  const reading = parseKri(kri);
  return reading.ok ? reading.kri.shortName : undefined;
}
