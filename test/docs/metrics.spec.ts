import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { XdsPort } from '@causeway/agent-service';
import { SharedTelemetry } from '@causeway/control-plane';
import { DNS_SERVER } from '@causeway/dns';
import type { Injection } from '@causeway/runtime';
import type { HistogramMetric, Metric, TelemetryOptions } from '@causeway/telemetry';
import { METRIC_PREFIX, metricType } from '@causeway/telemetry/testing';
import { controlPlaneMetrics } from '../../apps/control-plane/src/metrics/metrics';
import { GrpcRequests, RestRequests } from '../../apps/control-plane/src/metrics/request-metrics';
import { propagationHistogram } from '../../apps/control-plane/src/metrics/sync-metrics';
import { globalTelemetry } from '../../apps/global/src/telemetry';
import { zoneTelemetry } from '../../apps/zone/src/telemetry';
import { AGENT_METRICS } from '@causeway/agent/testing';
import { metricDefinitions } from '@causeway/dns/testing';
import { xdsMetrics } from '@causeway/agent-service/testing';

const FILE = join(__dirname, '..', '..', 'docs', 'reference', 'metrics.md');

/** Largest number of values of each label. */
const LABELS: Readonly<Record<string, string>> = {
  by: '4: `token`, `dataplane`, `upgrade`, `import`',
  kind: 'the kinds of the registry',
  mesh: 'meshes with ranges of their own, or with Mesh.mtls; 2,100 series of a metric are shown',
  listener: '4: `REST`, `gRPC`, `KDS`, `xDS`',
  zone: 'zones that are registered; 2,000 series, the others are `_others`',
  method:
    'of REST 8: those of HTTP that it knows, all others are `other`; of gRPC those of its services, fewer than 30',
  route: 'routes of REST, fewer than 150, all others are `unknown`; with the statuses fewer than 2,100 series',
  code: 'statuses of the program, fewer than 30',
  loop: 'control loops of the program, fewer than 50',
  direction: '2: `up`, `down`',
  reason: 'reasons of the program, fewer than 15',
  result: 'of DNS: response codes (16), or how forwarding ended (3); of control loops: 3; of traces: 3',
  type: 'types of DNS below 256, all others are `other`',
  upstream: 'upstreams of DNS in the settings',
  version: 'one a program',
  role: '2: `global`, `zone`',
  node: 'one a program',
  le: 'buckets, 17 at most',
  proxy: 'Dataplanes of the machine',
};

// Declarations alone: nothing is read here.
const nothing = {} as never;
const shared = { options: () => ({ metrics: controlPlaneMetrics(nothing) }) } as never;
const core = { clock: nothing, settings: nothing, cp: { role: 'zone', federated: true } } as never;
const dns = { metrics: () => metricDefinitions({ metrics: {} } as never) } as never;
const xds = { metrics: () => xdsMetrics({ server: {} } as never) } as never;
const values = new Map<unknown, unknown>([
  [SharedTelemetry, shared],
  [DNS_SERVER, dns],
  [XdsPort, xds],
]);
const create = ({ inject, useFactory }: Injection<TelemetryOptions>): TelemetryOptions =>
  useFactory(...inject.map((token) => values.get(token) ?? nothing)) as TelemetryOptions;
const GLOBAL = create(globalTelemetry(core));
const ZONE = create(zoneTelemetry(core, undefined));

interface Row {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

const rowOf = (metric: Metric): Row => ({
  name: METRIC_PREFIX + metric.name,
  type: metricType(metric),
  help: metric.help,
  labels: metric.labels ?? [],
});

function rows(): readonly (Row & { readonly programs: string })[] {
  const [global, zone] = [GLOBAL.metrics.map(rowOf), ZONE.metrics.map(rowOf)];
  const inGlobal = new Set(global.map(({ name }) => name));
  const inZone = new Set(zone.map(({ name }) => name));
  const histogram = ({ metric }: HistogramMetric, label: string): Row & { readonly programs: string } => {
    const { name, help } = metric as unknown as { name: string; help: string };
    return { name, help, type: 'histogram', labels: [label], programs: 'global, zone' };
  };
  const planes = [...global, ...zone.filter((row) => !inGlobal.has(row.name))].map((row) => ({
    ...row,
    programs: [...(inGlobal.has(row.name) ? ['global'] : []), ...(inZone.has(row.name) ? ['zone'] : [])].join(', '),
  }));
  const agents = AGENT_METRICS.map((metric) => ({
    ...metric,
    type: metricType(metric),
    labels: metric.name.includes('network') ? [] : ['proxy'],
    programs: 'agent',
  }));
  const histograms = [
    histogram(propagationHistogram(), 'kind'),
    ...[new RestRequests(), new GrpcRequests()].map(({ seconds }) => histogram(seconds, 'method')),
  ];
  return [...planes, ...histograms, ...agents].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The unit is the end of the name, as Prometheus asks. */
function unitOf(name: string): string {
  return /_(seconds|bytes)(_total)?$/.exec(name)?.[1] ?? '';
}

function table(): string {
  const lines = rows().map(({ name, type, labels, help, programs }) => {
    const shown = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${shown} | ${unitOf(name)} | ${help} | ${programs} |`;
  });
  return ['| metric | type | labels | unit | meaning | program |', '| --- | --- | --- | --- | --- | --- |', ...lines].join('\n'); // prettier-ignore
}

function labels(): string {
  const lines = Object.entries(LABELS).map(([label, bound]) => `| \`${label}\` | ${bound} |`);
  return ['| label | values, at most |', '| --- | --- |', ...lines].join('\n');
}

const trimmed = (text: string): string => text.replace(/ +/g, ' ').replace(/-+/g, '-');

describe('docs/reference/metrics.md', () => {
  it('has every metric that programs declare', () => {
    const page = readFileSync(FILE, 'utf8');
    const part = (text: string, name: string, body: string): string => {
      const [before = '', rest = ''] = text.split(`<!-- ${name} -->`);
      const [, after = ''] = rest.split(`<!-- end of ${name} -->`);
      return `${before}<!-- ${name} -->\n\n${body}\n\n<!-- end of ${name} -->${after}`;
    };
    const made = part(part(page, 'metrics', table()), 'labels', labels());
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(FILE, made);
    else expect(trimmed(page)).toBe(trimmed(made));
  });

  it('says how many values each label has', () => {
    expect(rows().flatMap((row) => row.labels.filter((label) => LABELS[label] === undefined))).toEqual([]);
  });
});
