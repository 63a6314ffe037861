import { randomBytes } from 'node:crypto';
import { OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver';
import { dataplane, ProcessMesh } from '../support/process-mesh';
import { until } from '../support/until';
import { adminFetch } from '../support/admin-credential';

const CALLER = 'b7ad6b7169203331';

/** Returns a traceparent of an external caller. */
function traceparent(isSampled = true): { readonly traceId: string; readonly header: string } {
  const traceId = randomBytes(16).toString('hex');
  return { traceId, header: `00-${traceId}-${CALLER}-${isSampled ? '01' : '00'}` };
}

const whereAndName = ({ service: at, name }: ReceivedSpan): string =>
  `${at.replace(/^causeway-(zone-)?/, '')}: ${name}`;

const service = (name: string): unknown => ({
  type: 'MeshService',
  mesh: 'default',
  name,
  spec: { selector: { dataplaneTags: { 'kuma.io/service': name } }, ports: [{ port: 80 }] },
});

describe('the trace of a request', () => {
  let receiver: OtlpReceiver;
  let mesh: ProcessMesh;
  beforeAll(async () => {
    receiver = await OtlpReceiver.start();
    mesh = await ProcessMesh.start(['east', 'west'], {
      CAUSEWAY_OTLP_ENDPOINT: receiver.url,
      CAUSEWAY_TRACE_RATIO: '0',
    });
  });
  afterAll(async () => {
    await mesh?.stop();
    await receiver?.stop();
  });

  async function put(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const url = `${mesh.zone('east').restUrl}/meshes/default/${path}`;
    const sent = { 'content-type': 'application/json', ...headers };
    const answer = await adminFetch(url, { method: 'PUT', headers: sent, body: JSON.stringify(body) });
    expect([answer.status, answer.ok ? '' : await answer.text()]).toEqual([201, '']);
    return answer;
  }

  /**
   * Returns the spans of a trace, once west's DNS knows the service and east's answer was seen. Each program sends its spans by a timer of its own,
   * so an earlier span may arrive later.
   */
  async function whole(traceId: string): Promise<readonly ReceivedSpan[]> {
    const steps = [
      'east: sync send to global',
      'east: loop vip',
      'east: dns table',
      'global: sync send to west',
      'west: sync apply',
      'west: loop vip',
      'west: loop hostname',
      'west: dns table',
    ];
    await until('all steps of the trace, and what each belongs to, are told', () => {
      const spans = receiver.trace(traceId);
      const told = new Set(spans.map(whereAndName));
      const known = new Set([CALLER, ...spans.map(({ spanId }) => spanId)]);
      return steps.every((step) => told.has(step)) && spans.every(({ parentSpanId = '' }) => known.has(parentSpanId));
    });
    return receiver.trace(traceId);
  }

  /** The names from a span up to the request, each with its program. */
  function pathOf(span: ReceivedSpan | undefined, spans: readonly ReceivedSpan[]): readonly string[] {
    if (!span) return [];
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
    return [...pathOf(parent, spans), whereAndName(span)];
  }

  it('is one from a PUT in east to the address in west, over three programs', async () => {
    const unsampled = traceparent(false);
    await put('meshservices/quiet', service('quiet'), { traceparent: unsampled.header });
    const { traceId, header } = traceparent();
    await put('meshservices/redis', service('redis'), { traceparent: header });
    const spans = await whole(traceId);
    const vip = spans.find((span) => span.service === 'causeway-zone-west' && span.name === 'loop vip');
    expect(pathOf(vip, spans)).toEqual([
      'east: PUT /meshes/:mesh/:plural/:name',
      'east: admission put',
      'east: store write',
      'global: sync apply',
      'west: sync apply',
      'west: loop vip',
    ]);
    expect(vip?.attributes).toMatchObject({ 'causeway.kind': 'MeshService', 'causeway.name': 'redis' });
    // Earlier writes, in a trace that nobody samples, have come to west by now.
    expect(receiver.trace(unsampled.traceId)).toEqual([]);
  });

  it('goes on from a Dataplane to the service that is generated of it', async () => {
    const { traceId, header } = traceparent();
    await put('dataplanes/cache-1', dataplane('cache-1', 'cache'), { traceparent: header });
    const spans = await whole(traceId);
    const vip = spans.find((span) => span.service === 'causeway-zone-west' && span.name === 'loop vip');
    expect(vip?.attributes).toMatchObject({ 'causeway.kind': 'MeshService', 'causeway.name': 'cache' });
    expect(pathOf(vip, spans).slice(0, 3)).toEqual([
      'east: PUT /meshes/:mesh/:plural/:name',
      'east: admission put',
      'east: store write',
    ]);
  });

  it('and the id of the request are in the audit log, where the caller traces it and where not', async () => {
    const { traceId, header } = traceparent(false);
    await put('meshservices/audited', service('audited'), { traceparent: header, 'x-request-id': 'request-17' });
    const page = await mesh.zone('east').get('/_audit?kind=MeshService&mesh=default&name=audited');
    expect(page).toMatchObject({ items: [{ requestId: 'request-17', traceId, interface: 'REST' }] });
  });

  it('holds nothing up where nobody takes it', async () => {
    await receiver.stop();
    for (let n = 0; n < 10; n++)
      await put(`meshservices/late-${n}`, service(`late-${n}`), { traceparent: traceparent().header });
    const west = mesh.zone('west');
    await until('west has all', async () => {
      const { total = 0 } = (await west.get('/meshes/default/meshservices?zone=east&size=1')) ?? {};
      return Number(total) >= 14;
    });
    await until('it counts what was not taken', async () => {
      const text = await (await fetch(`${mesh.zone('east').diagnosticsUrl}/metrics`)).text();
      return /causeway_trace_spans_total\{result="failed"\} [1-9]/.test(text);
    });
  });
});
