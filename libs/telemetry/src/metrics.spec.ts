import { createHistogram, createMetrics } from './metrics';

describe('createMetrics', () => {
  it('reads metrics when they are scraped', async () => {
    let zones = ['east', 'west'];
    const read = (): { labels: { zone: string }; value: number }[] =>
      zones.map((zone) => ({ labels: { zone }, value: 1 }));
    const metrics = createMetrics([{ name: 'connected', help: 'h', labels: ['zone'], read }]);
    expect(await metrics.getSingleMetricAsString('connected')).toContain('connected{zone="west"} 1');
    zones = ['east'];
    const text = await metrics.getSingleMetricAsString('connected');
    expect([text.includes('east'), text.includes('west')]).toEqual([true, false]);
  });

  it('exposes histograms with the observed values', async () => {
    const waits = createHistogram({ name: 'wait_seconds', help: 'h', labels: ['kind'], bounds: [0.1, 1] });
    const metrics = createMetrics([], [waits]);
    for (const value of [0.05, 0.5, 5]) waits.observe({ kind: 'Mesh' }, value);
    expect((await metrics.getSingleMetricAsString('wait_seconds')).split('\n')).toEqual([
      '# HELP wait_seconds h',
      '# TYPE wait_seconds histogram',
      'wait_seconds_bucket{le="0.1",kind="Mesh"} 1',
      'wait_seconds_bucket{le="1",kind="Mesh"} 2',
      'wait_seconds_bucket{le="+Inf",kind="Mesh"} 3',
      'wait_seconds_sum{kind="Mesh"} 5.55',
      'wait_seconds_count{kind="Mesh"} 3',
    ]);
  });
});
