import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Failure } from '../lib/failure.mjs';
import { freePort } from '../lib/ports.mjs';
import { starterToken } from './admin-access.mjs';

/** The control planes of the quickstart and the ports they have unless the environment says otherwise (docs/design.md §7). */
const CONTROL_PLANES = [
  { name: 'global', app: 'global', ports: { rest: 5681, grpc: 5682, diagnostics: 5680, kds: 5685 } },
  { name: 'east', app: 'zone', ports: { rest: 6681, grpc: 6682, diagnostics: 6680, dns: 6653, xds: 6678 } },
  { name: 'west', app: 'zone', ports: { rest: 7681, grpc: 7682, diagnostics: 7680, dns: 7653, xds: 7678 } },
];
const POSTGRES_PORT = 15432;
const DEMO_NETWORK = '127.42';
const ARGUMENTS = { '--fresh': '(begins anew)', '--no-traffic': '(control planes only)' };

/** Everything that the environment and the command line say. A port that is given as 0 becomes a free one. */
export async function readSettings({ env, args, root }) {
  for (const arg of args) {
    if (!(arg in ARGUMENTS)) {
      const known = Object.entries(ARGUMENTS).map(([name, what]) => `${name} ${what}`);
      throw new Failure(`unknown argument ${arg}: there are ${known.join(', ')}`);
    }
  }
  return {
    root,
    fresh: args.includes('--fresh'),
    dataDir: dataFolder(env, root),
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
    leaderBackend: env.CAUSEWAY_LEADER_BACKEND,
    operatorToken: starterToken({ operatorToken: env.CAUSEWAY_OPERATOR_TOKEN }),
    postgresPort: env.CAUSEWAY_POSTGRES_PORT ? await portOf(env, 'CAUSEWAY_POSTGRES_PORT', POSTGRES_PORT) : undefined,
    preferredPostgresPort: POSTGRES_PORT,
    controlPlanes: await Promise.all(CONTROL_PLANES.map((plane) => withPorts(plane, env))),
    environment: inheritedEnvironment(env),
    wantsTraffic: !args.includes('--no-traffic'),
    demoNetwork: demoNetworkOf(env),
    envoy: env.CAUSEWAY_ENVOY ?? installedEnvoy(dataFolder(env, root)),
  };
}

function demoNetworkOf({ CAUSEWAY_DEMO_NETWORK: text = '' }) {
  const network = text === '' ? DEMO_NETWORK : text;
  if (/^127\.\d{1,3}$/.test(network) && Number(network.slice(4)) > 0 && Number(network.slice(4)) < 255) return network;
  throw new Failure(`CAUSEWAY_DEMO_NETWORK: must be 127.1 to 127.254, not "${text}"`);
}

/** Folder of data and logs. */
export function dataFolder(env, root) {
  return resolve(env.CAUSEWAY_DATA_DIR || join(root, '.causeway'));
}

/** The file in which `npm run envoy` leaves the path of the program. */
export function envoyFile(dataDir) {
  return join(dataDir, 'envoy.path');
}

function installedEnvoy(dataDir) {
  const file = envoyFile(dataDir);
  const program = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  return program !== '' && existsSync(program) ? program : undefined;
}

/** The variable that sets a port of a control plane. */
export function portVariable(name, use) {
  return `CAUSEWAY_${name}_${use}_PORT`.toUpperCase();
}

async function withPorts(plane, env) {
  const ports = {};
  for (const [use, preset] of Object.entries(plane.ports))
    ports[use] = await portOf(env, portVariable(plane.name, use), preset);
  return {
    ...plane,
    ports,
    restUrl: `http://127.0.0.1:${ports.rest}`,
    diagnosticsUrl: `http://127.0.0.1:${ports.diagnostics}`,
  };
}

async function portOf(env, variable, preset) {
  const text = env[variable];
  if (text === undefined || text === '') return preset;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535) throw new Failure(`${variable}: must be a port, 0 to 65535, not "${text}"`);
  return port === 0 ? freePort() : port;
}

/** Returns the variables that control planes get from our environment: none of those for the starter, the tests or the command line tool. */
function inheritedEnvironment(env) {
  const ofStarter = ['DATA_DIR', 'POSTGRES_PORT', 'SERVER', 'DEMO_NETWORK', 'ENVOY'].map((name) => `CAUSEWAY_${name}`);
  const own = new Set([...ofStarter, 'DATABASE_URL', 'REDIS_URL']);
  for (const { name, ports } of CONTROL_PLANES) for (const use of Object.keys(ports)) own.add(portVariable(name, use));
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !own.has(name) && !name.startsWith('CAUSEWAY_TEST_')),
  );
}
