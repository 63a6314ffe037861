import { ENVOY } from '../support/envoy-process';
import { fuzzSeed } from '../support/fuzz-seed';
import { disagreements } from '../support/route-agreement';
import { RoutedPlane } from '../support/routed-plane';

(ENVOY === undefined ? describe.skip : describe)('an explanation and a real Envoy', () => {
  let routed: RoutedPlane;

  beforeAll(async () => {
    routed = await RoutedPlane.start();
    await routed.mesh();
  });
  afterAll(() => routed.stop());

  it('agree about random requests with random routes', async () => {
    expect(await disagreements(routed, 10_000, fuzzSeed('routes'))).toEqual([]);
    expect(routed.plane.problems()).toEqual([]);
  });
});
