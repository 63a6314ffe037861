import { loadavg } from 'node:os';
import { FSYNC } from './services';

/** Before the bench itself loaded the machine. */
const LOAD_BEFORE = loadavg()[0] ?? 0;

/** Prints one JSON line, with the load average of the last minute before the bench began: what else the machine did. */
export function report(bench: string, figures: Readonly<Record<string, unknown>>): void {
  console.log(JSON.stringify({ bench, fsync: FSYNC, ...figures, load_before: Math.round(LOAD_BEFORE * 10) / 10 }));
}

/** A number from the environment. */
export function numberSetting(name: string, preset: number): number {
  const value = Number(process.env[name] ?? preset);
  if (!Number.isFinite(value) || value < 0) throw new Error(`${name}: must be a number; got "${process.env[name]}"`);
  return value;
}
