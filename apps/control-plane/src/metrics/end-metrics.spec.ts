import { createAuthority, createServerCertificate } from '@causeway/access/testing';
import { createMeshAuthority, meshAuthoritySecrets } from '@causeway/identity';
import type { Metric } from '@causeway/telemetry';
import { TestPlane } from '../../../../test/support/test-plane';
import { meshAuthorityMetric, serverCertificateMetrics, readValidity } from './end-metrics';

const DAY = 24 * 3_600_000;
const NOW = Math.floor(Date.now() / 1_000) * 1_000;
const seconds = (ms: number): number => ms / 1_000;

describe('when certificates end', () => {
  it('is when the first of a chain does', async () => {
    const old = await createAuthority(NOW - 3_600 * DAY);
    const { certificate } = await createServerCertificate(old, { names: ['localhost'], now: NOW });
    expect(readValidity(certificate)).toEqual({ start: NOW - DAY, end: NOW + 90 * DAY });
    expect(readValidity(`${certificate}\n${old.certificate}`)).toEqual({
      start: NOW - 3_601 * DAY,
      end: NOW + 50 * DAY,
    });
    expect(readValidity('none')).toBeUndefined();
  });

  it('is shown for each listener with TLS, by what it shows now', async () => {
    const authority = await createAuthority(NOW);
    let current = await createServerCertificate(authority, { names: ['localhost'], now: NOW - 60 * DAY });
    const certificates = { current: () => current, authority: () => authority.certificate };
    const listeners = [
      { name: 'REST', certificates: () => undefined },
      { name: 'KDS', certificates: () => certificates },
    ];
    const [start, end] = serverCertificateMetrics(() => listeners);
    const values = (metric: Metric | undefined): readonly unknown[] => [...(metric?.read() ?? [])];
    const labels = { listener: 'KDS' };
    expect([start?.name, end?.name]).toEqual(['server_certificate_start_seconds', 'server_certificate_end_seconds']);
    expect(values(start)).toEqual([{ labels, value: seconds(NOW - 61 * DAY) }]);
    expect(values(end)).toEqual([{ labels, value: seconds(NOW + 30 * DAY) }]);
    current = await createServerCertificate(authority, { names: ['localhost'], now: NOW });
    expect(values(end)).toEqual([{ labels, value: seconds(NOW + 90 * DAY) }]);
  });

  it('is shown for each authority of a mesh that can be read, and not for others', async () => {
    const plane = new TestPlane({ role: 'zone', zone: 'east', federated: true });
    const { certificate } = await createMeshAuthority('m1', NOW);
    const mtls = { enabledBackend: 'ca', backends: [{ name: 'ca', type: 'builtin' }] };
    const meshes = { m1: { mtls }, m2: { mtls }, m3: {} };
    for (const [name, spec] of Object.entries(meshes)) await plane.put('Mesh', name, spec);
    for (const [mesh, text] of Object.entries({ m1: certificate, m2: 'none' })) {
      const spec = { data: Buffer.from(text).toString('base64') };
      const { certificate: id } = meshAuthoritySecrets(mesh, 'ca');
      await plane.store.write({ changes: [{ type: 'put', id, expect: 'any', labels: {}, spec }], onRefusal: 'abort' });
      await plane.holds(id);
    }
    const metric = meshAuthorityMetric({ index: plane.index });
    const end = readValidity(certificate)?.end ?? 0;
    expect(end).toBeGreaterThan(NOW + 365 * DAY);
    for (const _ of [1, 2]) expect([...metric.read()]).toEqual([{ labels: { mesh: 'm1' }, value: seconds(end) }]);
    await plane.close();
  });
});
