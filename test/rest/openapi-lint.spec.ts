import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isJsonObject, type JsonObject } from '@causeway/resources';
import { restFixture } from './rest-fixture';

const REPO = resolve(__dirname, '..', '..');

/** The rules of a document's findings under the recommended rules of redocly, each with the place. */
function findings(document: JsonObject): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-openapi-'));
  try {
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(document));
    const program = join(REPO, 'node_modules', '.bin', 'redocly');
    const { stdout, error } = spawnSync(
      program,
      ['lint', '--config', join(REPO, 'redocly.yaml'), '--format', 'json', file],
      {
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    );
    if (error) throw error;
    const report: unknown = JSON.parse(stdout);
    if (!isJsonObject(report) || !Array.isArray(report['problems'])) throw new Error('redocly gave no report');
    return report['problems'].filter(isJsonObject).map((problem) => {
      const [place] = Array.isArray(problem['location']) ? problem['location'].filter(isJsonObject) : [];
      return [problem['ruleId'], place?.['pointer']].filter((part) => typeof part === 'string').join(' ');
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('the OpenAPI document', () => {
  let document: JsonObject;
  beforeAll(async () => {
    const rest = await restFixture();
    document = (await rest.server.inject({ url: '/openapi.json' })).json();
    await rest.close();
  });

  it('passes the recommended rules of redocly', () => expect(findings(document)).toEqual([]));

  it('would not pass without its security', () => {
    const { security: _, paths, ...open } = document;
    // One path is enough, and is read in a moment.
    const one = isJsonObject(paths) && paths['/config'];
    if (!one) throw new Error('the document has no /config');
    expect(findings({ ...open, paths: { '/config': one } })).toContain('security-defined #/paths/~1config/get');
  });
});
