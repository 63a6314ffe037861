import { AccessPolicy, localAdmin } from '@causeway/access';
import { Admission } from '@causeway/admission';
import { parseYaml } from '@causeway/yaml';
import { createZoneReconcilers } from '@causeway/controllers';
import { HostnameExplainer } from '@causeway/queries';
import { coreKinds } from '@causeway/kinds';
import { describeIdentity, type ControlPlane, type Resource } from '@causeway/resources';
import { EAST, LoopHarness, remove, type Replica } from '../support/loop-harness';
import type { PageBlock } from './page-examples';
import { meshesOf } from '../support/meshes';

const RANGES = { MeshService: '241.0.0.0/8', MeshExternalService: '242.0.0.0/8', MeshMultiZoneService: '243.0.0.0/8' };
const PLANES: Record<string, ControlPlane> = {
  global: { role: 'global' },
  east: EAST,
  west: { role: 'zone', zone: 'west', federated: true },
};

interface ShownAddress {
  readonly hostname?: string;
  readonly status: string;
  readonly reason?: string;
}

/**
 * Zone east with its control loops, in which the blocks of a page are carried out. `yaml PLACE` makes resources in
 * east, in west or on the global; `delete` names identities; `ranges` starts anew with other ranges; `wait` lets
 * seconds pass; `expect` shows services; `explain NAME` shows an explanation; `refused` must be refused with the text of
 * the `reason` behind it.
 */
export class NamingExample {
  private readonly harness = new LoopHarness();
  private replica: Replica = this.harness.replica();
  private refusal = '';

  async start(ranges: Record<string, string> = RANGES): Promise<undefined> {
    this.replica = this.harness.replica(`replica-${this.harness.revision}`);
    await this.replica.lead(createZoneReconcilers({ cp: EAST, ranges }));
    return this.make('type: Mesh\nname: default', 'global');
  }

  stop(): Promise<void> {
    return this.harness.stop();
  }

  /** Runs one block; returns its output, or undefined if it has none. */
  async run({ language, argument, text }: PageBlock): Promise<string | undefined> {
    switch (language) {
      case 'yaml':
        return this.make(text, argument);
      case 'ranges':
        return this.start(Object.fromEntries(text.split('\n').map((line): string[] => line.split(/: */))));
      case 'delete':
        return this.delete(text);
      case 'wait':
        return this.wait(Number(text.replace(/ *s$/, '')));
      case 'refused':
        this.refusal = await this.make(text, argument).then(
          () => 'it was taken',
          (error: unknown) => String(error),
        );
        return undefined;
      case 'reason':
        return this.refusal.includes(text.trim()) ? text : this.refusal;
      case 'expect':
        return this.show(text);
      case 'explain':
        return this.explain(argument);
      default:
        throw new Error(`a block of "${language}" says nothing here`);
    }
  }

  private async make(text: string, place: string): Promise<undefined> {
    const controlPlane = PLANES[place];
    if (!controlPlane) throw new Error(`no place "${place}"`);
    const { replica, harness } = this;
    const admission = new Admission({
      registry: coreKinds,
      store: replica.store,
      index: replica.index,
      meshes: meshesOf(replica.index),
      clock: harness.clock,
      controlPlane,
      access: new AccessPolicy({ registry: coreKinds, index: replica.index, cp: controlPlane }),
    });
    await replica.caughtUp();
    for (const { value } of parseYaml(text)) {
      const { id, labels, spec } = await admission.put({ body: value, context: { caller: localAdmin }, dryRun: true });
      const origin = place === 'east' ? 'zone' : 'global';
      await harness.write({ type: 'put', id, expect: 'any', labels: { ...labels, 'kuma.io/origin': origin }, spec });
    }
    await replica.settle();
    return undefined;
  }

  private async delete(text: string): Promise<undefined> {
    for (const line of text.split('\n')) await this.harness.write(remove((await this.called(line)).id));
    await this.replica.settle();
    return undefined;
  }

  private async wait(seconds: number): Promise<undefined> {
    this.harness.clock.advance(seconds * 1000);
    await this.replica.settle();
    return undefined;
  }

  /** Returns the present state of the services that `wanted` names at the beginning of its lines; with addresses if `wanted` shows one. */
  private async show(wanted: string): Promise<string> {
    const services = wanted.split('\n').filter((line) => /^\S/.test(line));
    const shown: string[] = [];
    for (const line of services) {
      const { id, status } = await this.called(line);
      const vip = (status?.['vip'] as { readonly ip: string } | undefined)?.ip ?? 'no address';
      const asked = wanted.slice(wanted.indexOf(line) + line.length + 1).split(/\n(?=\S)/)[0] ?? '';
      const addresses = JSON.parse(JSON.stringify(status?.['addresses'] ?? [])) as readonly ShownAddress[];
      shown.push(describeIdentity(id), ...(/^ +(\d|no address)/m.test(asked) ? [vip] : []));
      shown.push(...addresses.map(({ hostname = '-', status: is, reason }) => `${hostname} ${is} ${reason ?? ''}`));
    }
    return shown.join('\n');
  }

  private async explain(hostname: string): Promise<string> {
    await this.replica.caughtUp();
    const explainer = new HostnameExplainer(this.replica.index, EAST);
    const { claims, hints } = await explainer.explain({ mesh: 'default', hostname }, new AbortController().signal);
    explainer.close();
    const lines = claims.flatMap(({ rank, service, generator, status, reason, change }) => [
      `${rank} ${describeIdentity(service)} by ${generator.name} ${status}`,
      ...(reason === undefined ? [] : [reason]),
      ...(change === undefined ? [] : [change]),
    ]);
    return [...lines, ...hints].join('\n');
  }

  private async called(line: string): Promise<Resource> {
    await this.replica.caughtUp();
    const kind = line.split(' ')[0] ?? '';
    for (const each of this.replica.index.ofKind(kind)) if (describeIdentity(each.id) === line.trim()) return each;
    throw new Error(`there is no ${line}`);
  }
}
