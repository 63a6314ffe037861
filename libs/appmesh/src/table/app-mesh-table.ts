import {
  ChangeCollector,
  dnsNameProblem,
  frontendOfVirtualService,
  identityKey,
  isLabelValue,
  type Condition,
  type Identity,
  type ResourceKey,
} from '@causeway/resources';
import type { NodeBinding } from '../binding';
import { compileRouter } from '../compile/compile-router';
import { compileService, type Provider } from '../compile/compile-service';
import type { Generated } from '../compile/generated';
import type { Member, VirtualSource } from '../model';
import { isCovered, type Unnamed } from '../name-suffixes';
import { resolveRef } from '../names';
import { Members } from './members';
import { toSourceRef, SourceIndex, type SourceRef, type Row } from './sources';
import {
  getCompiledNode,
  evaluateConditions,
  formatList,
  MEMBERSHIP_CONFLICT,
  findRefusal,
  resolve,
} from './evaluate-row';

/** Keys that a change may affect: compiled sources and their conditions, and Dataplanes whose nodes may differ. */
export interface AppMeshChanges {
  readonly sources: ReadonlySet<ResourceKey>;
  readonly members: ReadonlySet<ResourceKey>;
}

/** Result of compiling a node, a router or a service. */
export interface Compiled {
  readonly awsName: string;
  /** The MeshService in each zone; absent for routers and sources that are not accepted. That of a global's node exists in zones with members only. */
  readonly service?: Generated;
  /** Routes and policies, only where the source was created. */
  readonly rules: readonly Generated[];
  readonly conditions: readonly Condition[];
  /** Reason why a service gets no hostname; absent if it may have its name at App Mesh. */
  readonly unnamed?: Unnamed;
  /** Number of Dataplanes that a node selects. */
  readonly members: number;
}

interface CollectedChanges {
  readonly sources: Set<ResourceKey>;
  readonly members: Set<ResourceKey>;
}

const newMarks = (): CollectedChanges => ({ sources: new Set(), members: new Set() });

/**
 * All nodes, routers, services and Dataplanes of a control plane. Incremental: a change marks the affected rows, which
 * are compiled when they are read. The state depends only on the current resources, never on their order of arrival.
 */
export class AppMeshTable {
  private readonly sources = new SourceIndex();
  private readonly memberTable = new Members();
  private readonly compiled = new Map<string, Compiled>();
  private readonly suffixes = new Map<string, ReadonlySet<string>>();
  private readonly changes = new ChangeCollector<CollectedChanges, AppMeshChanges>(newMarks, newMarks());

  /** Applies several changes as one. Nothing may be read before it returns. */
  batch(changes: () => void): AppMeshChanges {
    return this.change(changes);
  }

  /** Adds or replaces a node, a router or a service. */
  put(source: VirtualSource): AppMeshChanges {
    return this.change((marks) => {
      const key = identityKey(source.id);
      const before = this.sources.get(key);
      if (before) this.mark(before, marks, false);
      const row = this.sources.put(source);
      this.mark(row, marks, !before);
      if (source.kind === 'VirtualNode') {
        this.markMembers(this.memberTable.putNode(source), marks);
        if (!haveSameBackends(before, row))
          for (const member of this.memberTable.selectedBy(key)) marks.members.add(member);
      }
    });
  }

  /** Removes a node, a router or a service. */
  remove(id: Identity): AppMeshChanges {
    return this.change((marks) => {
      const key = identityKey(id);
      const row = this.sources.get(key);
      if (!row) return;
      this.mark(row, marks, true);
      this.sources.remove(key);
      this.markMembers(this.memberTable.removeNode(key), marks);
    });
  }

  /** Sets the suffixes under which a mesh's services have their names at App Mesh as hostnames; none unless called. */
  setSuffixes(mesh: string, suffixes: ReadonlySet<string>): AppMeshChanges {
    return this.change(({ sources }) => {
      this.suffixes.set(mesh, suffixes);
      for (const { key, source } of this.sources.all())
        if (source.kind === 'VirtualService' && source.id.mesh === mesh) sources.add(key);
    });
  }

  /** Adds or replaces a Dataplane. */
  putMember(member: Member): AppMeshChanges {
    return this.change((marks) => {
      marks.members.add(identityKey(member.id));
      for (const node of this.memberTable.putMember(member)) marks.sources.add(node);
    });
  }

  removeMember(id: Identity): AppMeshChanges {
    return this.change((marks) => {
      marks.members.add(identityKey(id));
      for (const node of this.memberTable.removeMember(identityKey(id))) marks.sources.add(node);
    });
  }

  /** Returns the keys of all nodes, routers and services. */
  *keys(): Generator<ResourceKey> {
    for (const { key } of this.sources.all()) yield key;
  }

  /** Returns the compiled source; undefined if there is none. Cached until a change affects it. */
  compile(key: string): Compiled | undefined {
    const known = this.compiled.get(key);
    const row = this.sources.get(key);
    if (known || !row) return known;
    const made = this.compileRow(row);
    this.compiled.set(key, made);
    return made;
  }

  /** Returns the nodes that select this version of a Dataplane, which need not be in the table. */
  nodesSelecting(member: Member): readonly Identity[] {
    return this.memberTable.nodesSelecting(member);
  }

  /** Returns the node of a Dataplane and the backends that it may call; undefined if it belongs to no node and may call everything. */
  binding(id: Identity): NodeBinding | undefined {
    const node = this.memberTable.findNode(identityKey(id));
    if (!node) return undefined;
    const backends = (node.spec.backends ?? []).map(({ virtualService }) => {
      const { namespace, name } = resolveRef(node.id, virtualService.virtualServiceRef);
      return { namespace, name: frontendOfVirtualService(name) };
    });
    return { namespace: node.id.namespace, name: node.id.name, backends };
  }

  private change(work: (marks: CollectedChanges) => void): AppMeshChanges {
    return this.changes.collect(work, (marks) => {
      for (const key of marks.sources) this.compiled.delete(key);
      return marks;
    });
  }

  /**
   * Marks a source, its rivals for the name, and the referrers of any of them, because these decide whether they are accepted. If
   * the source was added or removed, also marks the referrers of its referrers: the acceptance of those may change (T003-12).
   */
  private mark(row: Row, { sources }: CollectedChanges, comesOrGoes: boolean): void {
    for (const rival of this.sources.rivals(row)) {
      sources.add(rival.key);
      for (const first of this.sources.referringTo(toSourceRef(rival))) {
        sources.add(first.key);
        if (!comesOrGoes || rival !== row) continue;
        for (const second of this.sources.referringTo(toSourceRef(first))) sources.add(second.key);
      }
    }
  }

  private markMembers(keys: readonly ResourceKey[], marks: CollectedChanges): void {
    for (const key of keys) {
      marks.members.add(key);
      for (const node of this.memberTable.selecting(key)) marks.sources.add(node);
    }
  }

  private compileRow(row: Row): Compiled {
    const { source, awsName } = row;
    const conflict = this.findConflict(row);
    const conditions = [...evaluateConditions(row, this.sources), ...(conflict ? [conflict] : [])];
    const members = source.kind === 'VirtualNode' ? this.memberTable.selectedBy(row.key).size : 0;
    const common = { awsName, conditions, members };
    if (source.kind === 'VirtualRouter' || findRefusal(row, this.sources)) return { ...common, rules: [] };
    if (source.kind === 'VirtualNode') {
      const { service, policies } = getCompiledNode(row, source.spec);
      return { ...common, service, rules: policies };
    }
    const unnamed = this.unnamed(source.id, awsName);
    const compiled = compileService(source.id, unnamed === undefined ? awsName : undefined, this.resolveProvider(row));
    return { ...common, ...compiled, ...(unnamed === undefined ? {} : { unnamed }) };
  }

  private unnamed({ mesh, namespace }: Identity, awsName: string): Unnamed | undefined {
    if (!isLabelValue(awsName) || dnsNameProblem(awsName) !== undefined) return 'NotADnsName';
    return isCovered(this.suffixes.get(mesh) ?? NONE, awsName, namespace) ? undefined : 'OutsideSuffixes';
  }

  private resolveProvider(row: Row): Provider {
    const [ref] = row.refs;
    const found = ref && resolve(row, ref, this.sources);
    if (!found?.ok) return { type: 'none' };
    const { source } = found.row;
    if (source.kind === 'VirtualNode') return { type: 'node', id: source.id, spec: source.spec };
    if (source.kind === 'VirtualRouter') return { type: 'router', id: source.id, router: compileRouter(source.spec) };
    return { type: 'none' };
  }

  private findConflict({ key, source: { kind, generation } }: Row): Condition | undefined {
    if (kind !== 'VirtualNode') return undefined;
    const shared = [...this.memberTable.selectedBy(key)].filter(
      (member) => this.memberTable.selecting(member).size > 1,
    );
    if (shared.length === 0) return undefined;
    const names = shared.sort().map((member) => member.slice(member.lastIndexOf('/') + 1));
    const message = `other VirtualNodes select these Dataplanes too: ${formatList(names)}`;
    const reason = 'SelectorsOverlap';
    return { type: MEMBERSHIP_CONFLICT, status: 'True', reason, message, observedGeneration: generation };
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Whether two versions of a node allow their Dataplanes the same calls. */
function haveSameBackends(a: Row | undefined, b: Row): boolean {
  const [before, after] = [a?.refs ?? [], b.refs];
  return before.length === after.length && before.every((ref, i) => namesSame(ref, after[i]));
}

const namesSame = (a: SourceRef, b: SourceRef | undefined): boolean =>
  a.namespace === b?.namespace && a.name === b.name;

/** Returns why a Dataplane selected by these nodes is refused; undefined if it is selected once at most (T003-32). */
export function membershipConflict({ namespace, name }: Identity, nodes: readonly Identity[]): string | undefined {
  if (nodes.length < 2) return undefined;
  const names = nodes.map((node) => `${node.namespace}/${node.name}`).sort();
  return `found multiple matching VirtualNodes for Dataplane ${namespace}/${name}: ${names.join(',')}`;
}
