import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { globalSettings } from '../../apps/global/src/config';
import { zoneSettings } from '../../apps/zone/src/config';
import { COMMANDS } from '../../scripts/lib/package-tree.mjs';

/** Settings that each control plane gets as files. */
const SECRETS = ['DATABASE_URL_FILE', 'REDIS_URL_FILE', 'CAUSEWAY_OPERATOR_TOKEN_FILE', 'CAUSEWAY_SECRETS_KEY_FILE'];
const REPO = resolve(__dirname, '..', '..');
const read = (file: string): string => readFileSync(join(REPO, file), 'utf8');

interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly ports?: readonly string[];
  readonly expose?: readonly string[];
  readonly volumes?: readonly string[];
  readonly restart?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly deploy?: { readonly replicas?: number; readonly resources?: { readonly limits?: object } };
  readonly healthcheck?: unknown;
  readonly build?: string;
}

const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
};
const services = compose.services;
const all = Object.entries(services);
const controlPlanes = all.filter(
  ([, service]) => service.image === 'causeway' && service.environment?.['DATABASE_URL_FILE'],
);
const dockerfile = read('Dockerfile');

/** The ports on which each service can be reached by the others. */
const PORTS: Readonly<Record<string, readonly number[]>> = {
  postgres: [5432],
  redis: [6379],
  ...Object.fromEntries(
    controlPlanes.map(([name, { expose = [], ports = [] }]) => [
      name,
      [
        ...expose,
        ...ports.map((port) =>
          port
            .split(':')
            .at(-1)
            ?.replace(/\/\w+$/, ''),
        ),
      ].map(Number),
    ]),
  ),
};

/** Every `scheme://[user@]host:port` in the environments. */
function addresses(): readonly { readonly from: string; readonly host: string; readonly port: number }[] {
  return all.flatMap(([from, { environment = {} }]) =>
    Object.values(environment).flatMap((value) => {
      const match = /^[a-z]+:\/\/(?:.*@)?([a-z0-9-]+):(\d+)/.exec(String(value));
      return match ? [{ from, host: String(match[1]), port: Number(match[2]) }] : [];
    }),
  );
}

describe('docker-compose.yml', () => {
  it('has Postgres with a database each, Redis, a global, two zones and what they join it by', () => {
    expect(Object.keys(services)).toEqual(['postgres', 'databases', 'redis', 'global', 'credentials', 'east', 'west']);
    expect(controlPlanes.map(([name]) => name)).toEqual(['global', 'east', 'west']);
  });

  it.each(controlPlanes)('%s has two replicas of the image that the Dockerfile makes', (_, service) => {
    expect(service.deploy?.replicas).toBe(2);
    expect(service.build).toBe('.');
  });

  it('waits only for services that exist and say that they are healthy', () => {
    for (const [, { depends_on = {} }] of all) {
      for (const [name, { condition }] of Object.entries(depends_on)) {
        // The image of the control planes has a health check of its own.
        if (!controlPlanes.some(([each]) => each === name)) expect(services[name]?.healthcheck).toBeDefined();
        expect(condition).toBe('service_healthy');
      }
    }
    const awaited = controlPlanes.map(([, service]) => Object.keys(service.depends_on ?? {}));
    const zone = ['databases', 'redis', 'credentials'];
    expect(awaited).toEqual([['databases', 'redis'], zone, zone]);
    expect(Object.keys(services['credentials']?.depends_on ?? {})).toEqual(['global']);
  });

  it('names in its addresses services and ports that are there', () => {
    expect(addresses()).toHaveLength(3); // the global by both zones and for their tokens
    for (const { host, port } of addresses()) expect(PORTS[host]).toContain(port);
  });

  it('lets the global listen for zones where they look for it', () => {
    const global = services['global'];
    expect(global?.expose).toEqual([globalSettings.CAUSEWAY_KDS_PORT.fallback]);
  });

  it('asks zones for tokens and shows them a certificate of the name that they know it by', () => {
    const environment = services['global']?.environment ?? {};
    const [auth, tls, host] = ['AUTH', 'TLS', 'BIND_ADDRESS'].map((name) => environment[`CAUSEWAY_KDS_${name}`]);
    expect([auth, tls, host]).toEqual([undefined, undefined, undefined]); // as by default: tokens, TLS, every address
    for (const name of ['east', 'west']) {
      const zone = services[name]?.environment ?? {};
      const { hostname, protocol } = new URL(String(zone['CAUSEWAY_GLOBAL_ADDRESS']));
      expect([protocol, environment['CAUSEWAY_KDS_TLS_NAMES']]).toEqual(['grpcs:', hostname]);
      expect(zone['CAUSEWAY_ZONE_TOKEN_FILE']).toBe(`/zones/${name}.token`);
      expect(zone['CAUSEWAY_GLOBAL_TLS_SKIP_VERIFY']).toBeUndefined();
    }
  });

  it('serves REST over TLS, by the name that the global is asked for credentials by', () => {
    const { hostname, protocol } = new URL(String(services['credentials']?.environment?.['CAUSEWAY_SERVER']));
    expect([protocol, hostname]).toEqual(['https:', services['global']?.environment?.['CAUSEWAY_REST_TLS_NAMES']]);
    for (const [, { environment = {} }] of controlPlanes)
      expect([environment['CAUSEWAY_BIND_ADDRESS'], environment['CAUSEWAY_REST_TLS']]).toEqual(['0.0.0.0', undefined]);
  });

  it('gives each control plane a folder of secrets of its own, read by files', () => {
    for (const [name, { environment = {}, volumes = [] }] of controlPlanes) {
      expect(volumes).toContain(`./secrets/${name}:/run/secrets:ro`);
      const files = Object.entries(environment).filter(([, value]) => String(value).startsWith('/run/secrets/'));
      expect(files.map(([variable]) => variable)).toEqual(SECRETS);
    }
    expect(read('docker-compose.yml')).not.toContain('${');
  });

  it.each(all)(
    '%s starts again, writes nothing but its volumes, has no capability it does not need, and limits',
    (name, service) => {
      expect([service.restart, service.read_only, service.cap_drop]).toEqual(['unless-stopped', true, ['ALL']]);
      expect(service.security_opt).toEqual(['no-new-privileges:true']);
      expect(service.cap_add).toEqual(name === 'credentials' ? ['CHOWN'] : undefined);
      expect(Object.keys(service.deploy?.resources?.limits ?? {})).toEqual(['cpus', 'memory', 'pids']);
    },
  );

  it('sets only what the programs know: an unknown variable would stop them', () => {
    for (const [name, { environment = {} }] of controlPlanes) {
      const known = Object.keys(name === 'global' ? globalSettings : zoneSettings);
      const given = Object.keys(environment).map((each) =>
        SECRETS.includes(each) ? each.replace(/_FILE$/, '') : each,
      );
      expect(known).toEqual(expect.arrayContaining(given));
    }
  });

  it('names each zone after its service', () => {
    for (const name of ['east', 'west']) expect(services[name]?.environment?.['CAUSEWAY_ZONE_NAME']).toBe(name);
  });

  it('publishes on this machine only, a port for each replica, none twice', () => {
    const published = controlPlanes.flatMap(([, { ports = [] }]) => ports);
    for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:(\d+)-(\d+):\d+(\/(tcp|udp))?$/);
    const taken = published.map((port) => `${port.split(':')[1]}${port.endsWith('udp') ? '/udp' : ''}`);
    expect(new Set(taken).size).toBe(taken.length);
    expect(published.filter((port) => port.endsWith(':5680'))).toHaveLength(3);
    expect(published.filter((port) => port.endsWith(':5653/udp'))).toHaveLength(2);
  });

  it('mounts files that exist and volumes that are declared', () => {
    for (const [, { volumes = [] }] of all) {
      for (const source of volumes.map((volume) => String(volume.split(':')[0]))) {
        expect(
          source.startsWith('./secrets/')
            ? true // deploy/secrets.sh makes them (test/deploy/image.spec.ts)
            : source.startsWith('.')
              ? existsSync(join(REPO, source))
              : source in compose.volumes,
        ).toBe(true);
      }
    }
  });

  it('runs programs that the package has', () => {
    for (const [, { command }] of controlPlanes) expect(Object.keys(COMMANDS)).toContain(command[0]);
  });
});

it('the block of a zone more in docs/guides/install.md is that of west with its name and other ports', () => {
  const [, block = ''] = /```yaml\n( {2}north:\n[^]*?)```/.exec(read('docs/guides/install.md')) ?? [];
  const more = read('docker-compose.yml').replace('\nvolumes:\n', () => `\n${block}\nvolumes:\n`);
  const { north } = (parse(more, { merge: true }) as typeof compose).services;
  const { west } = services;
  const named = JSON.parse(JSON.stringify(west).replaceAll('west', 'north')) as Service;
  expect({ ...north, ports: [] }).toEqual({ ...named, ports: [] });
  const targets = (ports: readonly string[] = []): readonly unknown[] => ports.map((port) => port.split(':').at(-1));
  expect(targets(north?.ports)).toEqual(targets(west?.ports));
  const taken = all.flatMap(([, { ports = [] }]) => ports);
  for (const port of north?.ports ?? []) expect(taken).not.toContain(port);
});

describe('the Dockerfile', () => {
  it('copies only what exists and .dockerignore lets through', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources]) =>
      String(sources).split(' '),
    );
    const allowed = read('.dockerignore').split('\n');
    expect(copied.length).toBeGreaterThan(5);
    for (const source of copied.map((path) => path.replace('./', ''))) {
      expect(existsSync(join(REPO, source))).toBe(true);
      expect(allowed).toContain(`!${source}`);
    }
  });

  it('exposes the ports that the control planes listen on, and runs the global by default, not as root', () => {
    expect(dockerfile).toContain('EXPOSE 5681 5682 5680 5685 5653/tcp 5653/udp 5678');
    expect(dockerfile).toContain('CMD ["causeway-global"]');
    expect(dockerfile).toContain('USER 1000:1000');
    expect(dockerfile.match(/^FROM node:24-bookworm-slim/gm)).toHaveLength(2);
  });
});
