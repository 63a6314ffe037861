import { readDataplaneMode, type ProxyDirectory } from '@causeway/controllers';
import type { AccessFacts } from '@causeway/queries';
import { identityKey } from '@causeway/resources';
import { idsOfDataplane, evaluateInstances } from '@causeway/xds-translation';
import type { XdsPort } from '@causeway/agent-service';

const KERNEL =
  'the plane direct of its machine leaves connections to the kernel: callers that need an identity are refused';

/** Returns the access rules of this zone that proxies get, and whether each proxy sees requests. */
export function accessFacts(
  { resources }: Pick<XdsPort, 'resources'>,
  proxies: Pick<ProxyDirectory, 'ofOwner'>,
): AccessFacts {
  return {
    idsOf: (dataplane) => (resources.loader.hasLoaded ? idsOfDataplane(resources.model, dataplane) : undefined),
    instancesOf: (of) => {
      const instances = resources.loader.hasLoaded ? evaluateInstances(resources.model, of) : 'pending';
      if (instances === 'pending') return instances;
      return instances.map(({ dataplane, isHttp, ...instance }) => {
        const proxy = proxies.ofOwner(identityKey(dataplane));
        const mode = proxy ? readDataplaneMode(proxy.facts) : 'envoy';
        const unjudged = mode === 'direct' ? { unjudged: KERNEL } : {};
        return { ...instance, seesRequests: isHttp && mode !== 'builtin', ...unjudged };
      });
    },
  };
}
