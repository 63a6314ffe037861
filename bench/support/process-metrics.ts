import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessMesh } from '../../test/support/process-mesh';

/** Linux counts a process's time in hundredths of a second, whatever the machine. */
const TICKS = 100;

/** Resident memory of a process now and at most so far, MB. */
export interface Memory {
  readonly rss_mb: number;
  readonly peak_mb: number;
}

/** Figures by the name of a control plane; `postgres` is all processes of the server that the bench started. */
export type ByName<Figure> = Readonly<Record<string, Figure>>;

/** Counters of a process in the kernel. */
export interface ProcessStat {
  readonly pid: number;
  readonly name: string;
  readonly parent: number;
  /** CPU time of all its threads, s. */
  readonly own: number;
  /** CPU time of its children that have ended, s. */
  readonly ended: number;
}

/** CPU time that a process has used in all its threads, s (Linux). */
export function cpuSeconds(pid: number): number {
  return processStat(pid)?.own ?? NaN;
}

/** Resident memory of a process (Linux). */
export function memory(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const megabytes = (field: string): number =>
    Math.round(Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? NaN) / 1_000);
  return { rss_mb: megabytes('VmRSS'), peak_mb: megabytes('VmHWM') };
}

/** Memory of every control plane of a mesh. */
export function memoryOf(mesh: ProcessMesh): ByName<Memory> {
  return Object.fromEntries(planes(mesh).map(([name, pid]) => [name, memory(pid)]));
}

/** CPU time of every control plane of a mesh and of Postgres so far, s. */
export function cpuOf(mesh: ProcessMesh): ByName<number> {
  const own = planes(mesh).map(([name, pid]) => [name, cpuSeconds(pid)] as const);
  return { ...Object.fromEntries(own), postgres: postgresSeconds() };
}

/** CPU time that passed since `before`, s. */
export function cpuSince(mesh: ProcessMesh, before: ByName<number>): ByName<number> {
  const passed = Object.entries(cpuOf(mesh)).map(([name, seconds]) => [name, seconds - (before[name] ?? 0)] as const);
  return Object.fromEntries(passed.map(([name, seconds]) => [name, Math.round(seconds * 100) / 100]));
}

/** Share of one core that each takes during so many seconds from now, in percent. */
export async function cpuPercent(mesh: ProcessMesh, seconds: number): Promise<ByName<number>> {
  const before = cpuOf(mesh);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const used = Object.entries(cpuSince(mesh, before));
  return Object.fromEntries(used.map(([name, cpu]) => [name, Math.round((cpu / seconds) * 1e4) / 100]));
}

function planes(mesh: ProcessMesh): readonly (readonly [string, number])[] {
  return [['global', mesh.global.pid], ...[...mesh.zones].map(([name, { pid }]) => [name, pid] as const)];
}

/** CPU time of the Postgres of this bench so far, s. Connections come and go: the server's main process knows the time of those that went. */
export function postgresSeconds(): number {
  const all = readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) ? [processStat(Number(entry))] : []));
  const byPid = new Map(all.flatMap((each) => (each ? [[each.pid, each] as const] : [])));
  const isOurs = (pid: number): boolean => pid === process.pid || (pid > 1 && isOurs(byPid.get(pid)?.parent ?? 0));
  const ours = [...byPid.values()].filter(({ pid, name }) => name === 'postgres' && isOurs(pid));
  return ours.reduce((sum, { own, ended }) => sum + own + ended, 0);
}

/** Undefined for a process that has ended (Linux). */
export function processStat(pid: number): ProcessStat | undefined {
  try {
    // The name, in parentheses, may hold spaces; fields are counted from behind it.
    const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? [];
    const [, parent, , , , , , , , , , user, system, endedUser, endedSystem] = rest.split(' ').map(Number);
    const seconds = (a = 0, b = 0): number => (a + b) / TICKS;
    return { pid, name, parent: parent ?? 0, own: seconds(user, system), ended: seconds(endedUser, endedSystem) };
  } catch {
    return undefined;
  }
}
