import { ClusterLoadAssignment } from '@causeway/proto-gen';
import { silentLogger, systemClock } from '@causeway/runtime';
import { XdsServer } from '@causeway/xds-server';
import { MapSource } from '../../test/support/xds-source';

/** An xDS server with argv[2] endpoint resources in a process of its own; it changes one and reports its costs on request. */
async function main(): Promise<void> {
  const source = new MapSource();
  const names = Array.from({ length: Number(process.argv[2]) }, (_, n) => `service-${n}`);
  source.put(ClusterLoadAssignment, ...names.map((name) => assignment(name, 0)));
  const server = new XdsServer({
    source,
    clock: systemClock,
    logger: silentLogger,
    auth: { admit: ({ node }) => Promise.resolve({ proxy: { id: node, view: 'bench' } }) },
  });
  const port = await server.listen('127.0.0.1', 0);
  let changes = 0;
  process.on('message', (order) => {
    const at = Number(process.hrtime.bigint()) / 1e6;
    if (order === 'change') source.put(ClusterLoadAssignment, assignment('service-0', ++changes));
    const { responses, unchanged } = server.counters;
    process.send?.({ port, at, responses, unchanged, rss: process.memoryUsage.rss(), ...process.cpuUsage() });
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.({ port });
}

/** Five endpoints, one of which is another each time. */
function assignment(clusterName: string, time: number): object {
  const address = (host: number): object => ({
    $case: 'socketAddress',
    value: { address: `10.0.${time % 250}.${host}`, portSpecifier: { $case: 'portValue', value: 8080 } },
  });
  const endpoint = (host: number): object => ({ $case: 'endpoint', value: { address: { address: address(host) } } });
  const lbEndpoints = [1, 2, 3, 4, 5].map((host) => ({ hostIdentifier: endpoint(host) }));
  return { clusterName, endpoints: [{ locality: { zone: 'east' }, lbEndpoints }] };
}

void main();
