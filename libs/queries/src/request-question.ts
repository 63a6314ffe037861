import { RequestQuestion as RequestQuestionSchema, type RequestQuestion as WrittenQuestion } from '@causeway/api';
import { compileSchema, FieldPath, Invalid, Violations, type Violation } from '@causeway/resources';
import type { Client, Request } from '@causeway/routing';

/** Maximum length of all headers of a question, characters. */
const MAX_HEADER_CHARACTERS = 16_384;

const schema = compileSchema(RequestQuestionSchema);

/** A decoded question about a request. */
export interface RequestQuestion {
  readonly client: Client;
  /** The sending Dataplane, if the question names one. */
  readonly dataplane?: { readonly namespace: string; readonly name: string };
  /** The id that the sender presents, if the question names one. */
  readonly spiffeId?: string;
  readonly service?: NonNullable<WrittenQuestion['service']>;
  /** Host of the URL: a name, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly request: Request;
}

/** Decodes a question. Throws Invalid with each field, rule and value. Linear in the question. */
export function decodeRequestQuestion(body: unknown): RequestQuestion {
  const found = new Violations();
  schema.check(body, FieldPath.at(), found);
  if (found.total > 0 || !schema.fits(body)) throw new Invalid(found);
  const { from = {}, to, service, method, headers = [] } = body;
  const violations: Violation[] = [];
  if (from.gateway !== undefined && from.dataplane !== undefined) {
    violations.push(FieldPath.at('from').field('gateway').violation('must be absent beside dataplane', 'invalid'));
  }
  if (from.spiffeId !== undefined && (from.dataplane ?? from.gateway) !== undefined) {
    const reason = 'must be absent beside dataplane and gateway, which have ids of their own';
    violations.push(FieldPath.at('from').field('spiffeId').violation(reason, 'invalid'));
  }
  const characters = headers.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
  if (characters > MAX_HEADER_CHARACTERS) {
    const reason = `must have at most ${MAX_HEADER_CHARACTERS} characters in all; have ${characters}`;
    violations.push(FieldPath.at('headers').violation(reason, 'too-large'));
  }
  const url = parseUrl(to);
  if (typeof url === 'string') violations.push(FieldPath.at('to').violation(`${url}; got "${to}"`, 'wrong-form'));
  if (typeof url === 'string' || violations.length > 0) throw new Invalid(violations);
  const namespace = from.namespace ?? 'default';
  const given = headers.map(({ name, value }) => [name, value] as const);
  return {
    client: from.gateway === undefined ? { namespace } : { gateway: `${namespace}/${from.gateway}` },
    ...(from.dataplane === undefined ? {} : { dataplane: { namespace, name: from.dataplane } }),
    ...(from.spiffeId === undefined ? {} : { spiffeId: from.spiffeId }),
    ...(service ? { service } : {}),
    host: url.hostname,
    port: url.port,
    request: toRequest(url, method, given),
  };
}

type Headers = readonly (readonly [name: string, value: string])[];

function toRequest({ scheme, host, path, query }: AskedUrl, method: string | undefined, headers: Headers): Request {
  if (scheme === 'tcp' || scheme === 'tls' || scheme === 'udp') return { protocol: scheme };
  const grpc = scheme === 'grpc';
  const sent = headers.find(([name]) => name.toLowerCase() === 'host')?.[1];
  const others = headers.filter(([name]) => name.toLowerCase() !== 'host');
  const isTyped = others.some(([name]) => name.toLowerCase() === 'content-type');
  return {
    protocol: 'http',
    scheme: 'http',
    host: sent ?? host,
    method: method ?? (grpc ? 'POST' : 'GET'),
    path: path || '/',
    query: [...new URLSearchParams(query)],
    headers: grpc && !isTyped ? [...others, ['content-type', 'application/grpc']] : others,
  };
}

const schemes = ['http', 'grpc', 'tcp', 'tls', 'udp'] as const;

interface AskedUrl {
  readonly scheme: (typeof schemes)[number];
  readonly host: string;
  /** IPv6 addresses without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** In its original form: proxies match it before any normalization. */
  readonly path: string;
  readonly query: string;
}

/** Returns the parsed URL of a request, or why it is invalid. */
function parseUrl(text: string): AskedUrl | string {
  const [, given, rest = ''] = /^([a-z]+):\/\/(.*)$/s.exec(text) ?? [];
  if (given === 'https') return 'must be of scheme tls, as proxies see it: they do not look into TLS';
  const scheme = schemes.find((known) => known === given);
  if (!scheme) return `must be a URL of scheme ${schemes.join(', ')}`;
  if (!/^[!-~]+$/.test(rest)) return 'must be a URL of visible ASCII characters';
  // The authority is parsed like that of http, whatever the scheme.
  const url = /^[^/?]/.test(rest) && URL.canParse(`http://${rest}`) ? new URL(`http://${rest}`) : undefined;
  if (!url) return 'must be a URL with a host';
  if (url.username !== '' || url.password !== '' || rest.includes('#')) return 'must have no user and no fragment';
  if (url.port === '0') return 'must name a port from 1 to 65535';
  const [, path = '', query = ''] = /^[^/?]*([^?]*)\??(.*)$/s.exec(rest) ?? [];
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  return { scheme, host: url.host, hostname, port: url.port === '' ? 80 : Number(url.port), path, query };
}

/** Returns whether the host of a question is an address, in the form of a parsed URL. */
export const isAddress = ({ host }: RequestQuestion): boolean =>
  host.includes(':') || /^[0-9]+(\.[0-9]+){3}$/.test(host);
