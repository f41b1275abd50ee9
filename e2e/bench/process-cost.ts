import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Clock ticks per second of /proc/<pid>/stat on Linux, whatever the kernel's own timer. */
const TICKS_PER_SECOND = 100;

/** CPU time of the process, user and system, in microseconds, with a resolution of 10 ms. */
export function cpuMicroseconds(pid: number): number {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  // The name of the program, in parentheses, may contain spaces; the fields after it are fixed.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1_000_000;
}

/** CPU time of the current threads of the process in nanoseconds, for work that is too short for clock ticks. */
export function cpuNanoseconds(pid: number): number {
  const tasks = `/proc/${String(pid)}/task`;
  return readdirSync(tasks)
    .map((thread) => Number(readFileSync(`${tasks}/${thread}/schedstat`, 'utf8').split(' ')[0]))
    .reduce((sum, time) => sum + time, 0);
}

/** Resident memory now and at its highest since the start or since {@link forgetPeak}, in MB. */
export function memoryMegabytes(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'mu').exec(status)?.[1]) / 1024;
  return { now: field('VmRSS'), peak: field('VmHWM') };
}

const REST_MS = 20_000;
const REST_DEADLINE_MS = 120_000;
const REST_LOOK_MS = 1_000;
const REST_TOLERANCE_MB = 2;

/**
 * Resident memory in MB of an idle process when it has not changed for 20 s: V8 returns memory some seconds after the work. Rejects if
 * it still changes after two minutes.
 */
export async function memoryAtRest(pid: number): Promise<number> {
  let settled = memoryMegabytes(pid).now;
  let restedMs = 0;
  for (let waitedMs = 0; waitedMs < REST_DEADLINE_MS; waitedMs += REST_LOOK_MS) {
    await sleep(REST_LOOK_MS);
    const { now } = memoryMegabytes(pid);
    restedMs += REST_LOOK_MS;
    if (Math.abs(now - settled) > REST_TOLERANCE_MB) {
      settled = now;
      restedMs = 0;
    }
    if (restedMs >= REST_MS) return now;
  }
  throw new Error('The memory of the server does not come to rest.');
}

/** Resets the peak resident memory to the current value. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${String(pid)}/clear_refs`, '5');
}

/** If the kernel divides time among sessions first, a priority only counts within the session; the session has its own priority. */
export function preferSession(pid: number, priority: number): void {
  const file = `/proc/${String(pid)}/autogroup`;
  if (existsSync(file)) writeFileSync(file, String(priority));
}

/**
 * Raises the priority of a process and its current threads, so that other load distorts its figures less. Returns whether the system
 * allowed it.
 */
export function preferProcess(pid: number): boolean {
  try {
    for (const thread of readdirSync(`/proc/${String(pid)}/task`)) {
      setPriority(Number(thread), constants.priority.PRIORITY_HIGHEST);
    }
    preferSession(pid, constants.priority.PRIORITY_HIGHEST);
    return true;
  } catch {
    return false;
  }
}
