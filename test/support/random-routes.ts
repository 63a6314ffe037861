import type { RouteKind, RouteMatch, RouteRule, RouteSpec } from '@causeway/routing';
import type { Prng } from '../simulation/engine/prng';
import { PORTS } from './routed-plane';
import type { Asked } from './routing-mesh';

/** So few words that matches meet requests, and each other. */
const SEGMENTS = ['a', 'b', 'ab', 'A', 'a.b', 'a-b'];
const EXPRESSIONS = ['/a.*', '/[ab]+', '/(a|b)(/.*)?', '/a\\.b', '/.*b', '(?i)/A/?'];
const VALUES = ['1', '2', '12', 'a b', 'x+y', 'ü', '100%'];
const HEADER_VALUES = ['1', '2', '12', 'a b', '100%'];
const VALUE_EXPRESSIONS = ['1|2', '[0-9]+', '1.*', ''];
const HEADERS = ['x-a', 'X-B', 'x-c'];
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'];
const BACKENDS = ['echo-v1', 'echo-v2', 'echo', 'nowhere', 'empty'];
const SERVICES = ['a.B', 'a.C'];
const CALLS = ['Say', 'Tell'];

/** Routes and requests of a seed. */
export class RandomRoutes {
  constructor(private readonly prng: Prng) {}

  private chance(share: number): boolean {
    return this.prng.next() < share;
  }

  private one<T>(values: readonly T[]): T {
    return values[Math.floor(this.prng.next() * values.length)] as T;
  }

  private some<T>(most: number, make: () => T): T[] {
    return Array.from({ length: Math.floor(this.prng.next() * (most + 1)) }, make);
  }

  private path(): string {
    const segments = this.some(3, () => this.one(SEGMENTS));
    return `/${segments.join('/')}${segments.length > 0 && this.chance(0.2) ? '/' : ''}`;
  }

  kind(): RouteKind {
    return this.chance(0.2) ? 'GRPCRoute' : 'HTTPRoute';
  }

  spec(kind: RouteKind, namespace: string): RouteSpec {
    const parentRefs = [{ kind: 'Service', namespace: 'mesh', name: 'echo', port: PORTS.http }];
    const rules = [this.rule(kind, namespace), ...this.some(3, () => this.rule(kind, namespace))];
    return { parentRefs, rules };
  }

  private rule(kind: RouteKind, namespace: string): RouteRule {
    const matches = this.some(3, () => (kind === 'GRPCRoute' ? this.grpcMatch() : this.httpMatch()));
    const isPrefix = kind === 'HTTPRoute' && matches.every(({ path }) => (path?.type ?? 'PathPrefix') === 'PathPrefix');
    const mayReplace = isPrefix && matches.length < 2;
    if (kind === 'HTTPRoute' && this.chance(0.15)) return { matches, filters: [this.redirect(mayReplace)] };
    const filters = [
      ...this.headerFilters(),
      ...(kind === 'HTTPRoute' && this.chance(0.2) ? [this.rewrite(mayReplace)] : []),
    ];
    const backendRefs = this.some(3, () => ({
      name: this.one(BACKENDS),
      namespace,
      port: PORTS.http,
      weight: this.one([0, 1, 1, 5]),
      ...(this.chance(0.2) && { filters: this.headerFilters() }),
    }));
    return { matches, filters, backendRefs };
  }

  private httpMatch(): RouteMatch {
    return {
      ...(this.chance(0.8) && { path: this.pathMatch() }),
      ...(this.chance(0.3) && { method: this.one(METHODS) }),
      ...this.headerMatches(),
      ...(this.chance(0.3) && {
        queryParams: this.some(2, () => ({ name: this.one(['q', 'r']), ...this.valueMatch(VALUES) })),
      }),
    };
  }

  private grpcMatch(): RouteMatch {
    const method = {
      ...(this.chance(0.2) && { type: 'RegularExpression' }),
      ...(this.chance(0.7) && { service: this.one(SERVICES) }),
      ...(this.chance(0.7) && { method: this.one(CALLS) }),
    };
    return { ...(Object.keys(method).length > 0 && { method }), ...this.headerMatches() };
  }

  private headerMatches() {
    if (!this.chance(0.4)) return {};
    const header = () => ({ name: this.one(HEADERS), ...this.valueMatch(HEADER_VALUES) });
    const host = { name: this.one(['Host', 'host']), value: this.one(['echo', 'other.example']) };
    return { headers: [...this.some(2, header), ...(this.chance(0.2) ? [host] : [])] };
  }

  private valueMatch(values: readonly string[]) {
    const isExpression = this.chance(0.3);
    return isExpression
      ? { type: 'RegularExpression', value: this.one(VALUE_EXPRESSIONS) }
      : { value: this.one(values) };
  }

  private pathMatch() {
    const type = this.one(['Exact', 'PathPrefix', 'PathPrefix', 'RegularExpression']);
    return { type, value: type === 'RegularExpression' ? this.one(EXPRESSIONS) : this.path() };
  }

  private headerFilters() {
    const changes = () => {
      const [a = '', b = '', c = ''] = [...HEADERS].sort(() => this.prng.next() - 0.5);
      const named = (name: string) => [{ name, value: this.one(HEADER_VALUES) }];
      return {
        set: this.chance(0.5) ? named(a) : [],
        add: this.chance(0.5) ? named(b) : [],
        remove: this.chance(0.3) ? [c] : [],
      };
    };
    return [
      ...(this.chance(0.3) ? [{ type: 'RequestHeaderModifier', requestHeaderModifier: changes() }] : []),
      ...(this.chance(0.3) ? [{ type: 'ResponseHeaderModifier', responseHeaderModifier: changes() }] : []),
    ];
  }

  private replacement(mayReplacePrefix: boolean) {
    return mayReplacePrefix && this.chance(0.6)
      ? { type: 'ReplacePrefixMatch', replacePrefixMatch: this.path() }
      : { type: 'ReplaceFullPath', replaceFullPath: this.path() };
  }

  private rewrite(mayReplacePrefix: boolean) {
    const path = this.chance(0.8) && { path: this.replacement(mayReplacePrefix) };
    return { type: 'URLRewrite', urlRewrite: { ...path, ...(this.chance(0.3) && { hostname: 'new.example' }) } };
  }

  private redirect(mayReplacePrefix: boolean) {
    const requestRedirect = {
      ...(this.chance(0.5) && { path: this.replacement(mayReplacePrefix) }),
      ...(this.chance(0.3) && { hostname: 'new.example' }),
      ...(this.chance(0.3) && { scheme: this.one(['http', 'https']) }),
      ...(this.chance(0.3) && { port: this.one([80, 443, 8083]) }),
      ...(this.chance(0.5) && { statusCode: this.one([301, 302, 303, 307, 308]) }),
    };
    return { type: 'RequestRedirect', requestRedirect };
  }

  request(isCall: boolean): Asked {
    const headers = Object.fromEntries(this.some(3, () => [this.one(HEADERS).toLowerCase(), this.one(HEADER_VALUES)]));
    const base = { from: this.one(['mesh', 'consumer']), host: this.one(['echo', 'echo', 'other.example']) };
    if (isCall && this.chance(0.8)) {
      const url = `/${this.one([...SERVICES, 'none'])}/${this.one(CALLS)}`;
      return { ...base, url, method: 'POST', headers: { ...headers, 'content-type': 'application/grpc' } };
    }
    const query = this.some(2, () => `${this.one(['q', 'r', 's'])}=${encodeURIComponent(this.one(VALUES))}`).join('&');
    const url = `${this.path()}${query === '' ? '' : `?${query}`}`;
    return { ...base, url, method: this.one(METHODS), headers };
  }
}
