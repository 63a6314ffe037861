import { namingInsights } from '@causeway/control-plane';
import { HostnameExplainer } from '@causeway/controllers';
import type { ControlPlane } from '@causeway/resources';
import { restFixture, ZONE_EAST, type RestFixture } from './rest-fixture';

/** A fixture that explains hostnames and lists the names of a dry run, as a control plane does. */
export async function namingFixture(cp: ControlPlane = ZONE_EAST): Promise<RestFixture> {
  // The fixture takes the insights before there is an index to look into.
  const view: { explainer?: HostnameExplainer } = {};
  const fixture = await restFixture({
    cp,
    insights: {
      consequences: async (draft) => view.explainer && namingInsights({ cp }, view.explainer).consequences?.(draft),
    },
  });
  const explainer = new HostnameExplainer(fixture.index, cp);
  view.explainer = explainer;
  const close = async (): Promise<void> => {
    explainer.close();
    await fixture.close();
  };
  return { ...fixture, close };
}
