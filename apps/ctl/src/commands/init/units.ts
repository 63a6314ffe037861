import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PlaneRole } from './plane-folder';

/** Folders of units that a package installs. */
const PACKAGED = ['/usr/lib/systemd/system', '/lib/systemd/system'];

/** A file of systemd, by its absolute path. */
interface SystemdFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Returns the files of systemd that run a plane: its unit, its user and the modes of its secrets, as they stand beside this program. None where
 * a package has installed them.
 */
export function listUnits(plane: PlaneRole, units: string): readonly SystemdFile[] {
  const unit = `causeway-${plane}.service`;
  if (PACKAGED.some((folder) => existsSync(join(folder, unit)))) return [];
  const deploy = findDeploy(__dirname);
  if (deploy === undefined) return [];
  const etc = dirname(dirname(units));
  const files: readonly (readonly [string, string])[] = [
    [join(units, unit), join(deploy, 'systemd', unit)],
    [join(etc, 'sysusers.d', 'causeway.conf'), join(deploy, 'sysusers.d', 'causeway.conf')],
    [join(etc, 'tmpfiles.d', 'causeway.conf'), join(deploy, 'tmpfiles.d', 'causeway.conf')],
  ];
  return files
    .filter(([, source]) => existsSync(source))
    .map(([path, source]) => ({ path, text: readFileSync(source, 'utf8') }));
}

/** Returns the folder `deploy` of the package, or of the sources, that this program is of. */
function findDeploy(folder: string): string | undefined {
  const deploy = join(folder, 'deploy');
  if (existsSync(join(deploy, 'systemd'))) return deploy;
  const above = dirname(folder);
  return above === folder ? undefined : findDeploy(above);
}
