import { createHash } from 'node:crypto';
import { chmod, chown, lstat, mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FieldPath, Invalid } from '@causeway/resources';

/** Resolver of a machine: systemd-resolved, or /etc/resolv.conf. */
export type MachineResolver = 'resolved' | 'resolv.conf';

/** Settings for the resolver of a machine. */
export interface ResolverSetupOptions {
  /** `/`, or a folder that replaces it in tests. */
  readonly root: string;
  /** Undefined: detected. */
  readonly resolver?: MachineResolver | undefined;
  /** From the agent's configuration. */
  readonly dns: {
    readonly address: string;
    readonly port: number;
    readonly suffixes: readonly string[];
    readonly upstream: readonly string[];
  };
}

/** Change of the file system. Each is atomic, so a process may die between any two. */
export type SetupStep =
  | { readonly do: 'makeFolder' | 'removeFolder' | 'remove'; readonly path: string }
  /** Writes a file, with the owner and mode of `like`. */
  | { readonly do: 'write'; readonly path: string; readonly text: Buffer; readonly like?: string }
  | { readonly do: 'rename'; readonly path: string; readonly to: string };

/** Steps to do, and instructions for the operator. */
export interface SetupPlan {
  readonly resolver: MachineResolver;
  /** Empty: nothing to do. */
  readonly steps: readonly SetupStep[];
  /** Command for the operator, if one is needed. */
  readonly next?: string;
}

const MARK = '# Written by causeway-agent dns install; causeway-agent dns uninstall takes it back.';
const FOLDER_MADE = '# The folder was made for it.';
const RESTART = 'systemctl restart systemd-resolved';
const MAX_FILE_BYTES = 64 * 1024;
/** Programs that write resolv.conf themselves: they would overwrite an installed file. */
const WRITERS = /NetworkManager|resolvconf|systemd-resolved|dhcpcd|dhclient|connman|WSL/i;

/**
 * Points the resolver of a machine to the agent's DNS, and back. After `planUninstall` every file is byte by byte what
 * it was before `planInstall`, even if a process died in between: a file that was changed meanwhile is refused by name.
 * The original of resolv.conf is kept beside it until then.
 */
export class ResolverSetup {
  private readonly dropIn: string;
  private readonly resolvConf: string;
  private readonly backup: string;
  /** Temporary name of the drop-in's folder before it is in place, and when it is removed. */
  private readonly newFolder: string;

  constructor(private readonly options: ResolverSetupOptions) {
    this.dropIn = join(options.root, 'etc/systemd/resolved.conf.d/causeway.conf');
    this.resolvConf = join(options.root, 'etc/resolv.conf');
    this.newFolder = join(options.root, 'etc/systemd/resolved.conf.d.causeway-new');
    this.backup = `${this.resolvConf}.before-causeway`;
  }

  /** Plans an installation. Idempotent. Throws Invalid if it could not be reverted. */
  async planInstall(): Promise<SetupPlan> {
    const resolver = this.options.resolver ?? (await this.detectResolver());
    return resolver === 'resolved' ? this.installDropIn() : this.installResolvConf();
  }

  /** Plans the removal of a complete or partial installation. Idempotent. */
  async planUninstall(): Promise<SetupPlan> {
    const dropIn = await this.removeDropIn();
    const resolvConf = await this.restoreResolvConf();
    return {
      resolver: resolvConf.length > 0 ? 'resolv.conf' : 'resolved',
      steps: [...dropIn, ...resolvConf],
      ...(dropIn.some(({ path }) => [this.dropIn, dirname(this.dropIn)].includes(path)) && { next: RESTART }),
    };
  }

  private async detectResolver(): Promise<MachineResolver> {
    const isResolved = await exists(join(this.options.root, 'run/systemd/resolve'));
    return isResolved ? 'resolved' : 'resolv.conf';
  }

  private async installDropIn(): Promise<SetupPlan> {
    const { address, port, suffixes } = this.options.dns;
    const folder = dirname(this.dropIn);
    const before = await readIfPresent(this.dropIn);
    if (before !== undefined && !isOurs(before)) refuse(this.dropIn, 'is not of the agent, or was changed since');
    const isFolderMade = before?.includes(FOLDER_MADE) ?? !(await exists(folder));
    const at = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
    const text = addMarker([
      ...(isFolderMade ? [FOLDER_MADE] : []),
      '[Resolve]',
      `DNS=${at}`,
      `Domains=${suffixes.map((suffix) => `~${suffix}`).join(' ')}`,
    ]);
    if (before?.equals(text)) return { resolver: 'resolved', steps: [] };
    const fresh = `${this.dropIn}.new`;
    const { newFolder } = this;
    // A new folder is moved into place with its file, so that it is never left empty.
    const steps: readonly SetupStep[] = (await exists(folder))
      ? [
          { do: 'write', path: fresh, text },
          { do: 'rename', path: fresh, to: this.dropIn },
        ]
      : [
          { do: 'makeFolder', path: newFolder },
          { do: 'write', path: join(newFolder, 'causeway.conf'), text },
          { do: 'rename', path: newFolder, to: folder },
        ];
    return { resolver: 'resolved', steps, next: RESTART };
  }

  private async installResolvConf(): Promise<SetupPlan> {
    const { address, port, suffixes, upstream } = this.options.dns;
    const { resolvConf, backup } = this;
    if (port !== 53) refuse(resolvConf, `can name no port: dns.port must be 53; got ${port}`);
    if (upstream.length === 0) refuse(resolvConf, 'would send all names to the agent: dns.upstream must name servers');
    const kind = await lstat(resolvConf).catch(() => undefined);
    if (!kind) refuse(resolvConf, 'is not there');
    if (!kind.isFile()) refuse(resolvConf, 'is a link: another program writes what it leads to');
    if (kind.size > MAX_FILE_BYTES) refuse(resolvConf, `has ${kind.size} bytes, at most ${MAX_FILE_BYTES} are read`);
    const [now, before] = [await readFile(resolvConf), await readIfPresent(backup)];
    if (!isOurs(now) && isMarked(now)) refuse(resolvConf, 'was changed since the agent wrote it');
    if (isOurs(now) && before === undefined) refuse(resolvConf, `is the agent's, and ${backup} is missing`);
    const original = isOurs(now) ? (before ?? now) : now;
    if (before && !before.equals(original)) refuse(backup, 'is the original of another installation; move it away');
    if (WRITERS.test(original.toString()))
      refuse(resolvConf, 'is written by another program, which would write it again');
    const kept = original
      .toString()
      .split('\n')
      .filter((line) => /^\s*(options|search|domain)\s/.test(line));
    const text = addMarker([`# for ${suffixes.join(' ')}`, `nameserver ${address}`, ...kept]);
    if (now.equals(text)) return { resolver: 'resolv.conf', steps: [] };
    const fresh = `${resolvConf}.causeway-new`;
    const save: readonly SetupStep[] = before
      ? []
      : [
          { do: 'write', path: `${backup}.new`, text: original, like: resolvConf },
          { do: 'rename', path: `${backup}.new`, to: backup },
        ];
    const steps: SetupStep[] = [
      ...save,
      { do: 'write', path: fresh, text, like: resolvConf },
      { do: 'rename', path: fresh, to: resolvConf },
    ];
    return { resolver: 'resolv.conf', steps };
  }

  private async removeDropIn(): Promise<readonly SetupStep[]> {
    const { newFolder } = this;
    const leftovers = [
      ...(await this.removeIfPresent(`${this.dropIn}.new`)),
      ...(await this.removeIfPresent(join(newFolder, 'causeway.conf'))),
      ...((await exists(newFolder)) ? [{ do: 'removeFolder', path: newFolder } as const] : []),
    ];
    const now = await readIfPresent(this.dropIn);
    if (now === undefined || !isMarked(now)) return leftovers;
    if (!isOurs(now)) refuse(this.dropIn, 'was changed since the agent wrote it; remove it yourself');
    const folder = dirname(this.dropIn);
    const others = (await readdir(folder)).filter((name) => !name.startsWith('causeway.conf'));
    if (!now.includes(FOLDER_MADE) || others.length > 0) return [...leftovers, { do: 'remove', path: this.dropIn }];
    return [
      ...leftovers,
      { do: 'rename', path: folder, to: newFolder },
      { do: 'remove', path: join(newFolder, 'causeway.conf') },
      { do: 'removeFolder', path: newFolder },
    ];
  }

  private async restoreResolvConf(): Promise<readonly SetupStep[]> {
    const { resolvConf, backup } = this;
    const leftovers = [
      ...(await this.removeIfPresent(`${resolvConf}.causeway-new`)),
      ...(await this.removeIfPresent(`${backup}.new`)),
    ];
    const [now, before] = [await readIfPresent(resolvConf), await readIfPresent(backup)];
    if (!before) {
      if (now && isMarked(now)) refuse(resolvConf, `is the agent's, and ${backup} with the original is missing`);
      return leftovers;
    }
    if (now?.equals(before)) return [...leftovers, { do: 'remove', path: backup }];
    if (now && !isOurs(now)) refuse(resolvConf, `was changed since the agent wrote it; the original is ${backup}`);
    return [...leftovers, { do: 'rename', path: backup, to: resolvConf }];
  }

  private async removeIfPresent(path: string): Promise<readonly SetupStep[]> {
    return (await exists(path)) ? [{ do: 'remove', path }] : [];
  }
}

/** Applies steps in order; each is on disk before the next. */
export async function applySteps(steps: readonly SetupStep[]): Promise<void> {
  for (const step of steps) {
    await applyStep(step);
    const folder = await open(dirname(step.path), 'r');
    await folder.sync().finally(() => folder.close());
  }
}

async function applyStep(step: SetupStep): Promise<void> {
  switch (step.do) {
    case 'makeFolder':
      return void (await mkdir(step.path, { recursive: true, mode: 0o755 }));
    case 'removeFolder':
      return rmdir(step.path);
    case 'remove':
      return rm(step.path);
    case 'rename':
      return rename(step.path, step.to);
    case 'write':
      return writeLike(step);
  }
}

async function writeLike({ path, text, like }: Extract<SetupStep, { readonly do: 'write' }>): Promise<void> {
  const file = await open(path, 'w', 0o644);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  const model = like === undefined ? undefined : await stat(like);
  await chmod(path, model ? model.mode & 0o777 : 0o644);
  if (model && process.getuid?.() === 0) await chown(path, model.uid, model.gid);
}

/** Returns the content of a file of the agent with a marker and a hash, so that a change by others is detected. */
function addMarker(lines: readonly string[]): Buffer {
  const content = `${lines.join('\n')}\n`;
  return Buffer.from(`${MARK}\n# sha256 ${computeHash(content)}\n${content}`);
}

function isMarked(text: Buffer): boolean {
  return text.toString().startsWith(MARK);
}

function isOurs(text: Buffer): boolean {
  const [mark, hash, ...lines] = text.toString().split('\n');
  return mark === MARK && hash === `# sha256 ${computeHash(lines.join('\n'))}`;
}

function computeHash(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

function refuse(path: string, reason: string): never {
  throw new Invalid([FieldPath.at(path).violation(reason)]);
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

async function readIfPresent(path: string): Promise<Buffer | undefined> {
  return readFile(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
}
