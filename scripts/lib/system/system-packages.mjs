import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { laySystem } from './system-tree.mjs';

const UNITS = ['causeway-global', 'causeway-zone', 'causeway-agent'].map((name) => `${name}.service`).join(' ');

/**
 * Scripts of both packages, for /bin/sh. Nothing is started, stopped or restarted by an installation or an upgrade: the order in which
 * programs are restarted is the operator's (docs/guides/upgrade.md). A removal ends what runs.
 */
const SCRIPTS = {
  installed: `if command -v systemd-sysusers >/dev/null 2>&1; then systemd-sysusers causeway.conf; fi
if command -v systemd-tmpfiles >/dev/null 2>&1; then systemd-tmpfiles --create causeway.conf || :; fi
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
`,
  removing: `if [ -d /run/systemd/system ]; then systemctl --quiet disable --now ${UNITS} || :; fi
`,
  removed: `if [ -d /run/systemd/system ]; then systemctl daemon-reload || :; fi
`,
};

const HEAD = '#!/bin/sh\nset -e\n';
const NODE = '20.19';
const SUMMARY = 'multizone service mesh: control planes, agent and command line';

/** Builds the packages that are asked for into a folder, of one tree, and returns their paths: `{deb, rpm}`. */
export function buildPackages(root, folder, kinds) {
  const work = mkdtempSync(join(tmpdir(), 'causeway-system-'));
  try {
    const tree = join(work, 'tree');
    const version = laySystem(root, tree);
    mkdirSync(folder, { recursive: true });
    const made = { root, work, tree, version, folder };
    return {
      ...(kinds.includes('deb') && { deb: buildDeb(made) }),
      ...(kinds.includes('rpm') && { rpm: buildRpm(made) }),
    };
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** By Debian's dpkg-deb. Files belong to root whoever builds. */
function buildDeb({ work, tree, version, folder }) {
  const deb = join(work, 'deb');
  cpSync(tree, deb, { recursive: true, verbatimSymlinks: true });
  const control = join(deb, 'DEBIAN');
  mkdirSync(control, { mode: 0o755 });
  const size = Number(execFileSync('du', ['-sk', tree], { encoding: 'utf8' }).split('\t')[0]);
  const fields = {
    Package: 'causeway',
    Version: version,
    Architecture: 'all',
    Section: 'net',
    Priority: 'optional',
    Maintainer: 'The Causeway authors <root@localhost>',
    'Installed-Size': size,
    Depends: `nodejs (>= ${NODE}), systemd`,
    Recommends: 'nftables, iproute2, systemd-resolved, libnss-resolve',
    Suggests: 'postgresql',
    Description: `${SUMMARY}\n The programs causeway-global, causeway-zone, causeway-agent and causeway, bundled, with their units.`,
  };
  writeFileSync(
    join(control, 'control'),
    Object.entries(fields)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join(''),
  );
  const scripts = {
    postinst: `if [ "$1" = configure ]; then\n${SCRIPTS.installed}fi\n`,
    prerm: `if [ "$1" = remove ]; then\n${SCRIPTS.removing}fi\n`,
    postrm: SCRIPTS.removed,
  };
  for (const [name, text] of Object.entries(scripts)) writeFileSync(join(control, name), HEAD + text, { mode: 0o755 });
  const file = join(folder, `causeway_${version}_all.deb`);
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', deb, file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return file;
}

/** By rpmbuild, of the same tree: it compiles nothing and looks for no dependencies. */
function buildRpm({ root, work, tree, version, folder }) {
  const { license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const top = join(work, 'rpm');
  const spec = join(work, 'causeway.spec');
  writeFileSync(
    spec,
    `Name: causeway
Version: ${version}
Release: 1
Summary: ${SUMMARY}
License: ${license}
BuildArch: noarch
AutoReqProv: no
Requires: nodejs >= ${NODE}, systemd
Recommends: nftables, iproute, systemd-resolved

%description
The programs causeway-global, causeway-zone, causeway-agent and causeway, bundled, with their units.

%install
mkdir -p %{buildroot}
cp -a ${tree}/. %{buildroot}/

%post
${SCRIPTS.installed}
%preun
if [ "$1" = 0 ]; then
${SCRIPTS.removing}fi

%postun
${SCRIPTS.removed}
%files
%defattr(-,root,root,-)
${filesOf(tree).join('\n')}
`,
  );
  const macros = {
    _topdir: top,
    // Nothing is stripped, compressed or checked again: the tree is as it is.
    __os_install_post: '%{nil}',
    debug_package: '%{nil}',
    _build_id_links: 'none',
    use_source_date_epoch_as_buildtime: '1',
    _binary_payload: 'w6.xzdio',
    _buildhost: 'causeway',
  };
  const defined = Object.entries(macros).flatMap(([name, value]) => ['--define', `${name} ${value}`]);
  execFileSync('rpmbuild', ['-bb', '--quiet', ...defined, spec], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [built = ''] = readdirSync(join(top, 'RPMS', 'noarch'));
  const file = join(folder, built);
  cpSync(join(top, 'RPMS', 'noarch', built), file);
  return file;
}

/** Folders of its own and files, as a spec lists them; folders of the system belong to others. */
function filesOf(tree) {
  return [
    '%dir /etc/causeway',
    '/usr/lib/causeway',
    '/usr/share/causeway',
    '/usr/share/doc/causeway',
    ...[
      'usr/bin',
      'usr/lib/systemd',
      'usr/lib/sysusers.d',
      'usr/lib/tmpfiles.d',
      'usr/share/man',
      'usr/share/bash-completion',
      'usr/share/zsh',
      'usr/share/fish',
    ].flatMap((folder) => listFiles(tree, folder)),
  ];
}

function listFiles(tree, folder) {
  try {
    return readdirSync(join(tree, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(tree.length));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}
