import { Resolver } from 'node:dns/promises';
import { MESH } from './sample.mjs';
import { credentialFiles } from './zone-credentials.mjs';

/** The addresses of what runs, where tokens are, and three things to try, as text. */
export async function thingsToTry({ controlPlanes: planes, dataDir }, servicesInWest) {
  const [global, east, west] = planes;
  const urls = planes.map(({ name, ports, restUrl, diagnosticsUrl }) =>
    [`  ${name.padEnd(6)}`, restUrl, `grpc://127.0.0.1:${ports.grpc}`, `${diagnosticsUrl}/metrics`].join('  '),
  );
  return [
    'Addresses (REST, gRPC, diagnostics)',
    ...urls,
    `  zones connect to the global at 127.0.0.1:${global.ports.kds}`,
    '',
    'Tokens of administrators (programs on this machine need none), in files that only this account may read',
    ...planes.map(({ name }) => `  ${name.padEnd(6)}  ${credentialFiles(dataDir, name).adminTokenFile}`),
    '',
    'Three things to try',
    '  Ask west for a service of east:',
    `    curl -s '${west.restUrl}/meshes/${MESH}/meshservices/redis?zone=east'`,
    '  Register an instance in east, then find its service in west:',
    `    ${putCommand(east)}`,
    `    curl -s '${west.restUrl}/meshes/${MESH}/meshservices/cache?zone=east'`,
    ...(await lookUp(west, servicesInWest)),
  ].join('\n');
}

function putCommand(east) {
  const body = {
    type: 'Dataplane',
    mesh: MESH,
    name: 'cache-1',
    spec: { networking: { address: '10.1.0.21', inbound: [{ port: 11211, tags: { 'kuma.io/service': 'cache' } }] } },
  };
  const url = `${east.restUrl}/meshes/${MESH}/dataplanes/cache-1`;
  return `curl -s -X PUT ${url} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
}

async function lookUp(zone, services) {
  const fromElsewhere = services.filter((service) => service.zone !== zone.name);
  const addresses = fromElsewhere.flatMap((service) => service.addresses);
  const hostname = addresses.find(({ status }) => status === 'Available')?.hostname;
  if (hostname && (await answers(zone.ports.dns, hostname))) {
    return [
      `  Resolve a hostname as a client in ${zone.name} does:`,
      `    dig +short @127.0.0.1 -p ${zone.ports.dns} ${hostname}`,
    ];
  }
  return [
    '  See the same with the command line tool:',
    `    npm run -s causeway -- get meshservices --server ${zone.restUrl}`,
  ];
}

async function answers(port, hostname) {
  const resolver = new Resolver({ timeout: 1_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${port}`]);
  return resolver.resolve4(hostname).then(
    (addresses) => addresses.length > 0,
    () => false,
  );
}
