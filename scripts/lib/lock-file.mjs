import { posix } from 'node:path';

const { join } = posix;

const SYSTEMS = [
  'darwin',
  'linux',
  'win32',
  'windows',
  'freebsd',
  'openbsd',
  'netbsd',
  'sunos',
  'aix',
  'android',
  'openharmony',
];
const SYSTEM_IN_NPM = { windows: 'win32' };
const PROCESSORS = [
  'arm64',
  'aarch64',
  'armv7',
  'arm',
  'x64',
  'ia32',
  'ppc64',
  'ppc',
  's390x',
  'riscv64',
  'loong64',
  'mips64el',
  'wasm32',
];
const PROCESSOR_IN_NPM = { aarch64: 'arm64', armv7: 'arm' };

/** Entries for the optional dependencies that a lock file (its `packages`) names and does not hold. */
export function missingPackages(packages) {
  const missing = {};
  for (const [path, entry] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      if (!isHeld(packages, path, name)) missing[`node_modules/${name}`] = platformEntry(name, range, entry.dev);
    }
  }
  return missing;
}

/** Returns the faults of a lock file, one line each. */
export function lockFindings(text) {
  const { packages } = JSON.parse(text);
  const findings = Object.keys(missingPackages(packages)).map(
    (path) => `${path} is missing: run node scripts/complete-lock.mjs`,
  );
  for (const [path, entry] of Object.entries(packages)) {
    if (entry.resolved) findings.push(`${path} is bound to one registry: ${entry.resolved}`);
  }
  return findings;
}

/** As Node resolves: in the nearest node_modules upwards. */
function isHeld(packages, path, name) {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    if (packages[join(folder, 'node_modules', name)]) return true;
    if (folder === '') return false;
  }
}

/** npm decides by `os` and `cpu` whether to install; both stand in the names of such packages. */
function platformEntry(name, range, dev) {
  const parts = name.split(/[-/]/);
  const system = SYSTEMS.find((each) => name.includes(each));
  const processor = PROCESSORS.find((each) => parts.some((part) => part.startsWith(each)));
  return {
    version: range.replace(/^[\^~]/, ''),
    ...(processor && { cpu: [PROCESSOR_IN_NPM[processor] ?? processor] }),
    ...(dev && { dev: true }),
    optional: true,
    // One without a system (WebAssembly) is for none: it must not be installed in place of a real one.
    os: system ? [SYSTEM_IN_NPM[system] ?? system] : ['none'],
  };
}
