import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ProcessMesh } from '../../support/process-mesh';
import { until } from '../../support/until';
import { TranscriptShell } from './transcript-shell';
import {
  masked,
  readTranscripts,
  replaceTranscripts,
  type Step,
  type Transcript,
  TRANSCRIPT_PAGES,
} from './transcript';

const ROOT = join(__dirname, '..', '..', '..');
const UPDATE = process.env['UPDATE_GOLDEN'] === '1';

/** The pages whose transcripts run, each from top to bottom against a global and the zones east and west of its own. */

/** The servers of the quickstart, which the pages name. */
const SHOWN = { global: 'http://127.0.0.1:5681', east: 'http://127.0.0.1:6681', west: 'http://127.0.0.1:7681' };

/** Commands that change nothing: their output may take a moment to become what the page says. */
const LOOK =
  /^causeway (--context \S+ )?(get|describe|policies|scopes|impact|topology|instances|hostnames|explain|dig|vips|doctor|audit|diff|zones( -.*)?$|sync diff|auth|tokens list)/;

/** ms without a change after which an output counts as final when a page is written. */
const SETTLED = 2_000;

describe.each(TRANSCRIPT_PAGES)('the transcripts of %s', (path) => {
  const file = join(ROOT, path);
  const page = readFileSync(file, 'utf8');
  const transcripts = readTranscripts(page);
  const done: Transcript[] = [];
  let mesh: ProcessMesh;
  let shell: TranscriptShell;

  beforeAll(async () => {
    mesh = await ProcessMesh.start(['east', 'west']);
    const shown = Object.entries(SHOWN).map(([name, url]): [string, string] => [serverOf(name), url]);
    shell = new TranscriptShell(new Map([...shown, [hostname(), 'cp']]));
  });

  afterAll(async () => {
    if (UPDATE) writeFileSync(file, replaceTranscripts(page, done));
    await shell?.close();
    await mesh?.stop();
  });

  const serverOf = (name: string): string => (name === 'global' ? mesh.global : mesh.zone(name)).restUrl;

  /** What a command prints, asked again until it is as the page says or, when the page is written, stays as it is. */
  async function settled({ command, output }: Step, ask: () => Promise<string>): Promise<string> {
    let last = await ask();
    if (!UPDATE) {
      const same = async (): Promise<boolean> =>
        masked(last) === masked(output) || masked((last = await ask())) === masked(output);
      await until(command, same, 60_000).catch(() => undefined);
      return last;
    }
    for (let quiet = 0; quiet < SETTLED; quiet += 500) {
      await pause(500);
      const next = await ask();
      if (masked(next) !== masked(last)) quiet = 0;
      last = next;
    }
    return last;
  }

  async function outputOf(step: Step, where: string): Promise<string> {
    if (step.command === 'fg') {
      const output = await settled(step, async () => shell.foreground());
      await shell.interrupt();
      return output;
    }
    const ask = (): Promise<string> => shell.run(step.command, serverOf(where));
    if (step.command.endsWith(' &')) {
      await ask();
      await until('the job prints its head', () => shell.foreground() !== '');
      return '';
    }
    return LOOK.test(step.command) ? settled(step, ask) : ask();
  }

  test.each(transcripts)('line $line: $title', async (transcript) => {
    const steps: Step[] = [];
    for (const step of transcript.steps) {
      const output = await outputOf(step, transcript.where);
      const same = masked(output) === masked(step.output);
      steps.push({ ...step, output: same ? step.output : output });
    }
    done.push({ ...transcript, steps });
    const readable = (all: readonly Step[]): object[] =>
      all.map(({ command, output }) => ({ command, output: masked(output).split('\n') }));
    if (!UPDATE) expect(readable(steps)).toEqual(readable(transcript.steps));
  });
});
