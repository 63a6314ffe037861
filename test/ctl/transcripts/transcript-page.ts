import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../support/until';
import { masked, readTranscripts, replaceTranscripts, type Step, type Transcript } from './transcript';
import type { TranscriptShell } from './transcript-shell';

const ROOT = join(__dirname, '..', '..', '..');
const UPDATE = process.env['UPDATE_GOLDEN'] === '1';

/** Commands that change nothing: their output may take a moment to become that of the page. */
const LOOK =
  /^(causeway (--context \S+ )?(get|describe|policies|scopes|impact|topology|instances|hostnames|explain|dig|vips|doctor|audit|diff|zones( -.*)?$|sync diff|auth|tokens list)|causeway-agent status|curl|dig|psql .*-Atc .*(pg_stat_|pg_is_in))/i;

/** ms without a change after which an output counts as final when a page is written. */
const SETTLED = 2_000;

/** ms after which an output that goes on changing is written as it is. */
const UNSETTLED = 30_000;

/** Environment in which the commands of a page run. */
export interface TranscriptWorld {
  readonly shell: TranscriptShell;
  /** The address of the REST interface of a control plane. */
  serverOf(name: string): string;
  /** Does what a command of the machine does; undefined for all that the shell does. */
  perform?(command: string): Promise<string> | undefined;
}

/** A page whose transcripts are run from top to bottom. With UPDATE_GOLDEN=1 the page is written instead of compared. */
export class TranscriptPage {
  readonly transcripts: readonly Transcript[];
  private readonly file: string;
  private readonly page: string;
  private readonly done: Transcript[] = [];

  constructor(path: string) {
    this.file = join(ROOT, path);
    this.page = readFileSync(this.file, 'utf8');
    this.transcripts = readTranscripts(this.page);
  }

  /** Runs one; its output and that of the page are masked, so that they can be compared. */
  async run(
    transcript: Transcript,
    world: TranscriptWorld,
  ): Promise<{ readonly printed: object; readonly said: object }> {
    const steps: Step[] = [];
    for (const step of transcript.steps) {
      const output = await outputOf(step, transcript.where, world);
      const same = masked(output) === masked(step.output);
      steps.push({ ...step, output: same ? step.output : output });
    }
    this.done.push({ ...transcript, steps });
    const printed = readable(steps);
    return { printed, said: UPDATE ? printed : readable(transcript.steps) };
  }

  /** Writes the output into the page, if the page is to be written. */
  save(): void {
    if (UPDATE) writeFileSync(this.file, replaceTranscripts(this.page, this.done));
  }
}

function readable(steps: readonly Step[]): object {
  return steps.map(({ command, output }) => ({ command, output: masked(output).split('\n') }));
}

/** Repeats a command until its output is as on the page or, while the page is written, stays the same. Returns the last output. */
async function settled({ command, output }: Step, ask: () => Promise<string>): Promise<string> {
  let last = await ask();
  if (!UPDATE) {
    const same = async (): Promise<boolean> =>
      masked(last) === masked(output) || masked((last = await ask())) === masked(output);
    await until(command, same).catch(() => undefined);
    return last;
  }
  const end = Date.now() + UNSETTLED;
  for (let quiet = 0; quiet < SETTLED && Date.now() < end; quiet += 500) {
    await pause(500);
    const next = await ask();
    if (masked(next) !== masked(last)) quiet = 0;
    last = next;
  }
  return last;
}

async function outputOf(step: Step, where: string, world: TranscriptWorld): Promise<string> {
  const { shell } = world;
  const { command } = step;
  if (command === 'fg') {
    const output = await settled(step, async () => shell.foreground());
    await shell.interrupt();
    return output;
  }
  const performed = world.perform?.(command);
  if (performed) return performed;
  const ask = (): Promise<string> => shell.run(command, world.serverOf(where));
  if (command.endsWith(' &')) {
    await ask();
    await until('the job prints its head', () => shell.foreground() !== '');
    return '';
  }
  return LOOK.test(command) ? settled(step, ask) : ask();
}
