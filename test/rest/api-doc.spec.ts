import { shippedDefinition, shippedDefinitionName, TimeoutPolicy } from '@causeway/policies';
import { globalIdentity } from '@causeway/resources';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  openAgentLeases,
  openAuthorityAccess,
  openDataplaneAccess,
  openProxies,
  openSyncDecisions,
  openUserAccess,
  openWorkloadAccess,
  openZoneAccess,
} from './open-zone-access';
import { namingFixture } from './naming-fixture';
import { refuseLookup, ZONE_EAST, type ParsedJson, type RestFixture } from './rest-fixture';

const TEXT = readFileSync(join(__dirname, '..', '..', 'docs', 'reference', 'api.md'), 'utf8');

interface Line {
  readonly text: string;
  readonly port: number;
  readonly url: string;
  readonly method: string;
  readonly type: string | undefined;
  readonly body: string | undefined;
}

/** The curl lines of the page, as far as curl's options are used in it. */
function curlLines(): Line[] {
  return [...TEXT.matchAll(/`(curl [^`]+)`/g)].map(([, text = '']) => {
    const [, port = '', url = ''] = /'http:\/\/127\.0\.0\.1:(\d+)([^']*)'/.exec(text) ?? [];
    return {
      text,
      port: Number(port),
      url,
      method: / -X (\w+)/.exec(text)?.[1] ?? 'GET',
      type: / -H 'content-type: ([^']+)'/.exec(text)?.[1],
      body: / -d '([^']+)'/.exec(text)?.[1],
    };
  });
}

describe('docs/reference/api.md', () => {
  const fixtures = new Map<number, RestFixture>();
  const bases = new Map<number, string>();
  beforeAll(async () => {
    const insights = { dnsLookup: refuseLookup };
    const limits = { watchTime: 20 };
    const shared = {
      insights,
      limits,
      proxies: openProxies('redis-1'),
      userAccess: openUserAccess,
      syncDecisions: openSyncDecisions,
      authority: openZoneAccess.authority,
    };
    fixtures.set(5681, await namingFixture({ role: 'global' }, { zoneAccess: openZoneAccess, ...shared }));
    const workloads = {
      dataplaneAccess: openDataplaneAccess,
      workloadAccess: openWorkloadAccess,
      authorityAccess: openAuthorityAccess,
      agentLeases: openAgentLeases,
    };
    const instances = { instancesOf: () => [] };
    fixtures.set(6681, await namingFixture(ZONE_EAST, { ...shared, ...workloads, instances }));
    await fixtures.get(5681)?.seed({ id: globalIdentity('Zone', 'east') });
    await fixtures.get(5681)?.seed({
      id: globalIdentity('MetaresourceDefinition', shippedDefinitionName(TimeoutPolicy)),
      spec: shippedDefinition(TimeoutPolicy),
    });
    await fixtures.get(5681)?.seed({
      id: { kind: TimeoutPolicy.kind, mesh: 'default', zone: '', namespace: 'default', name: 'quick' },
      spec: { targetRefs: [{ kind: 'Namespace', name: 'default' }], request: '2s' },
    });
    await fixtures.get(6681)?.seed({
      id: { ...globalIdentity('HostnameGenerator', 'local-universal-mesh-service'), zone: 'east' },
      labels: { 'kuma.io/origin': 'zone' },
      spec: { selector: { meshService: { matchLabels: {} } }, template: '{{ .DisplayName }}.svc.mesh.local' },
    });
    for (const [port, { server }] of fixtures)
      bases.set(port, `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`);
  });
  afterAll(async () => {
    await Promise.all([...fixtures.values()].map((fixture) => fixture.close()));
  });

  it('has curl lines that work, in their order', async () => {
    const lines = curlLines();
    expect(lines.length).toBeGreaterThan(30);
    for (const { text, port, url, method, type, body } of lines) {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      const answer = await fetch(`${bases.get(port)}${url}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      const said = await answer.text();
      expect([text, answer.ok ? 'works' : said]).toEqual([text, 'works']);
    }
  });

  it('names every path of the server and of the views', async () => {
    const api: ParsedJson = (await fixtures.get(6681)?.server.inject({ url: '/openapi.json' }))?.json();
    const served = Object.keys(api.paths).filter((path) =>
      Object.values<ParsedJson>(api.paths[path]).some((operation) => operation.tags?.includes('Server')),
    );
    expect(served.length).toBeGreaterThan(10);
    for (const path of served) expect([path, TEXT.includes(path)]).toEqual([path, true]);
  });
});
