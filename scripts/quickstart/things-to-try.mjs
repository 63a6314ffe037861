import { Resolver } from 'node:dns/promises';
import { adminSocket } from './admin-access.mjs';
import { MESH } from './sample.mjs';
import { credentialFiles } from './zone-credentials.mjs';

/** The addresses of what runs, where tokens are, and three things to try, as text. */
export async function thingsToTry({ controlPlanes: planes, dataDir }, servicesInWest) {
  const [global, east, west] = planes;
  const tokenOf = ({ name }) => credentialFiles(dataDir, name).adminTokenFile;
  const as = (plane) => `-H "authorization: Bearer $(cat ${tokenOf(plane)})"`;
  const serviceUrl = (plane, service) => `${plane.restUrl}/meshes/${MESH}/meshservices/${service}?zone=east`;
  const urls = planes.map(({ name, ports, restUrl, diagnosticsUrl }) =>
    [`  ${name.padEnd(6)}`, restUrl, `grpc://127.0.0.1:${ports.grpc}`, `${diagnosticsUrl}/metrics`].join('  '),
  );
  return [
    'Addresses (REST, gRPC, diagnostics)',
    ...urls,
    `  zones connect to the global at 127.0.0.1:${global.ports.kds}`,
    '',
    'Tokens of administrators, in files that only this account may read; `npm run -s causeway` finds them by --server',
    ...planes.map((plane) => `  ${plane.name.padEnd(6)}  ${tokenOf(plane)}`),
    ...sockets(planes, dataDir),
    '',
    'Three things to try',
    '  Ask west for a service of east:',
    `    curl -s ${as(west)} '${serviceUrl(west, 'redis')}'`,
    '  Register an instance in east, then find its service in west:',
    `    ${putCommand(east, as(east))}`,
    `    curl -s ${as(west)} '${serviceUrl(west, 'cache')}'`,
    ...(await lookUp(west, servicesInWest)),
  ].join('\n');
}

/** The sockets at which no token is needed, or why there are none. */
function sockets(planes, dataDir) {
  const paths = planes.map(({ name }) => adminSocket(dataDir, name));
  if (paths.includes(undefined)) return ['Unix sockets: none, since the path of the data folder is too long for one'];
  const rows = planes.map(({ name }, n) => `  ${name.padEnd(6)}  ${paths[n]}`);
  return [
    'Unix sockets of REST, for this account without a token (causeway --server unix:PATH, curl --unix-socket PATH)',
    ...rows,
  ];
}

function putCommand(east, as) {
  const body = {
    type: 'Dataplane',
    mesh: MESH,
    name: 'cache-1',
    spec: { networking: { address: '10.1.0.21', inbound: [{ port: 11211, tags: { 'kuma.io/service': 'cache' } }] } },
  };
  const url = `${east.restUrl}/meshes/${MESH}/dataplanes/cache-1`;
  return `curl -s ${as} -X PUT ${url} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
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
