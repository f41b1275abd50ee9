import type { Connection, LeadershipEnd, TypedClient } from 'orch/client';
import { runController, runWithLeadership } from 'orch/client';
import { reconcileSite } from './reconcile-site';
import { Sites } from './site';

export interface Election {
  /** Unique among the candidates. */
  readonly identity: string;
  /** How long the others wait for a leader that is gone, in milliseconds; 15,000 if absent. */
  readonly leaseDurationMs?: number;
}

/** Waits until it is the leader, then reconciles all sites until the signal aborts or another process leads. */
export async function runOperator(
  client: TypedClient & Connection,
  { identity, leaseDurationMs = 15_000 }: Election,
  signal: AbortSignal,
): Promise<LeadershipEnd> {
  const election = {
    client: client.raw,
    lease: { namespace: 'site-system', name: 'site-operator' },
    identity,
    leaseDurationMs,
    renewDeadlineMs: (leaseDurationMs * 2) / 3,
    retryPeriodMs: leaseDurationMs / 8,
  };
  return runWithLeadership(election, async (leading) => reconcileSites(client, leading), signal);
}

async function reconcileSites(client: TypedClient & Connection, signal: AbortSignal): Promise<void> {
  await runController(
    {
      client,
      resource: Sites,
      owns: [client.core.v1.configmaps().resource, client.apps.v1.deployments().resource],
      reconcile: async (site) => {
        if (site !== undefined) await reconcileSite(client, site);
      },
    },
    signal,
  );
}
