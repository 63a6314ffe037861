import { comparisonTable, compareRounds, readFigures } from '../../bench/support/comparison';

const line = (figures: object): string =>
  `a log line\n${JSON.stringify({ bench: 'throughput', load_before: 3, ...figures })}\n`;
const round = (before: object, after: object) => ({
  before: readFigures(line(before)),
  after: readFigures(line(after)),
});

describe('the comparison of two versions by a bench', () => {
  it('reads each number by its path, and not how busy the machine was', () => {
    const figures = readFigures(line({ seconds: 5, cpu: { west: 2, parts: [1, 3] }, fsync: true }));
    expect([...figures]).toEqual([
      ['seconds', 5],
      ['cpu.west', 2],
      ['cpu.parts.0', 1],
      ['cpu.parts.1', 3],
    ]);
  });

  it('tells several lines of one bench apart, and refuses none', () => {
    expect([...readFigures(line({ ms: 1 }) + line({ ms: 2 })).keys()]).toEqual(['1.ms', '2.ms']);
    expect(() => readFigures('no figures\n')).toThrow('printed no JSON line');
  });

  it('takes the median of the ratios of rounds, so that a round on a busy machine counts in both versions', () => {
    const [figure] = compareRounds([
      round({ ms: 10 }, { ms: 12 }),
      round({ ms: 100 }, { ms: 120 }),
      round({ ms: 10 }, { ms: 30 }),
    ]);
    expect(figure).toEqual({ name: 'ms', before: 10, after: 30, ratio: 1.2, spread: [1.2, 3] });
  });

  it('leaves out what a version lacks, and gives no ratio to nothing', () => {
    const compared = compareRounds([round({ ms: 0, gone: 1 }, { ms: 5, come: 1 })]);
    expect(compared).toEqual([{ name: 'ms', before: 0, after: 5, ratio: undefined, spread: undefined }]);
    expect(comparisonTable(compared)).toContain('| ms | 0 | 5 |  |  |');
  });
});
