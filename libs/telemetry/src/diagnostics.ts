import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PURPOSES, type Impediment } from '@causeway/runtime';
import type { Registry } from 'prom-client';
import { boundedText, MAX_ITEMS } from './bounded-fields';

/** Sources of the diagnostics port. */
export interface DiagnosticsSources {
  readonly metrics: Registry;
  /** Returns why the program is not ready; undefined if it is. */
  readonly notReady: () => string | undefined;
  /** Returns what the program cannot do now although it serves; `/ready` lists it as warnings. */
  readonly impediments?: () => readonly Impediment[];
  /** Returns faults that do not stop the program; `/ready` lists them and still answers 200. */
  readonly warnings?: () => readonly string[];
}

/** A listening diagnostics port. */
export interface Diagnostics {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves `/healthy` (the process runs), `/ready` (503 with the reason until the program is ready; `?for=writes` and
 * `?for=traffic` also while these are stopped) and `/metrics` (Prometheus text). Uses plain node:http, so that it answers even if the rest of the program fails.
 */
export async function serveDiagnostics(
  sources: DiagnosticsSources,
  at: { host: string; port: number },
): Promise<Diagnostics> {
  const server = createServer((request, response) => {
    answer(sources, request.url ?? '/').then(
      ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(at.port, at.host, resolve);
  });
  return { port: readPort(server.address()), close: () => closeServer(server) };
}

function readPort(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function closeServer(server: ReturnType<typeof createServer>): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

interface ProbeResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

async function answer(sources: DiagnosticsSources, url: string): Promise<ProbeResponse> {
  const plain = (status: number, body: string): ProbeResponse => ({
    status,
    type: 'text/plain; charset=utf-8',
    body: `${body}\n`,
  });
  const [path, query = ''] = url.split('?');
  if (path === '/healthy') return plain(200, 'healthy');
  if (path === '/ready') {
    const { status, lines } = readiness(sources, new URLSearchParams(query).get('for'));
    return plain(status, lines.join('\n'));
  }
  if (path === '/metrics')
    return { status: 200, type: sources.metrics.contentType, body: await sources.metrics.metrics() };
  return plain(404, 'here are /healthy, /ready and /metrics');
}

/** Answers whether the program serves; for a purpose, also whether nothing stops that. */
function readiness(
  sources: DiagnosticsSources,
  purpose: string | null,
): { readonly status: number; readonly lines: readonly string[] } {
  const asked = PURPOSES.find((one) => one === purpose);
  if (purpose !== null && asked === undefined) return { status: 400, lines: [`for: must be ${PURPOSES.join(' or ')}`] };
  const reason = sources.notReady();
  if (reason !== undefined) return { status: 503, lines: [reason] };
  const stopping = (sources.impediments?.() ?? []).filter(({ stops }) => asked !== undefined && stops.includes(asked));
  if (stopping.length > 0) return { status: 503, lines: stopping.map((one) => boundedText(one.reason)) };
  return { status: 200, lines: ['ready', ...warningLines(sources)] };
}

function warningLines({ warnings, impediments }: DiagnosticsSources): readonly string[] {
  const all = [...(impediments?.() ?? []).map(({ reason }) => reason), ...(warnings?.() ?? [])];
  const shown = all.slice(0, MAX_ITEMS).map((warning) => boundedText(`warning: ${warning}`));
  return all.length > shown.length ? [...shown, `and ${all.length - shown.length} more`] : shown;
}
