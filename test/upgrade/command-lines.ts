import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ADMIN_TOKEN } from '../support/admin-credential';
import type { Findings } from './findings';
import type { MixedMesh, ZoneName } from './mixed-mesh';
import type { Version } from './version-tree';

/** A service that is there from the start, and its name in its own zone. */
export const FIXED = { service: 'fixed-0', hostname: 'fixed-0.svc.mesh.local' };

const GENERATOR = JSON.stringify({
  type: 'HostnameGenerator',
  name: 'by-command-line',
  spec: {
    selector: { meshService: { matchLabels: { made: 'by-command-line' } } },
    template: '{{ name }}.command.mesh',
  },
});

/** Commands of a user over REST: the whole command, and its input. */
const AT_GLOBAL = [['zones'], ['version'], ['get', 'meshes'], ['get', 'hostnamegenerators'], ['apply', '-f', '-']];
const IN_ZONE = [
  ['get', 'meshservices'],
  ['describe', 'meshservice', FIXED.service],
  ['hostnames', FIXED.service],
  ['vips'],
  ['explain', 'hostname', FIXED.hostname],
  ['dig', FIXED.hostname],
  ['instances', FIXED.service],
  ['explain', 'request', '--to', `tcp://${FIXED.hostname}:80`],
];
const BY_GRPC = [
  ['get', 'meshservices'],
  ['instances', FIXED.service],
  ['explain', 'hostname', FIXED.hostname],
];

/** Commands that run at once. */
const PARALLEL = 4;

interface Asked {
  readonly version: Version;
  readonly server: string;
  readonly args: readonly string[];
}

/** Runs the command line of each version against the global and these zones, by REST and gRPC: every command must do its work. */
export async function runCommandLines(
  mesh: MixedMesh,
  { versions, zones }: { readonly versions: readonly Version[]; readonly zones: readonly ZoneName[] },
  findings: Findings,
): Promise<void> {
  const all = versions.flatMap((version, n) => {
    const asked = (server: string, commands: readonly string[][]): readonly Asked[] =>
      commands.map((args) => ({ version, server, args }));
    return [
      ...asked(mesh.global.any(n).restUrl, AT_GLOBAL),
      ...zones.flatMap((zone) => {
        const plane = mesh.zone(zone).any(n);
        return [...asked(plane.restUrl, IN_ZONE), ...asked(plane.grpcUrl, BY_GRPC)];
      }),
    ];
  });
  for (let n = 0; n < all.length; n += PARALLEL)
    await Promise.all(all.slice(n, n + PARALLEL).map((one) => run(one, findings)));
}

async function run({ version, server, args }: Asked, findings: Findings): Promise<void> {
  const { code, said } = await runCommand(version, server, args);
  findings.count('commands');
  if (code !== 0) findings.broken(`causeway of the ${version.label} version: ${args.join(' ')}: ${code} ${said}`);
}

async function runCommand(
  { root }: Version,
  server: string,
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly said: string }> {
  const program = join(root, 'dist', 'apps', 'ctl', 'src', 'main.js');
  const own = {
    CAUSEWAY_SERVER: server,
    CAUSEWAY_TOKEN: ADMIN_TOKEN,
    CAUSEWAY_CONTEXTS_FILE: join(root, 'no-contexts.json'),
  };
  const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, ...own } });
  child.stdin.end(args.includes('-') ? GENERATOR : '');
  const exited = new Promise<number | null>((done) => child.once('close', done));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, said: `${out}${err}`.slice(-500) };
}
