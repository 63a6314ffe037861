/**
 * Which control plane this is. `federated` says whether a zone has a global above it: a zone by itself may write
 * what otherwise only the global does (design.md §1 table).
 */
export type ControlPlane =
  { readonly role: 'global' } | { readonly role: 'zone'; readonly zone: string; readonly federated: boolean };

/** The zone part of what is made on this control plane: its own name, or empty on the global. */
export function ownZone(cp: ControlPlane): string {
  return cp.role === 'zone' ? cp.zone : '';
}
