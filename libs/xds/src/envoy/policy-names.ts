import { ruleKinds } from '../policies/effective-rules';
import type { PolicyChange } from '../policies/policy-source';
import { ChangedNames } from './changed-names';
import type { TrafficTables } from './traffic-tables';

/** Frontends whose names are told in one step. */
const AT_ONCE = 64;

/**
 * The names of the resources that other policies make others, some services at a time: the routes of their ports, the listeners of gRPC
 * channels to them. Linear in the rules of the change.
 */
export function* policyNames({ rules }: PolicyChange, tables: () => TrafficTables): Generator<ChangedNames> {
  const frontends = new Set(rules.flatMap(({ kind, frontend }) => (ruleKinds.has(kind) ? [frontend] : [])));
  let changed = new ChangedNames();
  let count = 0;
  for (const frontend of frontends) {
    const { model } = tables();
    for (const name of model.namesOfService(frontend)) changed.addPolicies(model.destination(name));
    count += 1;
    if (count % AT_ONCE > 0) continue;
    yield changed;
    changed = new ChangedNames();
  }
  if (count % AT_ONCE > 0) yield changed;
}
