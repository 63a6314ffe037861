import { hostname } from 'node:os';
import { ProcessMesh } from '../../support/process-mesh';
import { TranscriptPage, type TranscriptWorld } from './transcript-page';
import { TranscriptShell, type ShellOptions } from './transcript-shell';

/** The servers of the quickstart, which the pages name. */
const SHOWN = { global: 'http://127.0.0.1:5681', east: 'http://127.0.0.1:6681', west: 'http://127.0.0.1:7681' };

/** Runs the transcripts of a page from top to bottom against a global and the zones east and west of its own. */
export function describeTranscripts(path: string, options: ShellOptions = {}): void {
  describe(`the transcripts of ${path}`, () => {
    const page = new TranscriptPage(path);
    let mesh: ProcessMesh;
    let world: TranscriptWorld;

    beforeAll(async () => {
      mesh = await ProcessMesh.start(['east', 'west']);
      const serverOf = (name: string): string => (name === 'global' ? mesh.global : mesh.zone(name)).restUrl;
      const shown = Object.entries(SHOWN).map(([name, url]): [string, string] => [serverOf(name), url]);
      world = { shell: new TranscriptShell(new Map([...shown, [hostname(), 'cp']]), options), serverOf };
    });

    afterAll(async () => {
      page.save();
      await world?.shell.close();
      await mesh?.stop();
    });

    test.each(page.transcripts)('line $line: $title', async (transcript) => {
      const { printed, said } = await page.run(transcript, world);
      expect(printed).toEqual(said);
    });
  });
}
