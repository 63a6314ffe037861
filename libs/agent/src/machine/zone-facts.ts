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
const DEFAULT_SUFFIXES: readonly string[] = ['mesh.local'];
const schema = compileSchema(Facts);

/** Facts that the zone sent last, kept in the state folder for starts without a control plane. */
export class KnownZone {
  private constructor(
    private readonly path: string,
    private known: ZoneFacts | undefined,
  ) {}

  /** An unreadable file is treated as missing. */
  static async open(folder: string): Promise<KnownZone> {
    const path = join(folder, FILE);
    const text = await readFile(path, 'utf8').catch(() => '');
    return new KnownZone(path, parseFacts(text));
  }

  get facts(): ZoneFacts | undefined {
    return this.known;
  }

  /** Suffixes of the mesh's names. */
  get suffixes(): readonly string[] {
    const sent = this.known?.dnsSuffixes ?? [];
    return sent.length > 0 ? sent : DEFAULT_SUFFIXES;
  }

  /** Stores facts; resolves with whether they changed. Rejects if they are invalid or cannot be stored. */
  async update({ virtualRanges, dnsSuffixes }: ZoneFacts): Promise<boolean> {
    const facts = { virtualRanges, dnsSuffixes };
    if (isDeepStrictEqual(facts, this.known)) return false;
    const found = listProblems(facts);
    if (found.length > 0) throw new Error(`the zone sent invalid settings: ${found.join('; ')}`);
    const draft = `${this.path}.${process.pid}`;
    await writeFile(draft, JSON.stringify(facts), { mode: 0o600 });
    await rename(draft, this.path);
    this.known = facts;
    return true;
  }
}

function parseFacts(text: string): ZoneFacts | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return schema.fits(parsed) && listProblems(parsed).length === 0 ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Returns why facts are rejected, for instance a range as large as half the internet. */
function listProblems(facts: ZoneFacts): readonly string[] {
  const found = new Violations();
  schema.check(facts, FieldPath.at(), found);
  const ranges = facts.virtualRanges.filter((range) => !isRange(range)).map((range) => `"${range}" is no range`);
  return [...found.first.map(({ field, reason }) => `${field} ${reason}`), ...ranges];
}
