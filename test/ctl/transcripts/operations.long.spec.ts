import { describeWithPostgresPrograms } from '../../support/installed-postgres';
import { describeWithRedis } from '../../support/redis';
import { OperationsWorld } from './operations-world';
import { OPERATION_PAGES } from './transcript';
import { TranscriptPage } from './transcript-page';

describeWithPostgresPrograms('the transcripts of the pages about operations', () =>
  describeWithRedis('with a Redis', () => {
    const pages = OPERATION_PAGES.map((path) => ({ path, page: new TranscriptPage(path) }));
    let world: OperationsWorld;

    beforeAll(async () => void (world = await OperationsWorld.start()));
    afterAll(async () => {
      for (const { page } of pages) page.save();
      await world?.close();
    });

    describe.each(pages)('$path', ({ page }) => {
      test.each(page.transcripts)('line $line: $title', async (transcript) => {
        const { printed, said } = await page.run(transcript, world);
        expect(printed).toEqual(said);
      });
    });
  }),
);
