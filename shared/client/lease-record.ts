import { RESOURCE } from '../api/resource-names';
import type { Lease, LeaseSpec } from '../api/types/coordination-v1';
import { apiVersionOf } from '../object/object';

export interface LeaseRef {
  readonly namespace: string;
  readonly name: string;
}

interface Claim {
  readonly identity: string;
  readonly leaseDurationMs: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** Returns the Lease to create when there is none. */
export function newLease({ namespace, name }: LeaseRef, claim: Claim): Lease {
  return {
    apiVersion: apiVersionOf(RESOURCE.leases),
    kind: 'Lease',
    metadata: { namespace, name },
    spec: { ...heldBy(claim), acquireTime: microTime(claim.nowMs), leaseTransitions: 0 },
  };
}

/** Returns the Lease renewed by its holder, or taken over from another. */
export function claimedLease(lease: Lease, claim: Claim): Lease {
  const { holderIdentity, acquireTime, leaseTransitions } = lease.spec;
  const isRenewal = holderIdentity === claim.identity;
  return {
    ...lease,
    spec: {
      ...lease.spec,
      ...heldBy(claim),
      acquireTime: isRenewal ? (acquireTime ?? microTime(claim.nowMs)) : microTime(claim.nowMs),
      leaseTransitions: (leaseTransitions ?? 0) + (isRenewal ? 0 : 1),
    },
  };
}

/** Returns the released Lease: any candidate may take it at once. */
export function releasedLease(lease: Lease, nowMs: number): Lease {
  const time = microTime(nowMs);
  const released = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: time, acquireTime: time };
  return { ...lease, spec: { ...lease.spec, ...released } };
}

function heldBy({ identity, leaseDurationMs, nowMs }: Claim): LeaseSpec {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
    renewTime: microTime(nowMs),
  };
}

/** meta/v1 MicroTime. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
