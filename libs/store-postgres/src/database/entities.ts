import type { FreedAddress, JsonObject, Labels } from '@causeway/resources';
import type { LeaderWitness } from '@causeway/runtime';
import type { AuditInterface, AuditResult, AgentFinding } from '@causeway/store';
import { Check, Column, Entity, Index, JoinColumn, OneToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

/*
 * The TypeORM entities of the tables; migrations/ creates the tables, and schema.spec.ts checks that both are equal. Columns keep the database's
 * names where rows are read by statements, and have ours where a repository reads them.
 */

const identityPart = { type: 'text', collation: 'C', primaryKeyConstraintName: 'resources_identity' } as const;

/**
 * A row of the log: a living resource, or a tombstone where `deleted_at` is set. Instants are ms since 1970, creation
 * orders µs.
 */
@Entity('resources')
@Index('resources_revision', ['revision'], { unique: true })
@Index('resources_vip', ['vip'], { unique: true, where: '((vip IS NOT NULL) AND (deleted_at IS NULL))' })
@Index('resources_tombstones', ['deleted_at'], { where: '(deleted_at IS NOT NULL)' })
@Check('resources_dead_hold_no_vip', 'deleted_at IS NULL OR vip IS NULL')
export class ResourceRow {
  @PrimaryColumn(identityPart) kind: string;
  @PrimaryColumn(identityPart) mesh: string;
  @PrimaryColumn(identityPart) zone: string;
  @PrimaryColumn(identityPart) namespace: string;
  @PrimaryColumn(identityPart) name: string;
  @Column('text') uid: string;
  @Column('jsonb') labels: Labels;
  @Column('jsonb') spec: JsonObject;
  @Column('jsonb', { nullable: true }) status: JsonObject | null;
  @Column('bigint') generation: number;
  @Column('bigint') creation_order: number;
  @Column('bigint') created_at: number;
  @Column('bigint') modified_at: number;
  @Column('bigint') revision: number;
  /** Null: made here, in the current incarnation of this store. */
  @Column('text', { nullable: true, comment: 'NULL: made here, in whatever incarnation this store has now' })
  origin_incarnation: string | null;
  @Column('bigint') origin_revision: number;
  @Column('bigint') origin_committed_at: number;
  /** Set only by this control plane's own VIP loop (docs/design.md §2.6). */
  @Column('inet', { nullable: true }) vip: string | null;
  @Column('jsonb') freed: readonly FreedAddress[];
  @Column('bigint', { nullable: true }) grace_started_at: number | null;
  @Column('bigint', { nullable: true }) deleted_at: number | null;
  /** The trace of the last change of spec or labels, where one was sampled. */
  @Column('text', { nullable: true }) traceparent: string | null;
}

/** The head of the log. */
@Entity('store_head', { comment: 'one row, locked by every write: it orders the commits' })
@Check('store_head_one_check', 'one')
export class StoreHeadRow {
  @PrimaryColumn('boolean', { default: true, primaryKeyConstraintName: 'store_head_pkey' }) one: boolean;
  @Column('text') incarnation: string;
  @Column('bigint') revision: number;
  @Column('bigint') floor: number;
  @Column('bigint') creation_order: number;
  @Column('text', { comment: 'system identifier, timeline and database that this incarnation began on' })
  server: string;
  @Column('bigint', { comment: 'the table that this incarnation began in: a restored row names that of the backup' })
  relation: number;
  /** Zone of the newest creation order. */
  @Column('text', { default: '' }) newest_zone: string;
  @Column('bigint', { default: 0, comment: 'the newest creation order of what is not of newest_zone' })
  others_order: number;
}

/** The epoch and its holder. */
@Entity('leader', {
  comment: 'changes only at a take-over, and where the lock counts again; every fenced write holds it FOR SHARE',
})
@Check('leader_one_check', 'one')
@Check('leader_witness', `witness IN ('lock', 'lease')`)
export class LeaderRow {
  @PrimaryColumn('boolean', { default: true, primaryKeyConstraintName: 'leader_pkey' }) one: boolean;
  @Column('bigint') epoch: number;
  @Column('text') holder: string;
  @Column('text', {
    default: 'lock',
    comment: 'lock: the lock in Redis, where a replica has one; lease: the lease in Postgres alone',
  })
  witness: LeaderWitness;
}

/** The lease beside the epoch. */
@Entity('leader_lease')
@Check('leader_lease_one_check', 'one')
class LeaderLeaseRow {
  @PrimaryColumn('boolean', { default: true, primaryKeyConstraintName: 'leader_lease_pkey' }) one: boolean;
  @Column('bigint') epoch: number;
  @Column('text') holder: string;
  @Column('timestamptz') expires_at: Date;
}

/** A zone's session on the global. */
@Entity('zone_sessions')
export class ZoneSessionRow {
  @PrimaryColumn('text', { collation: 'C', primaryKeyConstraintName: 'zone_sessions_pkey' }) zone: string;
  @Column('text', { name: 'store_id' }) storeId: string;
  @Column('text') incarnation: string;
  @Column('bigint') epoch: number;
  @Column('text') instance: string;
  @Column('bigint') up: number;
  @Column('bigint') down: number;
  @Column('bigint', { name: 'opened_at' }) openedAt: number;
  @Column('bigint', {
    name: 'whole_order',
    nullable: true,
    comment: 'the last moment at which the whole state of the zone was held, but for the kinds of whole_except',
  })
  wholeOrder: number | null;
  @Column('jsonb', { name: 'whole_except', nullable: true }) wholeExcept: JsonObject | null;
}

/** The largest session number that was forgotten. */
@Entity('session_floor', {
  comment: 'one row: the largest number of a session that was forgotten; no number is given twice',
})
@Check('session_floor_one_check', 'one')
class SessionFloorRow {
  @PrimaryColumn('boolean', { default: true, primaryKeyConstraintName: 'session_floor_pkey' }) one: boolean;
  @Column('bigint') number: number;
}

const metadataKey = { type: 'text', collation: 'C', primaryKeyConstraintName: 'notes_pkey' } as const;

/** A fact beside the log. */
@Entity('notes')
export class NoteRow {
  @PrimaryColumn(metadataKey) area: string;
  @PrimaryColumn(metadataKey) key: string;
  @Column('jsonb') value: JsonObject;
}

/** The key of the resume points that this store issued. */
@Entity('point_key', { comment: 'one row: the key of the MACs on resume points; made once, kept through restores' })
@Check('point_key_one_check', 'one')
export class PointKeyRow {
  @PrimaryColumn('boolean', { default: true, primaryKeyConstraintName: 'point_key_pkey' }) one: boolean;
  @Column('text') key: string;
}

const ofIdentity = { type: 'text', collation: 'C' } as const;

/** An entry of the audit log. */
@Entity('audit')
@Index('audit_resource', ['kind', 'mesh', 'name', 'at', 'number'])
@Index('audit_actor', ['actor', 'at', 'number'])
@Index('audit_refused', ['at', 'number'], { where: "(result = 'refused'::text)" })
export class AuditRow {
  /** µs since 1970. */
  @PrimaryColumn('bigint', { primaryKeyConstraintName: 'audit_order' }) at: number;
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'audit_order',
  })
  number: number;
  @Column(ofIdentity) actor: string;
  @Column('jsonb') groups: readonly string[];
  @Column('text') recognized_by: string;
  @Column('text', { nullable: true }) token_id: string | null;
  @Column('text') address: string;
  @Column('text') via: AuditInterface;
  @Column('text') user_agent: string;
  @Column('text') verb: string;
  @Column(ofIdentity) kind: string;
  @Column(ofIdentity) mesh: string;
  @Column(ofIdentity) zone: string;
  @Column(ofIdentity) namespace: string;
  @Column(ofIdentity) name: string;
  @Column('text') activity: string;
  @Column('text') result: AuditResult;
  @Column('text') reason: string;
  /** Null: the write created the resource, or the entry does not belong to a write. */
  @Column('bigint', { nullable: true }) generation_before: number | null;
  @Column('bigint', { nullable: true }) generation_after: number | null;
  @Column('bigint', { nullable: true }) revision: number | null;
  @Column('text', { nullable: true }) request_id: string | null;
  @Column('text', { nullable: true }) trace_id: string | null;
}

/** A replica that serves proxies. */
@Entity('proxy_replicas')
class ProxyReplicaRow {
  @PrimaryColumn('text', { collation: 'C', primaryKeyConstraintName: 'proxy_replicas_pkey' }) instance: string;
  @Column('bigint') version: number;
  @Column('text') incarnation: string;
  @Column('bigint') revision: number;
  @Column('boolean') ended: boolean;
  @Column('bigint') seen_at: number;
}

const proxyKey = { type: 'text', collation: 'C', primaryKeyConstraintName: 'proxy_sessions_pkey' } as const;

/** A proxy that a replica serves or served. */
@Entity('proxy_sessions')
@Index('proxy_sessions_version', ['instance', 'version'])
class ProxySessionRow {
  @PrimaryColumn(proxyKey) instance: string;
  @PrimaryColumn(proxyKey) proxy: string;
  @Column('bigint') version: number;
  @Column('boolean') connected: boolean;
  @Column('bigint') changed_at: number;
  @Column('jsonb') facts: JsonObject;
}

const leaseKey = { type: 'text', collation: 'C', primaryKeyConstraintName: 'agent_leases_pkey' } as const;

/** The lease of an agent on a Dataplane. */
@Entity('agent_leases')
@Index('agent_leases_changed_at', ['changed_at'])
export class AgentLeaseRow {
  @PrimaryColumn(leaseKey) mesh: string;
  @PrimaryColumn(leaseKey) name: string;
  @PrimaryColumn(leaseKey) namespace: string;
  @Column('text') instance: string;
  @Column('text') run: string;
  @Column('bigint') started_at: number;
  @Column('text') machine: string;
  @Column('text') address: string;
  @Column('text') session: string;
  @Column('bigint') since: number;
  @Column('bigint') expires_at: number;
  @Column('jsonb') health: readonly AgentFinding[];
  @Column('bigint') changed_at: number;
}

/** The secret of the agent that holds a lease. */
@Entity('agent_lease_secrets')
class AgentLeaseSecretRow {
  @PrimaryColumn({ ...leaseKey, primaryKeyConstraintName: 'agent_lease_secrets_pkey' }) mesh: string;
  @PrimaryColumn({ ...leaseKey, primaryKeyConstraintName: 'agent_lease_secrets_pkey' }) name: string;
  @PrimaryColumn({ ...leaseKey, primaryKeyConstraintName: 'agent_lease_secrets_pkey' }) namespace: string;
  @Column('text') instance: string;
  @Column('text') secret_hash: string;
  @OneToOne(() => AgentLeaseRow, { onDelete: 'CASCADE' })
  @JoinColumn([
    { name: 'mesh', referencedColumnName: 'mesh', foreignKeyConstraintName: 'agent_lease_secrets_lease' },
    { name: 'name', referencedColumnName: 'name', foreignKeyConstraintName: 'agent_lease_secrets_lease' },
    { name: 'namespace', referencedColumnName: 'namespace', foreignKeyConstraintName: 'agent_lease_secrets_lease' },
  ])
  lease: AgentLeaseRow;
}

/** Every table of a store. */
export const storeEntities = [
  ResourceRow,
  StoreHeadRow,
  LeaderRow,
  LeaderLeaseRow,
  ZoneSessionRow,
  SessionFloorRow,
  NoteRow,
  PointKeyRow,
  AuditRow,
  ProxyReplicaRow,
  ProxySessionRow,
  AgentLeaseRow,
  AgentLeaseSecretRow,
];
