import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

/** Executable Envoy. */
export interface EnvoyProgram {
  readonly path: string;
  /** For example `1.40.0`. */
  readonly version: string;
}

/** Settings that name the Envoy binary; the first one that is set counts. */
export interface EnvoyPlaces {
  /** `envoy.path` of the configuration. */
  readonly path?: string | undefined;
  /** CAUSEWAY_ENVOY. */
  readonly setting?: string | undefined;
  /** PATH of the environment. */
  readonly searched?: string | undefined;
}

export type FoundEnvoy =
  | { readonly ok: true; readonly program: EnvoyProgram }
  /** `isMissing`: no path was configured. */
  | { readonly ok: false; readonly isMissing: boolean; readonly reason: string };

/** Timeout for a program to print its version, ms. */
const VERSION_TIMEOUT = 10_000;
const run = promisify(execFile);

/** Finds Envoy and reads its version. Never rejects. */
export async function findEnvoy({ path, setting, searched = '' }: EnvoyPlaces): Promise<FoundEnvoy> {
  const configured = path ?? (setting === '' ? undefined : setting);
  if (configured !== undefined) return readVersion(configured);
  for (const folder of searched.split(':').filter((one) => isAbsolute(one))) {
    const candidate = join(folder, 'envoy');
    if (await isExecutable(candidate)) return readVersion(candidate);
  }
  return { ok: false, isMissing: true, reason: 'there is no Envoy on the PATH' };
}

async function readVersion(path: string): Promise<FoundEnvoy> {
  const refuse = (reason: string): FoundEnvoy => ({ ok: false, isMissing: false, reason: `${path}: ${reason}` });
  if (!(await isExecutable(path))) return refuse('there is no program that may be run');
  try {
    const { stdout } = await run(path, ['--version'], { timeout: VERSION_TIMEOUT, maxBuffer: 64 * 1024 });
    const version = /\/(\d+\.\d+\.\d+)[^/]*\//.exec(stdout)?.[1];
    return version === undefined
      ? refuse('it does not say a version of Envoy')
      : { ok: true, program: { path, version } };
  } catch (error) {
    return refuse(`it cannot be run: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`);
  }
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
