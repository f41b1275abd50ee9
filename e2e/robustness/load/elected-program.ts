/**
 * A program that is a candidate of the election of controller-managers, with a short lease. While it leads, it writes one object
 * repeatedly. `elected.ts` reads its output.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ConfigMap } from '../../../shared/api/types/core-v1';
import { createClient } from '../../../shared/client/client';
import { loadKubeconfig } from '../../../shared/client/kubeconfig';
import { runWithLeadership } from '../../../shared/client/leader-election';
import { MEDIA_TYPE } from '../../../shared/names';
import type { LeaderNote, LeaderNoteKind } from '../record/operation';

const [candidate = '', kubeconfig = '', namespace = ''] = process.argv.slice(2);
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' } as const;
const TIMINGS = { leaseDurationMs: 4_000, renewDeadlineMs: 2_500, retryPeriodMs: 500 };
const WRITE_PAUSE_MS = 50;
const WRITE_TIMEOUT_MS = 1_000;

const client = createClient(loadKubeconfig({ path: kubeconfig }).client);

async function main(): Promise<void> {
  for (let term = 0; ; term++) {
    await runWithLeadership(
      { client, lease: { namespace, name: 'robustness' }, identity: candidate, ...TIMINGS },
      async (signal) => lead(`${candidate} ${String(term)}`, signal),
      new AbortController().signal,
    ).catch((error: unknown) => {
      console.error(error);
    });
  }
}

async function lead(term: string, signal: AbortSignal): Promise<void> {
  tell('elected');
  for (let count = 0; ; count++) {
    const atMs = nowMs();
    if (signal.aborted) break;
    tell('write', atMs);
    await client
      .patch<ConfigMap>(
        CONFIG_MAPS,
        { namespace, name: 'led' },
        { contentType: MEDIA_TYPE.mergePatch, body: { data: { term, count: String(count) } } },
        { timeoutMs: WRITE_TIMEOUT_MS },
      )
      .catch(() => undefined);
    await delay(WRITE_PAUSE_MS);
  }
  tell('over');
}

/** The machine's monotonic clock, which all processes share. */
function nowMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

function tell(kind: LeaderNoteKind, atMs = nowMs()): void {
  process.send?.({ candidate, kind, atMs } satisfies LeaderNote);
}

process.on('disconnect', () => process.exit(0));
main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
