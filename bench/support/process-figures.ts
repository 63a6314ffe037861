import { readFileSync } from 'node:fs';
import type { ProcessMesh } from '../../test/support/process-mesh';

/** Linux counts a process's time in hundredths of a second, whatever the machine. */
const TICKS = 100;

/** CPU time that a process has used in all its threads, s (Linux). */
export function cpuSeconds(pid: number): number {
  // The name, in parentheses, may hold spaces; user and system time are the 14th and 15th field of the line.
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Resident memory of a process now and at most so far, MB (Linux). */
export function memory(pid: number): { readonly rss_mb: number; readonly peak_mb: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const megabytes = (field: string): number =>
    Math.round(Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? NaN) / 1_000);
  return { rss_mb: megabytes('VmRSS'), peak_mb: megabytes('VmHWM') };
}

/** Process ids of the global and the zones of a mesh, by name. */
export function pidsOf(mesh: ProcessMesh): ReadonlyMap<string, number> {
  return new Map([['global', mesh.global.pid], ...[...mesh.zones].map(([name, { pid }]) => [name, pid] as const)]);
}

/** Memory of every process of a mesh. */
export function memoryOf(mesh: ProcessMesh): Readonly<Record<string, ReturnType<typeof memory>>> {
  return Object.fromEntries([...pidsOf(mesh)].map(([name, pid]) => [name, memory(pid)]));
}

/** Share of one core that each process takes during `ms`, in percent. */
export async function idleCpu(
  pids: ReadonlyMap<string, number>,
  ms: number,
): Promise<Readonly<Record<string, number>>> {
  const before = [...pids].map(([name, pid]) => ({ name, pid, seconds: cpuSeconds(pid) }));
  await new Promise((resolve) => setTimeout(resolve, ms));
  const percent = (seconds: number): number => Math.round((seconds / ms) * 1e7) / 100;
  return Object.fromEntries(before.map(({ name, pid, seconds }) => [name, percent(cpuSeconds(pid) - seconds)]));
}
