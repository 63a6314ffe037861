import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describeServer, showConfig, showReadiness, type Root } from '@causeway/api';
import { ApiError, connectApi, ConnectionError, type ApiClient, type Connection } from '@causeway/api-client';
import type { JsonObject } from '@causeway/resources';
import { version } from '../../../../../package.json';
import type { CommandContext } from '../../context';
import { formatApiError } from '../../control-plane';
import { age, inLines } from '../../render';
import { resolveConnection } from '../../settings/connection';
import { decodeClaims, expiryText } from '../../settings/token-claims';
import { skewWarnings } from '../version/server-versions';

/** A problem and its remedy. */
export interface ConnectionFinding {
  readonly what: string;
  readonly advice: string;
}

/** Whether the control plane answers, and the problems of the connection. */
export interface ConnectionDiagnosis {
  readonly reached: boolean;
  readonly findings: readonly ConnectionFinding[];
}

const DAY = 86_400_000;
/** Time before its expiry from which a token or a certificate is reported, ms. */
const SOON = { token: 3 * DAY, certificate: 14 * DAY };
/** Tolerated difference between the clocks of this host and the server, ms. The date of an answer has whole seconds. */
const MAX_CLOCK_SKEW = 5_000;
/** Timeout for the answer of a port, ms. */
const TIMEOUT = 3_000;

/** Checks the token, the connection, its certificate, the clocks, the versions and the other ports of the control plane. */
export async function diagnoseFromHere(context: CommandContext): Promise<ConnectionDiagnosis> {
  const connection = resolveConnection(context.config, context.flags());
  const token = tokenFindings(connection.token, context.now());
  const asked = context.now();
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(TIMEOUT)]);
  const api = await connectApi({ ...connection, signal });
  let root: { readonly body: Root; readonly headers: { readonly date?: string | undefined } };
  try {
    root = await api.rest.answer(describeServer);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'rest-only') throw error;
    const late = `${connection.server.href} does not answer within ${TIMEOUT / 1_000} s`;
    const message = error instanceof ApiError && !signal.aborted ? formatApiError(error) : late;
    return {
      reached: false,
      findings: [...token, { what: message, advice: 'see whether its process runs, and what its log says' }],
    };
  }
  return {
    reached: true,
    findings: [
      ...token,
      ...transportFindings(connection),
      ...(await certificateFindings(connection, context.now())),
      ...clockFindings(root.headers.date, { asked, answered: context.now() }),
      ...skewFindings(root.body),
      ...(await portFindings(await context.api(), findHost(connection.server))),
    ],
  };
}

/** Returns the host whose other ports are checked: for a unix socket this host. */
function findHost({ protocol, hostname }: URL): string {
  return protocol === 'unix:' ? '127.0.0.1' : hostname;
}

function tokenFindings(token: string | undefined, now: number): readonly ConnectionFinding[] {
  const claims = token === undefined ? undefined : decodeClaims(token);
  if (claims?.expiresAt === undefined || claims.expiresAt > now + SOON.token) return [];
  const what = `the token ${claims.id} of ${claims.subject} ${expiryText(claims, now)}`;
  return [{ what, advice: 'get a new one and keep it: causeway config set-context NAME --token -' }];
}

function transportFindings({ server, token, insecure = false }: Connection): readonly ConnectionFinding[] {
  if (insecure)
    return [
      {
        what: 'the certificate of the server is not verified',
        advice: 'use --ca-file instead of --insecure-skip-tls-verify',
      },
    ];
  const local = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(server.hostname);
  if (server.protocol !== 'http:' || local || token === undefined) return [];
  return [
    {
      what: `the token goes to ${server.host} without encryption`,
      advice: 'use https:// in the address of the server',
    },
  ];
}

async function certificateFindings(connection: Connection, now: number): Promise<readonly ConnectionFinding[]> {
  if (connection.server.protocol !== 'https:') return [];
  const until = await certificateEnd(connection);
  if (until === undefined || until > now + SOON.certificate) return [];
  const left = until > now ? `ends in ${age(new Date(now).toISOString(), until)}` : 'has ended';
  return [
    {
      what: `the certificate of ${connection.server.host} ${left}`,
      advice: 'renew it; a control plane renews those of its own authority at its start',
    },
  ];
}

/** Returns the expiry of a server's certificate, ms since 1970; undefined if it presents none. */
function certificateEnd({ server }: Connection): Promise<number | undefined> {
  return new Promise((resolve) => {
    const port = Number(server.port || 443);
    const socket = connectTls({ host: server.hostname, port, rejectUnauthorized: false, timeout: TIMEOUT });
    const end = (until?: number): void => {
      socket.destroy();
      resolve(until);
    };
    socket.once('secureConnect', () => {
      const until = Date.parse(socket.getPeerCertificate().valid_to);
      end(Number.isNaN(until) ? undefined : until);
    });
    socket.once('error', () => end()).once('timeout', () => end());
  });
}

/** Compares the server's clock with this one; the answer was written between the two times of this host. */
function clockFindings(
  date: string | undefined,
  { asked, answered }: { readonly asked: number; readonly answered: number },
): readonly ConnectionFinding[] {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return [];
  const skew = theirs < asked - 1_000 ? theirs - asked : theirs > answered ? theirs - answered : 0;
  if (Math.abs(skew) <= MAX_CLOCK_SKEW) return [];
  const what = `the clock of the server is ${Math.round(Math.abs(skew) / 1_000)} s ${skew > 0 ? 'ahead of' : 'behind'} this machine's`;
  return [{ what, advice: 'set both by NTP: tokens and certificates are valid by the clock' }];
}

function skewFindings(root: Root): readonly ConnectionFinding[] {
  const { zone = '', version: theirs } = inLines(root);
  const server = { name: zone === '' ? 'the global' : `zone ${zone}`, version: theirs };
  return skewWarnings(version, [server]).map((warning) => ({
    what: warning.replace(/^warning: /, ''),
    advice: 'a flag or a field of one may be unknown to the other',
  }));
}

/** Settings of ports in the configuration of a control plane, with their services. */
const PORTS: readonly (readonly [string, string])[] = [
  ['CAUSEWAY_KDS_PORT', 'KDS, where zones connect'],
  ['CAUSEWAY_DNS_PORT', 'DNS'],
  ['CAUSEWAY_XDS_PORT', 'xDS, where proxies connect'],
  ['CAUSEWAY_GRPC_PORT', 'gRPC'],
];

/**
 * Returns the findings of the diagnostics port about Postgres, Redis and the rest, and whether the other ports listen.
 */
async function portFindings(api: ApiClient, host: string): Promise<readonly ConnectionFinding[]> {
  const settings = await api.rest.call(showConfig).catch((error: unknown): JsonObject => {
    if (error instanceof ApiError) return {};
    throw error;
  });
  const closed = await Promise.all(
    PORTS.map(async ([key, serves]): Promise<ConnectionFinding[]> => {
      const port = Number(settings[key] ?? 0);
      if (port === 0 || (await listens(host, port))) return [];
      return [
        {
          what: `port ${port} of ${host} (${serves}) does not answer`,
          advice: 'see whether it is bound to another address, or closed by a firewall',
        },
      ];
    }),
  );
  return [...closed.flat(), ...(await readinessFindings(host, Number(settings['CAUSEWAY_DIAGNOSTICS_PORT'] ?? 0)))];
}

function listens(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: TIMEOUT });
    const end = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket
      .once('connect', () => end(true))
      .once('error', () => end(false))
      .once('timeout', () => end(false));
  });
}

/** Returns the problems that the readiness probe reports; none if the port does not answer here, which may be intended. */
async function readinessFindings(host: string, port: number): Promise<readonly ConnectionFinding[]> {
  if (port === 0) return [];
  const server = new URL(`http://${host}:${port}`);
  const probe = await connectApi({ server, signal: AbortSignal.timeout(TIMEOUT) });
  const advice = 'see the log of the control plane, and whether Postgres and Redis run where it looks for them';
  try {
    const text = await probe.rest.text(showReadiness);
    const warnings = text.split('\n').filter((line) => line.startsWith('warning: '));
    return warnings.map((line) => ({ what: line.slice('warning: '.length), advice }));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'unavailable' || error instanceof ConnectionError) return [];
    return [
      {
        what: `the control plane is not ready: ${error.message.replace(/^the server answered 503 /, '').trim()}`,
        advice,
      },
    ];
  }
}
