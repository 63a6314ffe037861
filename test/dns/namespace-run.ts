import { writeFileSync } from 'node:fs';
import { DnsZone, generator, service } from './dns-zone';
import { run, type Ran } from './programs';

/**
 * Runs inside a network namespace of its own (see `inNamespace`): a zone on 127.0.0.1, and programs that ask their
 * system's resolver. argv: file for the results, commands as JSON, the zone's port.
 */
async function main(): Promise<void> {
  const [, , file = '', commands = '[]', port] = process.argv;
  const redis = service('redis', { ip: '241.0.0.7', hostnames: ['redis.svc.mesh.local'] });
  const six = service('six', { ip: 'fd00:241::7', hostnames: ['six.svc.mesh.local'] });
  const zone = await new DnsZone(redis, six, generator('local', '{{ .DisplayName }}.svc.mesh.local')).start(
    { ranges: ['241.0.0.0/8'], limits: { ratePerClient: 0 } },
    { port: Number(port) },
  );
  const results: Ran[] = [];
  for (const [program = '', ...args] of JSON.parse(commands) as string[][]) results.push(await run(program, args));
  await zone.close();
  writeFileSync(file, JSON.stringify(results));
}

void main();
