import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

/** The commands of a page that edit the file of a database URL. */
function edits(page: string): readonly string[] {
  const text = readFileSync(join(ROOT, 'docs', 'guides', page), 'utf8');
  return [...text.matchAll(/^\$ (sed -i .* database-url)$/gm)].map(([, command = '']) => command);
}

describe('the edits of database URLs in backup.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-url-edits-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['postgres://a:b@127.0.0.1:5432/causeway_east', 'postgres://a:b@127.0.0.1:5434/causeway_east_3'],
    [
      'postgres://a:b@127.0.0.1:5432/causeway_east?sslmode=verify-full&sslrootcert=/etc/causeway/postgres-ca.pem',
      'postgres://a:b@127.0.0.1:5434/causeway_east_3?sslmode=verify-full&sslrootcert=/etc/causeway/postgres-ca.pem',
    ],
  ])('change %s, and nothing else of it', (before, after) => {
    const commands = edits('backup.md');
    expect(commands).toHaveLength(5);
    writeFileSync(join(folder, 'database-url'), `${before}\n`);
    for (const command of commands) execFileSync('sh', ['-c', command], { cwd: folder });
    expect(readFileSync(join(folder, 'database-url'), 'utf8')).toBe(`${after}\n`);
  });
});
