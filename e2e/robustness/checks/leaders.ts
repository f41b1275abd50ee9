import type { LeaderNote } from '../record/operation';
import type { Finding } from './finding';

/**
 * Writes that a candidate may begin after another was elected. After a pause longer than the lease, the next write and the loss of
 * leadership are due in the same turn of the event loop, in any order. No time-based lock can prevent this.
 */
const LATE_WRITES_MAX = 1;

/** A candidate that lost the election begins no more writes until it is elected again. */
export function checkLeaders(notes: readonly LeaderNote[]): readonly Finding[] {
  const sorted = [...notes].sort((a, b) => a.atMs - b.atMs);
  const late = new Map<string, number>();
  const findings: Finding[] = [];
  let leader: string | undefined;
  for (const { kind, candidate, atMs } of sorted) {
    if (kind === 'elected') {
      leader = candidate;
      late.delete(candidate);
    }
    if (kind !== 'write' || leader === undefined || candidate === leader) continue;
    const count = (late.get(candidate) ?? 0) + 1;
    late.set(candidate, count);
    if (count !== LATE_WRITES_MAX + 1) continue;
    const text = `${candidate} goes on writing at ${atMs.toFixed(1)} ms, after ${leader} was elected`;
    findings.push({ check: 'one acting leader', text });
  }
  return findings;
}
