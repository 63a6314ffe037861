/**
 * Writes libs/proto-gen/src/gen from proto/ with the plugins in node_modules; needs no network.
 * 1. A copy of protoc-gen-validate's proto that fits Envoy's protos: the packaged one lacks `ignore_empty`.
 * 2. buf with ts-proto.
 * 3. Files that nothing of ours imports (options, validation rules) are removed again.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const out = join(root, 'libs/proto-gen/src/gen');
const bin = join(root, 'node_modules/.bin');

writeValidateProto();
execFileSync(join(bin, 'buf'), ['generate'], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
});
removeUnreachable();

/** Field numbers of `ignore_empty` as in the current protoc-gen-validate. */
function writeValidateProto() {
  const rules = {
    FloatRules: 8,
    DoubleRules: 8,
    Int32Rules: 8,
    Int64Rules: 8,
    UInt32Rules: 8,
    UInt64Rules: 8,
    StringRules: 26,
    BytesRules: 14,
    RepeatedRules: 5,
    MapRules: 6,
  };
  let text = readFileSync(
    join(root, 'node_modules/@grpc/grpc-js-xds/deps/protoc-gen-validate/validate/validate.proto'),
    'utf8',
  );
  for (const [message, number] of Object.entries(rules)) {
    const start = text.indexOf(`message ${message} {`);
    const end = text.indexOf('\n}', start);
    if (start < 0 || text.slice(start, end).includes('ignore_empty')) continue;
    text = `${text.slice(0, end)}\n    optional bool ignore_empty = ${number};${text.slice(end)}`;
  }
  const dir = join(root, '.proto-deps/pgv/validate');
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'validate.proto'), text);
}

/** Keeps what is reachable by import from our own protos. */
function removeUnreachable() {
  const files = readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const own = files.filter((file) => /^(kuma|causeway)\//.test(relative(out, file)));
  const keep = new Set();
  const visit = (file) => {
    if (keep.has(file)) return;
    keep.add(file);
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/from "(\.[^"]+)"/g))
      visit(`${resolve(dirname(file), path)}.ts`);
  };
  own.forEach(visit);
  for (const file of files) if (!keep.has(file)) rmSync(file);
  removeEmptyFolders(out);
}

function removeEmptyFolders(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmptyFolders(join(dir, entry.name));
  }
  if (readdirSync(dir).length === 0) rmdirSync(dir);
}
