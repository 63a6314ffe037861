import { namingInsights } from '@causeway/control-plane/testing';
import { HostnameExplainer, type Insights } from '@causeway/queries';
import type { ControlPlane } from '@causeway/resources';
import { restFixture, ZONE_EAST, type FixtureOptions, type RestFixture } from './rest-fixture';

/** A fixture that explains and lists hostnames, those of a dry run too, as a control plane does. */
export async function namingFixture(
  cp: ControlPlane = ZONE_EAST,
  { insights = {}, ...options }: Omit<FixtureOptions, 'cp'> = {},
): Promise<RestFixture> {
  // The fixture takes the insights before there is an index.
  const view: { naming?: Required<Pick<Insights, 'explainHostname' | 'hostnames' | 'consequences'>> } = {};
  const naming = (): NonNullable<typeof view.naming> => {
    if (!view.naming) throw new Error('the fixture is not there yet');
    return view.naming;
  };
  const fixture = await restFixture({
    ...options,
    cp,
    insights: {
      explainHostname: (question, signal) => naming().explainHostname(question, signal),
      hostnames: (mesh, part, signal) => naming().hostnames(mesh, part, signal),
      consequences: (draft, signal) => naming().consequences(draft, signal),
      ...insights,
    },
  });
  const explainer = new HostnameExplainer(fixture.index, cp);
  view.naming = namingInsights({ cp }, explainer);
  const close = async (): Promise<void> => {
    explainer.close();
    await fixture.close();
  };
  return { ...fixture, close };
}
