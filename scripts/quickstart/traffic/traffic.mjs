import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../lib/failure.mjs';
import { run } from '../../lib/run.mjs';
import { STAGES } from '../parts.mjs';
import { startProgram } from '../program.mjs';
import { applySample, MESH } from '../sample.mjs';

/** Of an ingress, which has no certificate that it could join by. Longer than anybody lets a quickstart run; each start asks for new ones. */
const INGRESS_TOKEN_LIFE = '8760h';
/** The longest path below which agents can have their sockets: systems take 103 bytes of a socket's path. */
const LONGEST_FOLDER = 65;

/**
 * Starts the service of each zone, the agent beside it and the ingress of the zone, as parts of the demo. An agent that is
 * told to end withdraws its Dataplane.
 */
export async function startTraffic({ settings, apis, parts, network, signal }) {
  const [globalApi, ...zoneApis] = apis;
  const places = agentPlaces(settings);
  mkdirSync(places.folder, { recursive: true, mode: 0o700 });
  const start = ({ name, ...agent }) => startAgent({ settings, parts, places, name, ...agent });
  await Promise.all([
    ...network.machines.map(async (machine) => {
      const { zone, service, dataplane, address, processPort } = machine;
      const name = `${service}-agent`;
      const file = join(settings.root, 'examples', 'quickstart', 'service.mjs');
      const args = [dataplane, zone, address, String(processPort)];
      await startPart({ settings, parts, places, name: service, file, args });
      const bundle = join(places.folder, `${name}.bundle`);
      keep(bundle, await joinBundle({ settings, zone: planeOf(settings, zone), dataplane, service, signal }));
      await start({ name, config: { bundle, ...agentConfig(machine) } });
    }),
    ...network.ingresses.map(async ({ zone, address, port }) => {
      const name = `ingress-${zone}`;
      const api = zoneApis.find((each) => each.name === zone);
      await applySample(api, ingressDocuments({ name, address, port }));
      const order = { zone, scope: ['ingress'], validFor: INGRESS_TOKEN_LIFE };
      const [tokenFile, authorityFile] = ['token', 'ca.pem'].map((ending) => join(places.folder, `${name}.${ending}`));
      keep(tokenFile, await globalApi.text('POST', '/tokens/zone', order));
      keep(authorityFile, await api.text('GET', '/rest/ca'));
      const controlPlanes = [xdsAddress(planeOf(settings, zone))];
      await start({ name, config: { controlPlanes, tokenFile, authorityFile, ingress: { name } } });
    }),
  ]);
}

/** Returns the join bundle of an agent, as its operator gets it: the addresses of the zone, its authority, a token of an hour. */
async function joinBundle({ settings, zone, dataplane, service, signal }) {
  const { root, environment, operatorToken } = settings;
  const command = [join(root, 'dist', 'apps', 'ctl', 'src', 'main.js'), 'tokens', 'dataplane', dataplane];
  const of = ['--mesh', MESH, '--service', service, '--bundle', '--xds', xdsAddress(zone), '--server', zone.restUrl];
  const { status, output, text } = await run(process.execPath, [...command, ...of], {
    cwd: root,
    env: { ...plain({ environment }), CAUSEWAY_OPERATOR_TOKEN: operatorToken },
    signal,
  });
  if (status !== 0) throw new Failure(`${dataplane} got no bundle: ${output.trim()}`);
  return text;
}

function planeOf({ controlPlanes }, zone) {
  return controlPlanes.find(({ name }) => name === zone);
}

function xdsAddress({ ports }) {
  return `127.0.0.1:${ports.xds}`;
}

/** The configuration of an agent beside one service (docs/reference/agent.md). */
function agentConfig({ service, dataplane, address, port, processPort, dnsPort }) {
  return {
    mesh: MESH,
    capture: 'bind',
    dns: { address, port: dnsPort },
    dataplanes: [
      {
        name: dataplane,
        address,
        services: [
          {
            name: service,
            port,
            servicePort: processPort,
            serviceAddress: address,
            protocol: 'http',
            health: { http: { path: '/' }, interval: '1s', timeout: '1s' },
          },
        ],
      },
    ],
  };
}

/** Address at which other zones reach the zone. */
function ingressDocuments({ name, address, port }) {
  return [
    { type: 'ZoneIngress', name, spec: { networking: { address, port } } },
    { type: 'MeshZoneAddress', mesh: MESH, name, spec: { address, port } },
  ];
}

function agentPlaces({ root, dataDir }) {
  return {
    agent: join(root, 'dist', 'apps', 'agent', 'src', 'main.js'),
    folder: agentsFolder(dataDir),
    logs: join(dataDir, 'logs'),
    // Without source maps: they cost memory in each of four processes.
    execArgv: ['--require', join(root, 'scripts', 'quickstart', 'traffic', 'ends-with-starter.cjs')],
  };
}

/** Keys, and what the zones told the agents: kept, so that an agent serves before a control plane answers. */
export function agentsFolder(dataDir) {
  const folder = join(dataDir, 'agents');
  if (Buffer.byteLength(folder) <= LONGEST_FOLDER) return folder;
  const mark = createHash('sha256').update(dataDir).digest('hex').slice(0, 12);
  return join(tmpdir(), `causeway-${process.getuid?.() ?? 0}-${mark}`);
}

async function startAgent({ settings, parts, places, name, config }) {
  const [file, state] = ['.yaml', ''].map((ending) => join(places.folder, `${name}${ending}`));
  // JSON is YAML.
  // The machines of the demo are addresses of loopback, where an agent dials nothing by preset.
  const mayDial = ['default', `${settings.demoNetwork}.0.0/16`];
  const own = { mayDial, envoy: { concurrency: 1 }, drainTime: '1s' };
  keep(file, `${JSON.stringify({ ...config, ...own }, undefined, 2)}\n`);
  const args = [config.ingress ? 'ingress' : 'run', '-f', file, '--state', state];
  const env = settings.envoy === undefined ? {} : { CAUSEWAY_ENVOY: settings.envoy };
  await startPart({ settings, parts, places, name, file: places.agent, args, env });
}

/** Starts a program that knows nothing of the demo. */
function startPart({ settings, parts, places, name, file, args, env = {} }) {
  const { logs: logDir, execArgv } = places;
  const program = { name, file, args, execArgv, logDir, cwd: settings.root, env: { ...plain(settings), ...env } };
  return parts.start(name, () => startProgram(program), { stage: STAGES.traffic });
}

function plain({ environment }) {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('CAUSEWAY_')));
}

function keep(file, content) {
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
