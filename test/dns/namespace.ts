import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, works, type Ran } from './programs';

// Root of the machine, or root of a user namespace of our own where the system allows that.
const unshare = [
  ['-n', '-m'],
  ['-r', '-n', '-m'],
].find((flags) => works('unshare', ...flags, 'ip', 'link', 'set', 'lo', 'up'));

/** Whether network namespaces can be made here: Linux, iproute2, and the right to. */
export const canMakeNamespaces = unshare !== undefined;

/** Runs commands where the resolver configuration is `resolverFile` and a zone answers on 127.0.0.1, at port 53. */
export async function inNamespace(
  resolverFile: string,
  commands: readonly (readonly string[])[],
  port = 53,
): Promise<Ran[]> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-dns-'));
  try {
    const [resolver, results] = [join(folder, 'resolv.conf'), join(folder, 'results')];
    writeFileSync(resolver, resolverFile);
    const root = join(__dirname, '..', '..');
    const node = [process.execPath, '-r', join(root, 'bench', 'register.cjs'), join(__dirname, 'namespace-run.ts')];
    // getent asks for a family only where the machine has an address of it that is not loopback's.
    const prepare =
      'ip link set lo up && ip addr add 10.9.9.9/32 dev lo && mount --bind "$1" /etc/resolv.conf && shift && exec "$@"';
    const work = [...node, results, JSON.stringify(commands), String(port)];
    const args = [...(unshare ?? []), 'sh', '-c', prepare, 'sh', resolver, ...work];
    const { code, stderr } = await run('unshare', args);
    if (code !== 0) throw new Error(`the namespace failed: ${stderr}`);
    return JSON.parse(readFileSync(results, 'utf8')) as Ran[];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
