import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import Schema from 'typebox/schema';
import { parse } from 'yaml';
import { describeWhere, describeWith, run, works } from '../dns/programs';

const ROOT = resolve(__dirname, '..', '..');
const COMPOSE_SCHEMA = process.env['COMPOSE_SCHEMA'] ?? '';
const HADOLINT = process.env['HADOLINT'] ?? 'hadolint';

describeWhere(
  'the schema of compose files',
  existsSync(COMPOSE_SCHEMA),
  'COMPOSE_SCHEMA=$(sh test/deploy/compose-schema.sh)',
)('docker-compose.yml', () => {
  const schema = existsSync(COMPOSE_SCHEMA) ? (JSON.parse(readFileSync(COMPOSE_SCHEMA, 'utf8')) as object) : {};
  const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
  const faultsOf = (yaml: string): readonly string[] => {
    const [, errors] = Schema.Errors(schema, parse(yaml, { merge: true }));
    return errors.map(({ instancePath }) => instancePath);
  };

  it('is what the specification of compose files allows', () => expect(faultsOf(text)).toEqual([]));

  it.each([
    ['an unknown key of a service', text.replace('init: true', 'inits: true')],
    ['a number where a list stands', text.replace('tmpfs: [/tmp, /data]', 'tmpfs: 1')],
    ['an unknown part of a health check', text.replace('retries: 30', 'tries: 30')],
  ])('is checked by it: %s', (_, broken) => {
    expect(broken).not.toBe(text);
    expect(faultsOf(broken)).not.toEqual([]);
  });
});

describeWith(
  'hadolint',
  works(HADOLINT, '--version'),
  'HADOLINT=$(sh test/deploy/install-hadolint.sh)',
)('hadolint', () => {
  it.each(['Dockerfile', 'deploy/agent.Dockerfile'])('finds no fault in %s', async (file) => {
    const { code, stdout } = await run(HADOLINT, ['--no-color', join(ROOT, file)]);
    expect([code, stdout]).toEqual([0, '']);
  });

  it('is one that finds faults', async () => {
    const { stdout } = await run(HADOLINT, ['--no-color', '-'], 'FROM debian:latest\nRUN sudo true\n');
    expect(stdout).toMatch(/DL3007[^]*DL3004/);
  });
});
