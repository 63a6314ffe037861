import { NETWORK, PREFIX, PROXY } from '../src/machine/agent-metrics';

/** Every metric of the agent itself, for its page (docs/reference/agent.md). */
export const AGENT_METRICS: readonly { readonly name: string; readonly help: string }[] = [...NETWORK, ...PROXY].map(
  ({ name, help }) => ({ name: PREFIX + name, help }),
);
