import { createHistogram, createMetrics, MAX_SERIES } from './metrics';

describe('createMetrics', () => {
  it('reads metrics when they are scraped', async () => {
    let zones = ['east', 'west'];
    const read = (): { labels: { zone: string }; value: number }[] =>
      zones.map((zone) => ({ labels: { zone }, value: 1 }));
    const metrics = createMetrics([{ name: 'connected', help: 'h', labels: ['zone'], read }]);
    expect(await metrics.getSingleMetricAsString('causeway_connected')).toContain('causeway_connected{zone="west"} 1');
    zones = ['east'];
    const text = await metrics.getSingleMetricAsString('causeway_connected');
    expect([text.includes('east'), text.includes('west')]).toEqual([true, false]);
  });

  it('exposes histograms with the observed values', async () => {
    const waits = createHistogram({ name: 'wait_seconds', help: 'h', labels: ['kind'], bounds: [0.1, 1] });
    const metrics = createMetrics([], [waits]);
    for (const value of [0.05, 0.5, 5]) waits.observe({ kind: 'Mesh' }, value);
    expect((await metrics.getSingleMetricAsString('causeway_wait_seconds')).split('\n')).toEqual([
      '# HELP causeway_wait_seconds h',
      '# TYPE causeway_wait_seconds histogram',
      'causeway_wait_seconds_bucket{le="0.1",kind="Mesh"} 1',
      'causeway_wait_seconds_bucket{le="1",kind="Mesh"} 2',
      'causeway_wait_seconds_bucket{le="+Inf",kind="Mesh"} 3',
      'causeway_wait_seconds_sum{kind="Mesh"} 5.55',
      'causeway_wait_seconds_count{kind="Mesh"} 3',
    ]);
  });

  it('tells counters, gauges and histograms apart', async () => {
    const parts = [
      { suffix: '_bucket', labels: { le: '+Inf' }, value: 2 },
      { suffix: '_sum', value: 3 },
    ];
    const metrics = createMetrics([
      { name: 'changes_total', help: 'h', read: () => [{ value: 1 }] },
      { name: 'took_seconds', type: 'histogram', help: 'h', read: () => [...parts, { suffix: '_count', value: 2 }] },
    ]);
    expect(await metrics.getSingleMetricAsString('causeway_changes_total')).toContain('causeway_changes_total counter');
    expect((await metrics.getSingleMetricAsString('causeway_took_seconds')).split('\n').slice(1)).toEqual([
      '# TYPE causeway_took_seconds histogram',
      'causeway_took_seconds_bucket{le="+Inf"} 2',
      'causeway_took_seconds_sum 3',
      'causeway_took_seconds_count 2',
    ]);
  });

  it('shows a bounded number of series of one metric', async () => {
    const read = (): { labels: { mesh: string }; value: number }[] =>
      Array.from({ length: MAX_SERIES + 5 }, (_one, i) => ({ labels: { mesh: `m${i}` }, value: 1 }));
    const metrics = createMetrics([{ name: 'pool', help: 'h', labels: ['mesh'], read }]);
    const lines = (await metrics.getSingleMetricAsString('causeway_pool')).split('\n');
    expect(lines.filter((line) => line.startsWith('causeway_pool{'))).toHaveLength(MAX_SERIES);
  });
});
