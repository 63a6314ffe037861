import { Prng } from '../../simulation/engine/prng';
import { MishapCourse } from './mishap-course';
import type { Mishap } from './mishaps';

/** Far longer than a course that breaks off takes. */
const SECONDS = 600;

function mishap(name: string, more: Partial<Mishap> = {}): Mishap {
  return { name, targets: [{}], lasts: 0, begin: () => undefined, end: () => undefined, ...more };
}

function course(...mishaps: readonly Mishap[]): MishapCourse {
  let drawn = 0;
  return new MishapCourse(() => mishaps[drawn++] ?? mishap('idle'), new Prng(1));
}

/** Something to wait for, and how to let it happen. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('a course of mishaps', () => {
  it.each(['begin', 'end'] as const)('breaks off when one cannot %s, says which, and ends the others', async (step) => {
    const { opened, open } = gate();
    let ended = false;
    const other = mishap('other', { begin: () => opened, end: () => void (ended = true) });
    const failing = mishap('failing', {
      [step]: () => {
        open();
        throw new Error('no way');
      },
    });
    const broken = course(other, failing);
    await broken.run(SECONDS);
    expect(broken.failed).toEqual(['failing: no way']);
    expect(ended).toBe(true);
  });

  it('lets two happen at once only to different targets', async () => {
    const [one, another] = [{}, {}];
    const { opened, open } = gate();
    const last = mishap('last', {
      begin: () => {
        open();
        throw new Error('enough');
      },
    });
    const tried = course(
      mishap('first', { targets: [one], begin: () => opened }),
      mishap('both', { targets: [another, one] }),
      mishap('second', { targets: [another], begin: () => opened }),
      last,
    );
    await tried.run(SECONDS);
    expect(tried.counts).toEqual({ first: 1, second: 1, last: 1 });
  });
});
