import { sleep } from '../../../../../shared/concurrency/abort';
import type { Log } from '../../../../../shared/log/log';
import { COMPARE_TARGET } from './proto';
import type { EtcdBackend } from './etcd-backend';

/** The key by which replicas elect the one that compacts. It is outside the prefix of objects, and kube-apiserver uses it as well. */
export const COMPACT_REVISION_KEY = 'compact_rev_key';

export interface CompactorOptions {
  readonly backend: EtcdBackend;
  /** How often; between one and two intervals of history stay readable. */
  readonly intervalMs: number;
  readonly log: Log;
  /** Called with each revision up to which this replica compacted. */
  readonly onCompacted?: (revision: number) => void;
}

/** The state of one replica between two rounds: the version of the key, and the revision of the store at that time. */
export interface CompactionTurn {
  readonly version: number;
  readonly revision: number;
}

/**
 * Compacts the store once per interval to the revision of one interval ago, until `signal` aborts. Any number of replicas may run it:
 * the replica that first writes {@link COMPACT_REVISION_KEY} in a round compacts (optimistic concurrency). A failed round is logged; the
 * next one compacts further.
 */
export async function runCompactor(options: CompactorOptions, signal: AbortSignal): Promise<void> {
  let turn: CompactionTurn = { version: 0, revision: 0 };
  while (!signal.aborted) {
    try {
      await sleep(options.intervalMs, signal);
      turn = await compactOnce(turn, options, signal);
    } catch (error) {
      if (signal.aborted) return;
      options.log.warn({ error }, 'etcd compaction failed; retrying at the next interval');
    }
  }
}

/** One round. Returns what the next one needs. */
export async function compactOnce(
  turn: CompactionTurn,
  options: CompactorOptions,
  signal: AbortSignal,
): Promise<CompactionTurn> {
  const { backend, log, onCompacted } = options;
  const key = Buffer.from(COMPACT_REVISION_KEY);
  const answer = await backend.client.txn(
    {
      compare: [{ target: COMPARE_TARGET.version, key, version: turn.version }],
      success: [{ put: { key, value: Buffer.from(String(turn.revision)) } }],
      failure: [{ range: { key } }],
    },
    signal,
  );
  const { revision } = answer.header;
  if (!answer.succeeded) {
    const kv = answer.responses[0]?.range?.kvs[0];
    return { version: kv?.version ?? 0, revision };
  }
  const next = { version: turn.version + 1, revision };
  if (turn.revision === 0) return next;
  await backend.compact(turn.revision, signal);
  log.info({ revision: turn.revision }, 'etcd compacted');
  onCompacted?.(turn.revision);
  return next;
}
