import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Resolver } from 'node:dns/promises';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { parse, stringify } from 'yaml';
import { formatJoinBundle } from '@causeway/identity';
import { freePort } from '../../scripts/lib/ports.mjs';
import { describeWith, run, works } from '../dns/programs';
import { GenericClient } from '../grpc/generic-client';
import { ADMIN_TOKEN } from '../support/admin-credential';
import { AgentProcess } from '../support/agent-process';
import { RedisServer } from '../chaos/leader/redis-server';
import { ProcessMesh } from '../support/process-mesh';
import { until } from '../support/until';

const DEPLOY = resolve(__dirname, '..', '..', 'deploy');
const ALERTS = join(DEPLOY, 'prometheus', 'alerts.yaml');
const METRICS_PAGE = readFileSync(resolve(DEPLOY, '..', 'docs', 'reference', 'metrics.md'), 'utf8');

/** Queries that find nothing on a healthy, idle installation. Their metrics are on the page of metrics as well. */
const EMPTY_IN_HEALTH = [
  /^ALERTS\b/, // no alert fires
  /causeway_dns_dropped_total|causeway_dns_upstream_healthy/, // nothing dropped; no upstream set here
  /causeway_dns_forwarded_total/,
];

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook: string };
}
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

const rules = (parse(readFileSync(ALERTS, 'utf8')) as { groups: readonly { rules: readonly Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const queries = readdirSync(join(DEPLOY, 'grafana')).flatMap((file) =>
  (JSON.parse(readFileSync(join(DEPLOY, 'grafana', file), 'utf8')) as Dashboard).panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({ panel: `${file}: ${title}`, expr: expr.replaceAll('$plane', '.*') })),
  ),
);

describeWith(
  'Prometheus',
  works('prometheus', '--version') && works('promtool', '--version'),
  'apt-get install prometheus',
)('deploy/prometheus and deploy/grafana', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cwp-'));
  let mesh: ProcessMesh;
  let redis: RedisServer;
  let agent: AgentProcess;
  let prometheus: ChildProcess;
  let port: number;
  let agentUrl: string;

  /** The result of a query, now. */
  async function ask(query: string): Promise<readonly { readonly metric: Record<string, string> }[]> {
    const body = new URLSearchParams({ query });
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query`, { method: 'POST', body });
    const { data, error } = (await answer.json()) as { data?: { result: { metric: Record<string, string> }[] }; error?: string }; // prettier-ignore
    if (!data) throw new Error(`${query}: ${error}`);
    return data.result;
  }

  const untilFires = (alert: string): Promise<unknown> =>
    until(`${alert} fires`, async () => (await ask(`ALERTS{alertname="${alert}",alertstate="firing"}`)).length > 0);

  async function startAgent(): Promise<void> {
    const west = mesh.zone('west');
    const whom = { mesh: 'default', name: 'web-1', services: ['web'], validFor: '1h' };
    const token = await until('its leader has a key of tokens', () =>
      west.text('/tokens/dataplane', whom).catch(() => undefined),
    );
    const authority = await west.text('/rest/ca');
    const [metrics, inbound, service] = [await freePort(), await freePort(), await freePort()];
    const bundle = { controlPlanes: [west.xdsAddress], zone: 'west', mesh: 'default', token: token.trim(), authority };
    writeFileSync(join(folder, 'web-1.bundle'), formatJoinBundle(bundle), { mode: 0o600 });
    agent = new AgentProcess(join(folder, 'a'), {
      bundle: join(folder, 'web-1.bundle'),
      plane: 'builtin',
      metrics: { port: metrics },
      dataplanes: [
        {
          name: 'web-1',
          address: '127.0.0.1',
          services: [{ name: 'web', port: inbound, servicePort: service, protocol: 'tcp' }],
        },
      ],
    });
    await agent.start();
    agentUrl = `127.0.0.1:${metrics}`;
  }

  beforeAll(async () => {
    mesh = new ProcessMesh();
    await mesh.startGlobal();
    const env = { CAUSEWAY_DNS_FORWARD: 'off', CAUSEWAY_XDS_TLS: 'on' };
    redis = await RedisServer.start();
    await Promise.all([mesh.startZone('east', env), mesh.startZone('west', { ...env, REDIS_URL: redis.url })]);
    await startAgent();
    port = await freePort();
    const target = (plane: string, url: string) => ({ targets: [new URL(url).host], labels: { plane } });
    const planes = [mesh.global, mesh.zone('east'), mesh.zone('west')];
    const config = {
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [join(folder, 'alerts.yaml')],
      scrape_configs: [
        { job_name: 'causeway', static_configs: planes.map((each) => target(each.name, each.diagnosticsUrl)) },
        { job_name: 'causeway-agent', static_configs: [{ targets: [agentUrl] }] },
      ],
    };
    // Alerts fire here as soon as they hold.
    writeFileSync(join(folder, 'alerts.yaml'), readFileSync(ALERTS, 'utf8').replace(/^ +for: .*\n/gm, ''));
    writeFileSync(join(folder, 'prometheus.yaml'), stringify(config));
    prometheus = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=error',
      ],
      { stdio: 'ignore', cwd: folder },
    );
    // So that gRPC counts calls, and policies are counted: one whose target is not there.
    const client = await GenericClient.connect(new URL(mesh.zone('east').grpcUrl).host, 'v1');
    await client.call('causeway.v1.ResourceService/Get', [{ name: { kind: 'Mesh', name: 'default' } }], ADMIN_TOKEN);
    client.close();
    const targetRefs = [{ kind: 'MeshService', name: 'none' }];
    const policy = { type: 'AccessPolicy', mesh: 'default', name: 'lost', spec: { targetRefs, allow: { all: {} } } };
    expect(await mesh.zone('west').put('/meshes/default/accesspolicies/lost', policy)).toBe(201);
    // This makes DNS count questions; the answer does not matter.
    const resolver = new Resolver();
    resolver.setServers([mesh.zone('east').dnsAddress]);
    await resolver.resolve4('web.svc.mesh.local').catch(() => undefined);
    await until('it has scraped all twice', async () => {
      const found = await ask('count_over_time(up[1m]) >= 3 and up == 1').catch(() => []);
      const asked = await ask('count_over_time(causeway_dns_questions_total[1m]) >= 2').catch(() => []);
      const called = await ask('count_over_time(causeway_grpc_requests_total[1m]) >= 2').catch(() => []);
      const counted = await ask('causeway_policies').catch(() => []);
      return found.length === 4 && [asked, called, counted].every(({ length }) => length > 0);
    });
  });

  afterAll(async () => {
    if (prometheus?.exitCode === null) {
      prometheus.kill('SIGKILL');
      await once(prometheus, 'exit');
    }
    await agent?.end();
    await mesh?.stop();
    await redis?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it('what programs say is clean, and each name is in docs/reference/metrics.md', async () => {
    const urls = [mesh.global, mesh.zone('east')].map((each) => `${each.diagnosticsUrl}/metrics`);
    for (const url of [...urls, `http://${agentUrl}/metrics`]) {
      const text = await (await fetch(url)).text();
      const names = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name);
      const own = names.filter((name) => !/^(nodejs|process|envoy)_/.test(name));
      expect(own.length).toBeGreaterThan(5);
      expect(own.filter((name) => !METRICS_PAGE.includes(`\`${name}\``))).toEqual([]);
      if (urls.includes(url)) expect(await run('promtool', ['check', 'metrics'], text)).toMatchObject({ stderr: '' });
    }
  });

  it('each query of the dashboards finds series', async () => {
    expect(queries.length).toBeGreaterThan(30);
    const empty: string[] = [];
    for (const { panel, expr } of queries)
      if ((await ask(expr)).length === 0 && !EMPTY_IN_HEALTH.some((known) => known.test(expr))) empty.push(panel);
    expect(empty).toEqual([]);
  });

  it('each alert is of metrics that there are, has its section, and fires by series made for it', async () => {
    const guide = readFileSync(resolve(DEPLOY, '..', 'docs', 'guides', 'troubleshooting.md'), 'utf8');
    for (const { alert, expr, annotations } of rules) {
      await ask(expr);
      expect(annotations.runbook).toBe(`docs/guides/troubleshooting.md#${alert.toLowerCase()}`);
      expect(guide).toContain(`\n## ${alert}\n`);
    }
    const named = [...rules, ...queries].flatMap(({ expr }) => expr.match(/causeway_\w+/g) ?? []);
    const base = (name: string): string => name.replace(/_bucket$/, '');
    expect([...new Set(named.map(base))].filter((name) => !METRICS_PAGE.includes(`\`${name}\``))).toEqual([]);
    const tests = readFileSync(join(DEPLOY, 'prometheus', 'alerts.test.yaml'), 'utf8');
    expect(rules.filter(({ alert }) => !tests.includes(`alertname="${alert}"`))).toEqual([]);
    expect(await run('promtool', ['check', 'rules', ALERTS])).toMatchObject({ code: 0 });
    expect(await run('promtool', ['test', 'rules', ALERTS.replace('.yaml', '.test.yaml')])).toMatchObject({ code: 0 });
  });

  it('knows when what the programs show ends, and which policies are not enforced', async () => {
    const labels = async (query: string): Promise<readonly string[]> =>
      (await ask(query)).map(({ metric: { plane, listener = '' } }) => `${plane} ${listener}`).sort();
    expect(await labels('causeway_server_certificate_end_seconds - time() > 80 * 86400')).toEqual([
      'east xDS',
      'global KDS',
      'west xDS',
    ]);
    // Tokens of the test are valid for a day.
    const lasting = 'causeway_zone_token_end_seconds - causeway_zone_token_start_seconds';
    expect(await labels(`abs(${lasting} - 86400) < 60`)).toEqual(['east ', 'west ']);
    expect(await labels('causeway_user_tokens_expiring == 0')).toEqual(['east ', 'global ', 'west ']);
    expect(await labels('causeway_workload_authority_end_seconds > time()')).toEqual(['east ', 'west ']);
    await untilFires('CausewayPoliciesNotEnforced');
    expect(
      await ask('ALERTS{alertname="CausewayPoliciesNotEnforced",reason="TargetNotFound",plane="west"}'),
    ).toHaveLength(1);
    expect(
      await ask(
        'ALERTS{alertname=~"Causeway((ServerCertificate|ZoneToken|Authority)Ends|TokensExpire)|CausewayLoopFails"}',
      ),
    ).toEqual([]);
  });

  it('alerts fire when Redis and Postgres are away', async () => {
    expect(await ask('ALERTS{alertname=~"CausewayRedisAway|CausewayPostgresAway"}')).toEqual([]);
    await redis.kill();
    await untilFires('CausewayRedisAway');
    const database = new URL(await mesh.databaseUrl('west')).pathname.slice(1);
    const server = new Client({ connectionString: process.env['CAUSEWAY_TEST_DATABASE_URL'] });
    await server.connect();
    try {
      await server.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
      await server.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [database]);
      await untilFires('CausewayPostgresAway');
      await server.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
      // Without its store the zone had no leader, and so no session.
      const felt = 'ALERTS{alertname=~"CausewayPostgresAway|CausewayNoLeader|CausewayZoneDisconnected"}';
      await until('Postgres is back', async () => (await ask(felt)).length === 0);
    } finally {
      await server.end();
    }
  });

  it('alerts fire when a zone, then the global dies', async () => {
    expect(await ask('ALERTS{alertname=~"CausewayDown|CausewayZoneDisconnected"}')).toEqual([]);
    await mesh.zone('east').kill();
    await untilFires('CausewayDown');
    await mesh.global.kill();
    await untilFires('CausewayZoneDisconnected');
  });
});
