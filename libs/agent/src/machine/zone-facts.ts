import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { compileSchema, FieldPath, Violations } from '@causeway/resources';
import { Type, type Static } from 'typebox';
import { isRange } from '../config/read-config';

const Facts = Type.Object({
  virtualRanges: Type.Array(Type.String({ maxLength: 49 }), { maxItems: 64 }),
  dnsSuffixes: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: 64 }),
});

/** Facts that the zone has sent: the ranges of its virtual IPs, and the suffixes of its names. */
export type ZoneFacts = Static<typeof Facts>;

const FILE = 'zone.json';
/** Default suffixes of names, until the zone has sent its own. */
const SUFFIXES: readonly string[] = ['mesh.local'];
const schema = compileSchema(Facts);

/**
 * Facts that the zone sent last, kept in the state folder: a machine that starts without any control plane has them.
 */
export class KnownZone {
  private constructor(
    private readonly path: string,
    private known: ZoneFacts | undefined,
  ) {}

  /** A file that cannot be read counts as none. */
  static async open(folder: string): Promise<KnownZone> {
    const path = join(folder, FILE);
    const text = await readFile(path, 'utf8').catch(() => '');
    return new KnownZone(path, read(text));
  }

  get facts(): ZoneFacts | undefined {
    return this.known;
  }

  /** Names under these are the mesh's. */
  get suffixes(): readonly string[] {
    const sent = this.known?.dnsSuffixes ?? [];
    return sent.length > 0 ? sent : SUFFIXES;
  }

  /** Resolves with whether it is news. Rejects with what is wrong with it, or where it cannot be kept; what was known stays then. */
  async learn({ virtualRanges, dnsSuffixes }: ZoneFacts): Promise<boolean> {
    const facts = { virtualRanges, dnsSuffixes };
    if (isDeepStrictEqual(facts, this.known)) return false;
    const found = listProblems(facts);
    if (found.length > 0) throw new Error(`the zone tells what cannot be: ${found.join('; ')}`);
    const draft = `${this.path}.${process.pid}`;
    await writeFile(draft, JSON.stringify(facts), { mode: 0o600 });
    await rename(draft, this.path);
    this.known = facts;
    return true;
  }
}

function read(text: string): ZoneFacts | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return schema.fits(parsed) && listProblems(parsed).length === 0 ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Returns why facts are rejected: a zone cannot claim the addresses of half the internet. */
function listProblems(facts: ZoneFacts): readonly string[] {
  const found = new Violations();
  schema.check(facts, FieldPath.at(), found);
  const ranges = facts.virtualRanges.filter((range) => !isRange(range)).map((range) => `"${range}" is no range`);
  return [...found.first.map(({ field, reason }) => `${field} ${reason}`), ...ranges];
}
