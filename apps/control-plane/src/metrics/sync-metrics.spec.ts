import { FakeClock } from '@causeway/runtime/testing';
import type { KindReport } from '@causeway/kds';
import { MAX_SERIES, OTHERS, propagationHistogram, syncMetrics, type SyncReports } from './sync-metrics';

const NOW = 100_000;

const report = (kind: string, more: Partial<KindReport> = {}): KindReport => ({
  kind,
  direction: 'up',
  applied: 7,
  waiting: 0,
  held: 0,
  rejected: 0,
  rejections: [],
  ...more,
});

function read(name: string, reports: SyncReports): readonly unknown[] {
  const metric = syncMetrics(() => reports, new FakeClock(NOW)).find((one) => one.name === name);
  return [...(metric?.read() ?? [])];
}

describe('syncFigures', () => {
  const rejections = [{ wireKey: 'a.default', reason: 'no' }];
  const down = report('Mesh', { direction: 'down', offered: 9, acked: 8, waiting: 2, behindSince: NOW - 1_500 });
  const { applied: _, ...sent } = down;
  const reports: SyncReports = new Map([['east', [sent, report('MeshService', { held: 3, rejected: 5, rejections })]]]);
  const mesh = { zone: 'east', kind: 'Mesh', direction: 'down' };
  const service = { zone: 'east', kind: 'MeshService', direction: 'up' };

  it.each([
    ['sync_lag_seconds', 1.5, 0],
    ['sync_waiting', 2, 0],
    ['sync_rejected', 0, 1],
    ['sync_held', 0, 3],
  ])('%s', (name, ofMesh, ofService) => {
    expect(read(name, reports)).toEqual([
      { labels: mesh, value: ofMesh },
      { labels: service, value: ofService },
    ]);
  });

  it('shows revisions only where they are known', () => {
    expect(read('sync_offered_revision', reports)).toEqual([{ labels: mesh, value: 9 }]);
    expect(read('sync_acked_revision', reports)).toEqual([{ labels: mesh, value: 8 }]);
    expect(read('sync_applied_revision', reports)).toEqual([{ labels: service, value: 7 }]);
  });

  it('has a bounded number of series: the others are one series with the worst value', () => {
    const zones = Array.from({ length: MAX_SERIES + 3 }, (_one, i) => `zone-${String(i).padStart(5, '0')}`);
    const many = zones.map((zone, i): [string, KindReport[]] => [
      zone,
      [report('Mesh', { applied: 50 + i, waiting: 1, behindSince: NOW - i * 1_000 })],
    ]);
    const others = { zone: OTHERS, kind: OTHERS, direction: 'up' };
    const all: SyncReports = new Map(many.reverse());
    const lag = read('sync_lag_seconds', all);
    expect(lag).toHaveLength(MAX_SERIES + 1);
    expect(lag[0]).toEqual({ labels: { zone: 'zone-00000', kind: 'Mesh', direction: 'up' }, value: 0 });
    expect(lag.at(-1)).toEqual({ labels: others, value: MAX_SERIES + 2 });
    expect(read('sync_waiting', all).at(-1)).toEqual({ labels: others, value: 3 });
    expect(read('sync_applied_revision', all).at(-1)).toEqual({ labels: others, value: 50 + MAX_SERIES });
  });
});

describe('propagationHistogram', () => {
  it('has a bucket for what is promised (docs/design.md §8)', async () => {
    const propagation = propagationHistogram();
    propagation.observe({ kind: 'MeshService' }, 0.015);
    const { values } = await propagation.metric.get();
    const bucket = (le: number | string): unknown => values.find(({ labels }) => labels.le === le)?.value;
    expect([0.01, 0.02, 0.1, 1, '+Inf'].map(bucket)).toEqual([0, 1, 1, 1, 1]);
  });
});
