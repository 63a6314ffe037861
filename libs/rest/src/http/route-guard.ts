import { parseKri } from '@causeway/naming';
import { isJsonObject, type Kind, type Registry } from '@causeway/resources';
import type { CallerAuthorizer } from './caller-authorizer';
import type { RestRequest } from './rest-request';

/** Methods that change nothing. */
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** Routes of POST that only read. Every other POST is the operator's, so that a new route is closed until it is here. */
const READ_ONLY_POSTS: readonly string[] = ['/_explain/hostname'];

/** Reads that are the operator's, and what they show, in the passive. */
const OPERATOR_READS: Readonly<Record<string, string>> = {
  '/_doctor': 'what is wrong with a control plane is shown',
};

/** What a request needs of its caller: the operator may do everything, a writer is the operator or local. */
export type RequiredRole =
  { readonly type: 'nothing' | 'writer' } | { readonly type: 'operator'; readonly what: string };

/**
 * The one guard of all routes: it is bound once to the server, not to endpoints, and judges by method and route, so that
 * no endpoint can forget it. Reads are open but for the values of confidential kinds; every write needs the operator
 * token or a caller that is provably local; what only operators decide needs the operator.
 */
export class RouteGuard {
  constructor(
    private readonly access: CallerAuthorizer,
    private readonly registry: Registry,
  ) {}

  /** Throws Forbidden where the caller may not; `route` is the pattern that the router found, undefined for none. */
  check(call: RestRequest, route: string | undefined): void {
    const need = this.requiredRole(call, route);
    if (need.type === 'writer') this.access.checkWriter(call);
    else if (need.type === 'operator') this.access.checkOperator(call, need.what);
  }

  /** What a call needs. */
  requiredRole(call: RestRequest, route: string | undefined): RequiredRole {
    if (SAFE_METHODS.includes(call.method)) {
      const shown = OPERATOR_READS[route ?? ''];
      if (shown !== undefined && call.method !== 'OPTIONS') return { type: 'operator', what: shown };
      const secret = call.method === 'OPTIONS' ? undefined : this.confidentialKind(call.params);
      return secret ? { type: 'operator', what: `the values of a ${secret.name} are shown` } : { type: 'nothing' };
    }
    if (call.method !== 'POST' || route === undefined) return { type: 'writer' };
    return READ_ONLY_POSTS.includes(route) ? { type: 'nothing' } : { type: 'operator', what: 'this is left' };
  }

  /** The confidential kind that a path names one resource of; lists show no values of them. */
  private confidentialKind(params: unknown): Kind | undefined {
    if (!isJsonObject(params)) return undefined;
    const { plural, name, kri } = params;
    const isSecret = ({ confidential }: Kind): boolean => confidential;
    if (typeof kri === 'string') {
      const reading = parseKri(kri);
      return reading.ok
        ? this.registry.kinds.find((kind) => isSecret(kind) && kind.shortName === reading.kri.shortName)
        : undefined;
    }
    if (typeof plural !== 'string' || typeof name !== 'string') return undefined;
    return this.registry.kinds.find((kind) => isSecret(kind) && kind.plural === plural);
  }
}
