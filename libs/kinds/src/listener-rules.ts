import type { FieldPath, Violation } from '@causeway/resources';
import { hostAddress } from './address-rules';
import type { Listener, Networking } from './dataplane-spec';

/** Violations of a Dataplane's zone listeners: addresses, names and places that are used once (rest.md §3.7). */
export function checkListeners(networking: Networking, at: FieldPath): Violation[] {
  const { listeners = [], inbound = [], address } = networking;
  const names = new Set(inbound.map((item) => item.name || String(item.port)));
  const inboundPlaces = new Set(inbound.map((item) => socketOf(item.address ?? address, item.port)));
  const taken = new Map<string, Listener['type']>();
  return listeners.flatMap((listener, i) => {
    const place = socketOf(listener.address, listener.port);
    const violations = [
      ...hostAddress(listener.address, at.index(i).field('address')),
      ...checkSocket(listener, { inbound: inboundPlaces.has(place), other: taken.get(place) }, at.index(i)),
      ...(listener.name !== undefined && names.has(listener.name)
        ? [
            at
              .index(i)
              .field('name')
              .violation(`must be unique among inbounds and listeners; got "${listener.name}"`, 'not-unique'),
          ]
        : []),
    ];
    taken.set(place, listener.type);
    if (listener.name !== undefined) names.add(listener.name);
    return violations;
  });
}

function checkSocket(
  listener: Listener,
  users: { readonly inbound: boolean; readonly other: Listener['type'] | undefined },
  at: FieldPath,
): Violation[] {
  const place = socketOf(listener.address, listener.port);
  if (users.inbound) return [at.violation(`${place} is already used by an inbound`)];
  if (users.other === undefined) return [];
  if (users.other === listener.type) return [at.violation(`${place} is already used by another listener`)];
  return [at.violation(`${place} is already used by a listener of type ${users.other}`)];
}

function socketOf(address: string, port: number): string {
  return `${address}:${port}`;
}
