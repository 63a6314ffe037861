import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { COMMANDS, layPackage } from '../package-tree.mjs';
import { makeManPages } from './man-pages.mjs';

/** Where the programs lie; the commands in /usr/bin lead there. */
const HOME = 'usr/lib/causeway';

/** Folders of the sources that a system reads, and where; those that are not there are left out. */
const READ_BY_SYSTEMD = ['sysusers.d', 'tmpfiles.d'].map((name) => [name, `usr/lib/${name}`]);
const PLACES = [
  ['systemd', 'usr/lib/systemd/system'],
  ...READ_BY_SYSTEMD,
  ['prometheus', 'usr/share/causeway/prometheus'],
  ['grafana', 'usr/share/causeway/grafana'],
];

/** Where each shell looks for completion. */
const COMPLETION = {
  bash: 'usr/share/bash-completion/completions/causeway',
  zsh: 'usr/share/zsh/site-functions/_causeway',
  fish: 'usr/share/fish/vendor_completions.d/causeway.fish',
};

/**
 * Lays the files of a .deb or an .rpm into `folder`, anew, as they stand below `/`: the tree of `npm run package`, the commands, units, users,
 * completion, pages of the manual, alert rules and dashboards. Returns the version.
 */
export function laySystem(root, folder) {
  rmSync(folder, { recursive: true, force: true });
  const home = join(folder, HOME);
  mkdirSync(home, { recursive: true });
  const { version } = layPackage(root, home);
  // Units, rules and dashboards lie where the system reads them.
  rmSync(join(home, 'deploy'), { recursive: true });
  mkdirSync(join(folder, 'usr/bin'), { recursive: true });
  for (const command of Object.keys(COMMANDS))
    symlinkSync(`../lib/causeway/bin/${command}`, join(folder, 'usr/bin', command));
  for (const [from, to] of PLACES)
    if (existsSync(join(root, 'deploy', from)))
      cpSync(join(root, 'deploy', from), join(folder, to), { recursive: true, filter: isShipped });
  cpSync(join(root, 'deploy', 'schemas'), join(folder, 'usr/share/causeway/schemas'), { recursive: true });
  layCompletion(home, folder);
  for (const { name, section, text } of makeManPages(home, version))
    lay(join(folder, `usr/share/man/man${section}/${name}.${section}.gz`), gzipSync(text, { level: 9 }));
  for (const file of ['LICENSE', 'README.md']) {
    cpSync(join(home, file), lay(join(folder, 'usr/share/doc/causeway', file === 'LICENSE' ? 'copyright' : file), ''));
    rmSync(join(home, file));
  }
  mkdirSync(join(folder, 'etc/causeway'), { recursive: true });
  setModes(folder);
  return version;
}

/** Tests of alert rules stay with the sources. */
function isShipped(file) {
  return !file.endsWith('.test.yaml');
}

function layCompletion(home, folder) {
  for (const [shell, path] of Object.entries(COMPLETION)) {
    const script = execFileSync(process.execPath, [join(home, 'bin/causeway'), 'completion', shell], {
      encoding: 'utf8',
    });
    lay(join(folder, path), script);
  }
}

function lay(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** Modes do not depend on the umask of who builds. */
function setModes(folder) {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    else if (entry.isFile()) chmodSync(path, path.includes(`/${HOME}/bin/`) ? 0o755 : 0o644);
  }
}
