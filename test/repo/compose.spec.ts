import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { globalSettings } from '../../apps/global/src/config';
import { zoneSettings } from '../../apps/zone/src/config';

const REPO = resolve(__dirname, '..', '..');
const read = (file: string): string => readFileSync(join(REPO, file), 'utf8');

interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly ports?: readonly string[];
  readonly expose?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly deploy?: { readonly replicas: number };
  readonly healthcheck?: unknown;
  readonly build?: string;
}

const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
};
const services = compose.services;
const all = Object.entries(services);
const controlPlanes = all.filter(([, service]) => service.image === 'causeway');
const dockerfile = read('Dockerfile');

/** The ports on which each service can be reached by the others. */
const PORTS: Readonly<Record<string, readonly number[]>> = {
  postgres: [5432],
  redis: [6379],
  ...Object.fromEntries(
    controlPlanes.map(([name, { expose = [], ports = [] }]) => [
      name,
      [...expose, ...ports.map((port) => port.split(':').at(-1))].map(Number),
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
  it('has Postgres, Redis, a global, two zones and what they join it by', () => {
    expect(Object.keys(services)).toEqual(['postgres', 'redis', 'global', 'credentials', 'east', 'west']);
    expect(controlPlanes.map(([name]) => name)).toEqual(['global', 'east', 'west']);
  });

  it.each(controlPlanes)('%s has two replicas of the image that the Dockerfile makes', (_, service) => {
    expect(service.deploy).toEqual({ replicas: 2 });
    expect(service.build).toBe('.');
  });

  it('waits only for services that exist and say that they are healthy', () => {
    for (const [, { depends_on = {} }] of all) {
      for (const [name, { condition }] of Object.entries(depends_on)) {
        expect(services[name]?.healthcheck).toBeDefined();
        expect(condition).toBe('service_healthy');
      }
    }
    const awaited = controlPlanes.map(([, service]) => Object.keys(service.depends_on ?? {}));
    const zone = ['postgres', 'redis', 'credentials'];
    expect(awaited).toEqual([['postgres', 'redis'], zone, zone]);
    expect(Object.keys(services['credentials']?.depends_on ?? {})).toEqual(['global']);
  });

  it('names in its addresses services and ports that are there', () => {
    expect(addresses()).toHaveLength(9); // Postgres and Redis thrice each, the global by both zones and for their tokens
    for (const { host, port } of addresses()) expect(PORTS[host]).toContain(port);
  });

  it('lets the global listen for zones where they look for it', () => {
    const global = services['global'];
    expect(global?.expose).toEqual([String(global?.environment?.['CAUSEWAY_KDS_PORT'])]);
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
      expect(String(services['credentials']?.environment?.['ZONES']).split(',')).toContain(name);
    }
  });

  it('serves REST over TLS, by the name that the global is asked for credentials by', () => {
    const { hostname, protocol } = new URL(String(services['credentials']?.environment?.['CAUSEWAY_SERVER']));
    expect([protocol, hostname]).toEqual(['https:', services['global']?.environment?.['CAUSEWAY_REST_TLS_NAMES']]);
    for (const [, { environment = {} }] of controlPlanes)
      expect([environment['CAUSEWAY_BIND_ADDRESS'], environment['CAUSEWAY_REST_TLS']]).toEqual(['0.0.0.0', undefined]);
  });

  it('gives each control plane a database of its own that is created', () => {
    const created = [...read('deploy/create-databases.sql').matchAll(/CREATE DATABASE (\w+)/g)].map(([, name]) => name);
    const used = controlPlanes.map(([, { environment }]) => String(environment?.['DATABASE_URL']).split('/').at(-1));
    expect(used).toEqual(created);
    expect(new Set(used).size).toBe(controlPlanes.length);
  });

  it('sets only what the programs know: an unknown variable would stop them', () => {
    for (const [name, { environment = {} }] of controlPlanes) {
      const known = Object.keys(name === 'global' ? globalSettings : zoneSettings);
      expect(known).toEqual(expect.arrayContaining(Object.keys(environment)));
    }
  });

  it('names each zone after its service', () => {
    for (const name of ['east', 'west']) expect(services[name]?.environment?.['CAUSEWAY_ZONE_NAME']).toBe(name);
  });

  it('publishes REST and gRPC on this machine only, a port for each replica', () => {
    const published = Object.fromEntries(controlPlanes.map(([name, { ports }]) => [name, ports]));
    expect(published).toEqual({
      global: ['127.0.0.1:5681-5682:5681', '127.0.0.1:5692-5693:5682'],
      east: ['127.0.0.1:6681-6682:5681', '127.0.0.1:6692-6693:5682'],
      west: ['127.0.0.1:7681-7682:5681', '127.0.0.1:7692-7693:5682'],
    });
  });

  it('lets nobody write without a token', () => {
    for (const [, { environment }] of controlPlanes) {
      expect(environment?.['CAUSEWAY_OPERATOR_TOKEN']).toMatch(/^\$\{CAUSEWAY_OPERATOR_TOKEN:\?/);
    }
  });

  it('gives the zones, which listen beyond loopback, a key that seals their secrets, and the global none', () => {
    for (const [name, { environment }] of controlPlanes) {
      const key = environment?.['CAUSEWAY_SECRETS_KEY'];
      if (name === 'global') expect(key).toBeUndefined();
      else expect(key).toMatch(/^\$\{CAUSEWAY_SECRETS_KEY:\?/);
    }
  });

  it('mounts files that exist and volumes that are declared', () => {
    for (const [, { volumes = [] }] of all) {
      for (const source of volumes.map((volume) => String(volume.split(':')[0]))) {
        expect(source.startsWith('.') ? existsSync(join(REPO, source)) : source in compose.volumes).toBe(true);
      }
    }
  });

  it('runs programs that the build makes', () => {
    const { projects } = JSON.parse(read('nest-cli.json')) as {
      readonly projects: Readonly<Record<string, { readonly type: string; readonly sourceRoot: string }>>;
    };
    const programs = Object.values(projects)
      .filter(({ type }) => type === 'application')
      .map(({ sourceRoot }) => `dist/${sourceRoot}/main.js`);
    for (const [, { command }] of controlPlanes) expect(programs).toContain(command[0]);
  });
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

  it('exposes the ports that the control planes listen on, and runs the global by default', () => {
    expect(dockerfile).toContain('EXPOSE 5681 5680 5685 5653/tcp 5653/udp 5678');
    expect(dockerfile).toContain('CMD ["dist/apps/global/src/main.js"]');
    expect(dockerfile).toContain('USER node');
  });
});
