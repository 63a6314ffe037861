import type { FreedAddress, JsonObject, Labels } from '@causeway/resources';
import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

const collate = { type: 'text', collation: 'C', primaryKeyConstraintName: 'resources_identity' } as const;

/** A row of the log: a living resource, or with `deleted_at` what is left of one. Instants are ms (orders: µs) since 1970. */
@Entity('resources')
@Index('resources_revision', ['revision'], { unique: true })
@Index('resources_vip', ['vip'], { unique: true, where: '((vip IS NOT NULL) AND (deleted_at IS NULL))' })
@Index('resources_tombstones', ['deleted_at'], { where: '(deleted_at IS NOT NULL)' })
@Check('resources_dead_hold_no_vip', 'deleted_at IS NULL OR vip IS NULL')
export class ResourceRow {
  @PrimaryColumn(collate) kind: string;
  @PrimaryColumn(collate) mesh: string;
  @PrimaryColumn(collate) zone: string;
  @PrimaryColumn(collate) namespace: string;
  @PrimaryColumn(collate) name: string;
  @Column('text') uid: string;
  @Column('jsonb') labels: Labels;
  @Column('jsonb') spec: JsonObject;
  @Column('jsonb', { nullable: true }) status: JsonObject | null;
  @Column('bigint') generation: number;
  @Column('bigint') creation_order: number;
  @Column('bigint') created_at: number;
  @Column('bigint') modified_at: number;
  @Column('bigint') revision: number;
  /** Null: made here, in whatever life this store has now. */
  @Column('text', { nullable: true, comment: 'NULL: made here, in whatever life this store has now' })
  origin_incarnation: string | null;
  @Column('bigint') origin_revision: number;
  @Column('bigint') origin_committed_at: number;
  /** Filled only by this control plane's own vip controller (design.md §2.6). */
  @Column('inet', { nullable: true }) vip: string | null;
  @Column('jsonb') freed: readonly FreedAddress[];
  @Column('bigint', { nullable: true }) grace_started_at: number | null;
  @Column('bigint', { nullable: true }) deleted_at: number | null;
}
