import { canMakeNamespaces, inNamespace } from './namespace';

/** Programs that know nothing of us ask their system, whose resolver configuration names a zone. */
const suite = canMakeNamespaces ? describe : describe.skip;
if (!canMakeNamespaces)
  process.stderr.write(
    'left out: tests in a network namespace; they need unshare, iproute2 and the right to use them\n',
  );

suite('with a zone in the resolver configuration of a network namespace', () => {
  const python = 'import socket; print(sorted({a[4][0] for a in socket.getaddrinfo("redis.svc.mesh.local", 6379)}))';
  const node = "require('dns').lookup('six.svc.mesh.local', (e, a) => console.log(e ? e.code : a))";

  test.each(['nameserver 127.0.0.1\n', 'nameserver 127.0.0.1\noptions edns0 use-vc\n'])('%j', async (resolverFile) => {
    const searching = `${resolverFile}search svc.mesh.local\n`;
    const commands = [
      ['getent', 'ahostsv4', 'redis.svc.mesh.local'],
      ['getent', 'hosts', 'SIX.svc.mesh.local'],
      ['getent', 'hosts', '241.0.0.7'],
      ['getent', 'hosts', 'redis'],
      ['getent', 'hosts', 'nobody.svc.mesh.local'],
      ['python3', '-c', python],
      [process.execPath, '-e', node],
    ];
    const results = await inNamespace(searching, commands);
    expect(results.map(({ stdout }) => stdout.split('\n')[0]?.replace(/\s+/g, ' ').trim())).toEqual([
      '241.0.0.7 STREAM redis.svc.mesh.local',
      'fd00:241::7 SIX.svc.mesh.local',
      '241.0.0.7 redis.svc.mesh.local',
      '241.0.0.7 redis.svc.mesh.local',
      '',
      "['241.0.0.7']",
      'fd00:241::7',
    ]);
    expect(results[4]?.code).toBe(2);
  });
});
