import { systemClock } from '@causeway/runtime';
import type { EncodedResource } from '@causeway/xds-server';
import type { PlaneResources } from '../decoded-resources';
import { PlaneCore } from '../plane-core';
import { isPlaneCommand, type PlaneResponse, type PlaneCommand, type PlaneReport } from './plane-messages';

/** Resources of a dataplane, as received from the agent's process. */
class ReceivedResources implements PlaneResources {
  private readonly types = new Map<string, Map<string, EncodedResource>>();

  constructor(private readonly plane: number) {}

  put(resources: readonly EncodedResource[]): void {
    for (const resource of resources) this.getOrCreateType(resource.type).set(resource.name, resource);
  }

  remove(type: string, names: readonly string[]): void {
    for (const name of names) this.getOrCreateType(type).delete(name);
  }

  get(type: string, name: string): EncodedResource | undefined {
    return this.getOrCreateType(type).get(name);
  }

  names(type: string): Iterable<string> {
    return this.getOrCreateType(type).keys();
  }

  want(type: string, names: readonly string[]): void {
    for (const name of names) report({ report: 'needs', plane: this.plane, type, name, isNeeded: true });
  }

  release(type: string, names: readonly string[]): void {
    for (const name of names) report({ report: 'needs', plane: this.plane, type, name, isNeeded: false });
  }

  private getOrCreateType(type: string): Map<string, EncodedResource> {
    let found = this.types.get(type);
    if (!found) this.types.set(type, (found = new Map<string, EncodedResource>()));
    return found;
  }
}

interface OpenPlane {
  readonly resources: ReceivedResources;
  readonly core: PlaneCore;
}

const planes = new Map<number, OpenPlane>();

function report(message: PlaneReport): void {
  process.send?.(message);
}

async function applyCommand(order: PlaneCommand): Promise<PlaneResponse> {
  const { plane } = order;
  if (order.order === 'open') {
    const resources = new ReceivedResources(plane);
    planes.set(plane, { resources, core: new PlaneCore(resources, { clock: systemClock, ...order.limits }) });
    return {};
  }
  const open = planes.get(plane);
  if (!open) return {};
  const { resources, core } = open;
  switch (order.order) {
    case 'put':
      resources.put(order.resources);
      return {};
    case 'remove':
      resources.remove(order.type, order.names);
      return {};
    case 'start':
      return refused(await core.start());
    case 'take':
      return refused(await core.take(order));
    case 'describe':
      return { unsupported: await core.unsupported(), stats: await core.stats() };
    case 'stop':
      await core.stop(order.drainMs);
      planes.delete(plane);
      return {};
  }
}

function refused(refusal: string | undefined): PlaneResponse {
  return refusal === undefined ? {} : { refusal };
}

process.on('message', (message: unknown) => {
  if (!isPlaneCommand(message)) return;
  void applyCommand(message).then((response) => report({ report: 'done', id: message.id, response }));
});
// This process ends with the agent's process and ignores signals that are meant for it.
process.on('disconnect', () => process.exit(0));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
